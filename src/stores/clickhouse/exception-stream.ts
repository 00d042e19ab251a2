import { Transform, type Readable } from 'node:stream';
import { parseError } from '@clickhouse/client';
import { toStoreError, type StoreError } from './errors.ts';

const MARKER = '\r\n__exception__\r\n';

/**
 * Passes on a result's bytes. An error after the first byte arrives inside a body of status 200, marked by the tag of the
 * X-ClickHouse-Exception-Tag header: it destroys the stream with a StoreError instead of passing as data.
 */
export function passOrFail(source: Readable, tag: string | string[] | undefined): Readable {
  const guard = new ExceptionGuard(tag === undefined ? null : Buffer.from(`${MARKER}${String(tag)}\r\n`));
  source.on('error', (error) => guard.destroy(guard.exception() ?? toStoreError(error)));
  guard.on('close', () => source.destroy());
  return source.pipe(guard);
}

class ExceptionGuard extends Transform {
  readonly #marker: Buffer | null;
  /** A possible beginning of the marker; after the marker, the whole message. */
  #held: Buffer = Buffer.alloc(0);

  constructor(marker: Buffer | null) {
    super();
    this.#marker = marker;
  }

  exception(): StoreError | null {
    if (!this.#marker || this.#held.indexOf(this.#marker) !== 0) return null;
    return toStoreError(parseError(this.#held.subarray(this.#marker.length).toString()));
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (!this.#marker) {
      this.push(chunk);
      done();
      return;
    }
    const bytes = this.#held.length > 0 ? Buffer.concat([this.#held, chunk]) : chunk;
    const at = bytes.indexOf(this.#marker);
    const pass = at >= 0 ? at : Math.max(0, bytes.length - this.#marker.length + 1);
    this.push(bytes.subarray(0, pass));
    this.#held = bytes.subarray(pass);
    done();
  }

  override _flush(done: (error?: Error | null, rest?: Buffer) => void): void {
    const failure = this.exception();
    if (failure) done(failure);
    else done(null, this.#held);
  }
}
