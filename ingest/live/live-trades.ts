import type { Clock } from '../../src/core/time.ts';
import type { Platform } from '../../src/core/model.ts';
import type { PlatformSockets, SocketObserver } from '../../src/platforms/sockets/contract.ts';
import type { JobResult } from '../job-runner.ts';
import type { HintedFeed } from './hinted-feed.ts';
import { PollHints } from './poll-hints.ts';
import { TradeProof } from './trade-proof.ts';

/** Interval between full polls of a global feed while sockets report trades. */
const WHOLE_MS = 60_000;
/** A full poll reads at most this much more than its overlap. */
const MOST_MOVED_MS = 5 * WHOLE_MS;
/** The interval of full polls for per-market feeds. */
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

type FullPoll = (movedMs: number) => Promise<JobResult>;

/** When a poll began, by the clock's elapsed(), and how often sockets had begun to report trades by then. */
interface Start {
  now: number;
  begins: number;
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
 * Decides when to poll trades if sockets report them. It polls at once, and again as long as the platform may show more. A full poll runs
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
  /** When the last full poll began, by the clock's elapsed(); null before the first, which may follow hinted polls of another process. */
  #wholeFrom: number | null = null;
  /** How often sockets began to report trades. */
  #begins = 0;

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
    this.#begins += 1;
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
   * A full poll (`whole`) runs when it is due, or when sockets do not report every trade. Otherwise only hinted markets are polled.
   * `movedMs`: by how much hinted polls may have moved the watermark since the last full poll. HintedFeed polls a global feed by itself;
   * this returns its result.
   */
  async poll(
    sockets: TradeSockets,
    whole: FullPoll,
    hinted: (refs: readonly string[], found: Found) => Promise<JobResult>,
  ): Promise<JobResult | null> {
    const start: Start = { now: this.#deps.clock.elapsed(), begins: this.#begins };
    const refs = [...this.#due];
    this.#due.clear();
    // With per-market feeds, trades without a hint are found only by a market's volume.
    const isFull = start.now >= this.#wholeAt || (this.#hinted ? !sockets.isLive : refs.length === 0);
    try {
      const polled = refs.length === 0 ? null : await hinted(refs, (...found) => this.#hints.found(...found));
      const result = isFull ? await this.#pollFull(start, sockets, whole) : polled;
      this.#settleAt = start.now + SETTLE_MS;
      return result ?? (await this.#hinted?.settle()) ?? null;
    } catch (error) {
      this.#wholeAt = 0;
      throw error;
    }
  }

  async #pollFull({ now, begins }: Start, sockets: TradeSockets, whole: FullPoll): Promise<JobResult> {
    const feed = this.#hinted;
    const sinceLastMs = this.#wholeFrom === null ? WHOLE_MS : now - this.#wholeFrom;
    const result = await whole(Math.min(sinceLastMs, MOST_MOVED_MS));
    this.#wholeFrom = now;
    if (feed && this.#proof.isSilent(now, result.rows) && sockets.isLive) {
      sockets.replaceTrades('it does not report trades that polls find');
    }
    // After a reconnect, trades may be missing that were made while this poll ran.
    if (begins === this.#begins) this.#wholeAt = now + (feed ? WHOLE_MS : WHOLE_EACH_MS);
    feed?.begin(result.freshTo, result.isHeld);
    return result;
  }

  async stop(): Promise<void> {
    this.#hints.stop();
    await this.#hinted?.stop();
  }
}
