import { Readable } from 'node:stream';

/** One JSON object a line. */
export const ndjsonText = (rows: readonly object[]): Readable =>
  Readable.from(
    (function* lines() {
      for (const row of rows) yield `${JSON.stringify(row)}\n`;
    })(),
  );

/** RFC 4180 with a header line, of `names` where there are no rows; nested values are written as JSON, null as nothing. */
export function csvText(rows: readonly object[], names: readonly string[]): Readable {
  const columns = rows.length === 0 ? names : [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return Readable.from(
    (function* lines() {
      yield `${columns.map(cell).join(',')}\r\n`;
      for (const row of rows) {
        yield `${columns.map((column) => cell((row as Record<string, unknown>)[column])).join(',')}\r\n`;
      }
    })(),
  );
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
