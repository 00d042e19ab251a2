import type { Log } from '../core/log.ts';
import type { Clock } from '../core/time.ts';
import { CursorCodec } from './cursor.ts';
import { filterText, matcherOf, partitionsOf, type StreamFilter } from './filter.ts';
import { type DurableEvent, type EventSlice, makeSlices } from './log/event-slice.ts';
import { type Follower, type FollowerListener, gapData, type LogGap } from './log/follower.ts';
import { HoleWait } from './log/hole-wait.ts';
import { PagesAhead, type ReadPage } from './log/pages-ahead.ts';
import { type Feed, nameOf, type Partition } from './log/position.ts';
import type { LogPage, LogRow } from './log/read.ts';
import { ReaderGone, type Sink } from './sink.ts';

/** Events per slice: a slow reader gets the next ones after these. */
const SLICE_ROWS = 250;
const RETRY_MS = 250;
/** No live event follows the last position of an ended epoch until another one is logged, so the log is polled at this interval. */
const IDLE_MS = 5000;

export interface SubscriptionDeps {
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn'>;
  readLog(partition: Partition, ...asked: Parameters<ReadPage>): Promise<LogPage>;
  follower(partition: Partition): Follower;
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
    if (this.#isClosed) return;
    this.#sink.event('gap', JSON.stringify(gapData(gap)));
    this.#sink.flush();
  }

  /** false if the reader is behind; undelivered events may remain, and delivered ones are skipped the next time. */
  #hand(partition: Partition, rows: readonly LogRow[]): boolean {
    // Many subscriptions may share a connection: each checks for room before it adds to the queue.
    if (!this.#sink.flush()) return false;
    const index = this.#indexOf(partition);
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
    const { clock, log } = this.#deps;
    const follower = this.#deps.follower(partition);
    const pages = new PagesAhead((...asked) => this.#deps.readLog(partition, ...asked));
    const hole = new HoleWait(clock);
    let hasFailed = false;
    while (!this.#isClosed) {
      try {
        const [end] = await Promise.all([follower.end(), this.#sink.room()]);
        if (this.#isClosed) return;
        const joined = this.#tryJoin(follower);
        if (joined === 'joined') return;
        if (joined === 'behind') continue;
        const page = await this.#sink.catchUps.add(() => this.#step(follower, pages));
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
        pages.drop();
        await clock.late(RETRY_MS);
      }
    }
  }

  /** Joins the live events if few are missing before them; `behind` if the reader cannot take those now, `far` if they are many. */
  #tryJoin(follower: Follower): 'joined' | 'behind' | 'far' {
    const missed = follower.since(this.#positionIn(follower.partition));
    if (missed === null || missed.length > SLICE_ROWS) return 'far';
    // No await from `since` to `join`: no event may arrive in between.
    if (!this.#hand(follower.partition, missed)) return 'behind';
    follower.join(this);
    return 'joined';
  }

  /** Delivers a page; null if the following events were in memory. */
  async #step(follower: Follower, pages: PagesAhead): Promise<LogPage | null> {
    const after = this.#positionIn(follower.partition);
    const missed = follower.since(after);
    // Not ahead while others of the connection wait: each would hold a page.
    const page = missed ? null : await pages.take(after, () => this.#sink.catchUps.size === 0);
    await this.#handSlices(follower.partition, page?.rows ?? missed ?? []);
    return page;
  }

  #indexOf(partition: Partition): number {
    return this.#index.get(nameOf(partition)) ?? 0;
  }

  #positionIn(partition: Partition): number {
    return this.#positions[this.#indexOf(partition)] ?? 0;
  }

  async #handSlices(partition: Partition, rows: readonly LogRow[]): Promise<void> {
    for (let from = 0; from < rows.length && !this.#isClosed; from += SLICE_ROWS) {
      const slice = rows.slice(from, from + SLICE_ROWS);
      while (!this.#isClosed && !this.#hand(partition, slice)) await this.#sink.room();
    }
  }

  /** Events are permanently missing: sends the reader a gap, from the event before them to the one after them. */
  async #skip(partition: Partition, next: LogRow): Promise<void> {
    const position = this.#positionIn(partition);
    const { rows } = await this.#deps.readLog(partition, Math.max(0, position - 1), 1, () => {});
    if (this.#isClosed) return;
    const before = rows.find(({ sequence }) => sequence === position) ?? next;
    this.#positions[this.#indexOf(partition)] = next.sequence - 1;
    this.onGap({ partition, fromMs: before.loggedMs, toMs: next.loggedMs });
  }
}

const EVENT_OF: Readonly<Record<Feed, DurableEvent>> = { trades: 'trade', markets: 'market', matches: 'match' };

/** By the rows that a follower delivered, then by filters and positions. */
const sharedSlices = new WeakMap<readonly LogRow[], Map<string, readonly EventSlice[]>>();
