export const ORDER_TYPES = ['limit', 'market'] as const;
export type OrderType = (typeof ORDER_TYPES)[number];

/** gtc rests until cancelled, gtd until its expiration; ioc fills what it can at once, fok all or nothing. */
export const TIMES_IN_FORCE = ['gtc', 'gtd', 'ioc', 'fok'] as const;
export type TimeInForce = (typeof TIMES_IN_FORCE)[number];

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
