import { Duplex } from 'node:stream';
import type { PGlite } from '@electric-sql/pglite';

/**
 * What `pg` takes for a socket: PostgreSQL's wire protocol, spoken to the engine inside this process. A statement's messages, which
 * `pg` writes together, are one call of the engine. It has one session: only one of these may be open, and a new one finds it clean.
 */
export class PostgresStream extends Duplex {
  readonly #engine: PGlite;

  constructor(engine: PGlite) {
    super();
    this.#engine = engine;
  }

  connect(): this {
    this.#clean().then(
      () => this.emit('connect'),
      (error: Error) => this.destroy(error),
    );
    return this;
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    this.#ask(chunk, done);
  }

  override _writev(chunks: { chunk: Buffer }[], done: (error?: Error) => void): void {
    this.#ask(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
  }

  override _read(): void {}

  override _final(done: () => void): void {
    this.push(null);
    done();
  }

  #ask(messages: Buffer, done: (error?: Error) => void): void {
    // Copied, as the engine's memory is its own again. Its other calls would also parse each answer, and keep what they parsed.
    const onRawData = (part: Uint8Array): unknown => this.push(Buffer.from(part));
    this.#engine
      .runExclusive(() => this.#engine.execProtocolRawStream(messages, { onRawData }))
      .then(() => done(), done);
  }

  /** Ends what a connection that broke has left open. */
  async #clean(): Promise<void> {
    await this.#engine.exec('ROLLBACK');
    await this.#engine.exec('DISCARD ALL');
  }

  // What only a socket has.
  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }
}
