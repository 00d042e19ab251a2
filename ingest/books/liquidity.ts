import { z } from 'zod';
import { Cache } from '../../src/core/cache.ts';
import type { MarketWriter } from '../../src/markets/writer.ts';
import { bestLevelLiquidity } from '../../src/platforms/book-sides.ts';
import type { MarketDirectory, PlatformData } from '../../src/platforms/contract.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { ItemFailures } from '../failure-backoff.ts';
import type { LiveBooks } from '../live/live-books.ts';
import type { JobResult, JobRun } from '../job-runner.ts';

/** Books read per run, one request each: 40 take 12 s at a platform's spacing of 300 ms. */
const BOOKS_PER_RUN = 40;
const REMEMBERED = 50_000;

const Row = z.object({ ref: z.string() });

export interface LiquidityDeps {
  /** Reads lists of markets. */
  lists: Pick<ClickHouse, 'query'>;
  writer: MarketWriter;
  data: PlatformData;
  directory: MarketDirectory;
  now: () => number;
  /** Books from sockets, which need no request. */
  liveBooks: Pick<LiveBooks, 'book'>;
}

/**
 * Reads the liquidity of open markets from their books, and their last trade, where the listing does not report it.
 * Markets without a value come first, by volume, then those read longest ago. Requests use the budget that polls and orders
 * leave; books from sockets cost none, but lack the last trade, for which each is read once.
 */
export class LiquidityReader {
  readonly #deps: LiquidityDeps;
  readonly #readAtMs = new Cache<string, number>({ limit: REMEMBERED });

  constructor(deps: LiquidityDeps) {
    this.#deps = deps;
  }

  async read(run: JobRun): Promise<JobResult | null> {
    const { lists, data, directory, now, writer, liveBooks } = this.#deps;
    if (!data.bookFigures) return null;
    const { platform } = data;
    const open = await lists.query('books_to_read', Row, { platform });
    const readAt = ({ ref }: { ref: string }): number => this.#readAtMs.get(ref) ?? 0;
    if (open.length === 0) return null;
    const startedAt = new Date(now());
    let rows = 0;
    const live = new Set<string>();
    for (const { ref } of open) {
      const book = liveBooks.book(ref);
      if (!book) continue;
      writer.setLiquidity(platform, ref, bestLevelLiquidity(book.bids[0], book.asks[0]));
      live.add(ref);
      rows += 1;
    }
    const unknown = open.filter((one) => !live.has(one.ref) || readAt(one) === 0);
    const due = unknown.toSorted((a, b) => readAt(a) - readAt(b)).slice(0, BOOKS_PER_RUN);
    const markets = await directory.byRef(
      platform,
      due.map(({ ref }) => ref),
    );
    const failures = new ItemFailures();
    for (const [ref, market] of markets) {
      if (run.signal.aborted) break;
      // A market that cannot be read waits for its next turn like any other.
      this.#readAtMs.set(ref, now());
      try {
        const found = await data.bookFigures(market, run.context('backfill'));
        failures.answered();
        if (found === null) continue;
        writer.setLastTrade(platform, ref, found.lastTradePrice);
        if (live.has(ref)) continue;
        writer.setLiquidity(platform, ref, found.liquidity);
        rows += 1;
      } catch (error) {
        failures.ofItem(error, run.signal);
      }
    }
    return { freshTo: startedAt, rows };
  }
}
