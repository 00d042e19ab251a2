import type { SimClock } from '../simulator.ts';

/** A clock that moves only when a test says so. */
export interface ManualClock extends SimClock {
  /** Unix milliseconds. */
  set(ms: number): void;
  advance(ms: number): void;
}

/** Starts at Unix milliseconds or at an ISO time. */
export function manualClock(start: number | string): ManualClock {
  let ms = typeof start === 'number' ? start : Date.parse(start);
  if (!Number.isFinite(ms)) throw new RangeError(`manualClock: start must be a time, got ${String(start)}`);
  return {
    now: () => ms,
    set(next) {
      ms = next;
    },
    advance(by) {
      ms += by;
    },
  };
}

/** The machine's clock. */
export const realClock: SimClock = { now: () => Date.now() };

/** Resolves after `ms` by the clock; the process does not stay alive for it. */
export const pause = (clock: SimClock, ms: number): Promise<void> =>
  clock.sleep?.(ms) ?? new Promise((resolve) => setTimeout(resolve, ms).unref());

/** Runs `task` every `ms` by the clock, until what it returns is called; the process does not stay alive for it. */
export function repeat(clock: SimClock, ms: number, task: () => unknown): () => void {
  if (clock.every) return clock.every(ms, task);
  const timer = setInterval(task, ms).unref();
  return () => clearInterval(timer);
}

/** Calls `fire(count)` ten times a second by the clock so that counts add up to `perSecond`; returns the stop function. */
export function atRate(clock: SimClock, perSecond: number, fire: (count: number) => void): () => void {
  let owed = 0;
  let last = clock.now();
  return repeat(clock, 100, () => {
    const now = clock.now();
    // After a stall (a suspended laptop) one second is made up for, not the whole absence.
    owed += (Math.min(now - last, 1000) * perSecond) / 1000;
    last = now;
    const count = Math.floor(owed);
    owed -= count;
    if (count > 0) fire(count);
  });
}
