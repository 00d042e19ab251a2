import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, type BrotliOptions, type ZlibOptions } from 'node:zlib';
import { EngineError } from '../clickhouse/errors.ts';

/** One HTTP request in ClickHouse's terms: the statement, its context, and the form of the response. */
export interface ClickHouseRequest {
  sql: string;
  /** Whether rows came besides the statement. */
  hasData: boolean;
  params: Map<string, string>;
  settings: Map<string, string>;
  /** Parameters that the engine's own HTTP interface reads. */
  transport: Map<string, string>;
  database: string | null;
  defaultFormat: string;
  queryId: string | null;
  /** Whether the answer is packed. */
  gzip: boolean;
}

export interface SqlCredentials {
  user: string;
  password: string;
}

/** URL parameters for the engine's HTTP interface, which have nothing to do with the statement. */
const TRANSPORT = new Set(['client_protocol_version']);

/** For wait_end_of_query: a failure within this much of the answer has its own status. The engine would use its disk for more. */
const HELD = ['buffer_size', '16777216'] as const;

/** URL parameters that are read here, or have no effect. */
const OWN = new Set([
  'buffer_size',
  'compress',
  'database',
  'decompress',
  'default_format',
  'enable_http_compression',
  'http_headers_progress_interval_ms',
  'max_query_size',
  'password',
  'query',
  'query_id',
  'quota_key',
  'send_progress_in_http_headers',
  'stacktrace',
  'user',
]);

/** It is sent back in a header. */
const QUERY_ID = /^[\x20-\x7e]{1,200}$/;

/** Server features that a statement would rely on: rejected instead of ignored. */
const REFUSED = new Set(['role', 'session_check', 'session_id', 'session_timeout']);

/** Credentials from any place that ClickHouse accepts; null if there are none. */
export function credentialsOf(request: IncomingMessage, url: URL): SqlCredentials | null {
  const { authorization } = request.headers;
  if (authorization?.startsWith('Basic ')) {
    const [, user = '', password = ''] =
      /^([^:]*):?(.*)$/s.exec(Buffer.from(authorization.slice(6), 'base64').toString()) ?? [];
    return { user, password };
  }
  if (authorization?.startsWith('Bearer ')) return { user: 'default', password: authorization.slice(7).trim() };
  const key = request.headers['x-clickhouse-key'] ?? url.searchParams.get('password');
  if (key === null) return null;
  return {
    user: String(request.headers['x-clickhouse-user'] ?? url.searchParams.get('user') ?? 'default'),
    password: String(key),
  };
}

/** Reads a request with a body of at most `maxBytes` at any time; 307 beyond. */
export async function readRequest(request: IncomingMessage, url: URL, maxBytes: number): Promise<ClickHouseRequest> {
  const packed = await readBody(request, maxBytes);
  const body = await unpack(packed, request.headers['content-encoding'], maxBytes);
  const fields = url.searchParams;
  const multipart = request.headers['content-type']?.startsWith('multipart/form-data') ?? false;
  if (multipart) await addFormFields(fields, body, String(request.headers['content-type']));
  const query = fields.get('query');
  const params = new Map<string, string>();
  const settings = new Map<string, string>();
  const transport = new Map<string, string>();
  for (const [name, value] of fields) {
    if (OWN.has(name)) continue;
    if (REFUSED.has(name)) throw EngineError.of('NOT_IMPLEMENTED', `This port does not support ${name}.`);
    if (!/^\w+$/.test(name)) throw EngineError.of('UNKNOWN_SETTING', `Unknown setting '${name}'`);
    if (name === 'wait_end_of_query') {
      if (value === '1') transport.set(...HELD);
    } else if (TRANSPORT.has(name)) transport.set(name, value);
    else if (name.startsWith('param_')) params.set(name.slice('param_'.length), value);
    else settings.set(name, value);
  }
  const queryId = fields.get('query_id');
  if (queryId !== null && !QUERY_ID.test(queryId))
    throw EngineError.of('BAD_ARGUMENTS', 'query_id: expected at most 200 letters, digits or signs of ASCII.');
  const header = (name: string) => (request.headers[name] === undefined ? null : String(request.headers[name]));
  return {
    sql: query ?? body.toString(),
    hasData: query !== null && !multipart && body.length > 0,
    params,
    settings,
    transport,
    database: fields.get('database') ?? header('x-clickhouse-database'),
    defaultFormat: fields.get('default_format') ?? header('x-clickhouse-format') ?? 'TabSeparated',
    queryId,
    gzip: fields.get('enable_http_compression') === '1' && (request.headers['accept-encoding'] ?? '').includes('gzip'),
  };
}

async function addFormFields(fields: URLSearchParams, body: Buffer, contentType: string): Promise<void> {
  const form = await new Response(body, { headers: { 'content-type': contentType } }).formData().catch(() => {
    throw EngineError.of('BAD_ARGUMENTS', 'The body is not valid multipart/form-data.');
  });
  for (const [name, value] of form) if (typeof value === 'string') fields.set(name, value);
}

const tooLarge = (maxBytes: number) =>
  EngineError.of('TOO_MANY_BYTES', `Request body is larger than ${maxBytes} bytes; send smaller batches.`);

/** Uses events: an async iterator takes longer than a small body. */
function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  return new Promise((resolve, reject) => {
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) chunks.push(chunk);
      else {
        request.off('data', onData).pause();
        reject(tooLarge(maxBytes));
      }
    };
    request.on('data', onData);
    request.once('error', reject);
    request.once('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, size)));
  });
}

const DECODERS = new Map([
  ['gzip', promisify<Buffer, ZlibOptions, Buffer>(gunzip)],
  ['deflate', promisify<Buffer, ZlibOptions, Buffer>(inflate)],
  ['br', promisify<Buffer, BrotliOptions, Buffer>(brotliDecompress)],
]);

async function unpack(body: Buffer, encoding: string | undefined, maxBytes: number): Promise<Buffer> {
  if (encoding === undefined || encoding === 'identity' || body.length === 0) return body;
  const decode = DECODERS.get(encoding);
  if (!decode) throw EngineError.of('NOT_IMPLEMENTED', `Content-Encoding ${encoding} is not supported; use gzip.`);
  try {
    return await decode(body, { maxOutputLength: maxBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(maxBytes);
    throw EngineError.of('BAD_ARGUMENTS', `The body is not valid ${encoding}.`);
  }
}
