import { SpacedCall } from '../../core/spaced-call.ts';
import type { Clock } from '../../core/time.ts';
import { type ClickHouse, serialiseRows } from './client.ts';
import { StoreError } from './errors.ts';

/** Inserts into one table start at most this often, apart from bursts. */
const EVERY_MS = 1000;
/** After a quiet time, this many inserts of a table may follow each other at once, so that a start or a single request does not wait. */
const BURST = 10;
/** A group of this size is sent at once: more rows would not make it cheaper. */
const FULL_BYTES = 64 * 1024;

/**
 * The store with one writer for each table: rows that callers insert within a second are sent as one insert. Each caller waits until its
 * rows are acknowledged. Inserts under a token are sent alone. Urgent rows are sent at once, together with the rows that wait.
 */
export function groupedInserts(clickhouse: ClickHouse, clock: Clock): ClickHouse {
  const groups = new Map<string, InsertGroup>();
  return {
    ...clickhouse,
    async insert(table, rows, options = {}) {
      if (rows.length === 0) return;
      if (options.token !== undefined) return clickhouse.insert(table, rows, options);
      const group = groups.get(table) ?? new InsertGroup(clock, (body) => clickhouse.insert(table, body));
      groups.set(table, group);
      return group.add(Buffer.isBuffer(rows) ? rows : serialiseRows(rows), options.isUrgent);
    },
  };
}

interface Member {
  body: Buffer;
  resolve(): void;
  reject(error: unknown): void;
}

/** The inserts of one table. */
class InsertGroup {
  readonly #insert: (body: Buffer) => Promise<void>;
  readonly #sending: SpacedCall;
  #waiting: Member[] = [];
  #bytes = 0;

  constructor(clock: Clock, insert: (body: Buffer) => Promise<void>) {
    this.#insert = insert;
    this.#sending = new SpacedCall(clock, EVERY_MS, () => void this.#send(), BURST);
  }

  /** Resolves once the rows are stored. */
  add(body: Buffer, isUrgent = false): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ body, resolve, reject });
      this.#bytes += body.length;
      if (isUrgent || this.#bytes >= FULL_BYTES) void this.#send();
      else this.#sending.ask();
    });
  }

  async #send(): Promise<void> {
    const members = this.#waiting;
    if (members.length === 0) return;
    this.#waiting = [];
    this.#bytes = 0;
    try {
      await this.#insert(Buffer.concat(members.map(({ body }) => body)));
      for (const { resolve } of members) resolve();
    } catch (error) {
      // One bad row makes the store refuse the whole insert. Only the caller of that row may fail.
      const isRefused = error instanceof StoreError && error.kind === 'failed' && members.length > 1;
      if (!isRefused) for (const { reject } of members) reject(error);
      else await Promise.all(members.map(({ body, resolve, reject }) => this.#insert(body).then(resolve, reject)));
    }
  }
}
