import type { FastifyReply, FastifyRequest } from 'fastify';
import { csvText, ndjsonText } from './row-formats.ts';
import { render, requestTimeMs, sendStored, type Rendered } from './pages.ts';
import type { Shared } from './redis.ts';

/** What an endpoint over stored data makes: its body without `meta`, and the part of `meta` that belongs to the data. */
export interface StoredAnswer {
  body: object;
  meta: object;
  /** The rows of a list, for callers that ask for CSV or NDJSON; their name in the body. */
  rows?: string;
}

/** An answer as it is kept: rendered, with the part of `meta` that belongs to the data. */
interface KeptAnswer extends Rendered {
  meta: object;
}

/**
 * Answers from a cache of some milliseconds with single flight, else from `load`; with ETag, `meta.cache_hit` and
 * `meta.request_time`. Equal requests of all users share one entry, as stored data is the same for all.
 */
export function answerStored(
  shared: Shared,
  call: { request: FastifyRequest; reply: FastifyReply },
  cache: { key: string; ttlMs: number },
  load: () => Promise<StoredAnswer>,
): FastifyReply | Promise<FastifyReply> {
  const format = wantedFormat(call.request.headers.accept);
  if (format !== 'json') return load().then((answer) => sendRows(call, answer, format));
  const kept = shared.recall<KeptAnswer>(cache.key);
  return kept ? sendKept(call, kept, true) : answerThrough(shared, call, cache, load);
}

async function answerThrough(
  shared: Shared,
  call: { request: FastifyRequest; reply: FastifyReply },
  { key, ttlMs }: { key: string; ttlMs: number },
  load: () => Promise<StoredAnswer>,
): Promise<FastifyReply> {
  const { value, hit } = await shared.cached(key, ttlMs, async () => {
    const { body, meta } = await load();
    const { etag, json } = render(body);
    // JSON text holds no line breaks, so lines keep a large body from being encoded twice.
    return `${Date.now() + ttlMs}\n${etag}\n${JSON.stringify(meta)}\n${json}`;
  });
  const [until = '', etag = '', meta = '{}'] = value.split('\n', 3);
  const json = value.slice(until.length + etag.length + meta.length + 3);
  const kept: KeptAnswer = { etag, json, meta: JSON.parse(meta) as object };
  // Another machine's clock may differ: never longer than a fresh one.
  shared.keep(key, kept, Math.min(ttlMs, Number(until) - Date.now()), json.length * KEPT_BYTES_PER_CHAR);
  return sendKept(call, kept, hit);
}

/** The text, its body in bytes, and some of them compressed. */
const KEPT_BYTES_PER_CHAR = 3;

const sendKept = (
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  kept: KeptAnswer,
  hit: boolean,
): FastifyReply | Promise<FastifyReply> =>
  sendStored(request, reply, kept, { ...kept.meta, request_time: requestTimeMs(reply), cache_hit: hit });

function wantedFormat(accept = ''): 'json' | 'csv' | 'ndjson' {
  if (accept.includes('text/csv')) return 'csv';
  return accept.includes('application/x-ndjson') ? 'ndjson' : 'json';
}

/** The rows of a list, streamed; the cursor of the next page travels in X-Next-Cursor. What is no list comes as JSON. */
function sendRows(
  call: { request: FastifyRequest; reply: FastifyReply },
  answer: StoredAnswer,
  format: 'csv' | 'ndjson',
): FastifyReply | Promise<FastifyReply> {
  const { reply } = call;
  if (answer.rows === undefined) return sendKept(call, { ...render(answer.body), meta: answer.meta }, false);
  const body = answer.body as Record<string, unknown>;
  const rows = body[answer.rows] as object[];
  const next = (body['pagination'] as { next_cursor?: string | null } | undefined)?.next_cursor;
  if (next) reply.header('x-next-cursor', next);
  const type = format === 'csv' ? 'text/csv; charset=utf-8; header=present' : 'application/x-ndjson; charset=utf-8';
  return reply.type(type).send(format === 'csv' ? csvText(rows) : ndjsonText(rows));
}
