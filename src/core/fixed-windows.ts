import type { Clock } from './time.ts';

/** Counts in a window, and the time until it ends. */
export interface Counted {
  requests: number;
  resetMs: number;
}
export const NOT_COUNTED: Counted = { requests: 0, resetMs: 0 };

/** Maximum windows in memory; above it the oldest are dropped. More callers a minute are a flood of forged addresses. */
export const MAX_WINDOWS = 100_000;

/** Counts by key in windows of one width, each begun by its key's first count: the in-process counterpart of Redis. */
export class FixedWindows {
  /** By key, ordered by end. */
  readonly #windows = new Map<string, { requests: number; endsAt: number }>();
  readonly #widthMs: number;
  readonly #clock: Pick<Clock, 'elapsed'>;

  constructor(widthMs: number, clock: Pick<Clock, 'elapsed'>) {
    this.#clock = clock;
    this.#widthMs = widthMs;
  }

  count(key: string): Counted {
    const now = this.#clock.elapsed();
    let window = this.#windows.get(key);
    if (!window || window.endsAt <= now) {
      for (const [old, { endsAt }] of this.#windows) {
        if (endsAt > now && this.#windows.size < MAX_WINDOWS) break;
        this.#windows.delete(old);
      }
      window = { requests: 0, endsAt: now + this.#widthMs };
      this.#windows.set(key, window);
    }
    window.requests += 1;
    return { requests: window.requests, resetMs: window.endsAt - now };
  }

  counted(key: string): Counted {
    const now = this.#clock.elapsed();
    const window = this.#windows.get(key);
    return window && window.endsAt > now ? { requests: window.requests, resetMs: window.endsAt - now } : NOT_COUNTED;
  }
}
