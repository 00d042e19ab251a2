import { z } from 'zod';
import { Cache } from '../../src/core/cache.ts';
import { PlatformError } from '../../src/core/errors.ts';
import type { Clock } from '../../src/core/time.ts';
import type { MarketWriter } from '../../src/markets/writer.ts';
import { restingFigures, rewardsMinSize } from '../../src/platforms/book-sides.ts';
import type { BookRecorder } from '../../src/books/recorder.ts';
import type { BookSide } from '../../src/core/model.ts';
import type { MarketDirectory, PlatformData, StoredMarket } from '../../src/platforms/contract.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { ItemReads } from '../failure-backoff.ts';
import type { LiveBooks } from '../live/live-books.ts';
import type { JobResult, JobRun } from '../job-runner.ts';

/** Books read per run, one request each: 40 take 12 s at a platform's spacing of 300 ms. */
const BOOKS_PER_RUN = 40;
/** Books read per run by a platform's batch calls. */
const BATCHED_PER_RUN = 1000;
/** Books of one read. */
const BATCH = 250;
/** How soon a book is read again by a batch call. */
const BATCHED_AGAIN_MS = 300_000;
/** Only the most traded markets are read: this many. */
const MARKETS = 5000;
const BATCHED_MARKETS = 50_000;
const REMEMBERED = 50_000;
/** Before every time of a clock. */
const NEVER = -Number.MAX_VALUE;

const Row = z.object({ ref: z.string() });

interface LiquidityDeps {
  lists: Pick<ClickHouse, 'query'>;
  writer: MarketWriter;
  data: PlatformData;
  directory: MarketDirectory;
  clock: Pick<Clock, 'now' | 'elapsed'>;
  /** Books from sockets, which need no request. */
  liveBooks: Pick<LiveBooks, 'book'>;
  /** Books that are recorded, from sockets or polls. */
  recorded: Pick<BookRecorder, 'wanted' | 'book'>;
}

/**
 * Reads what rests in the books of open markets, if the listing lacks it or counts whole books: markets without a value first, by volume,
 * then those read longest ago. Requests use the budget that polls and orders leave. A book from a socket costs no request, but if the last
 * trade is wanted, its market is read once. Other platforms get it from the books that are recorded.
 */
export class LiquidityReader {
  readonly #deps: LiquidityDeps;
  /** By the clock's elapsed(), which no correction of the time of day changes. */
  readonly #readAt = new Cache<string, number>({ limit: REMEMBERED });
  /** Markets with a recorded book at the last look. */
  #recorded: ReadonlySet<string> = new Set();

  constructor(deps: LiquidityDeps) {
    this.#deps = deps;
  }

  async read(run: JobRun): Promise<JobResult | null> {
    const { lists, data, directory, clock, writer, liveBooks } = this.#deps;
    const isBatched = data.countsWholeBooks === true;
    if (!data.bookFigures && !isBatched) return this.#lookAtRecorded();
    const { platform } = data;
    const open = await lists.query('books_to_read', Row, { platform, limit: isBatched ? BATCHED_MARKETS : MARKETS });
    const readAt = ({ ref }: { ref: string }): number => this.#readAt.get(ref) ?? NEVER;
    if (open.length === 0) return null;
    const startedAt = new Date(clock.now());
    const live = new Map<string, BookSide>();
    for (const { ref } of open) {
      const book = liveBooks.book(ref);
      if (book) live.set(ref, book);
    }
    const unknown = open.filter((one) =>
      isBatched
        ? !live.has(one.ref) && clock.elapsed() - readAt(one) >= BATCHED_AGAIN_MS
        : !live.has(one.ref) || readAt(one) === NEVER,
    );
    const due = unknown.toSorted((a, b) => readAt(a) - readAt(b)).slice(0, isBatched ? BATCHED_PER_RUN : BOOKS_PER_RUN);
    const dueRefs = new Set(due.map(({ ref }) => ref));
    const named = await directory.byRef(platform, [...new Set([...live.keys(), ...dueRefs])]);
    for (const [ref, book] of live) {
      writer.setResting(platform, ref, restingFigures(book, rewardsMinSize(named.get(ref))));
    }
    const markets = new Map([...named].filter(([ref]) => dueRefs.has(ref)));
    const rows = isBatched ? await this.#readBatches(markets, run) : await this.#readEach(markets, live, run);
    return { freshTo: startedAt, rows: live.size + rows };
  }

  /** The listing reports the best levels; a recorded book adds the others, without a request. */
  #lookAtRecorded(): null {
    const { recorded, writer, data } = this.#deps;
    const found = new Set<string>();
    for (const ref of recorded.wanted()) {
      const book = recorded.book(ref);
      if (!book) continue;
      found.add(ref);
      writer.setResting(data.platform, ref, restingFigures(book, 0n));
    }
    for (const ref of this.#recorded) if (!found.has(ref)) writer.setResting(data.platform, ref, null);
    this.#recorded = found;
    return null;
  }

  /** One request a market; returns how many liquidities were read. */
  async #readEach(
    markets: ReadonlyMap<string, StoredMarket>,
    live: ReadonlyMap<string, BookSide>,
    run: JobRun,
  ): Promise<number> {
    const { data, clock, writer } = this.#deps;
    const { platform } = data;
    const reads = new ItemReads(run.signal);
    let rows = 0;
    for (const [ref, market] of markets) {
      if (run.signal.aborted) break;
      // A market that cannot be read waits for its next turn like any other.
      this.#readAt.set(ref, clock.elapsed());
      const found = await reads.attempt(async () => data.bookFigures?.(market, run.context('backfill')));
      if (!found || found instanceof PlatformError) continue;
      writer.setLastTrade(platform, ref, found.lastTradePrice);
      if (live.has(ref)) continue;
      writer.setResting(platform, ref, found.resting);
      rows += 1;
    }
    return rows;
  }

  /** Many markets a request; returns how many liquidities were read. */
  async #readBatches(markets: ReadonlyMap<string, StoredMarket>, run: JobRun): Promise<number> {
    const { data, clock, writer } = this.#deps;
    const all = [...markets.values()];
    let rows = 0;
    for (let at = 0; at < all.length && !run.signal.aborted; at += BATCH) {
      const batch = all.slice(at, at + BATCH);
      for (const { ref } of batch) this.#readAt.set(ref, clock.elapsed());
      const books = await data.orderBooks?.(batch, run.context('backfill'));
      for (const [ref, book] of books ?? []) {
        if (book instanceof PlatformError) continue;
        writer.setResting(data.platform, ref, restingFigures(book.yes, rewardsMinSize(markets.get(ref))));
        rows += 1;
      }
    }
    return rows;
  }
}
