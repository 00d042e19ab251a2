import type { Clock, Stop } from '../../src/core/time.ts';

/** Maximum number of waiting markets; the periodic poll covers the rest. */
const WAITING = 5000;
/** Maximum factor by which the interval grows for a key whose polls find nothing. */
const MOST_PATIENCE = 16;

interface PollHintsOptions {
  clock: Clock;
  /** Delays from a hint to its polls, ms. */
  delaysMs: readonly number[];
  /** Minimum interval between two polls of one key, ms. */
  gapMs: number;
  /** Minimum interval between two polls of any keys, ms. */
  everyMs: number;
  /** Called with a key that is due for a poll. */
  onDue: (key: string) => void;
}

interface Waiting {
  /** By the clock's elapsed(). */
  due: number[];
  hints: number;
}

/** Merges the hints of one key (a market, or a feed) into few polls, most hints first. The interval doubles if a poll finds nothing. */
export class PollHints {
  readonly #options: PollHintsOptions;
  readonly #waiting = new Map<string, Waiting>();
  readonly #read = new Map<string, { at: number; gapMs: number }>();
  #stopTimer: Stop | undefined;
  /** When the timer fires. */
  #wakeAt = Infinity;
  #nextAt = 0;
  #isStopped = false;

  constructor(options: PollHintsOptions) {
    this.#options = options;
  }

  add(key: string): void {
    const { delaysMs, gapMs } = this.#options;
    const waiting = this.#waiting.get(key) ?? { due: [], hints: 0 };
    if (this.#isStopped || (this.#waiting.size >= WAITING && waiting.hints === 0)) return;
    const now = this.#options.clock.elapsed();
    const earliest = this.#earliest(key);
    for (const delayMs of delaysMs) {
      const at = Math.max(now + delayMs, earliest);
      if (waiting.due.some((other) => Math.abs(other - at) < gapMs)) continue;
      waiting.due.push(at);
      this.#wake(at, now);
    }
    waiting.hints += 1;
    this.#waiting.set(key, waiting);
  }

  /** Reports how many new rows a key's poll has found. */
  found(key: string, rows: number): void {
    const read = this.#read.get(key);
    const { gapMs } = this.#options;
    if (read) read.gapMs = rows > 0 ? gapMs : Math.min(read.gapMs * 2, gapMs * MOST_PATIENCE);
  }

  stop(): void {
    this.#isStopped = true;
    this.#stopTimer?.();
    this.#waiting.clear();
  }

  #earliest(key: string): number {
    const read = this.#read.get(key);
    return read ? read.at + read.gapMs : -Infinity;
  }

  /** Schedules a check at this time or earlier; hints of one event-loop turn cause one poll. */
  #wake(at: number, now: number): void {
    const wakeAt = Math.max(at, this.#nextAt, now);
    if (wakeAt >= this.#wakeAt) return;
    this.#stopTimer?.();
    this.#wakeAt = wakeAt;
    this.#stopTimer = this.#options.clock.timeout(Math.ceil(wakeAt - now), () => this.#look());
  }

  #look(): void {
    this.#wakeAt = Infinity;
    const now = this.#options.clock.elapsed();
    for (const [key, { at, gapMs }] of this.#read) {
      // Kept for twice the gap, so that a key with continuous hints keeps its interval.
      if (now - at > gapMs * 2) this.#read.delete(key);
    }
    const key = now < this.#nextAt ? null : this.#busiest(now);
    if (key !== null) this.#begin(key, now);
    const next = this.#nextDue();
    if (next < Infinity) this.#wake(next, now);
  }

  #begin(key: string, now: number): void {
    this.#nextAt = now + this.#options.everyMs;
    const waiting = this.#waiting.get(key);
    const due = waiting?.due.filter((at) => at > now) ?? [];
    if (waiting && due.length > 0) this.#waiting.set(key, { due, hints: 1 });
    else this.#waiting.delete(key);
    this.#read.set(key, { at: now, gapMs: this.#read.get(key)?.gapMs ?? this.#options.gapMs });
    this.#options.onDue(key);
  }

  #busiest(now: number): string | null {
    let best: string | null = null;
    let most = 0;
    for (const [key, { due, hints }] of this.#waiting) {
      if (hints <= most || now < this.#earliest(key) || !due.some((at) => at <= now)) continue;
      [best, most] = [key, hints];
    }
    return best;
  }

  #nextDue(): number {
    let next = Infinity;
    for (const [key, { due }] of this.#waiting) {
      const earliest = this.#earliest(key);
      for (const at of due) next = Math.min(next, Math.max(at, earliest));
    }
    return next;
  }
}
