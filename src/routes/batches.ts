import type { FastifyInstance } from 'fastify';
import { answerStored } from '../http/cached-answer.ts';
import { requestTimeMs } from '../http/cursors.ts';
import { endpoint } from '../http/endpoint.ts';
import { storedMarkets } from '../markets/lookup.ts';
import { cutBook, liveBooks } from '../queries/order-book.ts';
import { pricesAt, pricesNow } from '../queries/prices-at.ts';
import { MarketPricesAnswer, OrderBooksAnswer } from '../schemas/batches.ts';
import { integerParam, listedIdsParam, platformParam, timestampParam } from '../schemas/parameters.ts';
import type { Services } from './services.ts';
import { liveRead } from '../platforms/contract.ts';

const DEEPEST = 1000;

/** GET orderbooks, markets/prices. */
export function batchRoutes(app: FastifyInstance, services: Services): void {
  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/orderbooks',
      auth: 'key',
      tag: 'Markets',
      operation: 'listOrderBooks',
      summary: 'Live order books of several stored markets',
      description:
        "Read through the platform's batch calls, at most a second old. Limitless has none: each book is a separate call, and 50 uncached books take half a minute. A closed or settled market has an empty book. meta.errors lists the markets whose book could not be read.",
      query: {
        provider: platformParam(),
        market_ids: listedIdsParam(50),
        depth: integerParam(1, DEEPEST)
          .optional()
          .describe(`Number of levels per side, best first, 1 to ${DEEPEST}. Default: all`),
      },
      answer: OrderBooksAnswer,
    },
    async ({ query, caller, reply }) => {
      const { provider, market_ids: ids, depth = Infinity } = query;
      const { markets, notFound } = await storedMarkets(
        (given) => services.markets.storedByAnyIds(provider, given),
        ids,
      );
      const context = liveRead(services, caller.userId);
      const { books, errors, hit } = await liveBooks(services, provider, markets, context);
      const data = books.map(({ raw_data: _raw, ...book }) => cutBook(book, depth));
      return { data, meta: { request_time: requestTimeMs(reply), cache_hit: hit, not_found: notFound(), errors } };
    },
  );

  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/markets/prices',
      auth: 'key',
      tag: 'Markets',
      operation: 'listMarketPrices',
      summary: 'Prices of several stored markets at any instant',
      description:
        'The last known price of each market at `at`, never a later one: its payout once it was settled, else its last stored trade, else the last price its platform quoted.',
      query: {
        provider: platformParam(),
        market_ids: listedIdsParam(100),
        at: timestampParam().optional(),
      },
      stored: 'rows',
      answer: MarketPricesAnswer,
    },
    (call) => {
      const { query } = call;
      const { provider, market_ids: ids } = query;
      const cache = { from: 'trades', platforms: [provider] } as const;
      return answerStored(services, call, cache, async () => {
        const nowMs = services.clock.now();
        const isNow = (query.at ?? Infinity) >= nowMs;
        const { markets, notFound } = await storedMarkets(
          (given) => services.markets.pricedByAnyIds(provider, given, nowMs),
          ids,
        );
        const data = await (isNow
          ? pricesNow(services, markets, nowMs)
          : pricesAt(services.clickhouse, markets, query.at ?? nowMs));
        const answered = new Set(data.map(({ market_id: id }) => id));
        return { body: { data }, meta: { not_found: notFound(answered) }, rows: 'data' };
      });
    },
  );
}
