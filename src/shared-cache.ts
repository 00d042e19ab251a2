/** Where cached texts are kept. */
export interface TextStore {
  get(key: string): Promise<string | undefined>;
  set(key: string, text: string, ttlMs: number): Promise<void>;
}

/** Texts by key until they expire; when `maxChars` is reached the least recently used go. */
export class TextCache implements TextStore {
  readonly #entries = new Map<string, { text: string; expiresAt: number; chars: number }>();
  readonly #maxChars: number;
  #chars = 0;

  constructor(maxChars = 32 * 1024 * 1024) {
    this.#maxChars = maxChars;
  }

  async get(key: string): Promise<string | undefined> {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    this.#drop(key);
    if (entry.expiresAt <= performance.now()) return undefined;
    this.#entries.set(key, entry);
    this.#chars += entry.chars;
    return entry.text;
  }

  async set(key: string, text: string, ttlMs: number): Promise<void> {
    this.#drop(key);
    const chars = key.length + text.length + ENTRY_OVERHEAD;
    if (ttlMs <= 0 || chars > this.#maxChars) return;
    this.#entries.set(key, { text, expiresAt: performance.now() + ttlMs, chars });
    this.#chars += chars;
    for (const oldest of this.#entries.keys()) {
      if (this.#chars <= this.#maxChars) break;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    const entry = this.#entries.get(key);
    if (entry && this.#entries.delete(key)) this.#chars -= entry.chars;
  }
}

/** What an entry weighs beside its texts, so that many tiny ones are bounded too. */
const ENTRY_OVERHEAD = 100;

/** Reading through a store: one load per key at a time, its value kept as text. A failed load is not kept. */
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

/** The first letter tells a string, kept as it is, from JSON: response bodies are not encoded twice. */
const encode = (value: unknown): string =>
  typeof value === 'string' ? `s${value}` : `j${JSON.stringify(value) ?? 'null'}`;
const decode = <T>(text: string): T => (text[0] === 's' ? text.slice(1) : JSON.parse(text.slice(1))) as T;
