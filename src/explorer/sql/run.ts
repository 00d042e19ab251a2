import { call } from '../parts/api.ts';

export interface Column {
  name: string;
  type: string;
}
export interface Result {
  /** What was run. */
  statement: string;
  columns: Column[];
  rows: unknown[][];
  /** An answer of another form, which the statement's own FORMAT asked for. */
  text?: string;
  tookMs: number;
}

/** A JSON answer holds no more rows; a file holds all. */
export const MOST_ROWS = 1000;

const post = (query: string, format: string, signal?: AbortSignal): Promise<Response> =>
  call('/v1/api/sql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query, format }),
    ...(signal ? { signal } : {}),
  });

export async function runSql(query: string, signal?: AbortSignal): Promise<Result> {
  const begun = performance.now();
  const text = await (await post(query, 'json', signal)).text();
  const tookMs = Math.round(performance.now() - begun);
  try {
    const { meta, data } = JSON.parse(text) as { meta: Column[]; data: unknown[][] };
    if (Array.isArray(meta) && Array.isArray(data)) return { statement: query, columns: meta, rows: data, tookMs };
  } catch {
    // Not JSON: shown as it came.
  }
  return { statement: query, columns: [], rows: [], text, tookMs };
}

/** Saves all rows as a file. */
export async function saveSql(query: string, format: 'csv' | 'parquet'): Promise<void> {
  const file = await (await post(query, format)).blob();
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = `result.${format}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export const isNumeric = ({ type }: Column): boolean => /^(Nullable\()?(U?Int|Float|Decimal)/.test(type);
export const isTime = ({ type }: Column): boolean => /Date/.test(type);
