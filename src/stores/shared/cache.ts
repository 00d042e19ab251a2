import type { LocalCache } from './shared.ts';

/** A store of cached texts. */
export interface TextStore {
  get(key: string): Promise<string | undefined>;
  set(key: string, text: string, ttlMs: number): Promise<void>;
}

/** Values by key until they expire. Above `maxWeight` the least recently used are evicted; uses are tracked from half full on. */
export class ExpiringCache<V> {
  readonly #entries = new Map<string, { value: V; expiresAt: number; weight: number }>();
  readonly #maxWeight: number;
  #weight = 0;

  constructor(maxWeight = 32 * 1024 * 1024) {
    this.#maxWeight = maxWeight;
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    if (entry.expiresAt <= performance.now()) {
      this.#drop(key);
      return undefined;
    }
    // The order of eviction does not matter before the cache is half full.
    if (this.#weight * 2 >= this.#maxWeight) {
      this.#entries.delete(key);
      this.#entries.set(key, entry);
    }
    return entry.value;
  }

  set(key: string, value: V, ttlMs: number, weight: number): void {
    this.#drop(key);
    const whole = key.length + weight + ENTRY_OVERHEAD;
    if (ttlMs <= 0 || whole > this.#maxWeight) return;
    this.#entries.set(key, { value, expiresAt: performance.now() + ttlMs, weight: whole });
    this.#weight += whole;
    for (const oldest of this.#entries.keys()) {
      if (this.#weight <= this.#maxWeight) break;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    const entry = this.#entries.get(key);
    if (entry && this.#entries.delete(key)) this.#weight -= entry.weight;
  }
}

/** Weight of an entry apart from its value, so that many small ones are bounded too. */
const ENTRY_OVERHEAD = 100;

/** Texts cached in this process. */
export function localTexts(): TextStore {
  const cache = new ExpiringCache<string>();
  return {
    get: async (key) => cache.get(key),
    set: async (key, text, ttlMs) => cache.set(key, text, ttlMs, text.length),
  };
}

/** The part of Shared that stays in the process. */
export function createLocalCache(): LocalCache {
  const cache = new ExpiringCache<object>();
  return {
    get: <T extends object>(key: string) => cache.get(key) as T | undefined,
    set: (key, value, ttlMs, bytes) => cache.set(key, value, ttlMs, bytes),
  };
}

/** Reads through a store: one load per key at a time, its value stored as text. Failed loads are not cached. */
export function cacheThrough(store: TextStore) {
  const flights = new Map<string, Promise<{ value: unknown; hit: boolean }>>();
  const fly = async <T>(key: string, ttlMs: number, load: () => Promise<T>) => {
    const stored = await store.get(key);
    if (stored !== undefined) return { value: decode<T>(stored), hit: true };
    const value = await load();
    void store.set(key, encode(value), ttlMs);
    return { value, hit: false };
  };
  return <T>(key: string, ttlMs: number, load: () => Promise<T>): Promise<{ value: T; hit: boolean }> => {
    const running = flights.get(key);
    if (running) return running as Promise<{ value: T; hit: boolean }>;
    const flight = fly(key, ttlMs, load).finally(() => flights.delete(key));
    flights.set(key, flight);
    return flight;
  };
}

/** The first character distinguishes strings, stored as they are, from JSON: response bodies are not encoded twice. */
const encode = (value: unknown): string =>
  typeof value === 'string' ? `s${value}` : `j${JSON.stringify(value) ?? 'null'}`;
const decode = <T>(text: string): T => (text[0] === 's' ? text.slice(1) : JSON.parse(text.slice(1))) as T;
