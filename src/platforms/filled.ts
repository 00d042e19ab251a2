import type { OrderStatus } from '../core/order-model.ts';
import type { Size } from '../core/decimal.ts';

interface FilledPart {
  size: Size;
  filled: Size;
  /** The platform's smallest step of a size, in contracts or shares: less than that can never be filled. */
  smallestSize: Size;
}

/** Whether an order is filled: what is left of it is less than the platform's smallest size. */
export const isFilled = ({ size, filled, smallestSize }: FilledPart): boolean =>
  filled > 0n && size - filled < smallestSize;

/** The state of an order that has ended: `filled` if it is, else `otherwise`. */
export const endedStatus = (part: FilledPart, otherwise: 'cancelled' | 'expired'): OrderStatus =>
  isFilled(part) ? 'filled' : otherwise;
