import { z } from 'zod';
import { PlatformError } from '../../core/errors.ts';
import type { PlatformReply } from '../http/request.ts';
import type { AdapterDeps, ReadContext } from '../contract.ts';
import { answeredUs, parseBody } from '../parse-rows.ts';

export type KalshiQuery = Record<string, string | number | undefined>;

/** One page of a list: its raw rows and the cursor of the next page, '' after the last. */
export interface KalshiPage {
  rows: unknown[];
  cursor: string;
  receivedAt: string;
  /** When Kalshi answered, by its own clock, Unix µs. */
  answeredUs: number | undefined;
}

/** Unsigned reads of Kalshi's public endpoints. */
export interface KalshiClient {
  get(path: string, query: KalshiQuery, context: ReadContext): Promise<PlatformReply>;
  /** One page of the list kept under `key`. */
  page(path: string, key: string, query: KalshiQuery, context: ReadContext): Promise<KalshiPage>;
  /** Every page of a list; a page may be short or empty before the last, only the empty cursor ends it. */
  pages(path: string, key: string, query: KalshiQuery, context: ReadContext): AsyncGenerator<KalshiPage>;
}

/** All series come in one reply of many megabytes, and so may a page of events with their markets. */
const LARGE = { maxBytes: 64 * 1024 * 1024, timeoutMs: 60_000 };

const Cursor = z.object({ cursor: z.string().nullish() });
/** A page of the list kept under `key`. */
export const listOf = (key: string) => Cursor.extend({ [key]: z.array(z.unknown()) });

/** `?name=value…` without the values that are undefined or ''. */
export function queryText(query: KalshiQuery): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') parameters.set(name, String(value));
  }
  return parameters.size > 0 ? `?${parameters}` : '';
}

export function createKalshiClient({ http, urls }: Pick<AdapterDeps, 'http' | 'urls'>): KalshiClient {
  const get: KalshiClient['get'] = (path, query, { priority, user, signal }) =>
    http.send({
      platform: 'kalshi',
      group: 'kalshi:anonymous',
      method: 'GET',
      url: `${urls.kalshi}${path}${queryText(query)}`,
      priority,
      user,
      retry: true,
      ...(path === '/series' || path === '/events' ? LARGE : {}),
      ...(signal ? { signal } : {}),
    });

  const page: KalshiClient['page'] = async (path, key, query, context) => {
    const reply = await get(path, query, context);
    const body: Record<string, unknown> = parseBody('kalshi', listOf(key), reply);
    return {
      rows: body[key] as unknown[],
      cursor: typeof body.cursor === 'string' ? body.cursor : '',
      receivedAt: reply.receivedAt,
      answeredUs: answeredUs(reply),
    };
  };

  async function* pages(...[path, key, query, context]: Parameters<KalshiClient['pages']>) {
    let cursor = '';
    do {
      const next: KalshiPage = await page(path, key, { ...query, cursor }, context);
      yield next;
      if (next.cursor !== '' && next.cursor === cursor) {
        throw new PlatformError('kalshi', 'bad_answer', { detail: `${path}: the cursor does not move` });
      }
      cursor = next.cursor;
    } while (cursor !== '');
  }

  return { get, page, pages };
}
