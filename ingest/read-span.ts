import type { Clock } from '../src/core/time.ts';
import type { TradeRecord } from '../src/core/model.ts';
import type { MarketDirectory, PlatformData, ReadContext, TradePage, TradeQuery } from '../src/platforms/contract.ts';
import type { Urgency } from '../src/stores/clickhouse/client.ts';
import type { Lease } from '../src/stores/shared/shared.ts';
import type { JobRun } from './job-runner.ts';
import type { TradeWriter } from './trade-writer.ts';

/** Maximum trades buffered during a read. Beyond it they are stored early, and older trades follow newer ones in the event log. */
const BUFFERED = 100_000;
export const BATCH_ROWS = 20_000;

export interface SpanDeps {
  writer: TradeWriter;
  directory: MarketDirectory;
  clock: Pick<Clock, 'now'>;
}

interface SpanQuery extends TradeQuery {
  context: ReadContext;
  /** The feed is stored up to this time, Unix µs; 0 if absent. */
  knownToUs?: number;
  /** Whether an error means that the feed has nothing more: what was read before it stays. */
  isEnd?: (error: unknown) => boolean | Promise<boolean>;
}

/** Called after each page has been added; by default trades are stored early if too many are buffered. */
type OnPage = (span: Span, page: TradePage) => Promise<void> | void;

const storeEarly: OnPage = (span) => (span.size >= BUFFERED ? span.store() : undefined);

/** Reads the pages of a feed, newest first. The caller stores the buffered trades, and then moves the watermark. */
export async function readSpan(
  deps: SpanDeps,
  data: PlatformData,
  run: JobRun,
  { context, knownToUs = 0, isEnd, ...query }: SpanQuery,
  onPage: OnPage = storeEarly,
): Promise<Span> {
  const span = new Span(deps, run.lease, knownToUs, data.tradeOverlapMs * 1000);
  try {
    for await (const page of data.trades(query, deps.directory, context)) {
      span.add(page);
      run.signal.throwIfAborted();
      await onPage(span, page);
    }
  } catch (error) {
    if (!(await isEnd?.(error))) throw error;
    span.endedBy = error;
  }
  return span;
}

/**
 * What one read of a feed found: trades that wait to be stored, and where the stored span ends then. Times are Unix µs.
 * `endByTradesUs`, for a feed that is read again when its volume moves: the newest trade.
 * `endIfIdleUs`, for a feed that may be idle: the newest trade, or the overlap before the read if that is later.
 * No end is later than a trade that cannot be read yet.
 */
class Span {
  rows = 0;
  /** Markets of the trades stored so far. */
  readonly refs = new Set<string>();
  /** The read is complete back to this time; null if it is not known. */
  completeFromUs: number | null = null;
  /** The error that ended the feed; absent if it ended by itself. */
  endedBy: unknown;
  readonly #deps: SpanDeps;
  readonly #lease: Lease;
  readonly #overlapUs: number;
  #newestFirst: TradeRecord[] = [];
  /** When the read began; earlier if the platform's clock is behind ours. */
  #askedUs: number;
  #newestUs: number;
  #waitsFromUs = Infinity;

  constructor(deps: SpanDeps, lease: Lease, knownToUs: number, overlapUs: number) {
    this.#deps = deps;
    this.#lease = lease;
    this.#overlapUs = overlapUs;
    this.#askedUs = deps.clock.now() * 1000;
    this.#newestUs = Math.min(knownToUs, this.#askedUs);
  }

  /** Buffered trades. */
  get size(): number {
    return this.#newestFirst.length;
  }

  add({ trades, receivedAt, completeFromUs, platformUs, waitsFromUs }: TradePage): void {
    const nowUs = this.#deps.clock.now() * 1000;
    this.completeFromUs = completeFromUs ?? this.completeFromUs;
    this.#askedUs = Math.min(this.#askedUs, platformUs ?? Infinity);
    this.#waitsFromUs = Math.min(this.#waitsFromUs, waitsFromUs ?? Infinity);
    for (const trade of trades) {
      if (receivedAt !== undefined) trade.receivedAt = receivedAt;
      this.#newestUs = Math.max(this.#newestUs, Math.min(trade.executedAtUs, nowUs));
    }
    this.#newestFirst = this.#newestFirst.concat(trades);
  }

  /** Removes the buffered trades, newest first, for the caller to store. */
  take(): TradeRecord[] {
    const trades = this.#newestFirst;
    this.#newestFirst = [];
    return trades;
  }

  /** Stores and logs the buffered trades, oldest first. */
  async store(urgency: Urgency = {}): Promise<void> {
    // A stable sort keeps the feed's order within an instant, also across pages.
    const ordered = this.take()
      .toReversed()
      .toSorted((a, b) => a.executedAtUs - b.executedAtUs);
    for (const { ref } of ordered) this.refs.add(ref);
    let from = 0;
    do {
      const end = minuteEnd(ordered, from + BATCH_ROWS);
      this.rows += await this.#deps.writer.write(ordered.slice(from, end), this.#lease, urgency);
      from = end;
    } while (from < ordered.length);
  }

  /** Time of the newest trade, else the previous end; at most now. */
  get endByTradesUs(): number {
    return Math.min(this.#newestUs, this.#waitsFromUs);
  }

  /** If the platform's clock is behind ours, its time counts, because trades up to ours would otherwise never be read. */
  get endIfIdleUs(): number {
    return Math.min(Math.max(this.#newestUs, this.#askedUs - this.#overlapUs), this.#waitsFromUs);
  }

  /** Whether a trade of the read cannot be identified yet. */
  get isWaiting(): boolean {
    return this.#waitsFromUs < Infinity;
  }
}

/** The first position from `at` on at which a minute begins: a minute whose rows retention drops must be in one batch. */
function minuteEnd(ordered: readonly TradeRecord[], at: number): number {
  const minuteOf = (i: number): number => Math.floor((ordered[i]?.executedAtUs ?? NaN) / 60_000_000);
  let end = Math.min(at, ordered.length);
  while (end < ordered.length && minuteOf(end) === minuteOf(end - 1)) end += 1;
  return end;
}
