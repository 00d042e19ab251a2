import type { z } from 'zod';
import type { OrderBookAnswer } from './answers.ts';
import { decimalNumber, PRICE_SCALE, SIZE_SCALE } from './decimal.ts';
import type { MarketKeys } from './platforms/platform.ts';
import type { BookSide, OrderBook } from './schemas.ts';

const number = (value: unknown): number | null => (typeof value === 'number' ? value : null);

type BookAnswer = z.infer<typeof OrderBookAnswer>['data'];

/** A live book as the endpoint answers it; no book (closed, AMM) is an empty one. */
export function toOrderBook(market: MarketKeys, book: OrderBook | null, receivedAt: string): BookAnswer {
  const facts = market.metadata;
  return {
    market_id: market.platformId,
    platform: market.platform,
    timestamp: book?.timestamp ?? receivedAt,
    yes: side(book?.yes),
    no: side(book?.no),
    metadata: {
      min_order_size:
        book?.minOrderSize == null ? number(facts['min_order_size']) : decimalNumber(book.minOrderSize, SIZE_SCALE),
      tick_size: book?.tickSize == null ? number(facts['tick_size']) : decimalNumber(book.tickSize, PRICE_SCALE),
      neg_risk: book?.negRisk ?? facts['neg_risk'] === true,
    },
    ...(book ? { raw_data: book.raw } : {}),
  };
}

const shown = (levels: BookSide['bids']): { price: number; size: number }[] =>
  levels.map(({ price, size }) => ({
    price: decimalNumber(price, PRICE_SCALE),
    size: decimalNumber(size, SIZE_SCALE),
  }));

function side(levels: BookSide | undefined): BookAnswer['yes'] {
  const { bids = [], asks = [] } = levels ?? {};
  const depth = [...bids, ...asks].reduce((sum, level) => sum + level.size, 0n);
  return { bids: shown(bids), asks: shown(asks), depth: decimalNumber(depth, SIZE_SCALE) };
}
