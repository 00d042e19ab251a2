import { readdirSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import type { Clock, Stop } from '../../core/time.ts';

/** ClickHouse gives it to the threads of a query with a priority of its own once that has ended. */
const RESET = 0;
/** The nice value of threads that run queries of analysts (allowed-settings.ts). */
export const LOW = 19;
/** A query that was stopped leaves its threads within this time. */
const AFTER_MS = 1000;

interface LowThreadsOptions {
  clock: Clock;
  /** Process id of the engine. */
  pid: () => number | undefined;
  isIdle: () => boolean;
}

/**
 * Gives threads of the engine their usual priority once no query of an analyst runs: they also run statements of the service. A query's
 * threads get 0 at its end, and some of one that was stopped keep the low one.
 */
export class LowThreads {
  readonly #options: LowThreadsOptions;
  #stop: Stop | undefined;

  constructor(options: LowThreadsOptions) {
    this.#options = options;
  }

  /** Call it whenever the last running query has ended. */
  ended(): void {
    this.#stop ??= this.#options.clock.timeout(AFTER_MS, () => {
      this.#stop = undefined;
      const pid = this.#options.pid();
      // If a query runs now, its end calls this again.
      if (pid !== undefined && this.#options.isIdle()) giveUsual(pid);
    });
  }

  close(): void {
    this.#stop?.();
  }
}

/**
 * Sets threads that a query has changed to the priority of the first thread, which runs no queries. They keep their own if the system
 * refuses.
 */
function giveUsual(pid: number): void {
  try {
    const usual = getPriority(pid);
    for (const thread of readdirSync(`/proc/${pid}/task`).map(Number)) {
      try {
        if ([RESET, LOW].includes(getPriority(thread))) setPriority(thread, usual);
      } catch {
        // The thread has ended, or may not be changed.
      }
    }
  } catch {
    // Not Linux, or the engine has ended.
  }
}
