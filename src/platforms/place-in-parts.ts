import type { Platform } from '../core/model.ts';
import { partsOf } from '../core/parts.ts';
import { systemClock } from '../core/time.ts';
import { failedPlacement } from './failed-placement.ts';
import { NotSentError } from './http/errors.ts';
import type { Placement } from './order-contract.ts';

/** A part that would be sent later than this after the first is not sent: its prices and books have become old. */
const SENT_WITHIN_MS = 10_000;

/** Sends the orders of a batch in parts of at most `size`, one after another. The results are in the order of the orders. */
export async function placeInParts<O>(
  platform: Platform,
  orders: readonly O[],
  size: number,
  send: (part: readonly O[]) => Promise<Placement[]>,
): Promise<Placement[]> {
  const placements: Placement[] = [];
  const startedMs = systemClock.elapsed();
  for (const part of partsOf(orders, size)) {
    const isLate = systemClock.elapsed() - startedMs > SENT_WITHIN_MS;
    placements.push(...(isLate ? part.map(() => tooLate(platform)) : await send(part)));
  }
  return placements;
}

function tooLate(platform: Platform): Placement {
  const detail = `the orders of the batch before it took more than ${SENT_WITHIN_MS / 1000} s`;
  return failedPlacement(platform, new NotSentError(platform, 'unavailable', { detail, retryAfterMs: 1000 }), () => '');
}
