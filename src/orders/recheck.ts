import { isOver } from '../core/order-model.ts';
import { DAY_MS } from '../core/time.ts';
import { MANIFESTS } from '../platforms/manifests.ts';
import { ARRIVED_MS, type PlatformOrder } from '../platforms/order-contract.ts';
import type { OrderFacts, OrderRow } from './order-row.ts';

/** Ages at which an order with an unknown result or unknown fees is rechecked, ms after it was sent. */
const STEPS_MS = [1000, 3000, 10_000, 30_000, 120_000];
/** Least and greatest interval between rechecks after the last step. */
const LATE_MS = 5000;
const LATEST_MS = 3_600_000;

export const isUnresolved = ({ state }: Pick<OrderRow, 'state'>): boolean => state === 'sending' || state === 'unknown';

/** Whether the platform may work the order. One that has expired by our clock alone counts, and is rechecked until the platform agrees. */
export const mayRest = ({ status, recheckAt }: Pick<OrderRow, 'status' | 'recheckAt'>): boolean =>
  !isOver(status) || (status === 'expired' && recheckAt !== null);

/** If a read after this time does not find the order, the order never arrived. */
export function resolvesAt({ platform, wire, createdAt }: Pick<OrderRow, 'platform' | 'wire' | 'createdAt'>): Date {
  return new Date(MANIFESTS[platform].cannotArriveAtMs?.(wire) ?? createdAt.getTime() + ARRIVED_MS);
}

/** Time of the next recheck by the order's age; null after the last step. */
export function recheckByAge({ createdAt }: Pick<OrderRow, 'createdAt'>, nowMs: number): Date | null {
  const age = nowMs - createdAt.getTime();
  const step = STEPS_MS.find((ms) => ms > age);
  return step === undefined ? null : new Date(createdAt.getTime() + step);
}

/**
 * Time of the next recheck of an order with a fill whose cost or fee is unknown: a platform may list fills later than the order that they
 * changed. It follows from the time since that change. null after the last step, and if all fills are known.
 */
export function recheckOfFills(
  { filledSize, averageFillPrice, makerFee, takerFee }: OrderFacts,
  changedAt: Date,
  nowMs: number,
): Date | null {
  const areKnown = averageFillPrice !== null && makerFee !== null && takerFee !== null;
  return areKnown || Number(filledSize ?? 0) === 0 ? null : recheckByAge({ createdAt: changedAt }, nowMs);
}

/** The time after a further quarter of the time since `since`, within bounds. */
function quarterLater(since: Date, nowMs: number): Date {
  const waitMs = Math.min(Math.max((nowMs - since.getTime()) / 4, LATE_MS), LATEST_MS);
  return new Date(nowMs + waitMs);
}

/** Time of the next recheck of an order that its platform has not decided yet; null for any other. */
export const recheckOfPending = (
  { status, updatedAt }: Pick<OrderRow, 'status' | 'updatedAt'>,
  nowMs: number,
): Date | null => (status === 'pending' ? quarterLater(updatedAt, nowMs) : null);

/** How long matches of an order may be undone. */
export const SETTLING_MS = DAY_MS;

/** Time of the next recheck of an order whose matches may still fail to settle; null for any other, and a day after its last match. */
export function recheckOfSettlement(
  { settlement, updatedAt, createdAt }: Pick<PlatformOrder, 'settlement' | 'updatedAt' | 'createdAt'>,
  nowMs: number,
): Date | null {
  if (settlement !== 'open' && settlement !== 'retrying') return null;
  const matchedMs = Date.parse(updatedAt ?? createdAt ?? '') || nowMs;
  return nowMs - matchedMs > SETTLING_MS ? null : quarterLater(new Date(matchedMs), nowMs);
}

/** An ended order is read until this long after its end. It is longer than clocks differ. */
const ENDED_MS = DAY_MS;

/** Time of the next recheck of an order that has expired by our clock alone; null for any other order, and from a day after it expired. */
export function recheckOfExpired(
  { endedByClock, expiration }: Pick<PlatformOrder, 'endedByClock' | 'expiration'>,
  nowMs: number,
): Date | null {
  if (!endedByClock || expiration === null || nowMs >= Date.parse(expiration) + ENDED_MS) return null;
  return quarterLater(new Date(expiration), nowMs);
}

/** When an order is rechecked that ended only because its platform no longer lists it, ms after that was seen. */
const UNLISTED_MS = [30_000, 120_000] as const;

/** Time of the next recheck of an order that ended unlisted; null for any other, and after the last step. `row`: as stored before. */
export function recheckOfUnlisted(
  { endedUnlisted }: Pick<PlatformOrder, 'endedUnlisted'>,
  row: Pick<OrderRow, 'status' | 'updatedAt'>,
  nowMs: number,
): Date | null {
  if (!endedUnlisted) return null;
  const [first, last] = UNLISTED_MS;
  if (!isOver(row.status)) return new Date(nowMs + first);
  const age = nowMs - row.updatedAt.getTime();
  // A confirmed cancel is read once more by itself, before the first step.
  return age >= first && age < last ? new Date(row.updatedAt.getTime() + last) : null;
}

/**
 * When to look again for an order that was rejected because it was not found, on a platform that may still take it late. null for any
 * other order, and from a day after it was sent.
 */
export function recheckOfNeverArrived(
  {
    state,
    refusal,
    platform,
    wire,
    createdAt,
  }: Pick<OrderRow, 'state' | 'refusal' | 'platform' | 'wire' | 'createdAt'>,
  nowMs: number,
): Date | null {
  const cannotArrive = (MANIFESTS[platform].cannotArriveAtMs?.(wire) ?? null) !== null;
  if (state !== 'rejected' || refusal !== null || cannotArrive || nowMs >= createdAt.getTime() + ENDED_MS) return null;
  return quarterLater(createdAt, nowMs);
}

/** Time of the next recheck after a failed one; null if the order ended a day ago. */
export function recheckOfFailed(
  { status, expiresAt, createdAt, updatedAt }: Pick<OrderRow, 'status' | 'expiresAt' | 'createdAt' | 'updatedAt'>,
  nowMs: number,
): Date | null {
  const endedAt = status === 'expired' && expiresAt !== null ? expiresAt : updatedAt;
  return isOver(status) && nowMs >= endedAt.getTime() + ENDED_MS ? null : quarterLater(createdAt, nowMs);
}

/**
 * Time of the next recheck of an order whose credential was deleted; null from a day after its result was due, as no credential comes back.
 * Reads of its user still recheck it.
 */
export const recheckWithoutCredential = (row: OrderRow, nowMs: number): Date | null =>
  isUnresolved(row) && nowMs >= resolvesAt(row).getTime() + ENDED_MS ? null : recheckOfFailed(row, nowMs);

/** Time of the next recheck of an order whose result is unknown; one recheck is exactly at `resolvesAt`. */
export function recheckOfUnknown(row: Pick<OrderRow, 'platform' | 'wire' | 'createdAt'>, nowMs: number): Date {
  const next = recheckByAge(row, nowMs)?.getTime() ?? nowMs + LATE_MS;
  const resolvesMs = resolvesAt(row).getTime();
  return new Date(resolvesMs > nowMs ? Math.min(next, resolvesMs) : next);
}
