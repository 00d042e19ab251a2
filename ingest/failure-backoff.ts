import { LruMap } from '../src/core/lru-map.ts';

/** First wait before something that could not be read is asked for again; each further one is twice as long. */
const FIRST_MS = 1000;
const LONGEST_MS = 86_400_000;
const REMEMBERED = 100_000;

interface Failure<E> {
  error: E;
  untilMs: number;
  waitMs: number;
}

/** What could not be read, by name, with what was wrong: it is asked for less and less often, so that it never takes the place of others. */
export class FailureBackoff<E> {
  readonly #failures = new LruMap<string, Failure<E>>(REMEMBERED);

  /** How many there are. */
  get size(): number {
    return this.#failures.size;
  }

  /** What is wrong with them. */
  errors(): E[] {
    return [...this.#failures.entries()].map(([, { error }]) => error);
  }

  isDue(name: string, nowMs: number): boolean {
    return nowMs >= (this.#failures.get(name)?.untilMs ?? 0);
  }

  failed(name: string, error: E, nowMs: number): void {
    const waitMs = Math.min(LONGEST_MS, 2 * (this.#failures.get(name)?.waitMs ?? FIRST_MS / 2));
    this.#failures.set(name, { error, untilMs: nowMs + waitMs, waitMs });
  }

  /** It was read, or it is no longer wanted. */
  forget(name: string): void {
    this.#failures.delete(name);
  }

  /** Forgets all but these. */
  keepOnly(names: ReadonlySet<string>): void {
    for (const [name] of this.#failures.entries()) if (!names.has(name)) this.#failures.delete(name);
  }
}
