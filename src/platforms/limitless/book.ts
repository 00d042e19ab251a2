import { parsePrice } from '../../core/decimal.ts';
import type { JsonObject, OrderBook } from '../../core/model.ts';
import { bookSide, mirrorSide } from '../book-sides.ts';
import type { StoredMarket } from '../contract.ts';
import type { LimitlessOrderBook } from './wire.ts';

const TICK_SIZE = parsePrice('0.001');

/** Limitless keeps one book in Yes terms that includes the No orders: the No book is its mirror. */
export function mapLimitlessBook(
  market: StoredMarket,
  body: LimitlessOrderBook,
  raw: JsonObject,
  receivedAt: string,
): OrderBook {
  const { bids, asks, adjustedMidpoint } = body;
  const yes = { ...bookSide(bids.levels, asks.levels), adjustedMidpoint };
  return {
    platform: 'limitless',
    platformId: market.platformId,
    timestamp: receivedAt,
    exchangeAt: null,
    yes,
    no: mirrorSide(yes),
    minOrderSize: null,
    tickSize: TICK_SIZE,
    negRisk: market.metadata.neg_risk === true,
    lastTradePrice: body.lastTradePrice ?? null,
    leftOut: bids.leftOut + asks.leftOut,
    raw,
  };
}
