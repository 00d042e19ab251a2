import { getTableColumns, sql, type SQL } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';

/**
 * A row of a table, whole or in part, as one JSON value for jsonb_populate_record, and back. Statements that every order runs name no
 * parameter a column: building and binding these takes three times as long as running the statement.
 */
export function rowJson<T extends PgTable>(table: T) {
  const columns = Object.entries(getTableColumns(table));
  return {
    /** `except` are columns that the database fills. */
    names: (...except: string[]): string[] =>
      columns.map(([, column]) => column.name).filter((name) => !except.includes(name)),
    /** What is undefined is left out; times have milliseconds, decimals are texts already. */
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

/** What either driver answers to a statement of ours. */
export const rowsOf = (result: unknown): Record<string, unknown>[] =>
  (result as { rows: Record<string, unknown>[] }).rows;

const read = (value: unknown, column: { mapFromDriverValue(value: unknown): unknown }): unknown =>
  value === null ? null : column.mapFromDriverValue(value);
