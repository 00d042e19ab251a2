import { getTableColumns, sql, type SQL } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';

/** Escapes in JSON that jsonb refuses: NUL, and halves of surrogate pairs. */
const REFUSED = /(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/g;

/** A value as one parameter. Characters that PostgreSQL cannot store are left out: one of them would make all rows fail. */
export function jsonbOf(value: object): SQL {
  const json = JSON.stringify(value);
  return sql`${json.includes('\\u') ? json.replace(REFUSED, '$1') : json}::jsonb`;
}

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
      const named: Record<string, unknown> = {};
      for (const [key, { name }] of columns) if (given[key] !== undefined) named[name] = given[key];
      return jsonbOf(named);
    },
    /** The part of a row that a statement has returned. */
    read(returned: Record<string, unknown>): Partial<T['$inferSelect']> {
      const row: Record<string, unknown> = {};
      for (const [key, column] of columns) {
        const value = returned[column.name];
        if (value !== undefined) row[key] = value === null ? null : column.mapFromDriverValue(value);
      }
      return row as Partial<T['$inferSelect']>;
    },
  };
}

/** Rows of a result. */
export const rowsOf = (result: unknown): Record<string, unknown>[] =>
  (result as { rows: Record<string, unknown>[] }).rows;
