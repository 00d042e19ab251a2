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

/** What a spreadsheet would run as a formula, of text that is no number. */
const FORMULA = /^[=+\-@\t\r]/;
const NUMBER = /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i;

function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const plain = typeof value === 'object' ? JSON.stringify(value) : String(value);
  // An apostrophe makes a spreadsheet take it for text.
  const text = FORMULA.test(plain) && !NUMBER.test(plain) ? `'${plain}` : plain;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
