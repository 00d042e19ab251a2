import { SpacedCall } from './spaced-call.ts';
import type { Clock } from './time.ts';

/** What one caller gave, and how its call ends. */
interface Waiting<I, R> {
  item: I;
  resolve(result: R | Promise<R>): void;
  reject(error: unknown): void;
}

interface GatherOptions<I, R> {
  clock: Clock;
  /** Runs are this far apart, except for `burst` runs after a pause, one after the other. Full groups and urgent calls wait for nothing. */
  everyMs: number;
  burst: number;
  /** A group of this size is run at once. */
  full: number;
  sizeOf: (item: I) => number;
  /** Runs a group; the function that it returns has the result of each caller. */
  run: (items: I[]) => Promise<(item: I, at: number) => R | Promise<R>>;
}

/** Gathers what several callers give and runs it as one group. If the run fails, every caller of the group gets the error. */
export class GatheredCalls<I, R> {
  readonly #options: GatherOptions<I, R>;
  readonly #running: SpacedCall;
  #waiting: Waiting<I, R>[] = [];
  #size = 0;
  #underWay = 0;

  constructor(options: GatherOptions<I, R>) {
    this.#options = options;
    this.#running = new SpacedCall(options.clock, options.everyMs, () => void this.#run(), options.burst);
  }

  /** Adds to the next group; an urgent call runs it at once. */
  add(item: I, isUrgent = false): Promise<R> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#size += this.#options.sizeOf(item);
      if (isUrgent || this.#size >= this.#options.full) void this.#run();
      else this.#askNext();
    });
  }

  /** A run's end asks for the next: runs side by side would take as long as one after the other, and more in all. */
  #askNext(): void {
    if (this.#underWay === 0 && this.#waiting.length > 0) this.#running.ask();
  }

  async #run(): Promise<void> {
    const waiting = this.#waiting;
    if (waiting.length === 0) return;
    this.#waiting = [];
    this.#size = 0;
    this.#underWay += 1;
    try {
      const resultOf = await this.#options.run(waiting.map(({ item }) => item));
      for (const [at, { item, resolve }] of waiting.entries()) resolve(resultOf(item, at));
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    } finally {
      this.#underWay -= 1;
      this.#askNext();
    }
  }
}
