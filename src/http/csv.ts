import { Readable } from 'node:stream';
import { cellOf, type Column } from './flat-rows.ts';

/** One JSON object per line. */
export const ndjsonText = (rows: readonly object[]): Readable =>
  Readable.from(
    (function* lines() {
      for (const row of rows) yield `${JSON.stringify(row)}\n`;
    })(),
  );

/** RFC 4180 with a header line; null is an empty field. */
export function csvText(rows: readonly object[], columns: readonly Pick<Column, 'name' | 'value'>[]): Readable {
  return Readable.from(
    (function* lines() {
      yield `${columns.map(({ name }) => field(name)).join(',')}\r\n`;
      for (const row of rows) yield `${columns.map(({ value }) => field(cellOf(value(row)))).join(',')}\r\n`;
    })(),
  );
}

/** What a spreadsheet would run as a formula, unless it is a number. */
const FORMULA = /^[=+\-@\t\r]/;
const NUMBER = /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i;

function field(value: unknown): string {
  if (value === null || value === undefined) return '';
  const plain = String(value);
  // An apostrophe makes a spreadsheet treat it as text.
  const text = FORMULA.test(plain) && !NUMBER.test(plain) ? `'${plain}` : plain;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
