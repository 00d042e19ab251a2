import type { Platform } from '../core/model.ts';
import { partsOf } from '../core/parts.ts';
import { systemClock } from '../core/time.ts';
import { failedPlacement } from './failed-placement.ts';
import { NotSentError } from './http/errors.ts';
import type { Placement } from './order-contract.ts';

/** A part that would be sent later than this after the first is not sent: its prices and books have become old. */
const SENT_WITHIN_MS = 10_000;

interface Sending<O> {
  /** Orders of one call. */
  size: number;
  single: (order: O) => Promise<Placement>;
  /** Sends several orders in one call. The results are in the order of the orders. */
  batch: (orders: readonly O[]) => Promise<Placement[]>;
}

/** Sends the orders of a batch in parts, one after another. The results are in the order of the orders. */
export async function placeInParts<O>(
  platform: Platform,
  orders: readonly O[],
  { size, single, batch }: Sending<O>,
): Promise<Placement[]> {
  const placements: Placement[] = [];
  const startedMs = systemClock.elapsed();
  for (const part of partsOf(orders, size)) {
    const [first] = part;
    if (systemClock.elapsed() - startedMs > SENT_WITHIN_MS) placements.push(...part.map(() => tooLate(platform)));
    else if (part.length === 1 && first !== undefined) placements.push(await single(first));
    else placements.push(...(await batch(part)));
  }
  return placements;
}

/**
 * The results of one call in the order of its orders `ids`. A result without an order id belongs to the order in its position, but only if
 * every result with an id is in the position of that order. Otherwise only results with an id are used.
 */
export function inOrder(
  ids: readonly string[],
  results: readonly unknown[],
  nameOf: (result: unknown) => string | undefined,
): readonly unknown[] {
  const names = results.map(nameOf);
  const isInOrder = names.length === ids.length && names.every((name, at) => name === undefined || name === ids[at]);
  return isInOrder ? results : ids.map((id) => results[names.indexOf(id)]);
}

function tooLate(platform: Platform): Placement {
  const detail = `the orders of the batch before it took more than ${SENT_WITHIN_MS / 1000} s`;
  return failedPlacement(platform, new NotSentError(platform, 'unavailable', { detail, retryAfterMs: 1000 }), () => '');
}
