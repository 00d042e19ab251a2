import type { FastifyReply, FastifyRequest } from 'fastify';
import { csvText, ndjsonText } from './row-formats.ts';
import { render, requestTimeMs, sendStored } from './pages.ts';
import type { Shared } from './redis.ts';

/** What an endpoint over stored data makes: its body without `meta`, and the part of `meta` that belongs to the data. */
export interface StoredAnswer {
  body: object;
  meta: object;
  /** The rows of a list, for callers that ask for CSV or NDJSON; their name in the body. */
  rows?: string;
}

/**
 * Answers from a cache of some milliseconds with single flight, else from `load`; with ETag, `meta.cache_hit` and
 * `meta.request_time`. Equal requests of all users share one entry, as stored data is the same for all.
 */
export async function answerStored(
  shared: Shared,
  call: { request: FastifyRequest; reply: FastifyReply },
  cache: { key: string; ttlMs: number },
  load: () => Promise<StoredAnswer>,
): Promise<FastifyReply> {
  const { request, reply } = call;
  const format = wantedFormat(request.headers.accept);
  if (format !== 'json') {
    const answer = await load();
    return sendRows(reply, answer, format);
  }
  const { value, hit } = await shared.cached(cache.key, cache.ttlMs, async () => {
    const { body, meta } = await load();
    const { etag, json } = render(body);
    return `${etag}\n${JSON.stringify(meta)}\n${json}`;
  });
  // JSON text holds no line breaks, so three lines keep a large body from being encoded twice.
  const [etag = '', meta = '{}'] = value.split('\n', 2);
  const json = value.slice(etag.length + meta.length + 2);
  const known = JSON.parse(meta) as object;
  return sendStored(request, reply, { etag, json }, { ...known, request_time: requestTimeMs(reply), cache_hit: hit });
}

function wantedFormat(accept = ''): 'json' | 'csv' | 'ndjson' {
  if (accept.includes('text/csv')) return 'csv';
  return accept.includes('application/x-ndjson') ? 'ndjson' : 'json';
}

/** The rows of a list, streamed; the cursor of the next page travels in X-Next-Cursor. */
function sendRows(reply: FastifyReply, answer: StoredAnswer, format: 'csv' | 'ndjson'): FastifyReply {
  const body = answer.body as Record<string, unknown>;
  const rows = (answer.rows === undefined ? [] : body[answer.rows]) as object[];
  const next = (body['pagination'] as { next_cursor?: string | null } | undefined)?.next_cursor;
  if (next) reply.header('x-next-cursor', next);
  const type = format === 'csv' ? 'text/csv; charset=utf-8; header=present' : 'application/x-ndjson; charset=utf-8';
  return reply.type(type).send(format === 'csv' ? csvText(rows) : ndjsonText(rows));
}
