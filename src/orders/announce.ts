import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { parseSize } from '../core/decimal.ts';
import {
  changeText,
  ORDER_CHANGES,
  type OrderCause,
  isOver,
  ORDER_STATUSES,
  type OrderStatus,
} from '../core/order-model.ts';
import type { OrderEvent } from '../schemas/orders.ts';
import type { Shared } from '../stores/shared/shared.ts';
import type { OrderRow } from './order-row.ts';
import { toOrderAnswer } from './to-answer.ts';

/** What an order was before a change; null: it is new. */
type OrderBefore = Pick<OrderRow, 'status' | 'filledSize'> | null;
/** Called after each stored change that a caller can see. */
export type AnnounceOrder = (row: OrderRow, before: OrderBefore) => void;

const CAUSES: Partial<Record<OrderStatus, OrderCause>> = {
  cancelled: 'cancel',
  expired: 'expiry',
  rejected: 'rejection',
};

/** The cause of a change, from the order before and after it. */
export function causeOf(row: Pick<OrderRow, 'status' | 'filledSize'>, before: OrderBefore): OrderCause {
  if (before === null) return row.status === 'rejected' ? 'rejection' : 'placement';
  if (parseSize(row.filledSize ?? '0') > parseSize(before.filledSize ?? '0')) return 'fill';
  if (before.status === 'unknown' && row.status !== 'rejected') return 'placement';
  return (row.status === before.status ? undefined : CAUSES[row.status]) ?? 'update';
}

/** Announces changes of orders to the streams of every process. If a message is lost, GET orders still has the order. */
export function orderAnnouncer(shared: Pick<Shared, 'publish'>): AnnounceOrder {
  return (row, before) => {
    const event: OrderEvent = {
      ...toOrderAnswer(row),
      previous_status: before?.status ?? null,
      cause: causeOf(row, before),
    };
    const { userId, platform, marketRef } = row;
    const change = { userId, platform, ref: marketRef, data: JSON.stringify(event) };
    void shared.publish(ORDER_CHANGES, changeText(change));
  };
}

/** Columns whose change a caller sees. */
export const SHOWN = [
  'status',
  'order_id',
  'time_in_force',
  'price',
  'size',
  'expires_at',
  'filled_size',
  'remaining_size',
  'average_fill_price',
  'received_size',
  'received_usd',
  'maker_fee',
  'taker_fee',
  'metadata',
  'unknown_reason',
];
const shownOf = (table: string): string => SHOWN.map((name) => `${table}.${name}`).join(', ');
/** SQL: whether callers see a difference between two rows. */
export const isShownChange = (before: string, after: string): string =>
  `(${shownOf(before)}) IS DISTINCT FROM (${shownOf(after)})`;
/** What an update of `before` to `o` returns: the values before it, and whether callers see a difference. */
export const BEFORE = sql.raw(
  `before.state AS state_before, before.status AS status_before, before.filled_size AS filled_before, ${isShownChange('before', 'o')} AS is_changed`,
);
const Before = z.object({
  state_before: z.string(),
  status_before: z.enum(ORDER_STATUSES),
  filled_before: z.string().nullable(),
  is_changed: z.boolean(),
});
/** The first listing of an account has old orders too: only those that are working, or ended at most this long ago, are announced. */
const NEWS_MS = 60_000;
export const isNews = ({ status, updatedAt, askedAt }: OrderRow): boolean =>
  !isOver(status) || updatedAt.getTime() > askedAt.getTime() - NEWS_MS;

/** Announces the row of a statement that also returned BEFORE, if callers see a difference. */
export function announceChange(row: OrderRow, written: Record<string, unknown>, announce: AnnounceOrder): void {
  const before = Before.parse(written);
  const isNew = before.state_before === 'sending';
  if (!isNew && !before.is_changed) return;
  announce(row, isNew ? null : { status: before.status_before, filledSize: before.filled_before });
}
