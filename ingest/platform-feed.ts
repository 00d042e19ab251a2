import type { FastifyBaseLogger } from 'fastify';
import type { AnnouncedBook } from '../src/books/announcer.ts';
import { BookRecorder } from '../src/books/recorder.ts';
import { type Clock, DAY_MS } from '../src/core/time.ts';
import type { ClickHouse } from '../src/stores/clickhouse/client.ts';
import type { Config } from '../src/core/config.ts';
import type { StoredMarkets } from '../src/markets/directory.ts';
import type { MarketWriter } from '../src/markets/writer.ts';
import type { PlatformData } from '../src/platforms/contract.ts';
import { MANIFESTS } from '../src/platforms/manifests.ts';
import type { Lease, Shared } from '../src/stores/shared/shared.ts';
import type { Postgres } from '../src/stores/postgres/client.ts';
import type { Projector } from '../src/present/projector.ts';
import { PresentKeeper } from '../src/present/catch-up.ts';
import { TradeCopier } from '../src/present/trades/copier.ts';
import { backfillTrades } from './backfill.ts';
import { type CandlesDeps, refreshCandles } from './candles.ts';
import { type Job, JobRunner, type JobRun } from './job-runner.ts';
import { FirstListing } from './markets/first-listing.ts';
import { KeptLists } from './markets/kept-lists.ts';
import { lastRun } from './last-run.ts';
import { followSockets, type LiveIngestion } from './live/follow.ts';
import { pollHintedTrades } from './live/hinted-trades.ts';
import { LiveBooks } from './live/live-books.ts';
import type { LiveSockets } from './live/live-trades.ts';
import type { QuotedMarkets } from './live/quoted-markets.ts';
import { MarketSweeper } from './markets/market-sweep.ts';
import { MarketLog } from './markets/market-log.ts';
import type { MarketMatcher } from './matches/matcher.ts';
import { LiquidityReader } from './books/liquidity.ts';
import { OpenInterestReader } from './markets/open-interest.ts';
import { DayFileWriter } from './day-files.ts';
import { EventImageReader } from './markets/event-images.ts';
import type { StreamedBooks } from '../src/books/wanted.ts';
import { BookPoller } from './books/poller.ts';
import { progressOf } from './progress.ts';
import type { Spool } from './spool/spool.ts';
import type { TradeInserts } from './spool/trade-inserts.ts';
import { TradeLog } from './trade-log.ts';
import { TradeWriter } from './trade-writer.ts';
import { fillTradeGaps, pollGlobalTrades, pollMarketTrades, type TradesDeps } from './trades.ts';
import { FailureBackoff } from './failure-backoff.ts';
import { Watermarks } from './watermarks.ts';

const CHECKPOINT_SECONDS = 60;
const FULL_SECONDS = 6 * 3600;
const FOLLOW_SECONDS = 5;
const BOOKS_SECONDS = 60;
const PRESENT_SECONDS = 60;
/** Day files wait this long after a start: listings and trades come first. */
const FILES_AFTER_SECONDS = 30;
/** The longest time between two reads of a market whose trades cannot be read. */
const MARKET_RETRY_MS = 5 * 60_000;
/** A listing waits this long for its copy in PostgreSQL, which may be away. */
const COPIED_MS = 5000;

export interface PlatformFeedDeps {
  config: Config;
  log: FastifyBaseLogger;
  clock: Clock;
  clickhouse: ClickHouse;
  postgres: Postgres;
  present: Projector;
  shared: Shared;
  markets: StoredMarkets;
  marketWriter: MarketWriter;
  spool: Spool;
  /** Takes the trades of every platform. */
  inserts: TradeInserts;
  matcher: MarketMatcher;
  /** Takes the quotes of every platform. */
  quoted: QuotedMarkets;
  streamed: StreamedBooks;
  /** Called with every message of a recorded book. */
  announce: (message: AnnouncedBook) => void;
  /** Runs a job now; if it is running, once more afterwards. */
  trigger: JobRunner['trigger'];
  /** Absent if everything is polled. */
  sockets?: LiveSockets;
}

/** The jobs of one platform and what they share. */
export class PlatformFeed {
  readonly data: PlatformData;
  readonly trades: TradesDeps;
  readonly #deps: PlatformFeedDeps;
  readonly #candlesDeps: CandlesDeps;
  readonly #writer: TradeWriter;
  readonly #sweeper: MarketSweeper;
  readonly #lists: KeptLists;
  readonly #openInterest: OpenInterestReader;
  readonly #liquidity: LiquidityReader;
  readonly #images: EventImageReader;
  readonly #recorder: BookRecorder;
  readonly #liveBooks: LiveBooks;
  readonly #books: BookPoller;
  readonly #files: DayFileWriter;
  readonly #marketLog: MarketLog;
  readonly #present: PresentKeeper;
  readonly #stopping = new AbortController();
  readonly #listing: FirstListing;
  #fullAt = 0;
  #changedSinceMs: number;
  #live: LiveIngestion | null = null;
  readonly #lastRun = (job: string): Promise<Date | null> => lastRun(this.#deps.clickhouse, this.data.platform, job);

  constructor(deps: PlatformFeedDeps, data: PlatformData) {
    const { clickhouse, log, clock } = deps;
    this.data = data;
    this.#deps = deps;
    const { platform } = data;
    const events = new TradeLog({ ...deps, platform, isUrgent: deps.inserts.isUrgent });
    // Also for trades of histories, gaps and backfills: the copy of a market counts their takers.
    const onStored = (refs: Set<string>): void => deps.present.changed(platform, refs);
    const copier = new TradeCopier(deps, platform);
    this.#writer = new TradeWriter({ ...deps, platform, events, onStored, copier });
    this.#present = new PresentKeeper({ ...deps, copier }, platform);
    this.#marketLog = new MarketLog({ ...deps, platform });
    const onWritten = (refs: readonly string[]): void => this.#live?.feed.stored(refs);
    this.#sweeper = new MarketSweeper({ clickhouse, writer: deps.marketWriter, data, log, clock, onWritten });
    this.#lists = new KeptLists(clickhouse, clock);
    const lists = this.#lists;
    this.#openInterest = new OpenInterestReader({ clock, lists, writer: deps.marketWriter, data });
    this.#recorder = new BookRecorder({ ...deps, platform });
    this.#liveBooks = new LiveBooks(this.#recorder, clock);
    const reading = { lists, data, directory: deps.markets, clock, liveBooks: this.#liveBooks };
    this.#liquidity = new LiquidityReader({ ...reading, recorded: this.#recorder, writer: deps.marketWriter });
    this.#books = new BookPoller({ ...deps, ...reading, recorder: this.#recorder });
    this.#images = new EventImageReader({ ...deps, lists, data });
    this.#files = new DayFileWriter({ clickhouse, dataDir: deps.config.dataDir, platform, clock });
    this.#changedSinceMs = clock.now() - 10 * 60_000;
    this.#listing = new FirstListing({ clickhouse, clock, platform, onOver: () => deps.trigger(platform, 'trades') });
    this.trades = {
      clickhouse,
      log,
      writer: this.#writer,
      watermarks: new Watermarks(clickhouse, platform, clock, copier),
      directory: deps.markets,
      onTradesStored: async (refs) => {
        await deps.marketWriter.onTradesStored(platform, refs);
        this.#live?.feed.stored(refs);
      },
      onAllStored: (sinceUs) => deps.marketWriter.markAllStale(platform, sinceUs),
      backfillDays: deps.config.BACKFILL_DAYS,
      clock,
      // The mark of all markets waits for a market that cannot be read, and a read of one costs one request.
      backoff: new FailureBackoff(clock, data.tradeFeed === 'global' ? undefined : MARKET_RETRY_MS),
    };
    this.#candlesDeps = { clickhouse, directory: deps.markets, clock, backoff: new FailureBackoff(clock) };
  }

  /** Follows the platform's sockets, if it has any. */
  follow(runner: JobRunner): void {
    const { sockets, ...deps } = this.#deps;
    const adapter = sockets?.adapters[this.data.platform];
    if (!sockets || !adapter) return;
    const lease = `${this.data.platform}:trades`;
    this.#live = followSockets({
      ...deps,
      ...sockets,
      sockets: adapter,
      data: this.data,
      trades: this.trades,
      recorder: this.#recorder,
      liveBooks: this.#liveBooks,
      run: () => this.leasedRun(runner.held(lease)),
      isHolder: () => runner.held(lease) !== null,
      trigger: (job) => this.#deps.trigger(this.data.platform, job),
    });
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#live?.stop();
    await this.#recorder.close();
  }

  /** Call it when a process has stored these markets with other facts or another status. */
  marketsMoved(refs: readonly string[]): void {
    this.#sweeper.stored(refs);
    this.#lists.forget();
    this.#marketLog.marketsStored();
    this.#deps.matcher.marketsStored(this.data.platform);
  }

  jobs(): Job[] {
    const { SWEEP_SECONDS: sweep, TRADES_SECONDS: trades, FILES_SECONDS: files } = this.#deps.config;
    const { platform } = this.data;
    type Given = [name: string, lease: string, everySeconds: number, run: Job['run']];
    const job = (...[name, lease, everySeconds, run]: Given): Job => ({ platform, name, lease, everySeconds, run });
    /** A job that needs stored markets, whose names are in rows of trades. It asks nothing of the stores during a first listing. */
    const listed = (...[name, lease, everySeconds, run]: Given): Job =>
      job(name, lease, everySeconds, async (given) => ((await this.#listing.isOver()) ? run(given) : null));
    return [
      job('markets', 'markets', sweep * this.data.sweepFactor, (run) => this.#listMarkets(run)),
      listed('changed', 'markets', sweep, (run) => this.#listChanged(run)),
      job('archive', 'markets', FULL_SECONDS, (run) => this.#listArchive(run)),
      listed('open_interest', 'markets', sweep, (run) => this.#openInterest.read(run)),
      listed('images', 'markets', sweep, (run) => this.#images.read(run)),
      listed('liquidity', 'markets', sweep, (run) => this.#liquidity.read(run)),
      // Under the trades lease: the process that holds the sockets also keeps the books they deliver.
      listed('books', 'trades', Math.min(sweep, BOOKS_SECONDS), (run) => this.#books.read(run)),
      listed('streamed_books', 'trades', Math.min(sweep, FOLLOW_SECONDS), (run) => this.#books.readStreamed(run)),
      job('market_events', 'markets', Math.min(sweep, FOLLOW_SECONDS), (run) => this.#logMarkets(run)),
      listed('matches', 'matches', Math.min(sweep, FOLLOW_SECONDS), (run) => this.#deps.matcher.run(platform, run)),
      // Under the trades lease, as trades that the previous holder stored may not be copied.
      job('present', 'trades', PRESENT_SECONDS, (run) => this.#storing(run, () => this.#keepPresent(run))),
      listed('trades', 'trades', trades, (run) => this.#poll(run)),
      listed('backfill', 'trades', trades, (run) => this.#backfill(run)),
      listed('gaps', 'trades', sweep, (run) => this.#storing(run, () => fillTradeGaps(this.trades, this.data, run))),
      ...(files > 0
        ? [{ ...job('files', 'files', files, (run) => this.#files.run(run)), firstAfterSeconds: FILES_AFTER_SECONDS }]
        : []),
      listed('candles', 'candles', sweep * 5, (run) => this.#candles(run)),
      job('checkpoint', 'trades', CHECKPOINT_SECONDS, (run) =>
        this.#storing(run, async () => ({ freshTo: this.#writer.consistentUntil(), rows: 0 })),
      ),
    ];
  }

  /** A run for client requests, outside the schedule; null while this process may not store trades. */
  leasedRun(lease: Lease | null): JobRun | null {
    if (!lease || !this.#writer.isOpenUnder(lease)) return null;
    const { signal } = this.#stopping;
    return { lease, signal, context: (priority) => ({ priority, signal, onBadRow: () => {} }) };
  }

  async #listMarkets(run: JobRun) {
    // Math.abs: also due if the clock was ahead at the last full sweep.
    const full = Math.abs(this.#deps.clock.now() - this.#fullAt) >= FULL_SECONDS * 1000;
    const startedAt = this.#deps.clock.now();
    const isFirst = !(await this.#listing.isStored());
    const scope = { kind: full ? 'full' : 'open' } as const;
    const result = await this.#listing.during(() => this.#sweeper.sweep(scope, run, { isUrgent: isFirst }));
    if (full) this.#fullAt = startedAt;
    // The end of this run says that lists are complete, and lists are read from PostgreSQL. So a first listing is copied at once.
    await this.#deps.present.copied(COPIED_MS, { isUrgent: isFirst });
    await this.#marketLog.begin(run.lease);
    return result;
  }

  /** What this process is about to copy need not be found in the stores. */
  async #keepPresent(run: JobRun) {
    await this.#deps.present.copied(COPIED_MS);
    return this.#present.run(run.lease);
  }

  async #logMarkets(run: JobRun) {
    // Messages of other processes may be missed.
    if (!this.#deps.shared.healthy()) {
      this.marketsMoved([]);
      this.#sweeper.recallAgain();
    }
    const rows = await this.#marketLog.stepIfDue(run.lease);
    return rows === 0 ? null : { freshTo: new Date(this.#deps.clock.now()), rows };
  }

  async #listChanged(run: JobRun) {
    const startedAt = this.#deps.clock.now();
    const result = await this.#sweeper.sweep(
      { kind: 'changed', sinceMs: Math.min(this.#changedSinceMs, startedAt - 60_000) },
      run,
    );
    this.#changedSinceMs = startedAt - 60_000;
    return result;
  }

  /** Archives hold years of markets: read in full once, then only the additions. */
  async #listArchive(run: JobRun) {
    const last = await this.#lastRun('archive');
    return this.#sweeper.sweep({ kind: 'historical', sinceMs: last ? last.getTime() - DAY_MS : 0 }, run);
  }

  async #poll(run: JobRun) {
    const whole = this.data.tradeFeed === 'global' ? pollGlobalTrades : pollMarketTrades;
    const read = (movedMs?: number) => this.#storing(run, () => whole(this.trades, this.data, run, movedMs));
    const live = this.#live;
    if (!live) return read();
    return live.trades.poll(live.feed, read, (...hinted) =>
      this.#storing(run, () => pollHintedTrades(this.trades, this.data, run, ...hinted)),
    );
  }

  async #backfill(run: JobRun) {
    if (this.data.tradeFeed !== 'global') return null;
    const show = progressOf(this.#deps.log, this.#deps.clock);
    return this.#storing(run, () => backfillTrades(this.trades, this.data, run, show));
  }

  async #candles(run: JobRun) {
    if (!MANIFESTS[this.data.platform].barsBringQuotes) return null;
    return refreshCandles(this.#candlesDeps, this.data, run);
  }

  /** The previous holder of the lease may have left unfinished work, so the writer opens first. */
  async #storing<T>({ lease }: JobRun, work: () => Promise<T>): Promise<T> {
    await this.#writer.openOnce(lease, () => this.#lastRun('checkpoint'));
    return work();
  }
}
