import type { FastifyBaseLogger } from 'fastify';
import PQueue from 'p-queue';
import type { Clock, Stop } from '../core/time.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import { INSERT_MARGIN_MS, type Lease } from '../stores/shared/shared.ts';
import { CHANGE_COLUMNS, DEPTH_COLUMNS, GAP_COLUMNS, BOOK_SNAPSHOT_COLUMNS } from './rows.ts';

const FLUSH_MS = 500;
/** Rows buffered while the store accepts no inserts. */
export const MOST_WAITING = 200_000;

/** Changes first: once a snapshot is stored, the changes before it are stored too. */
const TABLES = { changes: CHANGE_COLUMNS, snapshots: BOOK_SNAPSHOT_COLUMNS, gaps: GAP_COLUMNS, depth: DEPTH_COLUMNS };
type Kind = keyof typeof TABLES;
const KINDS = Object.keys(TABLES) as Kind[];
type Batch = Record<Kind, object[]>;

const empty = (): Batch => ({ changes: [], snapshots: [], gaps: [], depth: [] });

interface BookWriterDeps {
  clickhouse: ClickHouse;
  log: FastifyBaseLogger;
  lease: Lease;
  clock: Clock;
  /** Called when rows were dropped: those received since `sinceMs`, Unix ms, are not stored. */
  onOverflow(sinceMs: number): void;
}

/** Stores rows of books, one batch at a time. A failed batch is sent again as it was: the tables keep one row per key. */
export class BookWriter {
  readonly #deps: BookWriterDeps;
  #waiting = empty();
  #rows = 0;
  #waitingSinceMs: number;
  #sending: Batch | null = null;
  readonly #flushes = new PQueue({ concurrency: 1 });
  readonly #stopFlushing: Stop;

  constructor(deps: BookWriterDeps) {
    this.#deps = deps;
    this.#waitingSinceMs = deps.clock.now();
    this.#stopFlushing = deps.clock.every(FLUSH_MS, () => this.flush());
  }

  add(kind: Kind, row: object): void {
    this.#waiting[kind].push(row);
    this.#rows += 1;
    if (this.#rows <= MOST_WAITING) return;
    const { gaps } = this.#waiting;
    this.#waiting = { ...empty(), gaps };
    this.#rows = gaps.length;
    this.#deps.onOverflow(this.#waitingSinceMs);
  }

  /** Sends the rows buffered so far; resolves when they are stored, or when an attempt failed and waits for a retry. Never rejects. */
  flush(): Promise<void> {
    return this.#flushes.add(() => this.#flush());
  }

  async close(): Promise<void> {
    this.#stopFlushing();
    await this.flush();
  }

  async #flush(): Promise<void> {
    const { clickhouse, lease, clock, log } = this.#deps;
    if (!this.#sending && this.#rows > 0) {
      this.#sending = this.#waiting;
      this.#waiting = empty();
      this.#rows = 0;
      this.#waitingSinceMs = clock.now();
    }
    const batch = this.#sending;
    if (!batch || lease.remainingMs() < INSERT_MARGIN_MS) return;
    try {
      for (const kind of KINDS) {
        if (batch[kind].length > 0) await clickhouse.insert(TABLES[kind], batch[kind]);
        batch[kind] = [];
      }
      this.#sending = null;
    } catch (error) {
      log.warn({ err: error }, 'Failed to store order books; retrying');
    }
  }
}
