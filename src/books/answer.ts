import type { BookSide } from '../core/model.ts';
import { mirrorSide } from '../platforms/book-sides.ts';
import type { StoredMarket } from '../platforms/contract.ts';
import { type BookAnswer, toOrderBook } from '../queries/order-book.ts';

/** A kept book of the first outcome in the form of GET orderbook, with the market's limits of now; the second outcome is its complement. */
export function recordedAnswer(market: StoredMarket, yes: BookSide, timestamp: string): BookAnswer {
  const unknown = { minOrderSize: null, tickSize: null, lastTradePrice: null };
  const { platform, platformId, metadata } = market;
  const negRisk = metadata['neg_risk'] === true;
  const book = {
    platform,
    platformId,
    timestamp,
    exchangeAt: null,
    yes,
    no: mirrorSide(yes),
    negRisk,
    ...unknown,
    leftOut: 0,
    raw: {},
  };
  const { raw_data: _, ...answer } = toOrderBook(market, book, timestamp);
  return answer;
}
