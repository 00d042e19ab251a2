import { type Size, midpoint, parsePrice, parseSize } from '../../decimal.ts';
import type { BookLevel, BookSide, JsonObject, OrderBook } from '../../schemas.ts';
import { isoFromEpoch } from '../market-fields.ts';
import type { MarketKeys } from '../platform.ts';
import type { ClobBook } from './wire.ts';

/**
 * The books of a market's two tokens as one. Levels arrive best last, but are sorted here whatever their order. The time
 * is the older of the two. The wire's last_trade_price is not tied to the token asked for and is not used.
 */
export function toOrderBook(
  market: MarketKeys,
  first: ClobBook,
  second: ClobBook,
  raw: JsonObject,
  receivedAt: string,
): OrderBook {
  const yes = side(first);
  const times = [first, second].map((book) => isoFromEpoch(book.timestamp) ?? receivedAt).toSorted();
  return {
    platform: 'polymarket',
    platformId: market.platformId,
    timestamp: times[0] ?? receivedAt,
    yes,
    no: side(second),
    minOrderSize: first.min_order_size === null ? null : parseSize(first.min_order_size),
    tickSize: first.tick_size === null ? null : parsePrice(first.tick_size),
    negRisk: first.neg_risk ?? market.metadata.neg_risk === true,
    adjustedMidpoint: rewardedMidpoint(yes, market.metadata.rewards_min_size),
    lastTradePrice: null,
    raw,
  };
}

const side = (book: ClobBook): BookSide => ({
  bids: levels(book.bids).toSorted((a, b) => (a.price > b.price ? -1 : 1)),
  asks: levels(book.asks).toSorted((a, b) => (a.price < b.price ? -1 : 1)),
});

/** Without empty levels, equal prices merged. */
function levels(wire: ClobBook['bids']): BookLevel[] {
  const sizes = new Map<bigint, Size>();
  for (const { price, size } of wire) {
    const key = parsePrice(price);
    sizes.set(key, (sizes.get(key) ?? 0n) + parseSize(size));
  }
  return [...sizes].filter(([, size]) => size > 0n).map(([price, size]) => ({ price, size }));
}

/** The middle of the best levels that are large enough for liquidity rewards; null on a market without such a size. */
function rewardedMidpoint(book: BookSide, minSize: unknown): bigint | null {
  if (typeof minSize !== 'number') return null;
  const least = parseSize(minSize);
  const bid = book.bids.find((level) => level.size >= least);
  const ask = book.asks.find((level) => level.size >= least);
  return bid && ask ? midpoint(bid.price, ask.price) : null;
}
