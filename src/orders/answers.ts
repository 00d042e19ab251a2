import { z } from 'zod';
import {
  jsonObject,
  numberOrNull,
  Pagination,
  platformField,
  requestTimeField,
  timeField,
  timeOrNull,
} from '../answers.ts';
import { decimalNumber, USD_SCALE } from '../decimal.ts';
import { ORDER_STATUSES, ORDER_TYPES, TIMES_IN_FORCE } from '../platforms/orders.ts';
import { totalFee, type OrderRow } from './rows.ts';

export const OrderAnswer = z
  .object({
    order_id: z.string().describe("The platform's; client:<client_order_id> while the platform has not told it"),
    platform: platformField,
    market_id: z.string(),
    side: z.enum(['buy', 'sell']),
    outcome: z.string().describe('Outcome id'),
    type: z.enum(ORDER_TYPES),
    price: numberOrNull.describe('Limit, or worst price of a market order, 0..1 of the outcome'),
    size: z.number().describe('Contracts or shares'),
    filled_size: numberOrNull.describe('null while the fate of the order is unknown, like remaining_size'),
    remaining_size: numberOrNull.describe('Still working; 0 once the order is over'),
    average_fill_price: numberOrNull.describe(
      '0..1 of the outcome; null when nothing was filled or it is not known yet',
    ),
    status: z.enum(ORDER_STATUSES),
    time_in_force: z.enum(TIMES_IN_FORCE),
    client_order_id: z.string(),
    fees: z
      .object({ maker_fee: numberOrNull, taker_fee: numberOrNull, total_fee: numberOrNull })
      .describe('USD as charged so far; null while the platform has not told them'),
    created_at: timeField,
    updated_at: timeField,
    expiration: timeOrNull,
    metadata: jsonObject.optional().describe('Facts of the platform; a dry run shows here what would be sent'),
  })
  .meta({ id: 'Order' });
export type OrderAnswer = z.output<typeof OrderAnswer>;

const Meta = z.object({
  platform: platformField,
  request_time_ms: requestTimeField,
  idempotent_replay: z.boolean().describe('true when a stored order answered, and nothing was sent'),
});

export const OneOrderAnswer = z.object({
  order: OrderAnswer,
  meta: Meta.extend({ dry_run: z.literal(true).optional() }),
});
export const OrdersAnswer = z.object({ orders: z.array(OrderAnswer), pagination: Pagination, meta: Meta });
export const CancelAnswer = z.object({
  order: OrderAnswer,
  cancelled: z.boolean().describe('true: the platform confirmed it'),
  meta: Meta,
});
export const CancelAllAnswer = z.object({
  cancelled: z.array(z.string()).describe('Ids of the orders whose cancellation the platform confirmed'),
  not_cancelled: z
    .array(z.object({ order_id: z.string(), reason: z.string() }))
    .describe('Orders that may still be working: ask again'),
  meta: Meta,
});

const number = (text: string | null): number | null => (text === null ? null : Number(text));

/** A stored order as it is answered. */
export function toOrderAnswer(row: OrderRow): OrderAnswer {
  const total = totalFee(row);
  return {
    order_id: row.orderId ?? `client:${row.clientOrderId}`,
    platform: row.platform,
    market_id: row.marketId,
    side: row.side,
    outcome: row.outcome,
    type: row.type,
    price: number(row.price),
    size: Number(row.size),
    filled_size: number(row.filledSize),
    remaining_size: number(row.remainingSize),
    average_fill_price: number(row.averageFillPrice),
    status: row.status,
    time_in_force: row.timeInForce,
    client_order_id: row.clientOrderId,
    fees: {
      maker_fee: number(row.makerFee),
      taker_fee: number(row.takerFee),
      total_fee: total === null ? null : decimalNumber(total, USD_SCALE),
    },
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    expiration: row.expiresAt?.toISOString() ?? null,
    ...(Object.keys(row.metadata).length > 0 ? { metadata: row.metadata } : {}),
  };
}
