import { GatheredCalls } from '../../core/gathered-calls.ts';
import type { Clock } from '../../core/time.ts';
import { type ClickHouse, serialiseRows } from './client.ts';
import { StoreError } from './errors.ts';

/** When a group of inserts is sent. */
export const INSERT_GROUPS = {
  everyMs: 2000,
  /** After a quiet time, this many may follow each other at once, so that a start or a single request does not wait. */
  burst: 10,
  /** Bytes: more rows would not make an insert cheaper. */
  full: 64 * 1024,
};

/**
 * The store with one writer for each table: rows that callers insert within two seconds are sent as one insert. Each caller waits until its
 * rows are acknowledged. Inserts under a token are sent alone. Urgent rows are sent at once, together with the rows that wait.
 */
export function groupedInserts(clickhouse: ClickHouse, clock: Clock): ClickHouse {
  const groups = new Map<string, GatheredCalls<Buffer, void>>();
  return {
    ...clickhouse,
    async insert(table, rows, options = {}) {
      if (rows.length === 0) return;
      if (options.token !== undefined) return clickhouse.insert(table, rows, options);
      const group = groups.get(table) ?? insertsOf(clock, (body) => clickhouse.insert(table, body));
      groups.set(table, group);
      return group.add(Buffer.isBuffer(rows) ? rows : serialiseRows(rows), options.isUrgent);
    },
  };
}

/** The inserts of one table. */
const insertsOf = (clock: Clock, insert: (body: Buffer) => Promise<void>): GatheredCalls<Buffer, void> =>
  new GatheredCalls({
    clock,
    ...INSERT_GROUPS,
    sizeOf: (body) => body.length,
    async run(bodies) {
      try {
        await insert(Buffer.concat(bodies));
        return () => {};
      } catch (error) {
        // One bad row makes the store refuse the whole insert. Only the caller of that row may fail.
        const isRefused = error instanceof StoreError && error.kind === 'failed' && bodies.length > 1;
        if (isRefused) return insert;
        throw error;
      }
    },
  });
