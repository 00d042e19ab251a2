import { readdirSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import type { Clock, Stop } from '../../core/time.ts';

const TASKS = '/proc/self/task';
/** ClickHouse gives it to the threads of a query with a priority of its own once that has ended. */
const RESET = 0;
/** The nice value of threads that run queries of analysts (allowed-settings.ts). */
export const LOW = 19;
/** A query that was stopped leaves its threads within this time. */
const AFTER_MS = 1000;

/**
 * Gives threads of the engine their usual priority once no query of an analyst runs. A query's threads get 0 at its end, and some of one
 * that was stopped keep the low one: with these they would run statements of the service.
 */
export class LowThreads {
  readonly #clock: Clock;
  readonly #isIdle: () => boolean;
  #stop: Stop | undefined;

  constructor(clock: Clock, isIdle: () => boolean) {
    this.#clock = clock;
    this.#isIdle = isIdle;
  }

  /** Call it whenever the last running query has ended. */
  ended(): void {
    this.#stop ??= this.#clock.timeout(AFTER_MS, () => {
      this.#stop = undefined;
      // If a query runs now, its end calls this again.
      if (this.#isIdle()) giveUsual();
    });
  }

  close(): void {
    this.#stop?.();
  }
}

/** That of the first thread, which runs no queries. */
const giveUsual = (): void => giveThreads(getPriority(), [RESET, LOW]);

/**
 * Gives a nice value to the threads of this process that have one of `from`, and to those that they start later. Where the system has no
 * files of threads it gives it to the calling one, and where it refuses, a thread keeps its own.
 */
export function giveThreads(nice: number, from: readonly number[]): void {
  let threads: number[] = [process.pid];
  try {
    threads = readdirSync(TASKS).map(Number);
  } catch {
    // Not Linux.
  }
  for (const thread of threads) {
    try {
      if (from.includes(getPriority(thread))) setPriority(thread, nice);
    } catch {
      // The thread has ended, or may not be changed.
    }
  }
}
