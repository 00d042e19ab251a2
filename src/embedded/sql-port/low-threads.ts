import { readdirSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import type { Clock, Stop } from '../../core/time.ts';

const TASKS = '/proc/self/task';
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

/** Where the system has threads as files and lets this process raise them: elsewhere none is low. */
function giveUsual(): void {
  // That of the first thread, which runs no queries.
  const usual = getPriority();
  let threads: string[] = [];
  try {
    threads = readdirSync(TASKS);
  } catch {
    return;
  }
  for (const thread of threads.map(Number)) {
    try {
      if (getPriority(thread) !== usual) setPriority(thread, usual);
    } catch {
      // The thread has ended.
    }
  }
}
