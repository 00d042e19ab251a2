import type { z } from 'zod';

/** Values bound to {name:Type} placeholders; the client formats them. */
export type QueryParams = Record<string, unknown>;

export interface ReadOptions {
  timeoutMs?: number;
  signal?: AbortSignal;
}

/**
 * The analytical store: ClickHouse over HTTP through the official client, embedded or a server alike.
 * Rows come back as JSONEachRow with 64-bit integers and decimals quoted as text.
 */
export interface ClickHouse {
  /** Runs sql/queries/<name>.sql and parses each row. */
  query<Row>(name: string, row: z.ZodType<Row>, params?: QueryParams, options?: ReadOptions): Promise<Row[]>;
  /** Runs SQL text that is not a file: checks, tests, the shell. */
  sql<Row = Record<string, unknown>>(text: string, params?: QueryParams, options?: ReadOptions): Promise<Row[]>;
  /** A statement without rows: DDL, INSERT … SELECT. `token` makes a repeated INSERT change nothing. */
  command(text: string, params?: QueryParams, token?: string): Promise<void>;
  /**
   * Inserts rows as one block, synchronously. The same token twice changes nothing, in the table and in every view's target.
   * `rows` may be pre-serialised JSONEachRow lines.
   */
  insert(table: string, rows: readonly object[] | Buffer, options?: { token?: string }): Promise<void>;
  ping(): Promise<boolean>;
  close(): Promise<void>;
}
