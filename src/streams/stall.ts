/** A reader with this much not yet taken gets no more until it takes some. */
export const QUEUE_BYTES = 512 * 1024;
/** A reader that is behind and takes nothing for this long is closed. */
const STALL_MS = 5000;

/** Notices a reader that is behind and takes nothing, whatever it subscribes to. */
export class StallWatch {
  #left = 0;
  #sinceMs = performance.now();

  /** Called again and again with the bytes that wait for the reader. */
  isStalled(queued: number): boolean {
    const now = performance.now();
    // Signs of life are added to a queue that is full: a little growth is no reading.
    if (queued <= QUEUE_BYTES || queued < this.#left) this.#sinceMs = now;
    this.#left = queued;
    return now - this.#sinceMs >= STALL_MS;
  }
}
