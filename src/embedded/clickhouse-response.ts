import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { createGzip, gzip, type Gzip } from 'node:zlib';
import { httpStatus, type EngineError } from './clickhouse-errors.ts';

const pack = promisify(gzip);
/** Smaller bodies cost more to pack than to send. */
const GZIP_FROM_BYTES = 512;
/** A reader that takes nothing for this long is given up: it holds one of few connections to the engine. */
const STALLED_READER_MS = 30_000;

const CONTENT_TYPES: Record<string, string> = {
  JSON: 'application/json; charset=UTF-8',
  JSONCompact: 'application/json; charset=UTF-8',
  JSONStrings: 'application/json; charset=UTF-8',
  JSONEachRow: 'application/x-ndjson; charset=UTF-8',
  JSONCompactEachRow: 'application/x-ndjson; charset=UTF-8',
  CSV: 'text/csv; charset=UTF-8; header=absent',
  CSVWithNames: 'text/csv; charset=UTF-8; header=present',
  TabSeparated: 'text/tab-separated-values; charset=UTF-8',
  Native: 'application/octet-stream',
  Parquet: 'application/octet-stream',
};

/** What the X-ClickHouse-Summary header tells of a finished query. */
export interface Summary {
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
  response.setHeader('Content-Type', CONTENT_TYPES[format] ?? 'text/plain; charset=UTF-8');
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

export async function sendError(response: ServerResponse, error: EngineError, status?: number): Promise<void> {
  response.setHeader('X-ClickHouse-Exception-Code', String(error.code));
  response.setHeader('Content-Type', 'text/plain; charset=UTF-8');
  response.statusCode = status ?? httpStatus(error.code);
  response.end(`${error.message.trimEnd()}\n`);
}

/** A body whose length is not known yet: blocks go out as the engine makes them, and no faster than they are read. */
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
      this.#gzip.pipe(response);
    }
  }

  async write(bytes: Uint8Array): Promise<void> {
    const body = this.#gzip ?? this.#response;
    if (body.write(bytes)) return;
    const signal = AbortSignal.timeout(STALLED_READER_MS);
    await once(body, 'drain', { signal });
  }

  end(): void {
    (this.#gzip ?? this.#response).end();
  }

  /** The status is long gone: the error follows the rows, marked by the tag, and the body is left unfinished as ClickHouse does. */
  async fail(error: EngineError): Promise<void> {
    const message = `${error.message.trimEnd()}\n`;
    const marker = '__exception__';
    const text = `\r\n${marker}\r\n${this.#tag}\r\n${message}${Buffer.byteLength(message)} ${this.#tag}\r\n${marker}\r\n`;
    const body = this.#gzip ?? this.#response;
    body.end(text);
  }
}
