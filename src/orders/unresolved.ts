import { MANIFESTS } from '../platforms/manifests.ts';
import type { OrderRow } from './order-row.ts';

/** When an order whose result or fees are unknown is looked for again, after it was sent. */
const STEPS_MS = [1000, 3000, 10_000, 30_000, 120_000];
/** An order that its platform does not know this long after it was sent has not arrived, unless its manifest sets a time. */
const ARRIVED_MS = 120_000;
/** Between two look-ups after the last step. */
const LATE_LOOK_MS = 5000;

export const isUnresolved = ({ state }: Pick<OrderRow, 'state'>): boolean => state === 'sending' || state === 'unknown';

/** From when on a read in which its platform does not know an order proves that it never arrives. */
export function resolvesAt({ platform, wire, createdAt }: Pick<OrderRow, 'platform' | 'wire' | 'createdAt'>): Date {
  return new Date(MANIFESTS[platform].cannotArriveAtMs?.(wire) ?? createdAt.getTime() + ARRIVED_MS);
}

/** The next look-up of an order by its age; null when the steps are used up. */
export function nextLook({ createdAt }: Pick<OrderRow, 'createdAt'>, nowMs: number): Date | null {
  const age = nowMs - createdAt.getTime();
  const step = STEPS_MS.find((ms) => ms > age);
  return step === undefined ? null : new Date(createdAt.getTime() + step);
}

/** The next look-up of an order whose result is unknown: one falls on the time at which it can be decided. */
export function nextSearch(row: Pick<OrderRow, 'platform' | 'wire' | 'createdAt'>, nowMs: number): Date {
  const next = nextLook(row, nowMs)?.getTime() ?? nowMs + LATE_LOOK_MS;
  const resolvesMs = resolvesAt(row).getTime();
  return new Date(resolvesMs > nowMs ? Math.min(next, resolvesMs) : next);
}
