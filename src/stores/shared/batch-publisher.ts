import type { Clock } from '../../core/time.ts';
import { partsOf } from '../../core/parts.ts';
import { SpacedCall } from '../../core/spaced-call.ts';
import type { Shared } from './shared.ts';

/** Messages within this interval are sent together. */
const EVERY_MS = 5;
/** Messages per publication. */
const BATCH = 500;

/** Publishes JSON messages of one channel to every process. One may miss some: it finds the state in the store. */
export class BatchPublisher<T> {
  readonly #waiting = new Map<unknown, T>();
  readonly #sending: SpacedCall;

  constructor(shared: Pick<Shared, 'publish'>, channel: string, clock: Clock) {
    this.#sending = new SpacedCall(clock, EVERY_MS, () => {
      const messages = [...this.#waiting.values()];
      this.#waiting.clear();
      for (const part of partsOf(messages, BATCH)) shared.publish(channel, JSON.stringify(part)).catch(() => {});
    });
  }

  /** Replaces the waiting message of the same key; without a key every message is sent. */
  add(message: T, key: unknown = message): void {
    this.#waiting.set(key, message);
    this.#sending.ask();
  }

  stop(): void {
    this.#sending.cancel();
    this.#waiting.clear();
  }
}
