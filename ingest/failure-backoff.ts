import { Cache } from '../src/core/cache.ts';

/** Delay before the first retry; it doubles with each further failure. */
const FIRST_MS = 1000;
const LONGEST_MS = 86_400_000;
const REMEMBERED = 100_000;

interface Failure<E> {
  error: E;
  untilMs: number;
  waitMs: number;
}

/** Items that could not be read, with their errors. They are retried at growing intervals and never take the place of others. */
export class FailureBackoff<E> {
  readonly #failures = new Cache<string, Failure<E>>({ limit: REMEMBERED });

  get size(): number {
    return this.#failures.size;
  }

  errors(): E[] {
    return this.#failures.entries().map(([, { error }]) => error);
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
