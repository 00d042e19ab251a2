import type { Clock } from '../src/core/time.ts';

/** What is stored is compared this often without a message, because a message can be lost. */
const EVERY_MS = 60_000;
/** Each comparison begins this much before the end of the last: rows become visible after their time, and clocks differ. */
export const COMPARED_OVERLAP_MS = 60_000;

/** Decides when stored rows are compared with what was derived from them: some times after a message, and once a minute. */
export class Comparisons {
  readonly #clock: Clock;
  readonly #perMessage: number;
  /** Comparisons that are due. */
  #left: number;
  #nextAt = -Infinity;

  /** `perMessage`: comparisons after a message; more than one if a replica may show the change after the message arrives. */
  constructor(clock: Clock, perMessage: number) {
    this.#clock = clock;
    this.#perMessage = perMessage;
    this.#left = perMessage;
  }

  /** Call it when something was stored. */
  ask(): void {
    this.#left = this.#perMessage;
  }

  /** Compares if it is due, or if `isForced`; null if not. After a failure it is due again. */
  async run<T>(compare: () => Promise<T>, isForced = false): Promise<T | null> {
    const now = this.#clock.elapsed();
    if (this.#left === 0 && !isForced && now < this.#nextAt) return null;
    this.#left = Math.max(0, this.#left - 1);
    this.#nextAt = now + EVERY_MS;
    try {
      return await compare();
    } catch (error) {
      this.ask();
      throw error;
    }
  }
}
