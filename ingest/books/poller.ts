import { z } from 'zod';
import { hasEnded } from '../../src/core/model.ts';
import { type Clock, MINUTE_MS } from '../../src/core/time.ts';
import { type BookRecorder, UNSEEN_MS } from '../../src/books/recorder.ts';
import type { StreamedBooks } from '../../src/books/wanted.ts';
import type { Config } from '../../src/core/config.ts';
import { PlatformError } from '../../src/core/errors.ts';
import { normalId, storedRefs, type StoredMarkets } from '../../src/markets/directory.ts';
import type { PlatformData, ReadContext, StoredMarket } from '../../src/platforms/contract.ts';
import type { Priority } from '../../src/platforms/http/request.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { ItemReads } from '../failure-backoff.ts';
import type { LiveBooks } from '../live/live-books.ts';
import type { JobResult, JobRun } from '../job-runner.ts';

/** Markets per call on platforms with batch calls; all are received at the same instant. */
const BOOKS_PER_CALL = 100;
/** Books read per run if each is a request: 40 take 12 s at a platform's spacing of 300 ms. */
const SINGLE_BOOKS_PER_RUN = 40;
/** The same for a run that reads only streamed books. */
const STREAMED_SINGLE_BOOKS = 8;
/** A book that contradicts its socket is polled again after this time: a frame that explains it may be on its way. */
const AGAIN_MS = 1000;
/** If each book is a request: at least this many books per run are polled to compare them with their socket, more if room is left. */
const LIVE_SINGLE_BOOKS = 4;
/** A streamed book is compared this often. */
const COMPARE_MS = 30_000;
/** A streamed book that polls have not brought for longer is a gap, unless more books are streamed than are polled in this time. */
const LATE_MS = MINUTE_MS;
/** Interval of the runs that read streamed books. */
const STREAMED_EVERY_MS = 5000;
/** Ranks within this share of the limit change all day: among them, markets that are recorded already come first. */
const EDGE = 0.25;
/** Before every time of a clock. */
const NEVER = -Number.MAX_VALUE;

const Row = z.object({ ref: z.string() });

export interface BookPollerDeps {
  lists: Pick<ClickHouse, 'query'>;
  recorder: BookRecorder;
  data: PlatformData;
  directory: StoredMarkets;
  config: Pick<Config, 'BOOKS_RECORD' | 'BOOKS_MARKETS'>;
  clock: Clock;
  streamed: Pick<StreamedBooks, 'refs'>;
  liveBooks: Pick<LiveBooks, 'book' | 'compare'>;
}

/** Polls the books of a platform's recorded markets, those read longest ago first, with the budget that trade polls leave. */
export class BookPoller {
  readonly #deps: BookPollerDeps;
  /** Streamed markets whose late books are gaps already. */
  #late: ReadonlySet<string> = new Set();

  constructor(deps: BookPollerDeps) {
    this.#deps = deps;
  }

  /** Decides which markets are recorded, and reads their books. */
  async read(run: JobRun): Promise<JobResult | null> {
    const { recorder, clock } = this.#deps;
    const startedAt = new Date(clock.now());
    await recorder.open(run.lease);
    const markets = await this.#want();
    if (markets.length === 0) return null;
    const rows = await this.#poll(markets, 'backfill', run, SINGLE_BOOKS_PER_RUN, 0);
    return { freshTo: startedAt, rows };
  }

  /** Reads the books that clients stream, more often than the others. */
  async readStreamed(run: JobRun): Promise<JobResult | null> {
    const { data, recorder, streamed, clock } = this.#deps;
    const refs = new Set(streamed.refs(data.platform));
    if (refs.size === 0) return null;
    const startedAt = new Date(clock.now());
    await recorder.open(run.lease);
    const markets = (await this.#want()).filter(({ ref }) => refs.has(ref));
    try {
      const rows = await this.#poll(markets, 'poll', run, STREAMED_SINGLE_BOOKS, COMPARE_MS);
      return { freshTo: startedAt, rows };
    } finally {
      this.#loseLate(markets);
    }
  }

  /** Starts a gap, once in an outage, for books that polls no longer bring. */
  #loseLate(markets: readonly StoredMarket[]): void {
    const { data, recorder, clock } = this.#deps;
    const rounds = data.orderBooks ? 0 : Math.ceil(markets.length / STREAMED_SINGLE_BOOKS);
    const mostMs = Math.min(UNSEEN_MS, Math.max(LATE_MS, 2 * rounds * STREAMED_EVERY_MS));
    const now = clock.now();
    const late = new Set<string>();
    for (const { ref } of markets) {
      const unseenMs = recorder.unseenMs(ref);
      if (unseenMs <= mostMs || this.#isLive(ref)) continue;
      late.add(ref);
      if (this.#late.has(ref)) continue;
      recorder.gap(
        ref,
        new Date(Math.ceil(now - unseenMs)).toISOString(),
        new Date(now).toISOString(),
        'no book was received',
      );
    }
    this.#late = late;
  }

  /** Reads books, at most `singles` if each is a request. A book with a socket is read `compareMs` after its last read at the earliest. */
  async #poll(
    markets: readonly StoredMarket[],
    priority: Priority,
    run: JobRun,
    singles: number,
    compareMs: number,
  ): Promise<number> {
    const { data, recorder, clock } = this.#deps;
    const at = ({ ref }: StoredMarket): number => recorder.polledAt(ref) ?? NEVER;
    const oldest = markets.toSorted((a, b) => at(a) - at(b));
    const unsent = oldest.filter(({ ref }) => !this.#isLive(ref)).slice(0, singles);
    const compared = oldest.filter((market) => this.#isLive(market.ref) && clock.elapsed() - at(market) >= compareMs);
    const some = compared.slice(0, Math.max(LIVE_SINGLE_BOOKS, singles - unsent.length));
    const first = await this.#readAll(data.orderBooks ? oldest : [...unsent, ...some], priority, run);
    if (first.contradicting.length === 0) return first.rows;
    await clock.sleep(AGAIN_MS, run.signal);
    return first.rows + (await this.#readAll(first.contradicting, priority, run)).rows;
  }

  #isLive(ref: string): boolean {
    const { recorder, liveBooks } = this.#deps;
    return liveBooks.book(ref) !== null && recorder.book(ref) !== null;
  }

  /** Reads books and passes them on. Returns how many were read, and the markets whose book differs from the socket's. */
  async #readAll(
    markets: readonly StoredMarket[],
    priority: Priority,
    run: JobRun,
  ): Promise<{ rows: number; contradicting: StoredMarket[] }> {
    const { data, recorder, clock, liveBooks } = this.#deps;
    const perCall = data.orderBooks ? BOOKS_PER_CALL : 1;
    const contradicting = new Set<string>();
    const reads = new ItemReads(run.signal);
    let rows = 0;
    for (let from = 0; from < markets.length && !run.signal.aborted; from += perCall) {
      const [askedAt, askedMs] = [clock.now(), clock.elapsed()];
      const books = await readBooks(data, markets.slice(from, from + perCall), run.context(priority), reads);
      const receivedAt = new Date(clock.now()).toISOString();
      for (const [ref, book] of books) {
        if (book instanceof PlatformError) continue;
        if (liveBooks.compare(ref, book, askedAt)) contradicting.add(ref);
        // The platform may answer with a cached book that is older than the last event of its socket.
        if (this.#isLive(ref)) recorder.compared(ref);
        else recorder.polled(ref, book, receivedAt, askedMs);
        rows += 1;
      }
    }
    return { rows, contradicting: markets.filter(({ ref }) => contradicting.has(ref)) };
  }

  /** Sets the markets to record, and returns them. */
  async #want(): Promise<StoredMarket[]> {
    const { lists, config, data, directory, recorder } = this.#deps;
    const { platform } = data;
    const named = config.BOOKS_MARKETS.flatMap((id) =>
      id.startsWith(`${platform}:`) ? id.slice(platform.length + 1) : [],
    );
    const explicit = await storedRefs(
      lists,
      platform,
      named.flatMap((id) => normalId(platform, id) ?? []),
    );
    const refs = [...explicit.values(), ...this.#deps.streamed.refs(platform), ...(await this.#mostTraded())];
    const recorded = recorder.wanted();
    const known = await directory.storedByRef(platform, [...new Set([...refs, ...recorded])]);
    // In the order of `refs`, most wanted first; `known` has another order.
    const ordered = refs.flatMap((ref) => known.get(ref) ?? []);
    const markets = new Map(ordered.map((market) => [market.ref, market]));
    const open = [...markets.values()].filter((market) => !hasEnded(market));
    const ended = recorded.filter((ref) => {
      const market = known.get(ref);
      return market !== undefined && hasEnded(market);
    });
    recorder.want(open, new Set(ended));
    return open;
  }

  async #mostTraded(): Promise<string[]> {
    const { lists, config, data, recorder } = this.#deps;
    const { BOOKS_RECORD: most } = config;
    if (most === 0) return [];
    const { platform } = data;
    const limit = Math.ceil(most * (1 + EDGE));
    const refs = (await lists.query('books_to_record', Row, { platform, limit })).map(({ ref }) => ref);
    const sure = Math.floor(most * (1 - EDGE));
    const recorded = new Set(recorder.wanted());
    const edge = refs.slice(sure);
    const stays = edge.filter((ref) => recorded.has(ref));
    const others = edge.filter((ref) => !recorded.has(ref));
    return [...refs.slice(0, sure), ...stays, ...others].slice(0, most);
  }
}

type Books = Awaited<ReturnType<NonNullable<PlatformData['orderBooks']>>>;

async function readBooks(
  data: PlatformData,
  markets: readonly StoredMarket[],
  context: ReadContext,
  reads: ItemReads,
): Promise<Books> {
  if (data.orderBooks) return data.orderBooks(markets, context);
  const books: Books = new Map();
  for (const market of markets) {
    const book = await reads.attempt(() => data.orderBook(market, context));
    if (book) books.set(market.ref, book);
  }
  return books;
}
