import { Cache } from '../src/core/cache.ts';
import type { PlatformError } from '../src/core/errors.ts';
import type { ReadContext } from '../src/platforms/contract.ts';
import { isDoubtfulError, isItemError } from '../src/platforms/parse-rows.ts';
import type { JobRun } from './job-runner.ts';
import { DAY_MS } from '../src/core/time.ts';

/** Delay before the first retry; it doubles with each further failure. */
const FIRST_MS = 1000;
const LONGEST_MS = DAY_MS;
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

  isDue(name: string, nowMs: number): boolean {
    return nowMs >= (this.#failures.get(name)?.untilMs ?? 0);
  }

  failed(name: string, error: E, nowMs: number): void {
    const waitMs = Math.min(LONGEST_MS, 2 * (this.#failures.get(name)?.waitMs ?? FIRST_MS / 2));
    this.#failures.set(name, { error, untilMs: nowMs + waitMs, waitMs });
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
export class ItemFailures {
  #doubts = 0;

  /** Call it after each item that could be read. */
  answered(): void {
    this.#doubts = 0;
  }

  /** Returns the failure of one item. Throws a failure that concerns more than the item, and the fifth one in a row. */
  ofItem(error: unknown, signal: AbortSignal | undefined): PlatformError {
    if (isItemError(error)) return error;
    this.#doubts += 1;
    if (isDoubtfulError(error) && signal?.aborted !== true && this.#doubts <= IN_A_ROW) return error;
    throw error;
  }
}
