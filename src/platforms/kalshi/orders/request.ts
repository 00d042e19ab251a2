import {
  PRICE_SCALE,
  SIZE_SCALE,
  USD_SCALE,
  complement,
  decimalNumber,
  decimalText,
  notionalUsd,
  parsePrice,
  priceText,
  sizeText,
  type Size,
} from '../../../core/decimal.ts';
import type { JsonObject } from '../../../core/model.ts';
import type { SelfTradePrevention, TimeInForce } from '../../../core/order-model.ts';
import type { OrderIntent, OrderTerms } from '../../order-contract.ts';
import { refusedBy } from '../../refusal-rules.ts';
import type { StoredMarket } from '../../contract.ts';
import {
  evenGrid,
  gridAbove,
  metadataPrice,
  mirrorGrid,
  nearestPrices,
  priceGrid,
  type PriceGrid,
  type PriceRange,
} from '../../price-grid.ts';
import { kalshi } from '../manifest.ts';
import { KALSHI_CHECKS } from './advice.ts';

/** POST /portfolio/events/orders, in the terms of the YES book. */
export interface KalshiNewOrder {
  ticker: string;
  side: 'bid' | 'ask';
  price: string;
  count: string;
  time_in_force: 'good_till_canceled' | 'immediate_or_cancel' | 'fill_or_kill';
  self_trade_prevention_type: 'taker_at_cross' | 'maker';
  client_order_id: string;
  /** The market's shard; a request without it is billed on every shard. */
  exchange_index: number;
  /** Unix seconds. */
  expiration_time?: number;
  post_only?: true;
  /** Only with immediate_or_cancel; the service checks other orders against the position. */
  reduce_only?: true;
}

/** The smallest step of any market. */
const SMALLEST_STEP = parsePrice('0.0001');
/** Contract counts have two decimals. */
export const SMALLEST_SIZE: Size = kalshi.smallestSize;

const WIRE_TIME_IN_FORCE: Record<TimeInForce, KalshiNewOrder['time_in_force']> = {
  gtc: 'good_till_canceled',
  gtd: 'good_till_canceled',
  ioc: 'immediate_or_cancel',
  fok: 'fill_or_kill',
};

/** Kalshi requires a choice. If the caller made none, what is left of the new order is cancelled. */
const WIRE_SELF_TRADE: Record<SelfTradePrevention, KalshiNewOrder['self_trade_prevention_type'] | null> = {
  cancel_taker: 'taker_at_cross',
  cancel_maker: 'maker',
  cancel_both: null,
};

/** With at least `places` decimals, and all significant ones. */
function padded(value: bigint, scale: number, places: number): string {
  const [whole, fraction = ''] = decimalText(value, scale).split('.');
  return `${whole}.${fraction.padEnd(places, '0')}`;
}

/** Selling YES and buying NO are both asks: the YES book is the only one. */
export const isBid = ({ side, outcomeIndex }: Pick<OrderTerms, 'side' | 'outcomeIndex'>): boolean =>
  (side === 'buy') === (outcomeIndex === 0);

/** An order as Kalshi takes it; `shard`: the exchange shard of its market. */
export function toKalshiOrder({ market, terms, clientOrderId }: OrderIntent, shard: number): KalshiNewOrder {
  const { price, size, timeInForce, expirationMs, postOnly, reduceOnly, selfTradePrevention } = terms;
  return {
    ticker: market.platformId,
    side: isBid(terms) ? 'bid' : 'ask',
    price: padded(terms.outcomeIndex === 0 ? price : complement(price), PRICE_SCALE, 4),
    count: padded(size, SIZE_SCALE, 2),
    time_in_force: WIRE_TIME_IN_FORCE[timeInForce],
    self_trade_prevention_type: (selfTradePrevention && WIRE_SELF_TRADE[selfTradePrevention]) ?? 'taker_at_cross',
    client_order_id: clientOrderId,
    exchange_index: shard,
    ...(expirationMs === null ? {} : { expiration_time: Math.floor(expirationMs / 1000) }),
    ...(postOnly ? { post_only: true } : {}),
    ...(reduceOnly && timeInForce === 'ioc' ? { reduce_only: true } : {}),
  };
}

/** The most that a purchase spends, USD without fees. */
export const purchaseFacts = ({ side, price, size }: OrderTerms): JsonObject =>
  side === 'buy' ? { collateral: decimalNumber(notionalUsd(price, size), USD_SCALE) } : {};

/**
 * The market's price grid for one outcome. If its steps are unknown, Kalshi decides about those of any market. A settlement floor has been
 * paid to YES already: it costs more than the floor, and NO less than 1 - floor.
 */
export function kalshiGrid(market: StoredMarket, outcomeIndex: number): PriceGrid {
  const { price_ranges: stored } = market.metadata;
  const ranges = (Array.isArray(stored) ? stored : []).flatMap(toRange);
  const yes = ranges.length > 0 ? priceGrid(ranges) : evenGrid(SMALLEST_STEP);
  const floor = metadataPrice(market.metadata, 'settlement_floor');
  const left = floor === null ? yes : gridAbove(yes, floor);
  return outcomeIndex === 0 ? left : mirrorGrid(left);
}

function toRange(stored: Record<string, unknown>): PriceRange[] {
  const { start, end, step } = stored;
  if (typeof start !== 'number' || typeof end !== 'number' || typeof step !== 'number' || step <= 0) return [];
  return [{ start: parsePrice(start), end: parsePrice(end), step: parsePrice(step) }];
}

/** Throws 422 for what Kalshi would reject: a price off the market's grid, parts of a contract below 0.01, a choice it does not have. */
export function checkKalshiOrder(market: StoredMarket, terms: OrderTerms): void {
  const { price, size, selfTradePrevention } = terms;
  const grid = kalshiGrid(market, terms.outcomeIndex);
  if (!grid.has(price)) {
    const fault = `price: ${priceText(price)} is not on the grid of ${market.platformId}`;
    throw refusedBy(KALSHI_CHECKS.price, fault, nearestPrices(grid, price));
  }
  if (size % SMALLEST_SIZE !== 0n) {
    const least = (size / SMALLEST_SIZE) * SMALLEST_SIZE;
    const nearest = [least, least + SMALLEST_SIZE].filter((one) => one > 0n).map(sizeText);
    throw refusedBy(KALSHI_CHECKS.size, `size: ${sizeText(size)} has more than two decimals`, nearest.join(' or '));
  }
  if (selfTradePrevention !== null && WIRE_SELF_TRADE[selfTradePrevention] === null) {
    throw refusedBy(KALSHI_CHECKS.selfTrade, `self_trade_prevention: ${selfTradePrevention}`);
  }
}
