import { Cache } from '../../core/cache.ts';
import { SingleFlight } from '../../core/single-flight.ts';
import type { Clock } from '../../core/time.ts';
import type { Lasting, LocalCache } from './shared.ts';

/** A store of cached texts. */
export interface TextStore {
  get(key: string): Promise<string | undefined>;
  set(key: string, text: string, ttlMs: number): Promise<void>;
}

const LIMIT_BYTES = 32 * 1024 * 1024;
/** Weight of an entry in addition to its value, so that the number of small entries is bounded too. */
const ENTRY_BYTES = 100;

/** The part of Shared that stays in the process. */
export function createLocalCache(clock: Clock): LocalCache {
  const cache = new Cache<string, object>({ limit: LIMIT_BYTES, now: clock.elapsed });
  return {
    get: <T extends object>(key: string) => cache.get(key) as T | undefined,
    set: (key, value, ttlMs, bytes) => cache.set(key, value, { ttlMs, weight: key.length + bytes + ENTRY_BYTES }),
  };
}

/** Texts cached in this process. */
export function localTexts(clock: Clock): TextStore {
  const cache = new Cache<string, string>({ limit: LIMIT_BYTES, now: clock.elapsed });
  return {
    get: async (key) => cache.get(key),
    set: async (key, text, ttlMs) => cache.set(key, text, { ttlMs, weight: key.length + text.length + ENTRY_BYTES }),
  };
}

/** Reads through a store: one load per key at a time, its value stored as text. Failed loads are not cached. */
export function cacheThrough(store: TextStore) {
  const flights = new SingleFlight<string>();
  const fly = async <T>(key: string, ttlMs: Lasting, load: () => Promise<T>) => {
    const stored = await store.get(key);
    if (stored !== undefined) return { value: decode<T>(stored), hit: true };
    const value = await load();
    void store.set(key, encode(value), typeof ttlMs === 'number' ? ttlMs : ttlMs());
    return { value, hit: false };
  };
  return <T>(key: string, ttlMs: Lasting, load: () => Promise<T>): Promise<{ value: T; hit: boolean }> =>
    flights.run(key, () => fly(key, ttlMs, load));
}

/** The stored text of a value: `s` and a string, or `j` and JSON. Response bodies are strings, so they are not encoded twice. */
const encode = (value: unknown): string =>
  typeof value === 'string' ? `s${value}` : `j${JSON.stringify(value) ?? 'null'}`;
const decode = <T>(text: string): T => (text[0] === 's' ? text.slice(1) : JSON.parse(text.slice(1))) as T;
