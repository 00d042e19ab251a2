import { type Clock, clockOf, type Stop, systemClock } from '../../src/core/time.ts';

/** Turns of the event loop after each timer: enough for what several requests over loopback sockets set off. */
const TURNS = 16;
/** How often `until` looks once more after its time, a few ms apart. */
const PATIENCE = 1000;
/** How often in a row `flow` must find nothing at work before it lets time pass. */
const LOOKS = 2;

/** A clock that stands still until a test lets time pass. */
export interface VirtualClock extends Clock {
  /** Lets time pass: runs every timer that falls due, in order, each when what the one before set off has settled. */
  advance(ms: number): Promise<void>;
  /**
   * Lets time pass from timer to timer until `check` neither throws nor returns false. After `withinMs`, by default at once, it stands
   * still for what threads and other processes do; then `until` throws what `check` threw last.
   */
  until(check: () => unknown, withinMs?: number): Promise<void>;
  /** Lets time pass until `work` ends, `withinMs` at most; its result. */
  complete<T>(work: Promise<T>, withinMs: number): Promise<T>;
  /** Lets time pass by itself, from timer to timer, whenever nothing is at work, until what it returns is called. */
  flow(isAtWork: () => boolean): Stop;
  /** Lets time pass while the process does nothing: timers that fell due run late, with the next `advance` or `until`. */
  stall(ms: number): void;
  /** Corrects the time of day by `ms`; no time passes. */
  correct(ms: number): void;
  /** Number of timers that wait. */
  readonly waiting: number;
}

/** Lets promises, callbacks and loopback sockets go on. */
export async function settle(turns = TURNS): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** The same, and for a millisecond what threads do. */
async function pause(): Promise<void> {
  await settle();
  await new Promise((resolve) => setTimeout(resolve, 1));
}

interface Timer {
  dueMs: number;
  task: () => void;
}

/** Timers of the same moment run in the order in which they were set. Like those of Node, they wait 1 ms at least. */
export function virtualClock(startMs: number = Date.UTC(2026, 10, 26)): VirtualClock {
  let passedMs = 0;
  let correctionMs = 0;
  const timers = new Set<Timer>();
  const next = (): Timer | null => {
    let first: Timer | null = null;
    for (const timer of timers) if (first === null || timer.dueMs < first.dueMs) first = timer;
    return first;
  };
  /** Runs the next timer that is due by then; without one it is then. Whether there was one. */
  const step = async (toMs: number): Promise<boolean> => {
    const timer = next();
    const isDue = timer !== null && timer.dueMs <= toMs;
    passedMs = isDue ? Math.max(passedMs, timer.dueMs) : Math.max(passedMs, toMs);
    if (isDue) {
      timers.delete(timer);
      timer.task();
    }
    await settle();
    return isDue;
  };
  const clock = clockOf({
    now: () => Math.floor(startMs + correctionMs + passedMs),
    elapsed: () => passedMs,
    after: (ms, task) => {
      const timer = { dueMs: passedMs + Math.max(1, ms), task };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
  });
  const until: VirtualClock['until'] = async (check, withinMs = 0) => {
    const toMs = passedMs + withinMs;
    for (let patience = PATIENCE; ;) {
      await pause();
      try {
        if (check() !== false) return;
        throw new Error(`it did not come about within ${withinMs} ms`);
      } catch (error) {
        if (passedMs >= toMs && (patience -= 1) < 0) throw error;
      }
      if (passedMs < toMs) await step(toMs);
    }
  };
  const flow: VirtualClock['flow'] = (isAtWork) => {
    const over = new AbortController();
    const run = async (): Promise<void> => {
      for (let looks = 0; !over.signal.aborted;) {
        await pause();
        looks = isAtWork() ? 0 : looks + 1;
        const timer = next();
        if (looks < LOOKS || timer === null || over.signal.aborted) continue;
        looks = 0;
        await step(timer.dueMs);
      }
    };
    void run();
    return () => over.abort();
  };
  return {
    ...clock,
    until,
    flow,
    complete: async (work, withinMs) => {
      let hasEnded = false;
      const end = (): void => void (hasEnded = true);
      work.then(end, end);
      await until(() => hasEnded, withinMs);
      return work;
    },
    advance: async (ms) => {
      await settle();
      const toMs = passedMs + ms;
      while (await step(toMs));
    },
    stall: (ms) => {
      passedMs += ms;
    },
    correct: (ms) => {
      correctionMs += ms;
    },
    get waiting() {
      return timers.size;
    },
  };
}

/** The clock of the machine, except that the time of day is another one. */
export const clockAt = (now: () => number): Clock => ({ ...systemClock, now });

/** The clock of the machine, a second ahead: lists of ClickHouse show the store as it was a second ago, which is here as it is. */
export const listingClock: Clock = clockAt(() => systemClock.now() + 1000);

/** The time of the machine, but waits end at once: writers gather no groups. */
export const hurriedClock: Clock = clockOf({
  now: systemClock.now,
  elapsed: systemClock.elapsed,
  after: (_ms, task) => systemClock.timeout(0, task),
});
