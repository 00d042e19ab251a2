import type { Platform } from '../../src/core/model.ts';
import type { PlatformSockets, SocketObserver } from '../../src/platforms/sockets/contract.ts';
import type { Shared } from '../../src/stores/shared/shared.ts';
import type { JobResult } from '../job-runner.ts';
import type { HintedFeed } from './hinted-feed.ts';
import { LiveFeed, type LiveFeedDeps } from './live-feed.ts';
import { MarketRefresh, type MarketRefreshDeps } from './market-refresh.ts';
import { PollHints } from './poll-hints.ts';
import { TradeProof } from './trade-proof.ts';

/** Interval between full polls while sockets report trades: of a global feed, and of per-market feeds in addition to hinted polls. */
const WHOLE_MS = 60_000;
const WHOLE_EACH_MS = 15_000;
/** Interval at which the watermark of hinted polls of a global feed is stored. */
const SETTLE_MS = 5000;
/** The one key for hints of a global feed. */
const FEED = '';

/** Called with a polled market and its number of new rows. */
export type Found = (ref: string, rows: number) => void;

/** The sockets of the platforms, and the observer that counts their events. */
export interface LiveSockets {
  adapters: { readonly [P in Platform]?: PlatformSockets };
  observer: SocketObserver;
  /** Multiplies the time limits of sockets; tests shorten them. */
  pace?: number;
}

export interface LiveTradesDeps extends Omit<LiveFeedDeps, 'onTrade' | 'onMarket' | 'onReady' | 'publish'> {
  shared: Pick<Shared, 'publish'>;
  /** Polls the global trade feed; null if each market has its own feed. */
  hinted: HintedFeed | null;
  /** Runs the job that polls trades. */
  poll: () => void;
  /** Reads and stores one market; false if the platform does not know it. */
  read: MarketRefreshDeps['read'];
}

/**
 * Decides when to poll trades if sockets report them: immediately and again while the platform may still show more, and with a full poll
 * at intervals and after each lost connection. Only polled trades are stored.
 */
export class LiveTrades {
  readonly #hinted: HintedFeed | null;
  readonly #feed: LiveFeed;
  readonly #hints: PollHints;
  readonly #refresh: MarketRefresh;
  /** Hinted markets that are due for a poll. */
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
      onMarket: (id, { status, tickSize }) =>
        this.#refresh.add(id, { ...(status && { status }), ...(tickSize && { tickSize }) }),
      onReady: () => {
        this.#wholeAt = 0;
        this.#proof.said(performance.now());
        hinted?.interrupt();
        deps.poll();
      },
    });
  }

  /** Makes the next poll a full one. */
  mistrust(): void {
    this.#wholeAt = 0;
  }

  /**
   * Runs a full poll, polls of hinted markets, or nothing. `hinted` gets the markets and reports the new rows of each. A global feed is
   * polled independently by HintedFeed, and only its result is returned here.
   */
  async poll(
    whole: () => Promise<JobResult>,
    hinted: (refs: readonly string[], found: Found) => Promise<JobResult>,
  ): Promise<JobResult | null> {
    const now = performance.now();
    const refs = [...this.#due];
    this.#due.clear();
    const feed = this.#hinted;
    // With per-market feeds, trades without a hint are found only by a market's volume.
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

  /** Markets that were stored with another price or volume. */
  stored(refs: Iterable<string>): void {
    this.#feed.stored(refs);
  }

  async stop(): Promise<void> {
    this.#hints.stop();
    this.#refresh.stop();
    await this.#feed.stop();
    await this.#hinted?.stop();
  }
}
