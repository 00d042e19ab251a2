import type { SimClock } from '../simulators/simulator.ts';

/** A world's clock that runs with the machine's and can stand still: what rolls with time then holds still to be compared. */
export class StoppableClock implements SimClock {
  /** Since when (real time) the clock shows `frozen`, or the real time where that is null; oldest first. */
  readonly #turns: { at: number; frozen: number | null }[];

  constructor() {
    const now = Date.now();
    this.#turns = [{ at: 0, frozen: now }];
  }

  now(): number {
    return this.at(Date.now());
  }

  /** What the clock showed at a real time, Unix ms. */
  at(realMs: number): number {
    return this.#turns.findLast(({ at }) => at <= realMs)?.frozen ?? realMs;
  }

  run(): void {
    this.#turns.push({ at: Date.now(), frozen: null });
  }

  /** Shows the present, or a time to come, from now on. */
  stop(atMs = Date.now()): void {
    this.#turns.push({ at: Date.now(), frozen: atMs });
  }
}
