import type { FastifyInstance } from 'fastify';
import { bookAt } from '../books/book-at.ts';
import { MessagePosition, messagePage, tardisMessage } from '../books/messages.ts';
import { answerStored } from '../http/cached-answer.ts';
import { formatOf } from '../http/formats.ts';
import { ndjsonText } from '../http/csv.ts';
import { pagination, requestTimeMs } from '../http/cursors.ts';
import { endpoint } from '../http/endpoint.ts';
import { isUnchanged, Rendered } from '../http/rendered-answer.ts';
import { requireMarket } from '../markets/lookup.ts';
import { liveBook } from '../queries/order-book.ts';
import { BookChangesAnswer } from '../schemas/books.ts';
import { OrderBookAnswer } from '../schemas/order-book.ts';
import {
  cursorParam,
  flagParam,
  limitParam,
  marketIdParam,
  platformParam,
  timestampParam,
} from '../schemas/parameters.ts';
import type { Services } from './services.ts';
import { liveRead } from '../platforms/contract.ts';

const TARDIS = /ndjson\s*;\s*profile="?tardis/i;
const LAST_MS = 4_102_444_800_000;

/** GET markets/id/{id}/orderbook, live or recorded, and markets/id/{id}/book-changes. */
export function bookRoutes(app: FastifyInstance, services: Services): void {
  const { clickhouse, cursors } = services;

  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/markets/id/:id/orderbook',
      auth: 'key',
      tag: 'Markets',
      operation: 'getOrderBook',
      summary: 'Order book of one market, live or as recorded at an instant',
      description:
        'Without `at` it is read from the platform, at most a second old; a closed or settled market has an empty book. With `at` it is the recorded book as last seen at that time, at most ten minutes earlier; `no` is the complement of `yes`, and meta.recorded shows what is recorded. 404 if it was not recorded at that time.',
      params: { id: marketIdParam() },
      query: {
        provider: platformParam(),
        include_raw: flagParam(false).describe("true adds the platform's own object as raw_data to a live book"),
        at: timestampParam()
          .optional()
          .describe('The recorded book at this time: Unix seconds, milliseconds or ISO-8601'),
      },
      together: ({ at = 0 }) =>
        at > services.clock.now() ? [{ field: 'at', expected: 'a time that is not in the future' }] : [],
      stored: 'whole',
      answer: OrderBookAnswer,
      errors: [502, 504],
    },
    async (call) => {
      const { params, query, caller, reply } = call;
      const user = caller.userId;
      const wanted = { platform: query.provider, id: params.id, user };
      const { at } = query;
      if (at !== undefined) {
        return answerStored(services, call, {}, async () => {
          const { book, recorded } = await bookAt(clickhouse, await requireMarket(services, wanted), at);
          return { body: { data: book }, meta: { recorded } };
        });
      }
      const market = await requireMarket(services, wanted);
      const context = liveRead(services, user);
      const { value, hit } = await liveBook(services, market, context);
      const { raw_data: raw, ...rest } = value;
      const answer = query.include_raw ? { ...rest, ...(raw ? { raw_data: raw } : {}) } : rest;
      return { data: answer, meta: { request_time: requestTimeMs(reply), cache_hit: hit } };
    },
  );

  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/markets/id/:id/book-changes',
      auth: 'key',
      tag: 'Markets',
      operation: 'listBookChanges',
      summary: "Changes of a market's recorded order book, oldest first",
      description:
        'Messages received in start_ts ≤ time < end_ts, of the first outcome; the book of the second is its complement. Each recorded period begins with the whole book (is_snapshot); for the book at another time use orderbook with `at`. With Accept: application/x-ndjson; profile=tardis the answer has the format of tardis.dev.',
      params: { id: marketIdParam() },
      query: {
        provider: platformParam(),
        start_ts: timestampParam().optional(),
        end_ts: timestampParam().optional(),
        limit: limitParam(1000, 5000),
        cursor: cursorParam(),
      },
      stored: 'rows',
      answer: BookChangesAnswer,
      errors: [502, 504],
    },
    async (call) => {
      const { params, query, caller, request, reply } = call;
      const page = async () => {
        const { cursor, limit, ...filters } = { ...query, id: params.id };
        const position = cursors.decode('book_changes', filters, cursor, MessagePosition);
        const user = caller.userId;
        const market = await requireMarket(services, { platform: query.provider, id: params.id, user });
        const span = { startMs: query.start_ts ?? 0, endMs: Math.min(query.end_ts ?? LAST_MS, LAST_MS) };
        const { messages, total, next } = await messagePage(clickhouse, market, span, position, limit);
        return { market, messages, total, next: cursors.encode('book_changes', filters, next) };
      };
      const { accept = '' } = request.headers;
      if (formatOf(request) === 'ndjson' && TARDIS.test(accept)) {
        const { messages, next } = await page();
        const { etag } = Rendered.of({ messages, next }, {});
        if (isUnchanged(request, reply, etag.replace(/"$/, '-tardis"'))) return reply.code(304).send();
        if (next !== null) reply.header('x-next-cursor', next);
        return reply
          .type('application/x-ndjson; charset=utf-8; profile=tardis')
          .send(ndjsonText(messages.map(tardisMessage)));
      }
      const cache = { platforms: [query.provider] };
      return answerStored(services, call, cache, async () => {
        const { market, messages, total, next } = await page();
        return {
          body: { book_changes: messages, pagination: pagination(total, query.limit, next) },
          meta: { market_id: market.platformId, platform: market.platform },
          rows: 'book_changes',
        };
      });
    },
  );
}
