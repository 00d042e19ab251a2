import type { Readable } from 'node:stream';
import { z } from 'zod';
import { decimalText, parseDecimal } from '../core/decimal.ts';
import { cellOf, type Column } from './flat-rows.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';

export const COLUMNAR_TYPES = {
  Parquet: 'application/vnd.apache.parquet',
  ArrowStream: 'application/vnd.apache.arrow.stream',
} as const;
export type ColumnarFormat = keyof typeof COLUMNAR_TYPES;

/** Decimals of a number's column: those of a price, the most of any field. */
const SCALE = 10;

/** The type of a column, whose values are those of CSV; numbers are exact decimals, where day files have doubles. */
function columnType(field: unknown): string {
  if (field instanceof z.ZodBoolean) return 'Nullable(Bool)';
  if (field instanceof z.ZodNumber)
    return field.format === 'safeint' ? 'Nullable(Int64)' : `Nullable(Decimal(38, ${SCALE}))`;
  return 'Nullable(String)';
}

/** Numbers as text, because the reader of JSON would parse them as doubles. */
const exact = (value: unknown): unknown =>
  typeof value === 'number' ? decimalText(parseDecimal(value, SCALE), SCALE) : cellOf(value);

/** The engine reads no text without rows; the limit of 0 leaves this row out. */
const EMPTY_ROW = '{}';

/** The rows of a list as one Parquet file or Arrow stream, written by the engine. */
export function columnarRows(
  clickhouse: Pick<ClickHouse, 'stream'>,
  rows: readonly object[],
  columns: readonly Column[],
  format: ColumnarFormat,
): Promise<Readable> {
  const structure = columns.map(({ name, field }) => `\`${name}\` ${columnType(field)}`).join(', ');
  const lines = rows.map((row) =>
    JSON.stringify(Object.fromEntries(columns.map(({ name, value }) => [name, exact(value(row))]))),
  );
  return clickhouse.stream(
    'rows_as_columns',
    { structure, rows: lines.join('\n') || EMPTY_ROW, count: rows.length },
    format,
  );
}
