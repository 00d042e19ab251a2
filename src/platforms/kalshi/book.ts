import { type Price, type Size, parsePrice, parseSize } from '../../core/decimal.ts';
import type { BookLevel, JsonObject, OrderBook } from '../../core/model.ts';
import { bookSide, mirrorLevels, mirrorSide } from '../book-sides.ts';
import type { StoredMarket } from '../contract.ts';
import type { ReadLevels } from '../parse-rows.ts';
import type { KalshiOrderBook } from './wire.ts';

const MIN_ORDER_SIZE = parseSize('0.01');

type Bids = ReadLevels<readonly [Price, Size, ...unknown[]]> | null | undefined;

const toLevels = (bids: Bids): BookLevel[] => (bids?.levels ?? []).map(([price, size]) => ({ price, size }));

function bidsOf(body: KalshiOrderBook): { yes: Bids; no: Bids } {
  if ('orderbook_fp' in body) return { yes: body.orderbook_fp.yes_dollars, no: body.orderbook_fp.no_dollars };
  const { yes_dollars, no_dollars, yes, no } = body.orderbook;
  return { yes: yes_dollars ?? yes, no: no_dollars ?? no };
}

/** Kalshi sends the bids of both outcomes, best last: a bid for No at q is an ask for Yes at 1 − q. */
export function mapKalshiBook(
  market: StoredMarket,
  body: KalshiOrderBook,
  raw: JsonObject,
  receivedAt: string,
): OrderBook {
  const bids = bidsOf(body);
  const yes = bookSide(toLevels(bids.yes), mirrorLevels(toLevels(bids.no)));
  const tick = market.metadata.tick_size;
  return {
    platform: 'kalshi',
    platformId: market.platformId,
    timestamp: receivedAt,
    exchangeAt: null,
    yes,
    no: mirrorSide(yes),
    minOrderSize: MIN_ORDER_SIZE,
    tickSize: typeof tick === 'number' ? parsePrice(tick) : null,
    negRisk: false,
    lastTradePrice: null,
    leftOut: (bids.yes?.leftOut ?? 0) + (bids.no?.leftOut ?? 0),
    raw,
  };
}
