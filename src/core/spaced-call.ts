/** Coalesces calls: one call serves all requests until it starts, and calls are at least `everyMs` apart. */
export class SpacedCall {
  readonly #everyMs: number;
  readonly #call: () => void;
  #calledAt = -Infinity;
  #timer: NodeJS.Timeout | undefined;

  constructor(everyMs: number, call: () => void) {
    this.#everyMs = everyMs;
    this.#call = call;
  }

  ask(): void {
    if (this.#timer) return;
    const waitMs = this.#calledAt + this.#everyMs - performance.now();
    this.#timer = setTimeout(() => this.#run(), Math.max(0, Math.ceil(waitMs))).unref();
  }

  cancel(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #run(): void {
    this.#timer = undefined;
    this.#calledAt = performance.now();
    this.#call();
  }
}
