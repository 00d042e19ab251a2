import type { BookSide, Platform } from '../../src/core/model.ts';
import type { PlatformSockets, SocketObserver } from '../../src/platforms/sockets/contract.ts';
import type { Shared } from '../../src/stores/shared/shared.ts';
import { LiveFeed, type LiveFeedDeps } from './live-feed.ts';
import { MarketRefresh } from './market-refresh.ts';
import { PollHints } from './poll-hints.ts';

/** While sockets bring trades, a whole reading comes this often; of a feed for each market, where hints are read beside it, more often. */
const WHOLE_MS = 60_000;
const WHOLE_EACH_MS = 15_000;
/** How far before its mark a reading begins that a socket asked for; a whole one comes every minute. */
const REACH_MS = 60_000;
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
  /** Whether the platform has one feed of trades for all markets. */
  isGlobal: boolean;
  /** Runs the job that reads trades. */
  poll: () => void;
  /** Reads and stores one market; false where the platform does not know it. */
  read: (id: string) => Promise<boolean>;
}

/**
 * Decides when trades are read where sockets say that some were made: at once and again while the platform may still show more, and
 * wholly every minute and after each break. What is stored is what polling reads.
 */
export class LiveTrades {
  /** How far before its mark a reading of the one feed begins that hints ask for, ms. */
  readonly reachMs: number;
  readonly #isGlobal: boolean;
  readonly #feed: LiveFeed;
  readonly #hints: PollHints;
  readonly #refresh: MarketRefresh;
  /** Markets, or the one feed, that hints say to read. */
  readonly #due = new Set<string>();
  /** By performance.now(). */
  #wholeAt = 0;

  constructor(deps: LiveTradesDeps) {
    const { tradeDelaysMs, tradeGapMs, readEveryMs } = deps.sockets;
    this.reachMs = deps.sockets.tradeReachMs ?? REACH_MS;
    this.#isGlobal = deps.isGlobal;
    this.#hints = new PollHints({
      delaysMs: tradeDelaysMs,
      gapMs: tradeGapMs * (deps.pace ?? 1),
      everyMs: readEveryMs,
      onDue: (key) => {
        this.#due.add(key);
        deps.poll();
      },
    });
    this.#refresh = new MarketRefresh({ log: deps.log, read: deps.read, everyMs: readEveryMs });
    this.#feed = new LiveFeed({
      ...deps,
      publish: (...message) => deps.shared.publish(...message),
      onTrade: (ref) => this.#hints.add(deps.isGlobal ? FEED : ref),
      onMarket: (id) => this.#refresh.add(id),
      onReady: () => {
        this.#wholeAt = 0;
        deps.poll();
      },
    });
  }

  /**
   * Reads what is due: everything, what was hinted at, or nothing. `hinted` gets the markets, which a feed of all trades does not need,
   * and says how many rows each of them brought.
   */
  async poll<T>(
    whole: () => Promise<T>,
    hinted: (refs: readonly string[], found: Found) => Promise<T>,
  ): Promise<T | null> {
    const now = performance.now();
    const refs = [...this.#due];
    const isHinted = refs.length > 0;
    // Where each market has its own feed, what moved without a hint is found by its volume alone.
    const isWhole = now >= this.#wholeAt || (!isHinted && !(this.#isGlobal && this.#feed.isLive));
    this.#due.clear();
    try {
      let result: T | null = null;
      if (isHinted && !(isWhole && this.#isGlobal))
        result = await hinted(refs, (...found) => this.#hints.found(...found));
      if (isWhole) {
        result = await whole();
        this.#wholeAt = now + (this.#isGlobal ? WHOLE_MS : WHOLE_EACH_MS);
      }
      return result;
    } catch (error) {
      this.#wholeAt = 0;
      throw error;
    }
  }

  /** A market's book as sockets bring it now; null where they do not. */
  book(ref: string): BookSide | null {
    return this.#feed.book(ref);
  }

  async stop(): Promise<void> {
    this.#hints.stop();
    this.#refresh.stop();
    await this.#feed.stop();
  }
}
