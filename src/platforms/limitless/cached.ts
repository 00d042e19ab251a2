import { LruMap } from '../../core/lru-map.ts';

interface Entry<V> {
  value: Promise<V>;
  readAtMs: number;
  doubted: boolean;
}

/** Values read once for all concurrent callers, then cached for a while. Failed reads are not cached. */
export class Remembered<V> {
  readonly #entries: LruMap<string, Entry<V>>;
  readonly #keepMs: number;
  readonly #trustMs: number;
  readonly #now: () => number;

  /** A value is cached for `keepMs`; for `trustMs` even if it is doubted. */
  constructor(limit: number, { keepMs, trustMs, now }: { keepMs: number; trustMs: number; now: () => number }) {
    this.#entries = new LruMap(limit);
    this.#keepMs = keepMs;
    this.#trustMs = trustMs;
    this.#now = now;
  }

  get(key: string, read: () => Promise<V>): Promise<V> {
    const kept = this.#entries.get(key);
    if (kept && this.#now() - kept.readAtMs < (kept.doubted ? this.#trustMs : this.#keepMs)) return kept.value;
    const entry: Entry<V> = { value: read(), readAtMs: this.#now(), doubted: false };
    this.#entries.set(key, entry);
    entry.value.catch(() => {
      entry.readAtMs = Number.NEGATIVE_INFINITY;
    });
    return entry.value;
  }

  /** The value may be wrong: the next call reads it again unless it is very recent. */
  doubt(key: string): void {
    const kept = this.#entries.get(key);
    if (kept) kept.doubted = true;
  }
}
