import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import type { Clock } from '../core/time.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import { COLUMNAR_TYPES, columnarRows } from './columnar.ts';
import { csvText, ndjsonText } from './csv.ts';
import { flatColumns, presentColumns } from './flat-rows.ts';
import { type Format, formatOf, formatWord } from './formats.ts';
import { routeOf } from './auth.ts';
import type { Freshness } from '../queries/freshness.ts';
import { requestTimeMs } from './cursors.ts';
import type { LocalCache, Shared } from '../stores/shared/shared.ts';
import { BODIES_KEPT, type CallMeta, isUnchanged, Rendered, sendRendered, writeRendered } from './rendered-answer.ts';
import type { Platform } from '../core/model.ts';

/** The result of an endpoint over stored data: the body without `meta`, and the data's own part of `meta` except `data_freshness`. */
interface StoredAnswer<Answer> {
  body: Omit<Answer, 'meta'>;
  meta: Answer extends { meta: infer Meta }
    ? Omit<Meta, AddedMeta> & Partial<Pick<Meta, keyof Meta & AddedMeta>>
    : object;
  /** The list whose rows the other formats contain; named as in the body. */
  rows?: ListOf<Answer>;
}

/** Names of an answer's lists. */
type ListOf<Answer> = {
  [Name in keyof Answer]: Answer[Name] extends readonly unknown[] ? Name : never;
}[keyof Answer] &
  string;

/** The answer of any endpoint. */
interface AnyAnswer {
  body: object;
  meta: object;
  rows?: string;
}

/** Parts of `meta` that are added when the answer is made or sent. */
type AddedMeta = 'request_time' | 'cache_hit' | 'data_freshness';

/** A call of an endpoint: its parameters, and the declared schema of its answer. */
interface StoredCall<R extends z.ZodType> {
  request: FastifyRequest;
  reply: FastifyReply;
  params: object;
  query: object;
  answer: R;
}

/** The caches, and the source of data freshness. */
interface Means {
  shared: Shared;
  freshness: Freshness;
  clock: Clock;
  /** Writes Parquet and Arrow. */
  clickhouse: Pick<ClickHouse, 'stream'>;
}

/** How long an answer is cached. What it is made from is stored every few seconds. */
const ANSWER_MS = 2000;
/** The same before the first listing, or the first reading of trades, has ended: what is missing arrives within moments. */
const INCOMPLETE_MS = 250;

/** How an answer is cached, and which `meta.data_freshness` it has, if any. */
interface Kept {
  /** Default: ANSWER_MS. */
  ttlMs?: number;
  /** Owner of the platform account it was read with; absent if every caller gets the same answer. */
  owner?: string;
  /** The rows it is made from; the answer states up to when they are complete. */
  from?: 'listings' | 'trades';
  platforms?: readonly Platform[];
}

/**
 * Answers from the shared cache, for some milliseconds and with single flight, else from `load`; adds ETag, `meta.cache_hit` and
 * `meta.request_time`. Answers for every caller are also cached rendered by URL, for sendKept.
 */
export async function answerStored<R extends z.ZodType>(
  services: Means,
  call: StoredCall<R>,
  cache: Kept,
  load: () => Promise<StoredAnswer<z.input<R>>>,
): Promise<FastifyReply> {
  const { request } = call;
  const format = formatOf(request);
  if (format !== 'json') return sendRows(services, call, await withFreshness(services, cache, load), format);
  const { shared } = services;
  const { ttlMs = ANSWER_MS, owner } = cache;
  let made: Rendered | undefined;
  let keptMs = ttlMs;
  const make = async (): Promise<string> => {
    const { body, meta } = await withFreshness(services, cache, load);
    if ((meta as { data_freshness?: string | null }).data_freshness === null) keptMs = Math.min(ttlMs, INCOMPLETE_MS);
    made = Rendered.of(body, meta);
    return textOf(made, services.clock.now() + keptMs);
  };
  const { value, hit } = await shared.cached(callKey(call, owner), () => keptMs, make);
  const key = owner === undefined ? urlKey(request) : null;
  // A call that waited for another's load reuses its rendered answer.
  const waitedFor = made || key === null ? undefined : shared.localCache.get<Rendered>(key);
  if (waitedFor) return send(call, waitedFor, hit);
  const { data, until } = made ? { data: made, until: services.clock.now() + keptMs } : fromText(value);
  // At most as long as a fresh answer, because clocks of machines differ.
  const leftMs = Math.min(ttlMs, until - services.clock.now());
  if (key !== null) shared.localCache.set(key, data, leftMs, data.json.length * KEPT_PER_BYTE);
  return send(call, data, hit);
}

/** Sends the rendered answer for the URL of an admitted call, with these headers; false if there is none in the wanted format. */
export function sendKept(
  cache: LocalCache,
  request: FastifyRequest,
  reply: FastifyReply,
  headers: Readonly<Record<string, string>>,
): boolean {
  if (!routeOf(request).stored || formatOf(request) !== 'json') return false;
  const kept = cache.get<Rendered>(urlKey(request));
  if (kept) writeRendered(request, reply, kept, callMeta(reply, true), headers);
  return kept !== undefined;
}

const operationOf = (request: FastifyRequest): string => routeOf(request).operation ?? '';
const urlKey = (request: FastifyRequest): string => `${operationOf(request)}:${request.originalUrl}`;

/** The operation with all parsed parameters: the same for every order and alias of them. */
function callKey({ request, params, query }: Omit<StoredCall<z.ZodType>, 'answer'>, owner = ''): string {
  const text = JSON.stringify([params, query, owner], (_key, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
  return `${operationOf(request)}:${createHash('sha1').update(text).digest('base64url')}`;
}

/** An answer in the shared cache: JSON has no raw line breaks, so splitting at lines avoids encoding a large body twice. */
const textOf = ({ etag, meta, json }: Rendered, until: number): string =>
  `${until}\n${etag}\n${JSON.stringify(meta)}\n${json.toString()}`;

function fromText(text: string): { data: Rendered; until: number } {
  const [until = '', etag = '', meta = '{}'] = text.split('\n', 3);
  const json = Buffer.from(text.slice(until.length + etag.length + meta.length + 3));
  return { data: new Rendered({ json, etag, meta: JSON.parse(meta) as object }), until: Number(until) };
}

/** The watermark is read before the rows: rows stored in between may be in the answer, rows below the watermark must be. */
async function withFreshness(
  { freshness }: Means,
  { from, platforms = [] }: Kept,
  load: () => Promise<AnyAnswer>,
): Promise<AnyAnswer> {
  if (!from) return load();
  const freshTo = await freshness[from](platforms);
  const answer = await load();
  const { as_of: asOf = freshTo } = answer.meta as { as_of?: string | null };
  return { ...answer, meta: { data_freshness: earlier(freshTo, asOf), ...answer.meta } };
}

/** The earlier of two ISO-8601 times: rows computed at one instant lack what was stored since. null if either is unknown. */
function earlier(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return null;
  return a < b ? a : b;
}

/** Maximum memory per byte of an answer: the answer itself, and its rendered bodies. */
const KEPT_PER_BYTE = 1 + BODIES_KEPT;

const callMeta = (reply: FastifyReply, cacheHit: boolean): CallMeta => ({
  requestTimeMs: requestTimeMs(reply),
  cacheHit,
});

const send = (
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  kept: Rendered,
  cacheHit: boolean,
): FastifyReply | Promise<FastifyReply> => sendRendered(request, reply, kept, callMeta(reply, cacheHit));

/** Sends the rows of a list; the next cursor is in X-Next-Cursor. Anything but a list is sent as JSON. */
async function sendRows(
  { clickhouse }: Means,
  call: { request: FastifyRequest; reply: FastifyReply },
  answer: AnyAnswer,
  format: Exclude<Format, 'json'>,
): Promise<FastifyReply> {
  const { request, reply } = call;
  if (answer.rows === undefined) return send(call, Rendered.of(answer.body, answer.meta), false);
  const body = answer.body as Record<string, unknown>;
  const rows = body[answer.rows] as object[];
  if (isUnchanged(request, reply, Rendered.of(body, answer.meta).etag.replace(/"$/, `-${format}"`)))
    return reply.code(304).send();
  const next = (body['pagination'] as { next_cursor?: string | null } | undefined)?.next_cursor;
  if (next) reply.header('x-next-cursor', next);
  const word = formatWord(request);
  if (word !== null) reply.header('content-disposition', `attachment; filename="${answer.rows}.${word}"`);
  if (format === 'ndjson') return reply.type('application/x-ndjson; charset=utf-8').send(ndjsonText(rows));
  const columns = presentColumns(flatColumns(rowSchema(routeOf(request).answer, answer.rows)), rows);
  if (format === 'csv') return reply.type('text/csv; charset=utf-8; header=present').send(csvText(rows, columns));
  // Buffered, so that a failure gets its own status.
  const bytes = await buffer(await columnarRows(clickhouse, rows, columns, format));
  return reply.type(COLUMNAR_TYPES[format]).header('content-encoding', 'identity').send(bytes);
}

/** The schema of a list's rows, by the schema of the whole answer; without fields if it is no list of objects. */
function rowSchema(answer: z.ZodType | undefined, list: string): z.ZodObject {
  const rows = answer instanceof z.ZodObject ? (answer.shape as Record<string, unknown>)[list] : undefined;
  const row = rows instanceof z.ZodArray ? rows.element : undefined;
  if (row instanceof z.ZodDiscriminatedUnion)
    return joined(row.options.filter((option) => option instanceof z.ZodObject));
  return row instanceof z.ZodObject ? row : z.object({});
}

/** The fields of rows of several kinds; those that a kind lacks are optional. */
function joined(kinds: readonly z.ZodObject[]): z.ZodObject {
  const fields: Record<string, z.core.$ZodType> = {};
  for (const { shape } of kinds) {
    for (const [name, field] of Object.entries(shape)) {
      fields[name] ??= kinds.every((kind) => Object.hasOwn(kind.shape, name)) ? field : z.optional(field);
    }
  }
  return z.object(fields);
}
