import type { BookSide, Platform } from '../../src/core/model.ts';
import type { PlatformSockets, SocketObserver } from '../../src/platforms/sockets/contract.ts';
import type { Shared } from '../../src/stores/shared/shared.ts';
import type { JobResult } from '../job-runner.ts';
import type { HintedFeed } from './hinted-feed.ts';
import { LiveFeed, type LiveFeedDeps } from './live-feed.ts';
import { MarketRefresh, type MarketRefreshDeps } from './market-refresh.ts';
import { PollHints } from './poll-hints.ts';
import { TradeProof } from './trade-proof.ts';

/** While sockets bring trades, a whole reading comes this often; of a feed for each market, where hints are read beside it, more often. */
const WHOLE_MS = 60_000;
const WHOLE_EACH_MS = 15_000;
/** How often it is stored up to when hinted readings of the one feed are complete. */
const SETTLE_MS = 5000;
/** Hints of a global feed are hints of one thing. */
const FEED = '';

/** Called with a market that was read and the rows that were new. */
export type Found = (ref: string, rows: number) => void;

/** The sockets of the platforms, and who counts what happens on them. */
export interface LiveSockets {
  adapters: { readonly [P in Platform]?: PlatformSockets };
  observer: SocketObserver;
  /** Multiplies the time limits of sockets; tests shorten them. */
  pace?: number;
}

export interface LiveTradesDeps extends Omit<LiveFeedDeps, 'onTrade' | 'onMarket' | 'onReady' | 'publish'> {
  shared: Pick<Shared, 'publish'>;
  /** Reads the one feed of trades for all markets; null where each market has its own. */
  hinted: HintedFeed | null;
  /** Runs the job that reads trades. */
  poll: () => void;
  /** Reads and stores one market; false where the platform does not know it. */
  read: MarketRefreshDeps['read'];
}

/**
 * Decides when trades are read where sockets say that some were made: at once and again while the platform may still show more, and
 * wholly every minute and after each break. What is stored is what polling reads.
 */
export class LiveTrades {
  readonly #hinted: HintedFeed | null;
  readonly #feed: LiveFeed;
  readonly #hints: PollHints;
  readonly #refresh: MarketRefresh;
  /** Markets that hints say to read. */
  readonly #due = new Set<string>();
  readonly #proof = new TradeProof();
  /** By performance.now(). */
  #wholeAt = 0;
  #settleAt = 0;

  constructor(deps: LiveTradesDeps) {
    const { tradeDelaysMs, tradeGapMs, readEveryMs } = deps.sockets;
    const { hinted } = deps;
    this.#hinted = hinted;
    this.#hints = new PollHints({
      delaysMs: tradeDelaysMs,
      gapMs: tradeGapMs * (deps.pace ?? 1),
      everyMs: hinted ? 0 : readEveryMs,
      onDue: (key) => {
        if (hinted) hinted.read();
        else this.#due.add(key);
        if (!hinted || performance.now() >= this.#settleAt) deps.poll();
      },
    });
    this.#refresh = new MarketRefresh({ log: deps.log, read: deps.read, everyMs: readEveryMs });
    this.#feed = new LiveFeed({
      ...deps,
      publish: (...message) => deps.shared.publish(...message),
      onTrade: (ref) => {
        this.#proof.said(performance.now());
        hinted?.hint();
        this.#hints.add(hinted ? FEED : ref);
      },
      onMarket: (id, status) => this.#refresh.add(id, status),
      onReady: () => {
        this.#wholeAt = 0;
        this.#proof.said(performance.now());
        hinted?.interrupt();
        deps.poll();
      },
    });
  }

  /** Makes the next reading a whole one. */
  mistrust(): void {
    this.#wholeAt = 0;
  }

  /**
   * Reads what is due: everything, the markets that were hinted at, or nothing. `hinted` gets the markets and says how many rows each of
   * them brought; the one feed of all trades is read beside, and only what was read is said here.
   */
  async poll(
    whole: () => Promise<JobResult>,
    hinted: (refs: readonly string[], found: Found) => Promise<JobResult>,
  ): Promise<JobResult | null> {
    const now = performance.now();
    const refs = [...this.#due];
    this.#due.clear();
    const feed = this.#hinted;
    // Where each market has its own feed, what moved without a hint is found by its volume alone.
    const isWhole = now >= this.#wholeAt || (feed ? !this.#feed.isLive : refs.length === 0);
    try {
      let result: JobResult | null = null;
      if (refs.length > 0) result = await hinted(refs, (...found) => this.#hints.found(...found));
      if (isWhole) {
        result = await whole();
        if (feed && this.#proof.isSilent(now, result.rows) && this.#feed.isLive) {
          this.#feed.replaceTrades('trades are made that it does not bring');
        }
        this.#wholeAt = now + (feed ? WHOLE_MS : WHOLE_EACH_MS);
        feed?.begin(result.freshTo);
      }
      this.#settleAt = now + SETTLE_MS;
      return result ?? (await feed?.settle()) ?? null;
    } catch (error) {
      this.#wholeAt = 0;
      throw error;
    }
  }

  /** Compares a book that was read with the one that sockets bring; one that lacks what changed is replaced. */
  compareBook(ref: string, book: BookSide, askedMs: number): void {
    this.#feed.compareBook(ref, book, askedMs);
  }

  /** A market's book as sockets bring it now; null where they do not. */
  book(ref: string): BookSide | null {
    return this.#feed.book(ref);
  }

  async stop(): Promise<void> {
    this.#hints.stop();
    this.#refresh.stop();
    await this.#feed.stop();
    await this.#hinted?.stop();
  }
}
