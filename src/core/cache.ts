import { LRUCache } from 'lru-cache';
import { SingleFlight } from './single-flight.ts';
import { systemClock } from './time.ts';

/** Values by key in memory, up to a bound: a full cache drops what was not used for longest. null is a value, undefined is none. */
export class Cache<K extends string | number, V> {
  readonly #entries: LRUCache<K, V & {}>;
  readonly #ttlMs: number | undefined;
  readonly #flights = new SingleFlight<K>();
  /** The newest load in progress of each key; a deleted key has none. */
  readonly #loads = new Map<K, object>();

  /**
   * `limit`: the largest sum of weights; an entry weighs 1 unless `set` says otherwise. `ttlMs`: how long a value is kept (0 = not at
   * all); absent = until it is dropped. `now`: milliseconds of any clock.
   */
  constructor({ limit, ttlMs, now = systemClock.elapsed }: { limit: number; ttlMs?: number; now?: () => number }) {
    if (!Number.isInteger(limit) || limit < 1) throw new RangeError(`limit: a whole number from 1, received ${limit}`);
    this.#ttlMs = ttlMs;
    // By weight alone: lru-cache allocates for `max` entries at once.
    // lru-cache reads a start time of 0 as 'no start', so time begins at 1.
    this.#entries = new LRUCache({ maxSize: limit, ttlResolution: 0, perf: { now: () => now() + 1 } });
  }

  get(key: K): V | undefined {
    return this.#entries.get(key);
  }

  /** Like `get`, but does not count as a use. */
  peek(key: K): V | undefined {
    return this.#entries.peek(key);
  }

  /** Does not count as a use. */
  has(key: K): boolean {
    return this.#entries.has(key);
  }

  /** A value heavier than the whole cache is not kept, and neither is one with a `ttlMs` of 0 or less. */
  set(key: K, value: V, { ttlMs = this.#ttlMs, weight = 1 }: { ttlMs?: number; weight?: number } = {}): void {
    if (ttlMs !== undefined && ttlMs <= 0) this.#entries.delete(key);
    else this.#entries.set(key, value as V & {}, { ttl: ttlMs, size: weight });
  }

  /** The value, or what `load` returns, which concurrent callers share. Failures, and values deleted while they were loaded, are not kept. */
  async read(key: K, load: () => Promise<V>): Promise<V> {
    const kept = this.get(key);
    if (kept !== undefined) return kept;
    return this.#flights.run(key, async () => {
      let value!: V;
      await this.readAll([key], async () => [[key, (value = await load())]]);
      return value;
    });
  }

  /** Keeps what `load` returns for these keys, except keys that were deleted while it ran: their values may be outdated. */
  async readAll(keys: readonly K[], load: () => Promise<Iterable<readonly [K, V]>>): Promise<void> {
    const own = {};
    for (const key of keys) this.#loads.set(key, own);
    try {
      for (const [key, value] of await load()) if (this.#loads.get(key) === own) this.set(key, value);
    } finally {
      for (const key of keys) if (this.#loads.get(key) === own) this.#loads.delete(key);
    }
  }

  delete(key: K): void {
    this.#entries.delete(key);
    this.#flights.forget(key);
    this.#loads.delete(key);
  }

  /** Deletes everything, for changes that may have been missed. */
  clear(): void {
    this.#entries.clear();
    for (const key of this.#loads.keys()) this.delete(key);
  }

  /** Those used longest ago first. Does not count as a use. */
  entries(): [K, V][] {
    return [...this.#entries.entries()].toReversed();
  }

  get size(): number {
    return this.#entries.size;
  }
}
