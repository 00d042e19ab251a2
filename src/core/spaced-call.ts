import type { Clock, Stop } from './time.ts';

/** One call serves all requests until it starts. Calls are `everyMs` apart; after a pause up to `burst` follow each other at once. */
export class SpacedCall {
  readonly #clock: Clock;
  readonly #everyMs: number;
  readonly #call: () => void;
  readonly #burst: number;
  /** When the next call may start if there are no bursts, by the clock's elapsed(). */
  #nextAt = -Infinity;
  #stop: Stop | undefined;

  constructor(clock: Clock, everyMs: number, call: () => void, burst = 1) {
    this.#clock = clock;
    this.#everyMs = everyMs;
    this.#call = call;
    this.#burst = burst;
  }

  ask(): void {
    if (this.#stop) return;
    const waitMs = this.#nextAt - (this.#burst - 1) * this.#everyMs - this.#clock.elapsed();
    this.#stop = this.#clock.timeout(Math.max(0, Math.ceil(waitMs)), () => this.#run());
  }

  cancel(): void {
    this.#stop?.();
    this.#stop = undefined;
  }

  #run(): void {
    this.#stop = undefined;
    this.#nextAt = Math.max(this.#nextAt, this.#clock.elapsed()) + this.#everyMs;
    this.#call();
  }
}
