import type { Clock } from '../core/time.ts';

/** A reader with this much unread gets no more until it reads some. */
export const QUEUE_BYTES = 512 * 1024;
/** A reader that is behind and reads nothing for this long is disconnected. */
const STALL_MS = 5000;

/** Detects a reader that is behind and reads nothing, whatever it subscribes to. */
export class StallWatch {
  #left = 0;
  #sinceMs: number;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#sinceMs = clock.elapsed();
  }

  /** Called repeatedly with the number of bytes queued for the reader. */
  isStalled(queued: number): boolean {
    const now = this.#clock.elapsed();
    // Keep-alives are added to a full queue: a little growth does not mean that the reader reads.
    if (queued <= QUEUE_BYTES || queued < this.#left) this.#sinceMs = now;
    this.#left = queued;
    return now - this.#sinceMs >= STALL_MS;
  }
}
