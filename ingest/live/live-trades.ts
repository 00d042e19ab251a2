import type { Platform } from '../../src/core/model.ts';
import type { PlatformSockets, SocketObserver } from '../../src/platforms/sockets/contract.ts';
import type { Shared } from '../../src/stores/shared/shared.ts';
import { LiveFeed, type LiveFeedDeps } from './live-feed.ts';
import { MarketRefresh } from './market-refresh.ts';
import { PollHints } from './poll-hints.ts';

/** While sockets bring trades, a whole reading comes this often. */
const WHOLE_MS = 60_000;
/** Between two readings that sockets ask for. */
const GAP_MS = 2000;
/** Hints of a global feed are hints of one thing. */
const FEED = '';

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
  readonly #feed: LiveFeed;
  readonly #hints: PollHints;
  readonly #refresh: MarketRefresh;
  #isHinted = false;
  /** By performance.now(). */
  #wholeAt = 0;

  constructor(deps: LiveTradesDeps) {
    this.#hints = new PollHints({
      delaysMs: deps.sockets.tradeDelaysMs,
      gapMs: GAP_MS,
      onDue: () => {
        this.#isHinted = true;
        deps.poll();
      },
    });
    this.#refresh = new MarketRefresh({ log: deps.log, read: deps.read });
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

  /** Reads what is due: everything, what was hinted at, or nothing. */
  async poll<T>(whole: () => Promise<T>, hinted: () => Promise<T>): Promise<T | null> {
    const now = performance.now();
    const isHinted = this.#isHinted;
    const isWhole = now >= this.#wholeAt || (!isHinted && !this.#feed.isLive);
    if (!isWhole && !isHinted) return null;
    this.#isHinted = false;
    try {
      const result = await (isWhole ? whole() : hinted());
      if (isWhole) this.#wholeAt = now + WHOLE_MS;
      return result;
    } catch (error) {
      this.#wholeAt = 0;
      throw error;
    }
  }

  async stop(): Promise<void> {
    this.#hints.stop();
    this.#refresh.stop();
    await this.#feed.stop();
  }
}
