import { FixedWindows } from '../core/fixed-windows.ts';
import { type Clock, MINUTE_MS } from '../core/time.ts';
import { LIMITS, tooMany } from '../stores/shared/rate-limits.ts';

/** Look-ups of keys that may not exist: in a minute at most LIMITS.address of one address find nothing. */
export class UncertainLookups {
  readonly #unknown: FixedWindows;
  readonly #running = new Map<string, Set<Promise<void>>>();

  constructor(clock: Pick<Clock, 'elapsed'>) {
    this.#unknown = new FixedWindows(MINUTE_MS, clock);
  }

  /** Runs a look-up. Waits while running look-ups may use up the address's limit. Answers 429 if the limit is used up. */
  async run<T extends { caller: unknown }>(address: string, lookUp: () => Promise<T>): Promise<T> {
    let running = this.#running.get(address);
    while (this.#left(address) <= (running?.size ?? 0)) {
      await Promise.race(running ?? []);
      running = this.#running.get(address);
    }
    if (!running) this.#running.set(address, (running = new Set()));
    return this.#follow(address, running, lookUp());
  }

  #left(address: string): number {
    const { requests, resetMs } = this.#unknown.counted(address);
    if (requests < LIMITS.address) return LIMITS.address - requests;
    const count = { limit: LIMITS.address, remaining: 0, allowed: false, resetMs };
    throw tooMany(count, 'with unknown keys from one address');
  }

  #follow<T extends { caller: unknown }>(address: string, running: Set<Promise<void>>, found: Promise<T>): Promise<T> {
    const ended = found
      .then(
        ({ caller }) => void (caller === null && this.#unknown.count(address)),
        () => {},
      )
      .finally(() => {
        running.delete(ended);
        if (running.size === 0) this.#running.delete(address);
      });
    running.add(ended);
    return found;
  }
}
