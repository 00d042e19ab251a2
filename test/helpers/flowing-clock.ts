import { afterAll } from 'vitest';
import { isAtWork } from './at-work.ts';
import type { Clock } from '../../src/core/time.ts';
import { type VirtualClock, virtualClock } from './virtual-clock.ts';

const LOOK_MS = 20;
/** More than the tests of a file take, by the clock. */
const BEHIND_MS = 15 * 60_000;

/** What `check` returns once it passes; after `withinMs` it fails as the check does. Looks are `lookMs` apart. */
export async function passes<T>(
  clock: Clock,
  check: () => T | Promise<T>,
  withinMs = 10_000,
  lookMs = LOOK_MS,
): Promise<T> {
  for (const endMs = clock.elapsed() + withinMs; ; await clock.sleep(lookMs)) {
    try {
      return await check();
    } catch (error) {
      if (clock.elapsed() >= endMs) throw error;
    }
  }
}

/**
 * The clock of a test file, by default from now on: time passes from timer to timer by itself, and stands still while the process
 * waits for anything else. Stores that answer late cost no time, platforms that do not answer cost no waiting.
 */
export function flowingClock(startMs = Date.now()): VirtualClock {
  const clock = virtualClock(startMs);
  const stop = clock.flow(isAtWork);
  afterAll(stop);
  return clock;
}

/** The same for a service that ingests: the stores go by the machine's time, which it must not overtake. */
export const clockBehind = (): VirtualClock => flowingClock(Date.now() - BEHIND_MS);
