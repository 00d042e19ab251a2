import { setMaxListeners } from 'node:events';

export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
export const DAY_US = DAY_MS * 1000;

/** `2026-01-06 23:09:09.123`, a ClickHouse DateTime64(3). */
export const storeTime = (at: Date | number | string): string =>
  new Date(at).toISOString().slice(0, 23).replace('T', ' ');

/** The UTC day of a time, `2026-01-06`. */
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** Ends the timer or subscription that returned it; a second call does nothing. */
export type Stop = () => void;

/** What a clock is made of. */
interface TimeSource {
  /** Unix ms; a correction of the system's clock changes it. */
  readonly now: () => number;
  /** Ms since some moment, for durations: corrections of the system's clock do not change it. */
  readonly elapsed: () => number;
  /** Runs `task` once, after `ms`. `holds`: whether the process stays alive for it. */
  readonly after: (ms: number, task: () => void, holds: boolean) => Stop;
}

/** The time of a process. Everything that reads the time or waits does so with one, so that tests decide when time passes. */
export interface Clock extends Omit<TimeSource, 'after'> {
  /** Resolves after `ms`; rejects with the reason of `signal` as soon as that is aborted. The process stays alive for it. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Resolves after `ms`, without keeping the process alive: for a race with a promise that may take too long. */
  readonly late: (ms: number) => Promise<void>;
  /** Runs `task` every `ms`, first after `ms`; not while the promise of its last run is pending. */
  readonly every: (ms: number, task: () => unknown) => Stop;
  /** Runs `task` once, after `ms`. */
  readonly timeout: (ms: number, task: () => void) => Stop;
  /** Aborted with a TimeoutError after `ms`. */
  readonly deadline: (ms: number) => AbortSignal;
}

/** The clock of a source of time. */
export function clockOf({ now, elapsed, after }: TimeSource): Clock {
  return {
    now,
    elapsed,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return void reject(signal.reason as Error);
        const stop = after(ms, end, true);
        function end(): void {
          signal?.removeEventListener('abort', abort);
          resolve();
        }
        function abort(): void {
          stop();
          reject(signal?.reason as Error);
        }
        signal?.addEventListener('abort', abort, { once: true });
      }),
    late: (ms) =>
      new Promise((resolve) => {
        after(ms, resolve, false);
      }),
    every: (ms, task) => {
      let isRunning = false;
      let stop: Stop;
      const wait = (): void => {
        stop = after(ms, run, false);
      };
      function run(): void {
        wait();
        if (isRunning) return;
        const result = task();
        if (!(result instanceof Promise)) return;
        isRunning = true;
        void result.finally(() => {
          isRunning = false;
        });
      }
      wait();
      return () => stop();
    },
    timeout: (ms, task) => after(ms, task, false),
    deadline: (ms) => {
      const controller = new AbortController();
      after(ms, () => controller.abort(new DOMException('The time limit has passed', 'TimeoutError')), false);
      return controller.signal;
    },
  };
}

/** The clock of the machine. */
export const systemClock: Clock = {
  ...clockOf({
    now: () => Date.now(),
    elapsed: () => performance.now(),
    after: (ms, task, holds) => {
      const timer = setTimeout(task, ms);
      if (!holds) timer.unref();
      return () => clearTimeout(timer);
    },
  }),
  // Node drops the timer of a signal that is no longer referenced.
  deadline: (ms) => AbortSignal.timeout(ms),
};

/** How long a health probe and a scrape wait for a store. */
export const PROBE_MS = 3000;

/** The value, or `otherwise` if it fails or takes longer than a probe waits. */
export async function withTimeout<T>(clock: Clock, value: Promise<T>, otherwise: T): Promise<T> {
  let stop: Stop | undefined;
  const late = new Promise<T>((resolve) => {
    stop = clock.timeout(PROBE_MS, () => resolve(otherwise));
  });
  return Promise.race([value.catch(() => otherwise), late]).finally(stop);
}

/** A controller for whose signal many requests wait at once: at the eleventh listener Node would warn of a leak. */
export function sharedAbort(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}
