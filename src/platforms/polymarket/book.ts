import type { BookSide, JsonObject, OrderBook } from '../../core/model.ts';
import { bookSide } from '../book-sides.ts';
import { isoFromEpoch } from '../market-fields.ts';
import type { StoredMarket } from '../contract.ts';
import type { ClobBook } from './wire.ts';

const sideOf = ({ bids, asks }: ClobBook): BookSide => bookSide(bids.levels, asks.levels);

/** The books of two tokens as one, sorted, with the older time. The wire's last_trade_price may be the other token's: unused. */
export function mapPolymarketBook(
  market: StoredMarket,
  first: ClobBook,
  second: ClobBook,
  raw: JsonObject,
  receivedAt: string,
): OrderBook {
  const times = [first, second].flatMap((book) => isoFromEpoch(book.timestamp) ?? []).toSorted();
  return {
    platform: 'polymarket',
    platformId: market.platformId,
    timestamp: times[0] ?? receivedAt,
    exchangeAt: times[0] ?? null,
    yes: sideOf(first),
    no: sideOf(second),
    minOrderSize: first.min_order_size,
    tickSize: first.tick_size,
    negRisk: first.neg_risk ?? market.metadata.neg_risk === true,
    lastTradePrice: null,
    leftOut: [first.bids, first.asks, second.bids, second.asks].reduce((sum, { leftOut }) => sum + leftOut, 0),
    raw,
  };
}
