import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { csvText, ndjsonText } from './row-formats.ts';
import { isKnown, render, requestTimeMs, sendStored, type Rendered } from './pages.ts';
import type { Shared } from './redis.ts';

/** What an endpoint over stored data makes: its body without `meta`, and what of `meta` belongs to the data, `freshTo` excepted. */
export interface StoredAnswer {
  body: object;
  meta: object;
  /** The rows of a list, for callers that ask for CSV or NDJSON; their name in the body. */
  rows?: string;
}

/** How an answer is kept, and up to when the data behind it is complete (meta.data_freshness), where its endpoint tells. */
interface Kept {
  key: string;
  ttlMs: number;
  freshTo?: () => Promise<string | null>;
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
  cache: Kept,
  load: () => Promise<StoredAnswer>,
): FastifyReply | Promise<FastifyReply> {
  const format = wantedFormat(call.request.headers.accept);
  const dated = () => withFreshness(load, cache.freshTo);
  if (format !== 'json') return dated().then((answer) => sendRows(call, answer, format));
  const kept = shared.recall<KeptAnswer>(cache.key);
  return kept ? sendKept(call, kept, true) : answerThrough(shared, call, cache, dated);
}

async function answerThrough(
  shared: Shared,
  call: { request: FastifyRequest; reply: FastifyReply },
  { key, ttlMs }: Kept,
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

/** The watermark is read before the rows: what is stored meanwhile may be in the answer, what is claimed must be. */
async function withFreshness(load: () => Promise<StoredAnswer>, freshTo: Kept['freshTo']): Promise<StoredAnswer> {
  if (!freshTo) return load();
  const freshness = await freshTo();
  const answer = await load();
  return { ...answer, meta: { data_freshness: freshness, ...answer.meta } };
}

/** The text, its body in bytes, and some of them compressed. */
const KEPT_BYTES_PER_CHAR = 3;

const sendKept = (
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  kept: KeptAnswer,
  hit: boolean,
): FastifyReply | Promise<FastifyReply> =>
  sendStored(request, reply, kept, { ...kept.meta, request_time: requestTimeMs(reply), cache_hit: hit });

type Format = 'json' | 'csv' | 'ndjson';
const FORMATS: Record<string, Format> = {
  'application/json': 'json',
  'text/csv': 'csv',
  'application/x-ndjson': 'ndjson',
  'application/*': 'json',
  '*/*': 'json',
};

/** The format that the caller prefers (RFC 9110 §12.5.1); of equal ones the first that is named by itself, JSON when none is. */
export function wantedFormat(accept = ''): Format {
  if (!/csv|ndjson/i.test(accept)) return 'json';
  const ranges = accept.split(',').flatMap((range) => {
    const [type = '', ...parameters] = range.toLowerCase().replaceAll(/\s/g, '').split(';');
    const weight = Number(parameters.find((one) => one.startsWith('q='))?.slice(2) ?? 1);
    const format = FORMATS[type];
    return format && weight > 0 ? [{ format, rank: weight + (type.endsWith('*') ? 0 : 0.0001) }] : [];
  });
  return ranges.toSorted((a, b) => b.rank - a.rank)[0]?.format ?? 'json';
}

/** The rows of a list, streamed; the cursor of the next page travels in X-Next-Cursor. What is no list comes as JSON. */
function sendRows(
  call: { request: FastifyRequest; reply: FastifyReply },
  answer: StoredAnswer,
  format: 'csv' | 'ndjson',
): FastifyReply | Promise<FastifyReply> {
  const { request, reply } = call;
  if (answer.rows === undefined) return sendKept(call, { ...render(answer.body), meta: answer.meta }, false);
  const body = answer.body as Record<string, unknown>;
  const rows = body[answer.rows] as object[];
  if (isKnown(request, reply, render(body).etag.replace(/"$/, `-${format}"`))) return reply.code(304).send();
  const next = (body['pagination'] as { next_cursor?: string | null } | undefined)?.next_cursor;
  if (next) reply.header('x-next-cursor', next);
  const type = format === 'csv' ? 'text/csv; charset=utf-8; header=present' : 'application/x-ndjson; charset=utf-8';
  const names = rowNames(request.routeOptions.config.answer, answer.rows);
  return reply.type(type).send(format === 'csv' ? csvText(rows, names) : ndjsonText(rows));
}

/** What every row of a list has, by the schema of the whole answer. */
function rowNames(answer: z.ZodType | undefined, list: string): string[] {
  const rows = answer instanceof z.ZodObject ? (answer.shape as Record<string, unknown>)[list] : undefined;
  const row = rows instanceof z.ZodArray ? rows.element : undefined;
  if (!(row instanceof z.ZodObject)) return [];
  return Object.entries(row.shape).flatMap(([name, field]) => (field instanceof z.ZodOptional ? [] : [name]));
}
