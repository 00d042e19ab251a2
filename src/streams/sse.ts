import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import PQueue from 'p-queue';
import type { Clock } from '../core/time.ts';
import type { EventSlice } from './log/event-slice.ts';
import { ReaderGone, type Sink } from './sink.ts';
import { QUEUE_BYTES } from './stall.ts';

/** How long what is queued waits for the reader of a closed stream. */
export const LINGER_MS = 30_000;

const CHUNK_CHARS = 64 * 1024;

/** Writes a stream of server-sent events. Its queue is at most QUEUE_BYTES plus one slice of events. */
export class SseWriter implements Sink {
  readonly catchUps = new PQueue({ concurrency: 1 });
  readonly #raw: ServerResponse;
  readonly #clock: Clock;
  #chunk = '';

  constructor(raw: ServerResponse, clock: Clock) {
    this.#clock = clock;
    this.#raw = raw;
    // A disconnected client is not an error; 'close' follows.
    raw.on('error', () => {});
  }

  /** Bytes that the reader has not received. */
  get queued(): number {
    return this.#raw.writableLength;
  }

  isBehind(): boolean {
    return this.queued > QUEUE_BYTES;
  }

  events(slice: EventSlice): void {
    this.flush();
    if (this.#raw.writableEnded) return;
    const bytes = written.get(slice) ?? bytesOf(slice);
    written.set(slice, bytes);
    this.#raw.write(bytes);
  }

  /** Queues an event without a cursor; it is sent with the next flush, or once enough is buffered. */
  event(name: string, data: string): void {
    this.#chunk += `event: ${name}\ndata: ${data}\n\n`;
    if (this.#chunk.length > CHUNK_CHARS) this.flush();
  }

  comment(): void {
    if (!this.#raw.writableEnded) this.#raw.write(':\n\n');
  }

  flush(): boolean {
    if (this.#chunk !== '' && !this.#raw.writableEnded) this.#raw.write(this.#chunk);
    this.#chunk = '';
    return !this.isBehind();
  }

  async room(): Promise<void> {
    while (this.isBehind()) {
      await drained(this.#raw, this.#clock);
      if (this.#raw.destroyed || this.#raw.writableEnded) throw new ReaderGone();
    }
  }

  /** Ends the stream once everything was sent; a reader that does not read it is disconnected. */
  async end(): Promise<void> {
    this.flush();
    const closed = new Promise<void>((resolve) => this.#raw.once('close', resolve));
    this.#raw.end();
    const stop = this.#clock.timeout(LINGER_MS, () => this.#raw.destroy());
    await closed.finally(stop);
  }
}

/** Slices sent by many streams are encoded once. */
const written = new WeakMap<EventSlice, Buffer>();

const bytesOf = ({ name, events }: EventSlice): Buffer =>
  Buffer.from(events.map(({ cursor, data }) => `id: ${cursor}\nevent: ${name}\ndata: ${data}\n\n`).join(''));

const LOOK_MS = 100;

/** Resolves when the buffer of a response or socket is empty, when it is closed, or after a while. */
export function drained(raw: Writable, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stop();
      raw.off('drain', done).off('close', done);
      resolve();
    };
    const stop = clock.timeout(LOOK_MS, done);
    raw.once('drain', done).once('close', done);
  });
}
