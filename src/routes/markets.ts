import type { FoundIssue } from '../core/errors.ts';
import { MARKET_STATUSES, type Platform } from '../core/model.ts';
import { eventImageInTime } from '../markets/event-images.ts';
import type { FastifyInstance } from 'fastify';
import { MarketsAnswer } from '../schemas/markets.ts';
import type { Services } from './services.ts';
import { currentOpenInterest } from '../markets/open-interest.ts';
import { USD_SCALE } from '../core/decimal.ts';
import { endpoint } from '../http/endpoint.ts';
import { type Direction, DIRECTIONS, directionIssues, ListPosition, sortOf } from '../queries/listing-pages.ts';
import { MARKET_ORDERS } from '../present/list-orders.ts';
import { listMarkets } from '../queries/markets-list.ts';
import { listedMarket, type Market, marketsOfIds } from '../queries/markets-by-key.ts';
import { pagination } from '../http/cursors.ts';
import {
  cursorParam,
  decimalParam,
  enumParam,
  eventIdParam,
  flagParam,
  limitParam,
  marketIdParam,
  listedIdsParam,
  type ListedId,
  placeholdersParam,
  combosParam,
  platformParam,
  timestampParam,
} from '../schemas/parameters.ts';
import { textParam } from '../core/fields.ts';
import { answerStored } from '../http/cached-answer.ts';

const SEARCH =
  'Words of the title, the description or the ids, without regard to case and accents. A word of three letters and more finds those that begin with it; one of five letters and more that no title has, those with one typo. Also a whole id';
const includeRaw = flagParam(false).describe(
  "true adds the platform's own objects as raw_data, as stored when facts or status last changed, at most an hour before the rest",
);

/** What chooses the markets of a list. */
export const marketFilters = () => ({
  status: enumParam(MARKET_STATUSES).optional().describe('Only markets in this state'),
  event_id: eventIdParam('Only markets of this event').optional(),
  min_liquidity: decimalParam(USD_SCALE).optional().describe('Only markets of at least this liquidity, USD'),
  ends_after: timestampParam()
    .optional()
    .describe('Only markets whose trading_end_at is at or after this time: Unix seconds, milliseconds or ISO-8601'),
  ends_before: timestampParam()
    .optional()
    .describe('Only markets whose trading_end_at is before this time: Unix seconds, milliseconds or ISO-8601'),
  category: textParam().optional().describe('Only markets of this category, by its slug'),
  include_placeholders: placeholdersParam(),
  include_combos: combosParam(),
});

/** The direction of a list. */
export const directionParam = (when = '') =>
  enumParam(DIRECTIONS)
    .optional()
    .describe(
      `asc: the smallest, the soonest or the oldest first; desc: the other way. The unknown comes last in both. Default: desc, of end_date and spread asc. Not with match.${when}`,
    );

/** GET markets, markets/id/{id}. */
export function marketRoutes(app: FastifyInstance, services: Services): void {
  const { cursors } = services;

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
        'Markets of one platform. All pages show the listing as of the first page: no market is repeated or missed.',
      query: {
        provider: platformParam(),
        limit: limitParam(50, 500),
        cursor: cursorParam(),
        query: textParam().optional().describe(SEARCH),
        include_raw: includeRaw,
        ...marketFilters(),
        market_ids: listedIdsParam(100)
          .optional()
          .describe(
            'Only these markets, in this order, on one page; not combinable with other filters, sort or order. 1 to 100 ids, comma-separated',
          ),
        sort: enumParam(MARKET_ORDERS)
          .optional()
          .describe(
            'Largest or newest first; resolved: the newest result first; end_date: soonest first; spread: smallest first; match: best match first, then by volume; the unknown comes last. price, spread and price_change_24h are those of the first outcome. Default: match with query, else volume_24h',
          ),
        order: directionParam(),
      },
      together: marketIssues,
      stored: 'rows',
      answer: MarketsAnswer,
    },
    (call) => {
      const { query } = call;
      const cache = { from: 'listings', platforms: [query.provider] } as const;
      return answerStored(services, call, cache, async () => {
        if (query.market_ids) return marketsOfList(services, query, query.market_ids);
        const { cursor, limit, include_raw: withRaw, ...filters } = query;
        const position = cursors.decode('markets', filters, cursor, ListPosition);
        const nowMs = services.clock.now();
        const page = await listMarkets(services, query, { position, nowMs, limit }, withRaw);
        const next = cursors.encode('markets', filters, page.next);
        return {
          body: { pagination: pagination(page.total, limit, next), markets: page.markets },
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
        'Accepts the platform id, the unified id, and on Polymarket and Limitless the condition id or slug. A market that is not stored yet is fetched from its platform.',
      params: { id: marketIdParam() },
      query: { provider: platformParam(), include_raw: includeRaw },
      stored: 'rows',
      answer: MarketsAnswer,
      errors: [502, 504],
    },
    (call) => {
      const { params, query, caller } = call;
      const user = caller.userId;
      const cache = { from: 'listings', platforms: [query.provider] } as const;
      return answerStored(services, call, cache, async () => {
        const { ref, market } = await listedMarket(
          services,
          { platform: query.provider, id: params.id, user },
          query.include_raw,
        );
        const found = await withOpenInterest(services, ref, market, user);
        const image_url = found.image_url || (await eventImageInTime(services, query.provider, found.event_id, user));
        return {
          body: { pagination: pagination(1, 1, null), markets: [{ ...found, image_url }] },
          meta: { platforms_queried: [query.provider] },
          rows: 'markets',
        };
      });
    },
  );
}

/** Filters that cannot be combined with a list of ids. */
const OTHER_FILTERS = [
  'cursor',
  'status',
  'query',
  'event_id',
  'category',
  'min_liquidity',
  'ends_after',
  'ends_before',
  'sort',
  'order',
] as const;

type ListQuery = { [K in Exclude<(typeof OTHER_FILTERS)[number], 'sort' | 'order' | 'query'>]?: unknown } & {
  market_ids?: readonly ListedId[] | undefined;
  limit?: number;
  query?: string | undefined;
  sort?: string | undefined;
  order?: Direction | undefined;
};

/** What cannot be combined: other filters, an order or a smaller limit with a list of ids; a direction with the best match. */
function marketIssues(query: ListQuery, failing: ReadonlySet<string>, given: ReadonlySet<string>): FoundIssue[] {
  const { market_ids: ids, limit, order } = query;
  if (!ids) return failing.has('sort') || failing.has('query') ? [] : directionIssues(sortOf(query), order);
  const others = OTHER_FILTERS.filter((field) => query[field] !== undefined && !failing.has(field)).map((field) => ({
    field,
    expected: 'no value: not allowed with market_ids',
  }));
  const isCut = given.has('limit') && limit !== undefined && limit < ids.length;
  return isCut
    ? [
        ...others,
        { field: 'limit', expected: `no value or at least ${ids.length}: market_ids are answered on one page` },
      ]
    : others;
}

/** The markets of a list of ids, in its order. */
async function marketsOfList(
  services: Services,
  query: { provider: Platform; include_raw: boolean },
  ids: readonly ListedId[],
) {
  const { markets, notFound } = await marketsOfIds(services, query.provider, ids, query.include_raw);
  return {
    body: { pagination: pagination(markets.length, ids.length, null), markets },
    meta: {
      platforms_queried: [query.provider],
      not_found: notFound,
    },
    rows: 'markets' as const,
  };
}

async function withOpenInterest(services: Services, ref: string, market: Market, user: string): Promise<Market> {
  const { platform, open_interest: value, metadata } = market;
  const current = await currentOpenInterest(services, { platform, ref, value, metadata }, user);
  return { ...market, open_interest: current.value, metadata: current.metadata };
}
