import type { Platform } from './model.ts';

export const ORDER_TYPES = ['limit', 'market'] as const;
export type OrderType = (typeof ORDER_TYPES)[number];

/** gtc rests until cancelled, gtd until its expiration; ioc fills what it can at once, fok all or nothing. */
export const TIMES_IN_FORCE = ['gtc', 'gtd', 'ioc', 'fok'] as const;
export type TimeInForce = (typeof TIMES_IN_FORCE)[number];

/** Whether what such an order does not trade at once stays in the book. */
export const canRest = (timeInForce: TimeInForce): boolean => timeInForce === 'gtc' || timeInForce === 'gtd';

/** What a platform cancels when an order would trade with another order of its own account. */
export const SELF_TRADE_PREVENTIONS = ['cancel_taker', 'cancel_maker', 'cancel_both'] as const;
export type SelfTradePrevention = (typeof SELF_TRADE_PREVENTIONS)[number];

/**
 * pending: accepted, not yet working or not yet known as matched. open, partially_filled: working. cancelled: ended,
 * possibly after fills. rejected: never worked. unknown: sent, result not known.
 */
export const ORDER_STATUSES = [
  'pending',
  'open',
  'partially_filled',
  'filled',
  'cancelled',
  'rejected',
  'expired',
  'unknown',
] as const;
export type OrderStatus = (typeof ORDER_STATUSES)[number];

const OVER: ReadonlySet<OrderStatus> = new Set(['filled', 'cancelled', 'rejected', 'expired']);
/** Whether the order is final. */
export const isOver = (status: OrderStatus): boolean => OVER.has(status);

/** What changed an order: it was placed, filled, cancelled, it expired or was rejected; `update`: anything else, as a fee that became known. */
export const ORDER_CAUSES = ['placement', 'fill', 'cancel', 'expiry', 'rejection', 'update'] as const;
export type OrderCause = (typeof ORDER_CAUSES)[number];

/** Between processes: one OrderChange as `changeText` writes it. */
export const ORDER_CHANGES = 'order_changes';

/** A stored change of an order, for its owner. */
export interface OrderChange {
  userId: string;
  platform: Platform;
  /** Reference of its market. */
  ref: string;
  /** The data of the event `order`, JSON. */
  data: string;
}

/** A line of JSON with its owner and market, then the data as they are, which no process has to read to pass them on. */
export const changeText = ({ userId, platform, ref, data }: OrderChange): string =>
  `${JSON.stringify([userId, platform, ref])}\n${data}`;

export function changeOf(text: string): OrderChange {
  const end = text.indexOf('\n');
  const [userId, platform, ref] = JSON.parse(text.slice(0, end)) as [string, Platform, string];
  return { userId, platform, ref, data: text.slice(end + 1) };
}
