import type { Clock, Stop } from '../core/time.ts';
import type { EventSink } from './sink.ts';

const AGAIN_MS = 100;

/** The newest value of each market that was not sent yet. It is sent at once, or when the reader has caught up. */
export class Outbox<V> {
  readonly #sink: EventSink;
  readonly #clock: Clock;
  readonly #sendOne: (name: string, value: V, sentAt: string) => void;
  readonly #waiting = new Map<string, V>();
  #stop: Stop | undefined;

  /** `sendOne` gives the events of a value to the sink; `sentAt` is JSON. */
  constructor(sink: EventSink, clock: Clock, sendOne: (name: string, value: V, sentAt: string) => void) {
    this.#sink = sink;
    this.#clock = clock;
    this.#sendOne = sendOne;
  }

  /** Adds a value for the next `send`; true if it replaces one that was not sent. */
  put(name: string, value: V): boolean {
    const replaces = this.#waiting.has(name);
    this.#waiting.set(name, value);
    return replaces;
  }

  send(): void {
    const sentAt = JSON.stringify(new Date(this.#clock.now()));
    for (const [name, value] of this.#waiting) {
      if (this.#sink.isBehind()) break;
      this.#waiting.delete(name);
      this.#sendOne(name, value, sentAt);
    }
    this.#sink.flush();
    if (this.#waiting.size > 0) this.#stop ??= this.#clock.every(AGAIN_MS, () => this.send());
    else this.close();
  }

  /** Drops what waits. */
  close(): void {
    this.#stop?.();
    this.#stop = undefined;
    this.#waiting.clear();
  }
}
