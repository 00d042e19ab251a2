import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { MarketsAnswer, MarketTradesAnswer, OrderBookAnswer } from '../answers.ts';
import type { Services } from '../app.ts';
import { endpoint } from '../endpoint.ts';
import { ApiError, platformName } from '../errors.ts';
import { InfoRow, StateRow, toMarket, TradersRow } from '../market-rows.ts';
import { toOrderBook } from '../order-books.ts';
import { pagination, requestTimeMs } from '../pages.ts';
import {
  cursorParam,
  enumParam,
  flagParam,
  limitParam,
  marketIdParam,
  platformParam,
  textParam,
} from '../parameters.ts';
import { likelyRef, normalId } from '../market-directory.ts';
import type { MarketKeys } from '../platforms/platform.ts';
import { MARKET_STATUSES, type Platform } from '../schemas.ts';
import { answerStored } from '../stored-answers.ts';
import { tradePage, TradePosition } from '../trade-pages.ts';

/** Lists and records may be this old; the sweep behind them is older. */
const LIST_MS = 2000;
const BOOK_MS = 1000;
/** A listing is read as it was this long ago: longer than an insert takes to show after its clock was read. */
const SETTLED_MS = 1000;
/** The smallest Int128: no place of a listing comes before it. */
const BEFORE_ALL = String(-(1n << 127n));

/** How many markets pass, and a page of (minus rank, key): its ascending order is the order asked for. */
const ListRow = z.object({ total: z.coerce.number(), page: z.array(z.tuple([z.string(), z.string()])) });
const RawRow = z.object({ market_key: z.string(), raw: z.string() });
const ListPosition = z.object({ asOf: z.string(), rank: z.string(), key: z.string() });

const includeRaw = flagParam(false).describe("true adds the platform's own objects as raw_data");

const cacheKeys = new WeakMap<object, string>();

/** Where an answer is cached: the endpoint's name, every parameter that was read, and an id of the path. */
export function cacheKey(name: string, query: object, id = ''): string {
  let digest = cacheKeys.get(query);
  if (digest === undefined) {
    const text = JSON.stringify(query, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
    digest = createHash('sha1').update(text).digest('base64url');
    cacheKeys.set(query, digest);
  }
  return `${name}:${digest}:${id}`;
}

/** The stored market, fetched from the platform when the store does not know it; 404 when nobody does. */
export async function requireMarket(
  services: Pick<Services, 'markets' | 'clickhouse'>,
  platform: Platform,
  id: string,
): Promise<MarketKeys> {
  const market = await services.markets.byAnyId(platform, id);
  if (market) return market;
  throw await unknownMarket(services, platform, id);
}

/**
 * A market and what is read by its reference. An id is nearly always the reference itself, so that both are asked for at the same
 * time; `value` is what stood there before a market that nobody stored yet was fetched.
 */
export async function marketWith<T>(
  services: Pick<Services, 'markets' | 'clickhouse'>,
  platform: Platform,
  id: string,
  read: (ref: string) => Promise<T>,
): Promise<{ market: MarketKeys; value: T }> {
  const guess = likelyRef(platform, id);
  const early = guess === null ? null : read(guess);
  // Thrown below, if anybody still wants it.
  early?.catch(() => {});
  const market = await requireMarket(services, platform, id);
  return { market, value: await (early !== null && market.ref === guess ? early : read(market.ref)) };
}

/** 404; the id of an event is answered with those of its markets. */
async function unknownMarket(
  { clickhouse }: Pick<Services, 'clickhouse'>,
  platform: Platform,
  id: string,
): Promise<ApiError> {
  const name = platformName(platform);
  const children = await clickhouse.query('event_markets', z.object({ platform_id: z.string() }), {
    platform,
    id: normalId(platform, id),
  });
  const ids = children.map((child) => child.platform_id).join(', ');
  return new ApiError(404, `Market not found on ${name}`, {
    resolution: ids
      ? `This is an event: ask for one of its markets, ${ids}.`
      : 'Check the id and the provider; GET /v1/api/markets lists what there is.',
    errorText: `no market ${JSON.stringify(id)} on ${name}`,
  });
}

/** GET markets, markets/id/{id}, markets/id/{id}/orderbook, markets/trades. */
export function marketRoutes(app: FastifyInstance, services: Services): void {
  const { clickhouse, cursors, shared } = services;

  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/markets',
      auth: 'key',
      tag: 'Markets',
      operation: 'listMarkets',
      summary: 'List markets',
      description:
        'Markets of one platform. All pages of one listing show it as it was at the first page: none repeats, none is missed. `query` finds words of title or description.',
      query: {
        provider: platformParam(),
        limit: limitParam(50, 500),
        cursor: cursorParam(),
        status: enumParam(MARKET_STATUSES).optional().describe('Only markets in this state'),
        query: textParam().optional().describe('Words that title or description have, all of them'),
        include_raw: includeRaw,
        event_id: textParam().optional().describe("Only markets of this event, by the platform's id"),
        category: textParam().optional().describe('Only markets of this category, by its slug'),
        sort: enumParam(['volume_24h', 'volume_total', 'liquidity', 'end_date', 'created'])
          .default('volume_24h')
          .describe('Largest or newest first; end_date: soonest first'),
      },
      stored: 'rows',
      answer: MarketsAnswer,
    },
    ({ query, request, reply }) => {
      const key = cacheKey('markets', query);
      const cache = { key, ttlMs: LIST_MS, from: 'listings', platforms: [query.provider] } as const;
      return answerStored(services, { request, reply }, cache, async () => {
        const { cursor, limit, include_raw: withRaw, ...filters } = query;
        const position = cursor === undefined ? null : cursors.decode('markets', filters, cursor, ListPosition);
        const asOf = position?.asOf ?? new Date(services.now() - SETTLED_MS).toISOString();
        const [listing] = await clickhouse.query('markets_list', ListRow, {
          platform: query.provider,
          as_of: asOf.slice(0, 23).replace('T', ' '),
          sort: query.sort,
          status: query.status ?? '',
          category: query.category ?? '',
          event_id: query.event_id ?? '',
          words: searchWords(query.query),
          after: position ? String((-BigInt(position.rank) << 64n) | BigInt(position.key)) : BEFORE_ALL,
          limit: limit + 1,
        });
        const { total, page: found } = listing ?? { total: 0, page: [] };
        const page = found.slice(0, limit);
        const [minusRank, last] = page.at(-1) ?? [];
        const next =
          found.length > limit && minusRank !== undefined && last !== undefined
            ? cursors.encode('markets', filters, { asOf, rank: String(-BigInt(minusRank)), key: last })
            : null;
        const markets = await marketsByKey(
          services,
          query.provider,
          page.map(([, marketKey]) => marketKey),
          withRaw,
        );
        return {
          body: { pagination: pagination(total, limit, next), markets },
          meta: { platforms_queried: [query.provider] },
          rows: 'markets',
        };
      });
    },
  );

  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/markets/id/:id',
      auth: 'key',
      tag: 'Markets',
      operation: 'getMarket',
      summary: 'One market by id',
      description:
        'Takes the platform id, the unified id, and on Polymarket the condition id or slug too. A market that is not stored yet is fetched from its platform.',
      params: { id: marketIdParam() },
      query: { provider: platformParam(), include_raw: includeRaw },
      stored: 'rows',
      answer: MarketsAnswer,
      errors: [502, 504],
    },
    ({ params, query, request, reply }) => {
      const key = cacheKey('market', query, params.id);
      const cache = { key, ttlMs: LIST_MS, from: 'listings', platforms: [query.provider] } as const;
      return answerStored(services, { request, reply }, cache, async () => {
        const market = await requireMarket(services, query.provider, params.id);
        const marketKey = await services.markets.keyOf(market);
        const markets = await marketsByKey(services, query.provider, [marketKey], query.include_raw);
        // Its platform may have forgotten it since this process last looked.
        if (markets.length === 0) throw await unknownMarket(services, query.provider, params.id);
        return {
          body: { pagination: pagination(1, 1, null), markets },
          meta: { platforms_queried: [query.provider] },
          rows: 'markets',
        };
      });
    },
  );

  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/markets/id/:id/orderbook',
      auth: 'key',
      tag: 'Markets',
      operation: 'getOrderBook',
      summary: 'Live order book of one market',
      description: 'Read from the platform, at most a second old. A closed or settled market has an empty book.',
      params: { id: marketIdParam() },
      query: { provider: platformParam(), include_raw: includeRaw },
      answer: OrderBookAnswer,
      errors: [502, 504],
    },
    async ({ params, query, reply }) => {
      const market = await requireMarket(services, query.provider, params.id);
      const data = services.platforms[query.provider];
      const { value, hit } = await shared.cached(`book:${query.provider}:${market.ref}`, BOOK_MS, async () => {
        const trading = market.status !== 'closed' && market.status !== 'settled';
        const book =
          trading && data ? await data.orderBook(market, { priority: 'live', onBadRow: services.onBadRow }) : null;
        return toOrderBook(market, book, new Date(services.now()).toISOString());
      });
      const { raw_data: raw, ...rest } = value;
      const answer = query.include_raw ? { ...rest, ...(raw ? { raw_data: raw } : {}) } : rest;
      return { data: answer, meta: { request_time: requestTimeMs(reply), cache_hit: hit } };
    },
  );

  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/markets/trades',
      auth: 'key',
      tag: 'Markets',
      operation: 'listMarketTrades',
      summary: 'Trades of one market, newest first',
      description:
        'Each fill once, from its taker. Limitless is not supported here; its trades appear among the whales. Where the operator lets raw trades be dropped by age, pagination.total still counts the dropped ones; has_more does not.',
      query: {
        provider: platformParam(['kalshi', 'polymarket']),
        market_id: marketIdParam(),
        limit: limitParam(100, 1000),
        cursor: cursorParam(),
        takerOnly: flagParam(false).describe('No effect: every stored print is a taker row'),
      },
      stored: 'rows',
      answer: MarketTradesAnswer,
      errors: [404, 502, 504],
    },
    ({ query, request, reply }) => {
      const key = cacheKey('trades', query);
      const cache = { key, ttlMs: LIST_MS, from: 'trades', platforms: [query.provider] } as const;
      return answerStored(services, { request, reply }, cache, async () => {
        const { cursor, limit, ...filters } = query;
        const position = cursor === undefined ? null : cursors.decode('market_trades', filters, cursor, TradePosition);
        const market = await requireMarket(services, query.provider, query.market_id);
        const page = await tradePage(clickhouse, market, position, limit);
        const next = page.next ? cursors.encode('market_trades', filters, page.next) : null;
        return {
          body: { trades: page.trades, pagination: pagination(page.total, limit, next) },
          meta: {
            market_id: market.platformId,
            platform: query.provider,
          },
          rows: 'trades',
        };
      });
    },
  );
}

async function marketsByKey(services: Services, platform: Platform, keys: string[], withRaw: boolean) {
  if (keys.length === 0) return [];
  const of = { platform, keys: keys.map(BigInt) };
  const { clickhouse } = services;
  // Side by side: planning their join takes longer than each of them.
  const [infos, states, traders, raws] = await Promise.all([
    clickhouse.query('markets_info', InfoRow, of),
    clickhouse.query('markets_state', StateRow, of),
    clickhouse.query('markets_traders', TradersRow, of),
    withRaw ? clickhouse.query('markets_raw', RawRow, of) : [],
  ]);
  const [infoOf, stateOf, tradersOf, rawOf] = [byKey(infos), byKey(states), byKey(traders), byKey(raws)];
  return keys.flatMap((key) => {
    const [info, state] = [infoOf.get(key), stateOf.get(key)];
    return info && state ? [toMarket({ info, state, traders: tradersOf.get(key), raw: rawOf.get(key)?.raw })] : [];
  });
}

const byKey = <Row extends { market_key: string }>(rows: readonly Row[]): Map<string, Row> =>
  new Map(rows.map((row) => [row.market_key, row]));

/** The words of a search, as the index holds them: runs of letters and digits, lower case. Without any, what no text holds. */
function searchWords(query: string | undefined): string[] {
  if (query === undefined) return [];
  const words = [...new Set(query.toLowerCase().match(/[\p{L}\p{N}]+/gu))].slice(0, 20);
  return words.length > 0 ? words : [' '];
}
