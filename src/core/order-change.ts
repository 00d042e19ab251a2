import type { Platform } from './model.ts';

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
