import { readdirSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import type { Clock, Stop } from '../../core/time.ts';

const TASKS = '/proc/self/task';
/** The nice value of threads that run queries of analysts (allowed-settings.ts). */
export const LOW = 19;
/** A query that was stopped leaves its threads within this time. */
const AFTER_MS = 1000;

/**
 * Gives threads of the engine their usual priority once no query of an analyst runs: some threads of a query that was stopped keep the
 * low one, and would run statements of the service with it.
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
      if (this.#isIdle()) raise();
    });
  }

  close(): void {
    this.#stop?.();
  }
}

/** Threads are raised where the system has them as files and lets this process do it: elsewhere none is low. */
function raise(): void {
  let threads: string[] = [];
  try {
    threads = readdirSync(TASKS);
  } catch {
    return;
  }
  for (const thread of threads.map(Number)) {
    try {
      if (getPriority(thread) === LOW) setPriority(thread, 0);
    } catch {
      // The thread has ended.
    }
  }
}
