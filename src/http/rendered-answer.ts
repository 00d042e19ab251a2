import { createHash } from 'node:crypto';
import type { OutgoingHttpHeader, ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LIMIT_HEADERS } from '../stores/shared/rate-limits.ts';
import { encoded, ENCODED_FROM_BYTES, type Encoding, preferredEncoding } from './compression.ts';

/** The part of `meta` that differs by call: `request_time` in whole milliseconds, and whether a cache answered. */
export interface CallMeta {
  requestTimeMs: number;
  cacheHit: boolean;
}

/** A cached answer over stored data: JSON without `meta`, its ETag, and the data's own part of `meta`. */
export class Rendered {
  readonly json: Buffer;
  readonly etag: string;
  readonly meta: object;
  /** A Map is enough: it has at most BODIES_KEPT entries, and the answer itself is in a cache. */
  readonly #bodies = new Map<number, Buffer | Promise<Buffer>>();

  constructor({ json, etag, meta }: { json: Buffer; etag: string; meta: object }) {
    this.json = json;
    this.etag = etag;
    this.meta = meta;
  }

  /** Renders a body. The ETag is weak: the times of `meta` differ between two equal answers. */
  static of(body: object, meta: object): Rendered {
    const json = Buffer.from(JSON.stringify(body));
    const lasting = JSON.stringify(meta, (name, value: unknown) => (TIMES.has(name) ? undefined : value));
    const hash = createHash('sha256').update(json).update(lasting);
    const etag = `W/"${hash.digest('base64url').slice(0, 27)}"`;
    return new Rendered({ json, etag, meta });
  }

  /** The bytes to send. Calls with equal `meta` share them, so they are neither built nor compressed again. */
  body(encoding: Encoding | null, call: CallMeta): Buffer | Promise<Buffer> {
    const key = call.requestTimeMs * 8 + (call.cacheHit ? 4 : 0) + (encoding === null ? 0 : encoding === 'br' ? 1 : 2);
    const kept = this.#bodies.get(key);
    if (kept) return kept;
    const plain = this.#plain(call);
    const made = encoding === null ? plain : encoded(plain, encoding);
    if (this.#bodies.size >= BODIES_KEPT) this.#bodies.delete(this.#bodies.keys().next().value ?? 0);
    this.#bodies.set(key, made);
    return made;
  }

  #plain({ requestTimeMs, cacheHit }: CallMeta): Buffer {
    const meta = JSON.stringify({ ...this.meta, request_time: requestTimeMs, cache_hit: cacheHit });
    const comma = this.json.length > EMPTY_BYTES ? ',' : '';
    return Buffer.concat([this.json.subarray(0, -1), Buffer.from(`${comma}"meta":${meta}}`)]);
  }
}

/** Parts of `meta` that move with the clock while the answer stays the same; `to` ends what is recorded of books. */
const TIMES: ReadonlySet<string> = new Set(['data_freshness', 'as_of', 'time_range', 'trades_complete_to', 'to']);
const EMPTY_BYTES = '{}'.length;
/** While an answer is fresh, its calls have few different times. */
export const BODIES_KEPT = 6;

/** Sends rendered data, or 304 if the caller already has it; compressed if the caller accepts that. */
export function sendRendered(
  request: FastifyRequest,
  reply: FastifyReply,
  data: Rendered,
  call: CallMeta,
): FastifyReply | Promise<FastifyReply> {
  if (isUnchanged(request, reply, data.etag, varyOf(data))) return reply.code(304).send();
  reply.type(JSON_TYPE);
  const encoding = encodingFor(request, data);
  if (encoding !== null) reply.header('content-encoding', encoding);
  const body = data.body(encoding, call);
  return body instanceof Promise ? body.then((bytes) => reply.send(bytes)) : reply.send(body);
}

/**
 * Like sendRendered, with these headers and the rate limit headers, but directly on Node's response: Fastify's own sending takes
 * longer than the rest of a cached answer.
 */
export function writeRendered(
  request: FastifyRequest,
  reply: FastifyReply,
  data: Rendered,
  call: CallMeta,
  headers: Readonly<Record<string, string>>,
): void {
  const head: (string | number)[] = ['x-request-id', request.id, 'etag', data.etag, 'cache-control', PRIVATE];
  head.push('vary', headers['vary'] === undefined ? varyOf(data) : `${headers['vary']}, ${varyOf(data)}`);
  for (const name in headers) if (name !== 'vary') head.push(name, headers[name] ?? '');
  for (const name of LIMIT_HEADERS) {
    const value = reply.getHeader(name);
    if (value !== undefined) head.push(name, value as number);
  }
  const { raw } = reply.hijack();
  if (etagMatches(request.headers['if-none-match'], data.etag)) {
    raw.writeHead(304, head as OutgoingHttpHeader[]).end();
    return;
  }
  const encoding = encodingFor(request, data);
  if (encoding !== null) head.push('content-encoding', encoding);
  const body = data.body(encoding, call);
  if (body instanceof Promise)
    body.then((bytes) => writeWhole(raw, head, bytes)).catch((error: Error) => raw.destroy(error));
  else writeWhole(raw, head, body);
}

function writeWhole(raw: ServerResponse, head: (string | number)[], body: Buffer): void {
  head.push('content-type', JSON_TYPE, 'content-length', body.length);
  raw.writeHead(200, head as OutgoingHttpHeader[]).end(body);
}

const PRIVATE = 'private, no-cache';
const JSON_TYPE = 'application/json; charset=utf-8';
const isPackable = ({ json }: Rendered): boolean => json.length >= ENCODED_FROM_BYTES;
const varyOf = (data: Rendered): string => (isPackable(data) ? 'accept, accept-encoding' : 'accept');

const encodingFor = ({ headers }: FastifyRequest, data: Rendered): Encoding | null =>
  isPackable(data) ? preferredEncoding(headers['accept-encoding']) : null;

/** Sets the ETag and Vary; true if the caller already has this answer: 304 without a body. */
export function isUnchanged(request: FastifyRequest, reply: FastifyReply, etag: string, vary = 'accept'): boolean {
  const others = reply.getHeader('vary');
  reply.header('vary', others === undefined ? vary : `${String(others)}, ${vary}`);
  reply.header('etag', etag).header('cache-control', PRIVATE);
  return etagMatches(request.headers['if-none-match'], etag);
}

const bare = (tag: string): string => tag.trim().replace(/^W\//, '');

/** Weak comparison (RFC 9110 §8.8.3.2) with the list of If-None-Match. */
function etagMatches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.trim() === '*' || header.split(',').some((tag) => bare(tag) === bare(etag));
}
