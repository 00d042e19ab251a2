import PQueue from 'p-queue';

/** Steps of storing that may be under way: inserts wait for each other up to a second, and platforms answer a few times a second. */
const AT_ONCE = 8;

/** Stores what was read while the next item is read: rows of several items go into one insert. */
export class StoreBehind {
  readonly #steps = new PQueue({ concurrency: AT_ONCE });
  #failure: { error: unknown } | null = null;

  /** Starts a step, and waits while too many are under way. Throws the failure of an earlier step. */
  async add(step: () => Promise<void>): Promise<void> {
    this.#throwFailure();
    this.#steps.add(step).catch((error: unknown) => {
      this.#failure ??= { error };
    });
    await this.#steps.onSizeLessThan(1);
    this.#throwFailure();
  }

  /** Waits for all steps; throws the first failure. */
  async end(): Promise<void> {
    await this.#steps.onIdle();
    this.#throwFailure();
  }

  /** Waits for all steps, whether they fail or not: nothing is stored after it. */
  settled(): Promise<void> {
    return this.#steps.onIdle();
  }

  #throwFailure(): void {
    if (this.#failure) throw this.#failure.error;
  }
}
