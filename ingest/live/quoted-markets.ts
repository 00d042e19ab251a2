import type { FastifyBaseLogger } from 'fastify';
import type { Clock } from '../../src/core/time.ts';
import { Cache } from '../../src/core/cache.ts';
import type { Platform } from '../../src/core/model.ts';
import type { StoredMarkets } from '../../src/markets/directory.ts';
import type { SocketQuote } from '../../src/platforms/sockets/contract.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { QuotedPrice } from './followed-prices.ts';
import type { FollowedMarket } from './quote-publisher.ts';

const REMEMBERED = 100_000;
/** A market is looked up again after this time, because its volume rises. */
const KNOWN_MS = 300_000;
/** An unlisted market may be stored soon. Many never are, so the next look-up waits for a share of the time since the first. */
const UNKNOWN_MS = 3000;
const UNKNOWN_SHARE = 0.25;
/** Markets per look-up, and the maximum number of waiting ones. */
const BATCH = 500;
const WAITING = 20_000;

interface Known {
  /** null while the market is not listed. */
  market: FollowedMarket | null;
  /** When its first look-up ended, and until when this one holds, by the clock's elapsed(). */
  since: number;
  until: number;
}

interface Waiting {
  quote: SocketQuote;
  receivedMs: number;
}

export interface QuotedMarketsDeps {
  clock: Clock;
  platform: Platform;
  clickhouse: ClickHouse;
  directory: Pick<StoredMarkets, 'storedByRef'>;
  log: FastifyBaseLogger;
}

/** Looks up quoted markets that are not followed. Only the newest quote of each waits for it; quotes of unlisted ones are dropped. */
export class QuotedMarkets {
  readonly #deps: QuotedMarketsDeps;
  readonly #onQuote: (quote: SocketQuote, market: FollowedMarket, receivedMs: number) => void;
  readonly #known = new Cache<string, Known>({ limit: REMEMBERED });
  readonly #waiting = new Map<string, Waiting>();
  #isReading = false;
  #isStopped = false;

  constructor(
    deps: QuotedMarketsDeps,
    onQuote: (quote: SocketQuote, market: FollowedMarket, receivedMs: number) => void,
  ) {
    this.#deps = deps;
    this.#onQuote = onQuote;
  }

  /** `receivedMs`: Unix ms. */
  take(quote: SocketQuote, receivedMs: number): void {
    const { ref } = quote;
    const known = this.#known.get(ref);
    if (known && known.until > this.#deps.clock.elapsed()) {
      if (known.market) this.#onQuote(quote, known.market, receivedMs);
    } else if (this.#waiting.has(ref) || this.#waiting.size < WAITING) {
      this.#waiting.set(ref, { quote, receivedMs });
      if (!this.#isReading) void this.#read();
    }
  }

  stop(): void {
    this.#isStopped = true;
    this.#waiting.clear();
  }

  async #read(): Promise<void> {
    const { platform, log } = this.#deps;
    this.#isReading = true;
    // Quotes of the same event-loop turn are looked up together.
    await new Promise((resolve) => setImmediate(resolve));
    try {
      while (!this.#isStopped && this.#waiting.size > 0) {
        const batch = [...this.#waiting].slice(0, BATCH);
        const markets = await this.#lookUp(batch.map(([ref]) => ref));
        const now = this.#deps.clock.elapsed();
        for (const [ref] of batch) {
          const market = markets.get(ref) ?? null;
          const since = this.#known.get(ref)?.since ?? now;
          const unknownMs = Math.min(KNOWN_MS, Math.max(UNKNOWN_MS, (now - since) * UNKNOWN_SHARE));
          this.#known.set(ref, { market, since, until: now + (market ? KNOWN_MS : unknownMs) });
          const newest = this.#waiting.get(ref);
          this.#waiting.delete(ref);
          if (market && newest) this.#onQuote(newest.quote, market, newest.receivedMs);
        }
      }
    } catch (error) {
      this.#waiting.clear();
      log.warn({ err: error, platform }, 'Failed to read the markets of quotes');
    } finally {
      this.#isReading = false;
    }
  }

  async #lookUp(refs: string[]): Promise<Map<string, FollowedMarket>> {
    const { platform, clickhouse, directory } = this.#deps;
    const [stored, rows] = await Promise.all([
      directory.storedByRef(platform, refs),
      clickhouse.query('socket_quotes', QuotedPrice, { platforms: refs.map(() => platform), refs }),
    ]);
    const found = new Map<string, FollowedMarket>();
    for (const { ref, price, volume_total: volumeTotal } of rows) {
      const market = stored.get(ref);
      if (market) found.set(ref, { market, price, volumeTotal });
    }
    return found;
  }
}
