import type { Clock } from '../../src/core/time.ts';
import {
  complement,
  decimalNumber,
  midpoint,
  ONE_PRICE,
  parsePrice,
  parseSize,
  type Price,
  PRICE_SCALE,
  type Size,
  SIZE_SCALE,
} from '../../src/core/decimal.ts';
import { marketName } from '../../src/core/market-key.ts';
import type { StoredMarket } from '../../src/platforms/contract.ts';
import { isoFromEpoch } from '../../src/platforms/market-fields.ts';
import type { SocketQuote } from '../../src/platforms/sockets/contract.ts';
import { BatchPublisher } from '../../src/stores/shared/batch-publisher.ts';
import type { Shared } from '../../src/stores/shared/shared.ts';
import type { Quote } from '../../src/streams/pushed-quotes.ts';
import { QUOTES_CHANNEL } from '../../src/streams/quotes.ts';

/** A market with quotes, and its stored values. */
export interface QuotedMarket {
  market: StoredMarket;
  /** The price of the first outcome; null if it never traded. */
  price: string | null;
  volumeTotal: string | null;
}

const sideOf = (price: Price | null, bid: Price | null, ask: Price | null, sizes: readonly (Size | null)[]) => ({
  price: decimalNumber(price, PRICE_SCALE),
  bid: decimalNumber(bid, PRICE_SCALE),
  ask: decimalNumber(ask, PRICE_SCALE),
  bid_size: decimalNumber(sizes[0] ?? null, SIZE_SCALE),
  ask_size: decimalNumber(sizes[1] ?? null, SIZE_SCALE),
});
const other = (price: Price | null): Price | null => (price === null ? null : complement(price));

/** The larger of two total volumes, which is the newer one: a total never falls. */
function newestVolume(stored: string | null, reported: Size | undefined): Size | null {
  const known = stored === null ? null : parseSize(stored);
  return reported === undefined || (known !== null && known > reported) ? known : reported;
}

/** A quote of a market with two outcomes in the form that streams send, without `sent_at`. */
function quoteOf(quote: SocketQuote, { market, price: stored, volumeTotal }: QuotedMarket, receivedMs: number): Quote {
  const { platform, ref, platformId, eventId, outcomes } = market;
  const { bid, ask, bidSize, askSize, exchangeAtMs } = quote;
  const known = stored === null ? midpoint(bid, ask) : parsePrice(stored);
  const price = quote.price === undefined ? known : quote.price;
  const prices = {
    [outcomes[0]?.id ?? '']: sideOf(price, bid, ask, [bidSize, askSize]),
    [outcomes[1]?.id ?? '']: sideOf(other(price), other(ask), other(bid), [askSize, bidSize]),
  };
  const data = JSON.stringify({
    platform,
    market_id: platformId,
    prices,
    volume_total: decimalNumber(newestVolume(volumeTotal, quote.volume), SIZE_SCALE),
    exchange_at: isoFromEpoch(exchangeAtMs),
    received_at: new Date(receivedMs).toISOString(),
  });
  return { platform, ref, eventId, data };
}

const isPrice = (price: Price | null): boolean => price === null || (price >= 0n && price <= ONE_PRICE);

/** Publishes the newest quote of each market to the streams of all processes. */
export class QuotePublisher {
  readonly #publisher: BatchPublisher<Quote>;

  constructor(shared: Pick<Shared, 'publish'>, clock: Clock) {
    this.#publisher = new BatchPublisher(shared, QUOTES_CHANNEL, clock);
  }

  /** `receivedMs`: Unix ms. */
  take(quote: SocketQuote, quoted: QuotedMarket, receivedMs: number): void {
    if (quoted.market.outcomes.length !== 2 || !isPrice(quote.bid) || !isPrice(quote.ask)) return;
    this.#publisher.add(quoteOf(quote, quoted, receivedMs), marketName(quoted.market));
  }

  stop(): void {
    this.#publisher.stop();
  }
}
