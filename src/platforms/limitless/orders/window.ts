import type { JsonObject } from '../../../core/model.ts';

/** Limitless rejects orders that arrive later than this after their `timestamp`. */
export const RECV_WINDOW_MS = 5000;
/** The longest that Limitless accepts: orders of a batch wait for one another, 0.35 s each. */
export const BATCH_WINDOW_MS = 10_000;
/** Limitless rejects signed calls whose time differs by more than this from its own, so a read that it answers bounds its clock. */
const CLOCK_MS = 30_000;
/** By then an order accepted at the end of its window shows in reads. */
const SHOWN_MS = 5000;

/**
 * Unix ms after which a signed read that does not know the order proves that it cannot arrive: its receive window has passed even
 * on a clock as late as the platform allows. null for an order without one.
 */
export function cannotArriveAtMs({ timestamp, recvWindow }: JsonObject): number | null {
  if (typeof timestamp !== 'number' || typeof recvWindow !== 'number') return null;
  return timestamp + recvWindow + CLOCK_MS + SHOWN_MS;
}
