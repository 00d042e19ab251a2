import { z } from 'zod';
import { ONE_PRICE, complement, divideHalfEven, type Price, type Size, type Usd } from '../../../core/decimal.ts';
import { endedStatus, isFilled } from '../../filled.ts';
import { isoFromEpoch, isoTime } from '../../market-fields.ts';
import { isOver, type OrderStatus } from '../../../core/order-model.ts';
import type { OrderIntent, OrderTerms, PlatformOrder } from '../../order-contract.ts';
import { wirePrice, wireSize, wireText, wireTradePrice, wireTradeSize, wireUsd } from '../../parse-rows.ts';
import { anyOf, ownSides, withOutcome } from '../wire.ts';
import { isBid, SMALLEST_SIZE } from './request.ts';

/** Ids of a market's outcomes, in order. */
const OUTCOMES = ['yes', 'no'] as const;

/** Reply to a placement: only counts, and prices of the YES book. It has averages if something was filled. */
export const KalshiPlaced = z.object({
  order_id: z.string().min(1),
  client_order_id: wireText,
  fill_count: wireSize,
  remaining_count: wireSize,
  average_fill_price: wireTradePrice.nullish(),
  ts_ms: z.number().nullish(),
});
export type KalshiPlaced = z.output<typeof KalshiPlaced>;
/** With these a reply shows that the order was accepted; its mean price and its time may be unknown. */
export const PLACED_ROW = {
  platform: 'kalshi',
  kind: 'order',
  idKey: 'order_id',
  essential: ['order_id', 'fill_count', 'remaining_count'],
} as const;

const usdOrNull = wireUsd.nullish().transform((usd) => usd ?? null);

/** A row of /portfolio/orders. `side` and `action` are not used: which pair an ask has is not documented. */
export const KalshiOrder = z
  .object({
    order_id: z.string().min(1),
    client_order_id: wireText,
    ticker: z.string().min(1),
    ...ownSides,
    type: wireText,
    status: z.string(),
    yes_price_dollars: wirePrice,
    no_price_dollars: wirePrice,
    initial_count_fp: wireSize,
    fill_count_fp: wireSize,
    remaining_count_fp: wireSize,
    taker_fill_cost_dollars: usdOrNull,
    maker_fill_cost_dollars: usdOrNull,
    taker_fees_dollars: usdOrNull,
    maker_fees_dollars: usdOrNull,
    created_time: z.string().nullish(),
    last_update_time: z.string().nullish(),
    expiration_time: z.string().nullish(),
    /** The main account is 0. */
    subaccount_number: z.number().nullish().catch(null),
  })
  .superRefine(anyOf('outcome_side', 'book_side'))
  .transform(withOutcome);
export type KalshiOrder = z.output<typeof KalshiOrder>;
/** Without these a row is no order. One whose cost or fees are odd is: it can be cancelled. */
export const ORDER_ROW = {
  platform: 'kalshi',
  kind: 'order',
  idKey: 'order_id',
  essential: [
    'order_id',
    'client_order_id',
    'ticker',
    'status',
    'yes_price_dollars',
    'no_price_dollars',
    'initial_count_fp',
    'fill_count_fp',
    'remaining_count_fp',
    'expiration_time',
  ],
} as const;

/** A row of /portfolio/fills. */
export const KalshiFill = z.object({ yes_price_dollars: wireTradePrice, count_fp: wireTradeSize });
export type KalshiFill = z.output<typeof KalshiFill>;

/** `remaining` is 0 once an order has ended, however much was filled: only the fill count shows what happened. */
function workingStatus(filled: Size, remaining: Size, size: Size): OrderStatus {
  if (remaining === 0n || filled >= size) {
    return endedStatus({ size, filled, smallestSize: SMALLEST_SIZE }, 'cancelled');
  }
  return filled > 0n ? 'partially_filled' : 'open';
}

/** The reply to a placement, in the terms of the request. It contains no fees, which a sale's proceeds need. */
export function mapPlaced(intent: OrderIntent, placed: KalshiPlaced, receivedAt: string): PlatformOrder {
  const { market, terms, clientOrderId } = intent;
  const { fill_count: filled, remaining_count: remaining, average_fill_price: yesAverage } = placed;
  const average = filled === 0n ? null : (yesAverage ?? null);
  const at = isoFromEpoch(placed.ts_ms) ?? receivedAt;
  const unfilled = filled === 0n ? 0n : null;
  return {
    orderId: placed.order_id,
    clientOrderId,
    marketRef: market.ref,
    marketId: market.platformId,
    outcome: OUTCOMES[terms.outcomeIndex] ?? '',
    outcomeIndex: terms.outcomeIndex,
    side: terms.side,
    type: terms.type,
    timeInForce: terms.timeInForce,
    price: terms.price,
    size: terms.size,
    status: workingStatus(filled, remaining, terms.size),
    filledSize: filled,
    remainingSize: remaining,
    averageFillPrice: average === null || terms.outcomeIndex === 0 ? average : complement(average),
    receivedSize: terms.side === 'buy' ? filled : null,
    receivedUsd: terms.side === 'sell' ? unfilled : null,
    makerFee: unfilled,
    takerFee: unfilled,
    createdAt: at,
    updatedAt: at,
    expiration: terms.expirationMs === null ? null : new Date(terms.expirationMs).toISOString(),
    metadata: {},
  };
}

/**
 * An expired order may be reported as `resting` for minutes: our clock decides, also about a cancelled order whose last change has no time.
 * `executed` may follow a decrease of the size.
 */
function orderStatus(row: KalshiOrder, nowMs: number): OrderStatus {
  const expiresAt = isoTime(row.expiration_time);
  const { fill_count_fp: filled, remaining_count_fp: remaining, initial_count_fp: size } = row;
  const part = { size, filled, smallestSize: SMALLEST_SIZE };
  const hasExpired = (atMs: number): boolean => expiresAt !== null && Date.parse(expiresAt) <= atMs;
  switch (row.status) {
    case 'pending':
      return 'pending';
    case 'resting':
      if (hasExpired(nowMs)) return endedStatus(part, 'expired');
      return remaining === 0n && !isFilled(part) ? 'pending' : workingStatus(filled, remaining, size);
    case 'executed':
      return endedStatus(part, 'cancelled');
    case 'canceled': {
      const updatedAt = isoTime(row.last_update_time);
      const endedMs = updatedAt === null ? nowMs : Date.parse(updatedAt);
      return endedStatus(part, hasExpired(endedMs) ? 'expired' : 'cancelled');
    }
    default:
      return 'unknown';
  }
}

const distance = (one: Price, other: Price): Price => (one < other ? other - one : one - other);

/** What the fills of a row cost, in terms of its outcome; `isSure` if it can be nothing else. null: the fills alone say it. */
type StatedCost = { cost: Usd; isSure: boolean } | null;

/**
 * What a row states that its fills cost. Kalshi does not document whether an ask's cost is in YES or in NO prices. It is in NO prices if
 * the mean's complement exceeds the limit. If both are within the limit, it counts as NO prices where the mean is at least as near to the
 * limit as to the limit's complement. null also for an order that was amended to a limit which its fills exceed.
 */
export function statedCost(row: KalshiOrder): StatedCost {
  const { fill_count_fp: filled, taker_fill_cost_dollars: asTaker, maker_fill_cost_dollars: asMaker } = row;
  if (filled === 0n) return { cost: 0n, isSure: true };
  if (asTaker === null || asMaker === null) return null;
  const cost: Usd = asTaker + asMaker;
  // No purchase costs that, at any price: a sale may be shown with what it brought.
  if (cost < 0n || cost > filled) return null;
  if (row.outcome_side === 'yes') return { cost, isSure: true };
  const mean = divideHalfEven(cost * ONE_PRICE, filled);
  const limit = row.no_price_dollars;
  if (mean > limit) return null;
  if (complement(mean) > limit) return { cost, isSure: true };
  return distance(mean, limit) <= distance(mean, complement(limit)) ? { cost, isSure: false } : null;
}

/** Σ price × count in terms of the row's outcome; null unless these are all of its fills. */
export function costOfFills(row: KalshiOrder, fills: readonly KalshiFill[]): Usd | null {
  const count = fills.reduce((sum, fill) => sum + fill.count_fp, 0n);
  if (count === 0n || count !== row.fill_count_fp) return null;
  const yes = divideHalfEven(
    fills.reduce((sum, fill) => sum + fill.yes_price_dollars * fill.count_fp, 0n),
    ONE_PRICE,
  );
  return row.outcome_side === 'yes' ? yes : count - yes;
}

/** How an order is shown: Kalshi expresses each one as a purchase of YES (a bid) or of NO (an ask). */
type Shown = Pick<OrderTerms, 'side' | 'outcomeIndex'>;

/** A row in the form of `terms` if they belong to this order, else as a purchase. `cost` comes from `statedCost` or `costOfFills`. */
export function mapOrder(row: KalshiOrder, cost: Usd | null, nowMs: number, terms: Shown | null): PlatformOrder {
  const status = orderStatus(row, nowMs);
  const expiration = isoTime(row.expiration_time);
  const { fill_count_fp: filled, maker_fees_dollars: makerFee, taker_fees_dollars: takerFee } = row;
  const fees = makerFee === null || takerFee === null ? null : makerFee + takerFee;
  const bought: Shown = { side: 'buy', outcomeIndex: OUTCOMES.indexOf(row.outcome_side) };
  const { side, outcomeIndex } = terms && isBid(terms) === isBid(bought) ? terms : bought;
  // Selling an outcome brings what buying the other one leaves of a dollar.
  const usd = cost === null || side === 'buy' ? cost : filled - cost;
  return {
    orderId: row.order_id,
    clientOrderId: row.client_order_id,
    marketRef: row.ticker,
    marketId: row.ticker,
    outcome: OUTCOMES[outcomeIndex] ?? '',
    outcomeIndex,
    side,
    type: row.type === 'market' ? 'market' : 'limit',
    timeInForce: expiration === null ? 'gtc' : 'gtd',
    price: outcomeIndex === 0 ? row.yes_price_dollars : row.no_price_dollars,
    size: row.initial_count_fp,
    status,
    filledSize: filled,
    remainingSize: isOver(status) ? 0n : row.remaining_count_fp,
    averageFillPrice: usd === null || filled === 0n ? null : divideHalfEven(usd * ONE_PRICE, filled),
    receivedSize: side === 'buy' ? filled : null,
    receivedUsd: side === 'buy' || usd === null || fees === null ? null : usd - fees,
    makerFee,
    takerFee,
    ...(row.status === 'resting' && status === 'expired' ? { endedByClock: true } : {}),
    createdAt: isoTime(row.created_time),
    updatedAt: isoTime(row.last_update_time) ?? isoTime(row.created_time),
    expiration,
    metadata: row.subaccount_number ? { subaccount: row.subaccount_number } : {},
  };
}
