import { SingleFlight } from '../core/single-flight.ts';
import type { Clock, Stop } from '../core/time.ts';

/** Runs `look` every `everyMs` while there are listeners, one run at a time. */
export class Watchers<L> {
  readonly #options: { clock: Clock; everyMs: number; look: () => Promise<void> };
  readonly #listeners = new Set<L>();
  readonly #looks = new SingleFlight<'look'>();
  #stop: Stop | undefined;

  constructor(options: { clock: Clock; everyMs: number; look: () => Promise<void> }) {
    this.#options = options;
  }

  /** Adds a listener until the returned function is called. `onFirst` runs if nothing was looked at before. */
  add(listener: L, onFirst: () => void = () => {}): Stop {
    this.#listeners.add(listener);
    if (!this.#stop) {
      this.#stop = this.#options.clock.every(this.#options.everyMs, () => void this.look());
      onFirst();
    }
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.close();
    };
  }

  /** Looks now, or waits for the look in progress. */
  look(): Promise<void> {
    return this.#looks.run('look', this.#options.look);
  }

  each(call: (listener: L) => void): void {
    for (const listener of this.#listeners) call(listener);
  }

  close(): void {
    this.#stop?.();
    this.#stop = undefined;
  }
}
