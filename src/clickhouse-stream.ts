import { pipeline, Transform, type Readable } from 'node:stream';
import { parseError } from '@clickhouse/client';
import { toStoreError } from './clickhouse-errors.ts';

const MARKER = '\r\n__exception__\r\n';

/**
 * A result's bytes as they come. An error after the first byte arrives inside a body of status 200, marked by the
 * tag of the X-ClickHouse-Exception-Tag header: it destroys the stream instead of reaching the reader as data.
 */
export function passOrFail(source: Readable, tag: string | string[] | undefined): Readable {
  const marker = Buffer.from(`${MARKER}${String(tag)}\r\n`);
  let held: Buffer = Buffer.alloc(0);
  const guard = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      held = held.length > 0 ? Buffer.concat([held, chunk]) : chunk;
      const at = tag === undefined ? -1 : held.indexOf(marker);
      if (at >= 0) {
        // The rest is the message; it is kept until the end.
        if (at > 0) this.push(held.subarray(0, at));
        held = held.subarray(at);
        done();
        return;
      }
      // A marker may be cut in two: as much as could be its beginning waits for the next chunk.
      const keep = tag === undefined ? 0 : Math.min(held.length, marker.length - 1);
      this.push(held.subarray(0, held.length - keep));
      held = held.subarray(held.length - keep);
      done();
    },
    flush(done) {
      if (held.indexOf(marker) === 0) {
        done(toStoreError(parseError(held.subarray(marker.length).toString())));
        return;
      }
      done(null, held);
    },
  });
  return pipeline(source, guard, () => {});
}
