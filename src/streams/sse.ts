import type { ServerResponse } from 'node:http';
import type { LogGap } from './follower.ts';
import { gapData } from './gap-event.ts';
import { QUEUE_BYTES } from './stall.ts';
import { type DurableEvent, type Sink, ReaderGone } from './subscription.ts';

/** What is queued for a reader that is closed waits this long for it. */
export const LINGER_MS = 30_000;

/** Writes a stream of server-sent events. Its queue holds at most QUEUE_BYTES and one slice of events. */
export class SseWriter implements Sink {
  readonly #raw: ServerResponse;
  #chunk = '';

  constructor(raw: ServerResponse) {
    this.#raw = raw;
    // A client that is gone is no failure of ours; 'close' follows.
    raw.on('error', () => {});
  }

  /** Bytes that the reader has not taken. */
  get queued(): number {
    return this.#raw.writableLength;
  }

  get isBehind(): boolean {
    return this.queued > QUEUE_BYTES;
  }

  event(name: DurableEvent, cursor: string, data: string): void {
    this.#chunk += `id: ${cursor}\nevent: ${name}\ndata: ${data}\n\n`;
  }

  gap(gap: LogGap): void {
    this.send('gap', JSON.stringify(gapData(gap)));
  }

  /** An event without a cursor. */
  send(name: string, data: string): void {
    this.#chunk += `event: ${name}\ndata: ${data}\n\n`;
    this.flush();
  }

  comment(): void {
    if (!this.#raw.writableEnded) this.#raw.write(':\n\n');
  }

  flush(): boolean {
    if (this.#chunk !== '' && !this.#raw.writableEnded) this.#raw.write(this.#chunk);
    this.#chunk = '';
    return !this.isBehind;
  }

  async room(): Promise<void> {
    while (this.isBehind) {
      await drained(this.#raw);
      if (this.#raw.destroyed || this.#raw.writableEnded) throw new ReaderGone();
    }
  }

  /** Ends the stream once everything has left; a reader that does not take it is cut off. */
  async end(): Promise<void> {
    this.flush();
    const closed = new Promise<void>((resolve) => this.#raw.once('close', resolve));
    this.#raw.end();
    const cut = setTimeout(() => this.#raw.destroy(), LINGER_MS).unref();
    await closed.finally(() => clearTimeout(cut));
  }
}

const LOOK_MS = 100;

/** Resolves when the response's queue is empty, or after a while. */
function drained(raw: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      raw.off('drain', done).off('close', done);
      resolve();
    };
    const timer = setTimeout(done, LOOK_MS);
    raw.once('drain', done).once('close', done);
  });
}
