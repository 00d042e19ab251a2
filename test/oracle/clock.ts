import { type Clock, systemClock } from '../../src/core/time.ts';
import type { SimClock } from '../simulators/simulator.ts';

/** A world's clock that runs with the service's and can stand still: what rolls with time then holds still to be compared. */
export class StoppableClock implements SimClock {
  readonly service: Clock;
  /** Since when (service's time) the clock shows `frozen`, or the service's time where that is null; oldest first. */
  readonly #turns: { at: number; frozen: number | null }[];

  constructor(service: Clock = systemClock) {
    this.service = service;
    const now = service.now();
    this.#turns = [{ at: 0, frozen: now }];
  }

  now(): number {
    return this.at(this.service.now());
  }

  /** What the clock showed at a time of the service, Unix ms. */
  at(serviceMs: number): number {
    return this.#turns.findLast(({ at }) => at <= serviceMs)?.frozen ?? serviceMs;
  }

  run(): void {
    this.#turns.push({ at: this.service.now(), frozen: null });
  }

  /** Shows the present from now on. */
  stop(): void {
    const now = this.service.now();
    this.#turns.push({ at: now, frozen: now });
  }
}
