import type { Log } from '../../src/core/log.ts';
import { z } from 'zod';
import type { Clock } from '../../src/core/time.ts';
import { Cache } from '../../src/core/cache.ts';
import { marketName } from '../../src/core/market-key.ts';
import { type Platform, PLATFORMS } from '../../src/core/model.ts';
import { SpacedCall } from '../../src/core/spaced-call.ts';
import type { StoredMarkets } from '../../src/markets/directory.ts';
import type { SocketQuote } from '../../src/platforms/sockets/contract.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import type { QuotedMarket } from './quote-publisher.ts';

const REMEMBERED = 100_000;
/** A listed market is read again after this time, because another process may have stored it. */
const KNOWN_MS = 300_000;
/** An unlisted market may be stored soon. Many never are, so the next look-up waits for a share of the time since the first. */
const UNKNOWN_MS = 3000;
const UNKNOWN_SHARE = 0.25;
/** Markets per look-up, and the maximum number of waiting ones. */
const BATCH = 500;
const WAITING = 20_000;
/** Markets with new values are read together after this time. */
const AGAIN_MS = 2000;

/** A row of sql/queries/socket_quotes.sql: last stored price of the first outcome, and total volume. */
const QuotedRow = z.object({
  of_platform: z.enum(PLATFORMS),
  ref: z.string(),
  price: z.string().nullable(),
  volume_total: z.string().nullable(),
});

interface Named {
  platform: Platform;
  ref: string;
}

interface Known {
  /** null while the market is not listed. */
  market: QuotedMarket | null;
  /** When its first look-up ended, and until when this one holds, by the clock's elapsed(). */
  since: number;
  until: number;
}

interface Waiting extends Named {
  quote: SocketQuote;
  receivedMs: number;
}

export interface QuotedMarketsDeps {
  clock: Clock;
  clickhouse: Pick<ClickHouse, 'query'>;
  directory: Pick<StoredMarkets, 'storedByRef'>;
  log: Log;
}

/**
 * Adds the stored market to quotes of all platforms. Only the newest quote of a market waits for its first look-up; quotes of unlisted
 * ones are dropped.
 */
export class QuotedMarkets {
  readonly #deps: QuotedMarketsDeps;
  readonly #onQuote: (quote: SocketQuote, market: QuotedMarket, receivedMs: number) => void;
  readonly #known = new Cache<string, Known>({ limit: REMEMBERED });
  readonly #waiting = new Map<string, Waiting>();
  /** Markets whose stored values may be newer. */
  readonly #due = new Map<string, Named>();
  readonly #again: SpacedCall;
  #isReading = false;
  #isStopped = false;

  constructor(
    deps: QuotedMarketsDeps,
    onQuote: (quote: SocketQuote, market: QuotedMarket, receivedMs: number) => void,
  ) {
    this.#deps = deps;
    this.#onQuote = onQuote;
    this.#again = new SpacedCall(deps.clock, AGAIN_MS, () => void this.#read());
  }

  /** `receivedMs`: Unix ms. */
  take(platform: Platform, quote: SocketQuote, receivedMs: number): void {
    const { ref } = quote;
    const name = marketName({ platform, ref });
    const known = this.#known.get(name);
    const isDue = !known || known.until <= this.#deps.clock.elapsed();
    if (known?.market) {
      this.#onQuote(quote, known.market, receivedMs);
      if (isDue) this.stored(platform, [ref]);
    } else if (isDue && (this.#waiting.has(name) || this.#waiting.size < WAITING)) {
      this.#waiting.set(name, { platform, ref, quote, receivedMs });
      void this.#read();
    }
  }

  /** Markets that may be stored with another price or volume. Those with quotes are read again; quotes do not wait for it. */
  stored(platform: Platform, refs: Iterable<string>): void {
    for (const ref of refs) {
      const name = marketName({ platform, ref });
      if (this.#known.has(name) || this.#waiting.has(name)) this.#due.set(name, { platform, ref });
    }
    if (this.#due.size > 0) this.#again.ask();
  }

  stop(): void {
    this.#isStopped = true;
    this.#again.cancel();
    this.#waiting.clear();
  }

  async #read(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    let batch: [string, Named][] = [];
    try {
      // Quotes of the same event-loop turn are looked up together.
      await new Promise((resolve) => setImmediate(resolve));
      while (!this.#isStopped && this.#waiting.size + this.#due.size > 0) {
        batch = [...new Map<string, Named>([...this.#waiting, ...this.#due])].slice(0, BATCH);
        // What is stored during the read is read again.
        for (const [name] of batch) this.#due.delete(name);
        this.#keep(batch, await this.#lookUp(batch.map(([, market]) => market)));
      }
    } catch (error) {
      this.#waiting.clear();
      for (const [name, market] of batch) if (this.#known.has(name)) this.#due.set(name, market);
      if (this.#due.size > 0 && !this.#isStopped) this.#again.ask();
      this.#deps.log.warn({ err: error }, 'Failed to read the markets of quotes');
    } finally {
      this.#isReading = false;
    }
  }

  #keep(batch: readonly [string, Named][], markets: ReadonlyMap<string, QuotedMarket>): void {
    const now = this.#deps.clock.elapsed();
    for (const [name] of batch) {
      const market = markets.get(name) ?? null;
      const since = this.#known.get(name)?.since ?? now;
      const unknownMs = Math.min(KNOWN_MS, Math.max(UNKNOWN_MS, (now - since) * UNKNOWN_SHARE));
      this.#known.set(name, { market, since, until: now + (market ? KNOWN_MS : unknownMs) });
      const newest = this.#waiting.get(name);
      this.#waiting.delete(name);
      if (market && newest) this.#onQuote(newest.quote, market, newest.receivedMs);
    }
  }

  async #lookUp(markets: readonly Named[]): Promise<Map<string, QuotedMarket>> {
    const { clickhouse, directory } = this.#deps;
    const refs = (asked: Platform): string[] =>
      markets.flatMap(({ platform, ref }) => (platform === asked ? [ref] : []));
    const params = { platforms: markets.map(({ platform }) => platform), refs: markets.map(({ ref }) => ref) };
    const [rows, ...stored] = await Promise.all([
      clickhouse.query('socket_quotes', QuotedRow, params),
      ...PLATFORMS.map((platform) => directory.storedByRef(platform, refs(platform))),
    ]);
    return new Map(
      rows.flatMap(({ of_platform: platform, ref, price, volume_total: volumeTotal }) => {
        const market = stored[PLATFORMS.indexOf(platform)]?.get(ref);
        return market ? [[marketName({ platform, ref }), { market, price, volumeTotal }] as const] : [];
      }),
    );
  }
}
