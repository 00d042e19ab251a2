import { call } from '../parts/api.ts';
import { saveFile } from '../parts/forms/save-file.ts';
import type { Column, Table } from './columns.ts';

export interface Result extends Table {
  statement: string;
  /** The raw body, if the statement's own FORMAT asked for another format. */
  text?: string;
  tookMs: number;
}

/** Row limit of a JSON answer; a file contains all rows. */
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
    // Not JSON: shown as received.
  }
  return { statement: query, columns: [], rows: [], text, tookMs };
}

/** Downloads all rows as a file. */
export async function saveSql(query: string, format: 'csv' | 'parquet'): Promise<void> {
  const file = await (await post(query, format)).blob();
  saveFile(file, `result.${format}`);
}
