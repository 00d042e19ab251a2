import { Cache } from '../src/core/cache.ts';
import type { PlatformError } from '../src/core/errors.ts';
import type { ReadContext } from '../src/platforms/contract.ts';
import { isDoubtfulError, isItemError } from '../src/platforms/parse-rows.ts';
import type { JobRun } from './job-runner.ts';
import { type Clock, DAY_MS } from '../src/core/time.ts';

/** Delay before the first retry; it doubles with each further failure. */
const FIRST_MS = 1000;
const REMEMBERED = 100_000;
/** At most this many failures in a row count as failures of items; the next one counts as the platform's. */
const IN_A_ROW = 4;

/** A run for items that failed before: no request is retried, and a failure does not count in the breaker of its host. */
export const askedAgain = (run: JobRun): JobRun => ({ ...run, context: (priority) => again(run.context(priority)) });
/** The same for a context. */
export const again = (context: ReadContext): ReadContext => ({ ...context, isAskedOnce: true, failedBefore: true });

interface Failure<E> {
  error: E;
  untilMs: number;
  waitMs: number;
}

/** Items that could not be read, with their errors. They are retried at growing intervals. */
export class FailureBackoff<E> {
  readonly #failures = new Cache<string, Failure<E>>({ limit: REMEMBERED });
  readonly #clock: Pick<Clock, 'now'>;
  readonly #longestMs: number;

  /** `longestMs`: the longest time between two attempts. */
  constructor(clock: Pick<Clock, 'now'>, longestMs = DAY_MS) {
    this.#clock = clock;
    this.#longestMs = longestMs;
  }

  get size(): number {
    return this.#failures.size;
  }

  errors(): E[] {
    return this.#failures.entries().map(([, { error }]) => error);
  }

  hasFailed(name: string): boolean {
    return this.#failures.has(name);
  }

  /** Each name with its last error. */
  entries(): [string, E][] {
    return this.#failures.entries().map(([name, { error }]) => [name, error]);
  }

  isDue(name: string): boolean {
    return this.#clock.now() >= (this.#failures.get(name)?.untilMs ?? 0);
  }

  failed(name: string, error: E): void {
    const waitMs = Math.min(this.#longestMs, 2 * (this.#failures.get(name)?.waitMs ?? FIRST_MS / 2));
    this.#failures.set(name, { error, untilMs: this.#clock.now() + waitMs, waitMs });
  }

  /** Call it when the item was read or is no longer wanted. */
  forget(name: string): void {
    this.#failures.delete(name);
  }

  keepOnly(names: ReadonlySet<string>): void {
    for (const [name] of this.#failures.entries()) if (!names.has(name)) this.#failures.delete(name);
  }
}

/** Decides whether a failure while items are read one after another is the item's alone, or ends the reading. */
export class ItemReads {
  readonly #signal: AbortSignal | undefined;
  #doubts = 0;

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
  }

  /** Reads one item; returns a failure that is its own. Throws one that concerns more than the item, and the fifth in a row. */
  async attempt<T>(read: () => Promise<T>): Promise<T | PlatformError> {
    try {
      const item = await read();
      this.#doubts = 0;
      return item;
    } catch (error) {
      if (isItemError(error)) return error;
      this.#doubts += 1;
      if (isDoubtfulError(error) && this.#signal?.aborted !== true && this.#doubts <= IN_A_ROW) return error;
      throw error;
    }
  }
}
