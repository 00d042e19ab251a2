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

/** Calls `fire(count)` ten times a second so that counts add up to `perSecond`; returns the stop function. */
export function atRate(perSecond: number, fire: (count: number) => void): () => void {
  let owed = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    // After a stall (a suspended laptop) one second is made up for, not the whole absence.
    owed += (Math.min(now - last, 1000) * perSecond) / 1000;
    last = now;
    const count = Math.floor(owed);
    owed -= count;
    if (count > 0) fire(count);
  }, 100);
  timer.unref();
  return () => clearInterval(timer);
}
