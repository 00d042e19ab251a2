import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { createGzip, gzip, type Gzip } from 'node:zlib';
import { systemClock } from '../../core/time.ts';
import { httpStatus, type EngineError } from './errors.ts';

const pack = promisify(gzip);
/** Compressing smaller bodies costs more than sending them. */
const GZIP_FROM_BYTES = 512;
/** A client that reads nothing for this long is disconnected: it holds one of few connections to the engine. */
const STALLED_READER_MS = 30_000;

const JSON_TYPE = 'application/json; charset=UTF-8';
const JSON_LINES_TYPE = 'application/x-ndjson; charset=UTF-8';
const CONTENT_TYPES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    JSON: JSON_TYPE,
    JSONCompact: JSON_TYPE,
    JSONStrings: JSON_TYPE,
    JSONEachRow: JSON_LINES_TYPE,
    JSONCompactEachRow: JSON_LINES_TYPE,
    CSV: 'text/csv; charset=UTF-8; header=absent',
    CSVWithNames: 'text/csv; charset=UTF-8; header=present',
    TabSeparated: 'text/tab-separated-values; charset=UTF-8',
    Native: 'application/octet-stream',
    Parquet: 'application/octet-stream',
  }),
);

/** Content of the X-ClickHouse-Summary header. */
interface Summary {
  readRows?: number;
  writtenRows?: number;
  writtenBytes?: number;
  elapsedMs: number;
}

export function setCommonHeaders(response: ServerResponse, queryId: string, format: string): void {
  response.setHeader('X-ClickHouse-Query-Id', queryId);
  response.setHeader('X-ClickHouse-Server-Display-Name', 'forecastle');
  response.setHeader('X-ClickHouse-Timezone', 'UTC');
  response.setHeader('X-ClickHouse-Format', format);
  response.setHeader('Content-Type', CONTENT_TYPES.get(format) ?? 'text/plain; charset=UTF-8');
}

const count = (value: number | undefined) => String(value ?? 0);

export async function sendWhole(
  response: ServerResponse,
  bytes: Uint8Array,
  summary: Summary,
  packed: boolean,
): Promise<void> {
  response.setHeader(
    'X-ClickHouse-Summary',
    JSON.stringify({
      read_rows: count(summary.readRows),
      read_bytes: '0',
      written_rows: count(summary.writtenRows),
      written_bytes: count(summary.writtenBytes),
      total_rows_to_read: '0',
      result_rows: '0',
      result_bytes: count(bytes.length),
      elapsed_ns: String(Math.round(summary.elapsedMs * 1e6)),
    }),
  );
  let body = bytes;
  if (packed && bytes.length >= GZIP_FROM_BYTES) {
    body = await pack(bytes, { level: 1 });
    response.setHeader('Content-Encoding', 'gzip');
  }
  response.setHeader('Content-Length', body.length);
  response.end(body);
}

export function sendError(response: ServerResponse, error: EngineError, status = httpStatus(error)): void {
  response.setHeader('X-ClickHouse-Exception-Code', String(error.code));
  response.setHeader('Content-Type', 'text/plain; charset=UTF-8');
  response.statusCode = status;
  response.end(`${error.message.trimEnd()}\n`);
}

/** A body of unknown length: blocks are sent as the engine produces them, and no faster than the client reads. */
export class StreamedBody {
  readonly #response: ServerResponse;
  readonly #tag = randomBytes(8).toString('hex');
  readonly #gzip: Gzip | null;

  constructor(response: ServerResponse, packed: boolean) {
    this.#response = response;
    response.setHeader('X-ClickHouse-Exception-Tag', this.#tag);
    this.#gzip = packed ? createGzip({ level: 1 }) : null;
    if (this.#gzip) {
      response.setHeader('Content-Encoding', 'gzip');
      this.#gzip.pipe(response, { end: false });
    }
  }

  /** Resolves when more may be written; rejects when the client has disconnected or stalled. */
  async write(bytes: Uint8Array, gone: AbortSignal): Promise<void> {
    const body = this.#gzip ?? this.#response;
    if (body.write(bytes)) return;
    await once(body, 'drain', { signal: AbortSignal.any([gone, systemClock.deadline(STALLED_READER_MS)]) });
  }

  end(): void {
    this.#finish('', () => this.#response.end());
  }

  /**
   * The status has already been sent: the error follows the rows, marked by the tag, and the body ends before its last chunk,
   * so that no client takes it for complete. ClickHouse does the same.
   */
  fail(error: EngineError): void {
    const message = `${error.message.trimEnd()}\n`;
    const marker = '__exception__';
    const length = `${Buffer.byteLength(message)} ${this.#tag}`;
    const text = `\r\n${marker}\r\n${this.#tag}\r\n${message}${length}\r\n${marker}\r\n`;
    this.#finish(text, () => this.#response.write('', () => this.#response.socket?.end()));
  }

  #finish(text: string, then: () => void): void {
    if (this.#gzip) this.#gzip.once('end', then).end(text);
    else if (text === '') then();
    else this.#response.write(text, then);
  }
}
