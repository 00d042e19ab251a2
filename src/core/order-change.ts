import type { Platform } from './model.ts';

/** What changed an order: it was placed, filled, cancelled, it expired or was rejected; `update`: anything else, as a fee that became known. */
export const ORDER_CAUSES = ['placement', 'fill', 'cancel', 'expiry', 'rejection', 'update'] as const;
export type OrderCause = (typeof ORDER_CAUSES)[number];

/** Between processes: one OrderChange as JSON. */
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
