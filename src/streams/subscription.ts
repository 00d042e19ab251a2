import type PQueue from 'p-queue';
import type { Log } from '../core/log.ts';
import type { Clock } from '../core/time.ts';
import { CursorCodec } from './cursor.ts';
import { filterText, matcherOf, partitionsOf, type StreamFilter } from './filter.ts';
import { type DurableEvent, type EventSlice, makeSlices } from './log/event-slice.ts';
import { type Follower, type FollowerListener, type LogGap } from './log/follower.ts';
import { HoleWait } from './log/hole-wait.ts';
import { type Feed, nameOf, type Partition } from './log/position.ts';
import type { LogPage, LogRow } from './log/read.ts';

/** Log page size while a subscription catches up. */
const PAGE_ROWS = 5000;
/** Events per slice: a slow reader gets the next ones after these. */
const SLICE_ROWS = 250;
const RETRY_MS = 250;
/** No live event follows the last position of an ended epoch until another one is logged, so the log is polled at this interval. */
const IDLE_MS = 5000;

/** Destination of a subscription's events. */
export interface Sink {
  events(slice: EventSlice): void;
  gap(gap: LogGap): void;
  /** Sends what was queued since the last call as one piece; false if the reader is behind and must be awaited with `room`. */
  flush(): boolean;
  /** Runs one at a time for all subscriptions of a connection, so that a slow reader holds one page of the log in memory, not many. */
  readonly catchUps: PQueue;
  /** Resolves once there is room for more; rejects with ReaderGone if the connection ends first. */
  room(): Promise<void>;
}

/** The connection of a reader that was behind has ended. */
export class ReaderGone extends Error {}

export interface SubscriptionDeps {
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn'>;
  /** `onFull` is called with the position of a full page's last row, shortly before the page is known. */
  readLog(partition: Partition, after: number, limit: number, onFull: (last: number) => void): Promise<LogPage>;
  follower(partition: Partition): Follower;
}

/** A page that is being read. */
interface PageAhead {
  after: number;
  /** The position of its last row; null if it is not full. */
  last: Promise<number | null>;
  page: Promise<LogPage>;
}

/** The durable events of one subscription from its positions on: from the log until it reaches the live ones, then live. */
export class Subscription implements FollowerListener {
  readonly partitions: readonly Partition[];
  readonly codec: CursorCodec;
  readonly #deps: SubscriptionDeps;
  readonly #sink: Sink;
  readonly #matches: (partition: Partition, row: LogRow) => boolean;
  readonly #positions: number[];
  readonly #filterText: string;
  readonly #index: ReadonlyMap<string, number>;
  #isClosed = false;

  constructor(deps: SubscriptionDeps, filter: StreamFilter, positions: readonly number[], sink: Sink) {
    this.#deps = deps;
    this.#sink = sink;
    this.partitions = partitionsOf(filter);
    this.#filterText = filterText(filter);
    this.codec = new CursorCodec(this.#filterText, this.partitions.length);
    this.#matches = matcherOf(filter);
    this.#positions = [...positions];
    this.#index = new Map(this.partitions.map((partition, index) => [nameOf(partition), index]));
  }

  /** Position after everything delivered so far; null without durable events. */
  get cursor(): string | null {
    return this.partitions.length === 0 ? null : this.codec.encode(this.#positions);
  }

  start(): void {
    for (const partition of this.partitions) void this.#follow(partition);
  }

  close(): void {
    this.#isClosed = true;
    for (const partition of this.partitions) this.#deps.follower(partition).leave(this);
  }

  onRows(partition: Partition, rows: readonly LogRow[]): void {
    if (this.#isClosed) return;
    if (rows.length <= SLICE_ROWS && this.#hand(partition, rows)) return;
    // Too many events at once, or a slow reader: it catches up at its own pace.
    this.#deps.follower(partition).leave(this);
    void this.#follow(partition);
  }

  onGap(gap: LogGap): void {
    if (!this.#isClosed) this.#sink.gap(gap);
  }

  /** false if the reader is behind; undelivered events may remain, and delivered ones are skipped the next time. */
  #hand(partition: Partition, rows: readonly LogRow[]): boolean {
    // Many subscriptions may share a connection: each checks for room before it adds to the queue.
    if (!this.#sink.flush()) return false;
    const index = this.#index.get(nameOf(partition)) ?? 0;
    for (const slice of this.#slices(partition, index, rows)) {
      this.#positions[index] = slice.position;
      if (slice.events.length > 0) this.#sink.events(slice);
      if (!this.#sink.flush()) return false;
    }
    return true;
  }

  /** Built once for subscriptions with the same filters and positions. */
  #slices(partition: Partition, index: number, rows: readonly LogRow[]): readonly EventSlice[] {
    const shared = sharedSlices.get(rows) ?? new Map<string, readonly EventSlice[]>();
    sharedSlices.set(rows, shared);
    const key = `${index} ${this.#positions.join(' ')} ${this.#filterText}`;
    const known = shared.get(key);
    if (known) return known;
    const made = makeSlices(rows, {
      name: EVENT_OF[partition.feed],
      index,
      positions: this.#positions,
      codec: this.codec,
      nowMs: this.#deps.clock.now(),
      matches: (row) => this.#matches(partition, row),
    });
    shared.set(key, made);
    return made;
  }

  async #follow(partition: Partition): Promise<void> {
    const index = this.#index.get(nameOf(partition)) ?? 0;
    const { clock, log } = this.#deps;
    const follower = this.#deps.follower(partition);
    const hole = new HoleWait(clock);
    /** The next page, read while the current one is delivered. */
    let ahead: PageAhead | null = null;
    let hasFailed = false;
    const { catchUps } = this.#sink;
    const read = (after: number): PageAhead => {
      let page!: Promise<LogPage>;
      const last = new Promise<number | null>((resolve) => {
        page = this.#deps.readLog(partition, after, PAGE_ROWS, resolve);
        // A failure is thrown when the page is needed.
        page.catch(() => {}).then(() => resolve(null));
      });
      return { after, last, page };
    };
    /** Delivers a page; null if the following events were in memory. */
    const step = async (): Promise<LogPage | null> => {
      const after = this.#positions[index] ?? 0;
      const missed = follower.since(after);
      if (missed) {
        await this.#handSlices(partition, missed);
        return null;
      }
      const reading = ahead?.after === after ? ahead : read(after);
      const last = await reading.last;
      // Not while others of the connection wait: each would hold a page.
      ahead = last !== null && catchUps.size === 0 ? read(last) : null;
      const page = await reading.page;
      await this.#handSlices(partition, page.rows);
      return page;
    };
    while (!this.#isClosed) {
      try {
        const [end] = await Promise.all([follower.end(), this.#sink.room()]);
        if (this.#isClosed) return;
        // No await from here to `join`: no event may arrive in between.
        const missed = follower.since(this.#positions[index] ?? 0);
        if (missed !== null && missed.length <= SLICE_ROWS) {
          if (!this.#hand(partition, missed)) continue;
          follower.join(this);
          return;
        }
        const page = await catchUps.add(step);
        hasFailed = false;
        if (!page || page.rows.length > 0) hole.end();
        else if (page.holeBefore) {
          if (hole.isLost()) await this.#skip(partition, page.holeBefore);
          await clock.late(RETRY_MS);
        } else await follower.changed(end, IDLE_MS);
      } catch (error) {
        if (error instanceof ReaderGone) return;
        // The first failure in a row: attempts follow one another for as long as the store is away.
        if (!hasFailed)
          log.warn({ err: error, partition: nameOf(partition) }, 'Failed to read the event log for a stream');
        hasFailed = true;
        ahead = null;
        await clock.late(RETRY_MS);
      }
    }
  }

  async #handSlices(partition: Partition, rows: readonly LogRow[]): Promise<void> {
    for (let from = 0; from < rows.length && !this.#isClosed; from += SLICE_ROWS) {
      const slice = rows.slice(from, from + SLICE_ROWS);
      while (!this.#isClosed && !this.#hand(partition, slice)) await this.#sink.room();
    }
  }

  /** Events are permanently missing: sends the reader a gap, from the event before them to the one after them. */
  async #skip(partition: Partition, next: LogRow): Promise<void> {
    const index = this.#index.get(nameOf(partition)) ?? 0;
    const position = this.#positions[index] ?? 0;
    const { rows } = await this.#deps.readLog(partition, Math.max(0, position - 1), 1, () => {});
    if (this.#isClosed) return;
    const before = rows.find(({ sequence }) => sequence === position) ?? next;
    this.#positions[index] = next.sequence - 1;
    this.#sink.gap({ partition, fromMs: before.loggedMs, toMs: next.loggedMs });
  }
}

const EVENT_OF: Readonly<Record<Feed, DurableEvent>> = { trades: 'trade', markets: 'market', matches: 'match' };

/** By the rows that a follower delivered, then by filters and positions. */
const sharedSlices = new WeakMap<readonly LogRow[], Map<string, readonly EventSlice[]>>();
