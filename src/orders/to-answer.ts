import type { OrderAnswer } from '../schemas/orders.ts';
import { decimalNumber, USD_SCALE, numberOfText } from '../core/decimal.ts';
import { isUnresolved, resolvesAt } from './recheck.ts';
import { totalFee, type OrderRow } from './order-row.ts';

const NO_ANSWER_YET = 'the service is sending it, or stopped before the answer came';

const NO_KNOWN_STATE = 'the platform has the order, in a state that this service does not know';

const unknownReason = (row: OrderRow): string =>
  isUnresolved(row) ? (row.unknownReason ?? NO_ANSWER_YET) : NO_KNOWN_STATE;

/** The order id shown to callers. */
export const orderNameOf = ({ orderId, clientOrderId }: OrderRow): string => orderId ?? `client:${clientOrderId}`;

export function toOrderAnswer(row: OrderRow): OrderAnswer {
  const total = totalFee(row);
  const isUnknown = row.status === 'unknown';
  return {
    order_id: orderNameOf(row),
    platform: row.platform,
    market_id: row.marketId,
    side: row.side,
    outcome: row.outcome,
    type: row.type,
    price: numberOfText(row.price),
    size: Number(row.size),
    filled_size: numberOfText(row.filledSize),
    remaining_size: numberOfText(row.remainingSize),
    average_fill_price: numberOfText(row.averageFillPrice),
    received_size: numberOfText(row.receivedSize),
    received_usd: numberOfText(row.receivedUsd),
    status: row.status,
    time_in_force: row.timeInForce,
    client_order_id: row.clientOrderId,
    fees: {
      maker_fee: numberOfText(row.makerFee),
      taker_fee: numberOfText(row.takerFee),
      total_fee: total === null ? null : decimalNumber(total, USD_SCALE),
    },
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    expiration: row.expiresAt?.toISOString() ?? null,
    resolves_at: isUnknown && isUnresolved(row) ? resolvesAt(row).toISOString() : null,
    unknown_reason: isUnknown ? unknownReason(row) : null,
    ...(Object.keys(row.metadata).length > 0 ? { metadata: row.metadata } : {}),
  };
}
