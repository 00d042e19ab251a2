/** A row of the wire as the tests look at it. */
export type WireRow = Record<string, string>;

export interface WireReply {
  status: number;
  /** Top-level keys of the answer; lists of rows mostly. */
  body: Record<string, WireRow[]>;
}

/** Reads a simulator the way any client would: plain GETs and cursors. */
export interface WireClient {
  get(path: string): Promise<WireReply>;
  /** Every row of a list, page after page until the cursor is empty; `path` has a query already. */
  pages(path: string, list: string): Promise<WireRow[]>;
}

export function createClient(base: string): WireClient {
  const get = async (path: string): Promise<WireReply> => {
    const reply = await fetch(`${base}${path}`);
    return { status: reply.status, body: (await reply.json()) as WireReply['body'] };
  };
  return {
    get,
    async pages(path, list) {
      const rows: WireRow[] = [];
      for (let cursor = ''; ;) {
        const { body } = await get(`${path}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
        rows.push(...(body[list] ?? []));
        cursor = String(body.cursor);
        if (cursor === '') return rows;
      }
    },
  };
}
