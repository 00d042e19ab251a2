import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import { badRequest } from '../core/errors.ts';
import { CURSOR_TAG_BYTES } from '../schemas/parameters.ts';

/** Opaque page positions, bound to an endpoint and its filters. */
export interface Cursors {
  /** Encodes a position; null for none. `filters` are the parameters that choose the rows (not limit, cursor or include_raw). */
  encode(endpoint: string, filters: object, position: object | null): string | null;
  /** The position of a cursor; null without one. 400 if it is damaged or belongs to another endpoint or filter. */
  decode<T>(endpoint: string, filters: object, cursor: string | undefined, position: z.ZodType<T>): T | null;
}

/** Cursors signed with the service's secret: `base64url(tag ‖ JSON of the position)`; the tag covers endpoint and filters too. */
export function createCursors(secret: string): Cursors {
  const key = createHash('sha256').update(`cursor\n${secret}`).digest();
  const tag = (endpoint: string, filters: object, json: string): Buffer =>
    createHmac('sha256', key)
      .update(`${endpoint}\n${canonical(filters)}\n${json}`)
      .digest()
      .subarray(0, CURSOR_TAG_BYTES);
  return {
    encode(endpoint, filters, position) {
      if (position === null) return null;
      const json = JSON.stringify(position);
      return Buffer.concat([tag(endpoint, filters, json), Buffer.from(json)]).toString('base64url');
    },
    decode(endpoint, filters, cursor, position) {
      if (cursor === undefined) return null;
      const bytes = Buffer.from(cursor, 'base64url');
      const json = bytes.subarray(CURSOR_TAG_BYTES).toString();
      const given = bytes.subarray(0, CURSOR_TAG_BYTES);
      const sound =
        /^[\w-]+$/.test(cursor) &&
        given.length === CURSOR_TAG_BYTES &&
        timingSafeEqual(given, tag(endpoint, filters, json));
      const parsed = sound ? position.safeParse(JSON.parse(json)) : undefined;
      if (parsed?.success) return parsed.data;
      throw badRequest(
        [
          {
            field: 'cursor',
            expected: 'the next_cursor of a previous answer with the same filters',
            received: JSON.stringify(cursor.slice(0, 80)),
          },
        ],
        'Repeat the filters of the first page, or start again without a cursor.',
      );
    },
  };
}

/** JSON with sorted names, without undefined, bigints as text: equal filters give equal text. */
function canonical(filters: object): string {
  const entries = Object.entries(filters)
    .filter(([, value]) => value !== undefined && value !== null)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(entries, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
}

/** The `pagination` object; `nextCursor` is null on the last page. */
export const pagination = (total: number, limit: number, nextCursor: string | null) => ({
  total,
  limit,
  has_more: nextCursor !== null,
  next_cursor: nextCursor,
});

/** `meta.request_time`: whole milliseconds since the request arrived. */
export const requestTimeMs = (reply: FastifyReply): number => Math.round(reply.elapsedTime);
