import type { Readable } from 'node:stream';
import { z } from 'zod';
import { decimalText, parseDecimal } from '../core/decimal.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';

export const COLUMNAR_TYPES = {
  Parquet: 'application/vnd.apache.parquet',
  ArrowStream: 'application/vnd.apache.arrow.stream',
} as const;
export type ColumnarFormat = keyof typeof COLUMNAR_TYPES;

/** Decimals of a number's column: those of a price, the most of any field. */
const SCALE = 10;

/** The type of a field's column: nested values are JSON text, as in CSV; numbers are exact, as in day files. */
function columnType(field: unknown): string {
  if (field instanceof z.ZodOptional || field instanceof z.ZodNullable) return columnType(field.unwrap());
  if (field instanceof z.ZodBoolean) return 'Nullable(Bool)';
  if (field instanceof z.ZodNumber)
    return field.format === 'safeint' ? 'Nullable(Int64)' : `Nullable(Decimal(38, ${SCALE}))`;
  return 'Nullable(String)';
}

/** Numbers as text, because the reader of JSON would parse them as doubles. */
function cell(value: unknown): unknown {
  if (typeof value === 'number') return decimalText(parseDecimal(value, SCALE), SCALE);
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
}

/** The rows of a list as one Parquet file or Arrow stream, written by the engine; columns are the fields of `row`. */
export function columnarRows(
  clickhouse: Pick<ClickHouse, 'stream'>,
  rows: readonly object[],
  row: z.ZodObject,
  format: ColumnarFormat,
): Promise<Readable> {
  const structure = Object.entries(row.shape)
    .map(([name, field]) => `\`${name}\` ${columnType(field)}`)
    .join(', ');
  const lines = rows.map((one) =>
    JSON.stringify(Object.fromEntries(Object.entries(one).map(([name, value]) => [name, cell(value)]))),
  );
  return clickhouse.stream('rows_as_columns', { structure, rows: lines.join('\n') }, format);
}
