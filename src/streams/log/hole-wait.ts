import type { Clock } from '../../core/time.ts';

/** On replicas rows may become visible out of order; a hole that stays may be a lost event. */
const HOLE_MS = 30_000;

/** How long a reader of the log waits for a hole to be filled. */
export class HoleWait {
  readonly #clock: Clock;
  #sinceMs: number | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Call it with each look that finds the hole; true once it has been there for too long. */
  isLost(): boolean {
    const now = this.#clock.elapsed();
    this.#sinceMs ??= now;
    return now - this.#sinceMs >= HOLE_MS;
  }

  /** Call it when the hole is filled or skipped. */
  end(): void {
    this.#sinceMs = null;
  }
}
