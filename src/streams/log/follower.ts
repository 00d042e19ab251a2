import type { FastifyBaseLogger } from 'fastify';
import { SingleFlight } from '../../core/single-flight.ts';
import type { Clock, Stop } from '../../core/time.ts';
import type { ClickHouse } from '../../stores/clickhouse/client.ts';
import { HoleWait } from './hole-wait.ts';
import { nameOf, type Partition } from './position.ts';
import { type LogRow, readLog, readLogEnd } from './read.ts';

/** Events in memory for streams that start, or reconnect shortly after a disconnect. */
const RING_ROWS = 5000;
const RING_BYTES = 4 * 1024 * 1024;
const READ_ROWS = 5000;
const RETRY_MS = 200;
/** It keeps reading for this long without a subscription, because disconnected clients return. */
const LINGER_MS = 60_000;

/** A lost range of a partition: times at which the events around it were logged. */
export interface LogGap {
  partition: Partition;
  fromMs: number;
  toMs: number;
}

/** The data of a `gap` event: a period of a platform's events that may be incomplete. */
export const gapData = ({ partition, fromMs, toMs }: LogGap) => ({
  platform: partition.platform,
  from: new Date(fromMs).toISOString(),
  to: new Date(toMs).toISOString(),
  reason: `events of ${partition.feed} are missing in the log`,
});

export interface FollowerListener {
  /** New events, in order. */
  onRows(partition: Partition, rows: readonly LogRow[]): void;
  onGap(gap: LogGap): void;
}

interface FollowerDeps {
  clickhouse: ClickHouse;
  log: FastifyBaseLogger;
  clock: Clock;
  /** Called when a subscription begins to follow. */
  onJoin: () => void;
}

/** Reads one partition of the log as it grows, once for all subscriptions of this process, and for a minute after the last one. */
export class Follower {
  readonly partition: Partition;
  readonly #deps: FollowerDeps;
  readonly #listeners = new Set<FollowerListener>();
  readonly #waiting = new Set<() => void>();
  #ring: LogRow[] = [];
  #ringBytes = 0;
  /** The ring has every event after this position, up to #tail. */
  #ringFrom = 0;
  #tail = 0;
  readonly #opening = new SingleFlight<'end'>();
  #isOpen = false;
  #isDue = false;
  #isReading = false;
  readonly #hole: HoleWait;
  #seenMs: number;
  #stayOpen: Stop | undefined;

  constructor(deps: FollowerDeps, partition: Partition) {
    this.#deps = deps;
    this.#hole = new HoleWait(deps.clock);
    this.#seenMs = deps.clock.now();
    this.partition = partition;
  }

  /** Whether subscriptions wait for new events. */
  get isFollowed(): boolean {
    return this.#listeners.size > 0;
  }

  /** The position of the newest event; read from the store if no stream follows yet. */
  async end(): Promise<number> {
    if (!this.#isOpen) await this.#open();
    return this.#tail;
  }

  /** Whether nothing after a position was dropped from memory. */
  holds(position: number): boolean {
    return this.#isOpen && position >= this.#ringFrom && position <= this.#tail;
  }

  /** The events after a position, up to the newest; null if memory does not reach back that far. */
  since(after: number): readonly LogRow[] | null {
    return !this.#isOpen || after < this.#ringFrom ? null : this.#ring.filter((row) => row.sequence > after);
  }

  /** Resolves once the newest event differs from `end`, or after `atMostMs`. */
  changed(end: number, atMostMs: number): Promise<void> {
    if (this.#tail !== end) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        stop();
        this.#waiting.delete(done);
        resolve();
      };
      const stop = this.#deps.clock.timeout(atMostMs, done);
      this.#waiting.add(done);
    });
  }

  /** Delivers every event read from now on. */
  join(listener: FollowerListener): void {
    this.#stayOpen?.();
    this.#listeners.add(listener);
    this.#deps.onJoin();
    this.wake();
  }

  leave(listener: FollowerListener): void {
    this.#listeners.delete(listener);
    this.#closeLater();
  }

  /** Triggers a read soon. */
  wake(): void {
    this.#isDue = true;
    if (this.#isOpen && !this.#isReading) void this.#readOn();
  }

  #closeLater(): void {
    if (this.#listeners.size > 0) return;
    this.#stayOpen?.();
    this.#stayOpen = this.#deps.clock.timeout(LINGER_MS, () => {
      this.#isOpen = false;
      this.#forgetRing();
    });
  }

  #forgetRing(): void {
    this.#ringFrom = this.#tail;
    this.#ring = [];
    this.#ringBytes = 0;
  }

  #open(): Promise<void> {
    return this.#opening.run('end', async () => {
      this.#tail = await readLogEnd(this.#deps.clickhouse, this.partition);
      this.#forgetRing();
      this.#isOpen = true;
      this.#closeLater();
      this.wake();
    });
  }

  async #readOn(): Promise<void> {
    this.#isReading = true;
    try {
      while (this.#isDue && this.#isOpen) {
        this.#isDue = false;
        const page = await readLog(this.#deps.clickhouse, this.partition, this.#tail, READ_ROWS);
        // It may have been closed and reopened during the read.
        if (!this.#isOpen || (page.rows[0]?.sequence ?? Infinity) <= this.#tail) continue;
        if (page.rows.length > 0) {
          // The hole before these rows is filled: another one waits as long.
          this.#hole.end();
          this.#pass(page.rows);
        }
        if (page.holeBefore) this.#waitOrSkip(page.holeBefore);
        else this.#hole.end();
        if (page.isFull) this.#isDue = true;
      }
    } catch (error) {
      this.#deps.log.warn({ err: error, partition: nameOf(this.partition) }, 'Failed to read the event log; retrying');
      this.#later();
    } finally {
      this.#isReading = false;
    }
  }

  #later(): void {
    this.#deps.clock.timeout(RETRY_MS, () => this.wake());
  }

  #pass(rows: readonly LogRow[]): void {
    for (const row of rows) {
      this.#ring.push(row);
      this.#ringBytes += row.data.length;
    }
    this.#tail = rows.at(-1)?.sequence ?? this.#tail;
    this.#seenMs = rows.at(-1)?.loggedMs ?? this.#seenMs;
    let dropped = 0;
    while (this.#ring.length - dropped > RING_ROWS || this.#ringBytes > RING_BYTES) {
      this.#ringBytes -= this.#ring[dropped]?.data.length ?? 0;
      dropped += 1;
    }
    if (dropped > 0) {
      this.#ringFrom = this.#ring[dropped - 1]?.sequence ?? this.#tail;
      this.#ring = this.#ring.slice(dropped);
    }
    for (const listener of this.#listeners) listener.onRows(this.partition, rows);
    for (const done of this.#waiting) done();
  }

  #waitOrSkip(next: LogRow): void {
    if (!this.#hole.isLost()) {
      this.#later();
      return;
    }
    this.#deps.log.error(
      { partition: nameOf(this.partition), after: this.#tail },
      'Events are missing in the log; readers get a gap',
    );
    const gap = { partition: this.partition, fromMs: this.#seenMs, toMs: next.loggedMs };
    this.#hole.end();
    this.#tail = next.sequence - 1;
    this.#forgetRing();
    this.#isDue = true;
    for (const listener of this.#listeners) listener.onGap(gap);
  }
}
