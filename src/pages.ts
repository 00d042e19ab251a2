import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip, type BrotliOptions } from 'node:zlib';
import { Negotiator } from '@fastify/accept-negotiator';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { badRequest } from './errors.ts';

/** Opaque page positions, bound to an endpoint and its filters. */
export interface Cursors {
  /** Text of a position. `filters` are the parameters that choose the rows (not limit, cursor or include_raw). */
  encode(endpoint: string, filters: object, position: object): string;
  /** The position of a cursor; 400 when it was damaged or belongs to another endpoint or filter. */
  decode<T>(endpoint: string, filters: object, cursor: string, position: z.ZodType<T>): T;
}

const TAG_BYTES = 12;

/** Cursors signed under the service's secret: `base64url(tag ‖ JSON of the position)`, the tag covering endpoint and filters too. */
export function createCursors(secret: string): Cursors {
  const key = createHash('sha256').update(`cursor\n${secret}`).digest();
  const tag = (endpoint: string, filters: object, json: string): Buffer =>
    createHmac('sha256', key)
      .update(`${endpoint}\n${canonical(filters)}\n${json}`)
      .digest()
      .subarray(0, TAG_BYTES);
  return {
    encode(endpoint, filters, position) {
      const json = JSON.stringify(position);
      return Buffer.concat([tag(endpoint, filters, json), Buffer.from(json)]).toString('base64url');
    },
    decode(endpoint, filters, cursor, position) {
      const bytes = Buffer.from(cursor, 'base64url');
      const json = bytes.subarray(TAG_BYTES).toString();
      const given = bytes.subarray(0, TAG_BYTES);
      const sound =
        /^[\w-]+$/.test(cursor) && given.length === TAG_BYTES && timingSafeEqual(given, tag(endpoint, filters, json));
      const parsed = sound ? position.safeParse(JSON.parse(json)) : undefined;
      if (parsed?.success) return parsed.data;
      throw badRequest(
        [
          {
            field: 'cursor',
            expected: 'the next_cursor of a previous answer under the same filters',
            received: JSON.stringify(cursor.slice(0, 80)),
          },
        ],
        'Repeat the filters of the first page, or start again without a cursor.',
      );
    },
  };
}

/** JSON with sorted names, undefined left out, bigints as text: equal filters give equal text. */
function canonical(filters: object): string {
  const entries = Object.entries(filters)
    .filter(([, value]) => value !== undefined && value !== null)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(entries, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
}

/** The `pagination` object; `nextCursor` null says that this is the last page. */
export const pagination = (total: number, limit: number, nextCursor: string | null) => ({
  total,
  limit,
  has_more: nextCursor !== null,
  next_cursor: nextCursor,
});

/** `meta.request_time`: whole milliseconds since the request arrived. */
export const requestTimeMs = (reply: FastifyReply): number => Math.round(reply.elapsedTime);

/** An answer without its `meta`, as JSON text with the ETag of that text: what a cache keeps. */
export interface Rendered {
  json: string;
  etag: string;
}

/** Renders everything of an answer but `meta`. The ETag is weak: `meta` differs between two equal answers. */
export function render(body: object): Rendered {
  const json = JSON.stringify(body);
  return { json, etag: `W/"${createHash('sha256').update(json).digest('base64url').slice(0, 27)}"` };
}

/**
 * Sends rendered data with its `meta`, or 304 when the caller already has it; compressed where the caller takes that.
 * Bodies stay with `data`: one that is asked for again under the same `meta` is neither put together nor compressed again.
 */
export function sendStored(
  request: FastifyRequest,
  reply: FastifyReply,
  data: Rendered,
  meta: object,
): FastifyReply | Promise<FastifyReply> {
  if (isKnown(request, reply, data.etag)) return reply.code(304).send();
  reply.type('application/json; charset=utf-8');
  const metaText = JSON.stringify(meta);
  const packing = packingFor(request, reply, data);
  if (packing === null) return reply.send(keptBody(data, metaText, () => plainBody(data, metaText)));
  reply.header('content-encoding', packing);
  const body = keptBody(data, packing + metaText, () => PACK[packing](plainBody(data, metaText)));
  return body.then((bytes) => reply.send(bytes));
}

const brotli = promisify<Buffer, BrotliOptions, Buffer>(brotliCompress);
const PACK = {
  br: (body: Buffer): Promise<Buffer> => brotli(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: promisify<Buffer, Buffer>(gzip),
};
type Packing = keyof typeof PACK;
/** Shorter bodies are not worth it. */
const PACKED_FROM_CHARS = 1024;
const negotiator = new Negotiator<Packing>({ supportedValues: ['br', 'gzip'] });

function packingFor(request: FastifyRequest, reply: FastifyReply, { json }: Rendered): Packing | null {
  if (json.length < PACKED_FROM_CHARS) return null;
  varyBy(reply, 'accept-encoding');
  const accepted = request.headers['accept-encoding'];
  return accepted === undefined ? null : negotiator.negotiate(accepted);
}

const plainBody = ({ json }: Rendered, metaText: string): Buffer =>
  Buffer.from(`${json === '{}' ? '{' : `${json.slice(0, -1)},`}"meta":${metaText}}`);

const bodies = new WeakMap<Rendered, Map<string, Buffer | Promise<Buffer>>>();
/** `meta` tells the milliseconds that a request took: few values, while an answer is fresh. */
const BODIES_KEPT = 6;

function keptBody<T extends Buffer | Promise<Buffer>>(data: Rendered, key: string, make: () => T): T {
  let kept = bodies.get(data);
  if (!kept) bodies.set(data, (kept = new Map()));
  const known = kept.get(key) as T | undefined;
  if (known) return known;
  const made = make();
  if (kept.size >= BODIES_KEPT) kept.clear();
  kept.set(key, made);
  return made;
}

/** Names the representation; true when the caller has it already, and 304 says it all. */
export function isKnown(request: FastifyRequest, reply: FastifyReply, etag: string): boolean {
  reply.header('etag', etag).header('cache-control', 'private, no-cache');
  varyBy(reply, 'accept');
  return etagMatches(request.headers['if-none-match'], etag);
}

function varyBy(reply: FastifyReply, header: string): void {
  const others = reply.getHeader('vary');
  reply.header('vary', others === undefined ? header : `${String(others)}, ${header}`);
}

const bare = (tag: string): string => tag.trim().replace(/^W\//, '');

/** Weak comparison (RFC 9110 §8.8.3.2) over the list of If-None-Match. */
function etagMatches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.trim() === '*' || header.split(',').some((tag) => bare(tag) === bare(etag));
}
