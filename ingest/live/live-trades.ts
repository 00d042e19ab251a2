import type { Clock } from '../../src/core/time.ts';
import type { Platform } from '../../src/core/model.ts';
import type { PlatformSockets, SocketObserver } from '../../src/platforms/sockets/contract.ts';
import type { JobResult } from '../job-runner.ts';
import type { HintedFeed } from './hinted-feed.ts';
import { PollHints } from './poll-hints.ts';
import { TradeProof } from './trade-proof.ts';

/** Interval between full polls of a global feed while sockets report trades. */
const WHOLE_MS = 60_000;
/** The same for per-market feeds. */
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

/** The sockets that report trades. */
interface TradeSockets {
  /** Whether every new trade is currently reported. */
  readonly isLive: boolean;
  replaceTrades(reason: string): void;
}

interface LiveTradesDeps {
  clock: Clock;
  sockets: PlatformSockets;
  pace?: number | undefined;
  /** Polls the global trade feed; null if each market has its own feed. */
  hinted: HintedFeed | null;
  poll: () => void;
}

/**
 * Decides when to poll trades if sockets report them: immediately and again while the platform may still show more, and with a full poll
 * at intervals and after each lost connection. Only polled trades are stored.
 */
export class LiveTrades {
  readonly #deps: LiveTradesDeps;
  readonly #hinted: HintedFeed | null;
  readonly #hints: PollHints;
  /** Hinted markets that are due for a poll. */
  readonly #due = new Set<string>();
  readonly #proof = new TradeProof();
  /** When the next full poll, and the next move of the watermark, is due, by the clock's elapsed(). */
  #wholeAt = 0;
  #settleAt = 0;

  constructor(deps: LiveTradesDeps) {
    const { tradeDelaysMs, tradeGapMs, readEveryMs } = deps.sockets;
    const { hinted } = deps;
    this.#deps = deps;
    this.#hinted = hinted;
    this.#hints = new PollHints({
      clock: deps.clock,
      delaysMs: tradeDelaysMs,
      gapMs: tradeGapMs * (deps.pace ?? 1),
      everyMs: hinted ? 0 : readEveryMs,
      onDue: (key) => {
        if (hinted) hinted.read();
        else this.#due.add(key);
        if (!hinted || this.#deps.clock.elapsed() >= this.#settleAt) deps.poll();
      },
    });
  }

  /** A socket reports a trade of a market. */
  reported(ref: string): void {
    this.#proof.reported(this.#deps.clock.elapsed());
    this.#hinted?.hint();
    this.#hints.add(this.#hinted ? FEED : ref);
  }

  /** Sockets begin to report trades, or begin again after a lost connection: a full poll finds those before. */
  begin(): void {
    this.#wholeAt = 0;
    this.#proof.reported(this.#deps.clock.elapsed());
    this.#hinted?.interrupt();
    this.#deps.poll();
  }

  /** Makes the next poll a full one, for trades that hinted polls may have missed. */
  makeNextFull(): void {
    this.#wholeAt = 0;
  }

  /**
   * Runs a full poll, polls of hinted markets, or nothing. `hinted` gets the markets and reports the new rows of each. A global feed is
   * polled independently by HintedFeed, and only its result is returned here.
   */
  async poll(
    sockets: TradeSockets,
    whole: () => Promise<JobResult>,
    hinted: (refs: readonly string[], found: Found) => Promise<JobResult>,
  ): Promise<JobResult | null> {
    const now = this.#deps.clock.elapsed();
    const refs = [...this.#due];
    this.#due.clear();
    const feed = this.#hinted;
    // With per-market feeds, trades without a hint are found only by a market's volume.
    const isWhole = now >= this.#wholeAt || (feed ? !sockets.isLive : refs.length === 0);
    try {
      let result: JobResult | null = null;
      if (refs.length > 0) result = await hinted(refs, (...found) => this.#hints.found(...found));
      if (isWhole) {
        result = await whole();
        if (feed && this.#proof.isSilent(now, result.rows) && sockets.isLive) {
          sockets.replaceTrades('trades are made that it does not bring');
        }
        this.#wholeAt = now + (feed ? WHOLE_MS : WHOLE_EACH_MS);
        feed?.begin(result.freshTo, result.isHeld);
      }
      this.#settleAt = now + SETTLE_MS;
      return result ?? (await feed?.settle()) ?? null;
    } catch (error) {
      this.#wholeAt = 0;
      throw error;
    }
  }

  async stop(): Promise<void> {
    this.#hints.stop();
    await this.#hinted?.stop();
  }
}
