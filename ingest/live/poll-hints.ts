const LOOK_MS = 50;
/** Markets that wait at most; what more there are the periodic poll finds. */
const WAITING = 5000;

export interface PollHintsOptions {
  /** When to read after a hint, ms. */
  delaysMs: readonly number[];
  /** At least this long between two readings of one key, ms. */
  gapMs: number;
  /** Called with keys that are due. */
  onDue: (keys: readonly string[]) => void;
}

/** Turns hints into few readings: hints of one key are merged, and no key is read more often than every `gapMs`. */
export class PollHints {
  readonly #options: PollHintsOptions;
  readonly #due = new Map<string, number[]>();
  readonly #readAt = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;

  constructor(options: PollHintsOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#look(), LOOK_MS).unref();
  }

  add(key: string): void {
    const { delaysMs, gapMs } = this.#options;
    if (this.#due.size >= WAITING && !this.#due.has(key)) return;
    const now = performance.now();
    const earliest = (this.#readAt.get(key) ?? -Infinity) + gapMs;
    const due = this.#due.get(key) ?? [];
    for (const delayMs of delaysMs) {
      const at = Math.max(now + delayMs, earliest);
      if (!due.some((other) => Math.abs(other - at) < gapMs)) due.push(at);
    }
    this.#due.set(key, due);
  }

  clear(): void {
    this.#due.clear();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#due.clear();
  }

  #look(): void {
    const now = performance.now();
    const keys: string[] = [];
    for (const [key, due] of this.#due) {
      if (!due.some((at) => at <= now)) continue;
      keys.push(key);
      this.#readAt.set(key, now);
      const later = due.filter((at) => at > now);
      if (later.length > 0) this.#due.set(key, later);
      else this.#due.delete(key);
    }
    for (const [key, at] of this.#readAt) if (now - at > this.#options.gapMs) this.#readAt.delete(key);
    if (keys.length > 0) this.#options.onDue(keys);
  }
}
