import { getTableColumns, sql, type SQL } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';

/**
 * A table row, or part of one, as a single JSON value for jsonb_populate_record, and back. For statements that every order runs: one
 * parameter per column takes three times as long to build and bind as the statement takes to run.
 */
export function rowJson<T extends PgTable>(table: T) {
  const columns = Object.entries(getTableColumns(table));
  return {
    /** `except` are columns that the database fills in. */
    names: (...except: string[]): string[] =>
      columns.map(([, column]) => column.name).filter((name) => !except.includes(name)),
    /** undefined is omitted; times have milliseconds, decimals are already text. */
    value(row: Partial<T['$inferInsert']>): SQL {
      const given = row as Record<string, unknown>;
      return sql`${JSON.stringify(Object.fromEntries(columns.map(([key, { name }]) => [name, given[key]])))}::jsonb`;
    },
    /** Rows of a statement that returns every column. */
    rows(result: unknown): T['$inferSelect'][] {
      return rowsOf(result).map((row) =>
        Object.fromEntries(columns.map(([key, column]) => [key, read(row[column.name], column)])),
      );
    },
  };
}

/** Rows of a result. */
export const rowsOf = (result: unknown): Record<string, unknown>[] =>
  (result as { rows: Record<string, unknown>[] }).rows;

const read = (value: unknown, column: { mapFromDriverValue(value: unknown): unknown }): unknown =>
  value === null ? null : column.mapFromDriverValue(value);
