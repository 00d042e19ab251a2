import { Readable } from 'node:stream';

/** One JSON object per line. */
export const ndjsonText = (rows: readonly object[]): Readable =>
  Readable.from(
    (function* lines() {
      for (const row of rows) yield `${JSON.stringify(row)}\n`;
    })(),
  );

/** RFC 4180 with a header line, from `names` without rows; nested values are JSON, null is an empty field. */
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

/** What a spreadsheet would run as a formula, unless it is a number. */
const FORMULA = /^[=+\-@\t\r]/;
const NUMBER = /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i;

function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const plain = typeof value === 'object' ? JSON.stringify(value) : String(value);
  // An apostrophe makes a spreadsheet treat it as text.
  const text = FORMULA.test(plain) && !NUMBER.test(plain) ? `'${plain}` : plain;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
