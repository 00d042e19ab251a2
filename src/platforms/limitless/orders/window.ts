import type { JsonObject } from '../../../core/model.ts';

/** Limitless takes no order that arrives later than this after its `timestamp`. */
export const RECV_WINDOW_MS = 5000;
/** Limitless refuses a signed call whose time is further than this from its own: a read that it answers bounds its clock. */
const CLOCK_MS = 30_000;
/** An order taken at the end of its window shows in reads by then. */
const SHOWN_MS = 5000;

/**
 * Unix ms from which on a signed read that does not know the order proves that it cannot arrive: even a clock that is as late as the
 * platform allows has passed its receive window. null for an order without one.
 */
export function cannotArriveAtMs({ timestamp, recvWindow }: JsonObject): number | null {
  if (typeof timestamp !== 'number' || typeof recvWindow !== 'number') return null;
  return timestamp + recvWindow + CLOCK_MS + SHOWN_MS;
}
