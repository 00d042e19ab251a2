import type { Clock, Stop } from './time.ts';

/** Coalesces calls: one call serves all requests until it starts, and calls are at least `everyMs` apart. */
export class SpacedCall {
  readonly #clock: Clock;
  readonly #everyMs: number;
  readonly #call: () => void;
  #calledAt = -Infinity;
  #stop: Stop | undefined;

  constructor(clock: Clock, everyMs: number, call: () => void) {
    this.#clock = clock;
    this.#everyMs = everyMs;
    this.#call = call;
  }

  ask(): void {
    if (this.#stop) return;
    const waitMs = this.#calledAt + this.#everyMs - this.#clock.elapsed();
    this.#stop = this.#clock.timeout(Math.max(0, Math.ceil(waitMs)), () => this.#run());
  }

  cancel(): void {
    this.#stop?.();
    this.#stop = undefined;
  }

  #run(): void {
    this.#stop = undefined;
    this.#calledAt = this.#clock.elapsed();
    this.#call();
  }
}
