import type { FastifyInstance } from 'fastify';
import { calibration, HORIZONS } from '../queries/calibration.ts';
import { categories } from '../queries/categories.ts';
import { trendingMarkets } from '../queries/trending.ts';
import { WhalePosition, whalePage } from '../queries/whale-trades.ts';
import { firstWindows } from '../queries/windows.ts';
import { CategoriesAnswer, TrendingAnswer } from '../schemas/analytics.ts';
import { CalibrationAnswer } from '../schemas/calibration.ts';
import { WhalesAnswer } from '../schemas/whale-trades.ts';
import type { Services } from './services.ts';
import { decimalNumber, SIZE_SCALE, USD_SCALE } from '../core/decimal.ts';
import { endpoint } from '../http/endpoint.ts';
import { ApiError, platformName } from '../core/errors.ts';
import { pagination } from '../http/cursors.ts';
import {
  cursorParam,
  decimalParam,
  enumParam,
  integerParam,
  limitParam,
  marketIdParam,
  optionalPlatformParam,
  timestampParam,
} from '../schemas/parameters.ts';
import { textParam } from '../core/fields.ts';
import { categorySlug } from '../platforms/categories.ts';
import type { StoredMarket } from '../platforms/contract.ts';
import type { Platform } from '../core/model.ts';
import { answerStored } from '../http/cached-answer.ts';
import { requireMarket } from '../markets/lookup.ts';

const CACHE_MS = 2000;
/** What has settled hardly changes. */
const CALIBRATION_MS = 60_000;
const MOST_BINS = 100;
/** Beyond it a floor is no decimal of the store. */
const LARGEST_FLOOR = 999_999_999_999;

/** GET trades/whales, analytics/trending, analytics/categories, analytics/calibration. */
export function analyticsRoutes(app: FastifyInstance, services: Services): void {
  const { clickhouse, config, cursors, freshness } = services;
  const windowsReady = firstWindows(services);

  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/trades/whales',
      auth: 'key',
      tag: 'Analytics',
      operation: 'listWhaleTrades',
      summary: 'Large trades',
      description:
        'Trades of at least `min_size` contracts and `min_notional` USD with start_ts ≤ time < end_ts, newest or largest first; of equal ones the later, then the larger trade id. Each fill counts once, from its taker. While trades stream in, pages repeat none and miss none that was there at the first.',
      query: {
        platform: optionalPlatformParam(),
        market_id: marketIdParam().optional(),
        min_size: decimalParam(SIZE_SCALE, LARGEST_FLOOR)
          .prefault('1000')
          .describe('Contracts or shares; 0 is allowed'),
        min_notional: decimalParam(USD_SCALE, LARGEST_FLOOR).prefault('0').describe('USD'),
        start_ts: timestampParam().optional(),
        end_ts: timestampParam().optional(),
        sort: enumParam(['time', 'size']).default('time').describe('Newest first, or largest first'),
        limit: limitParam(50, 200),
        cursor: cursorParam(),
      },
      stored: 'rows',
      answer: WhalesAnswer,
      errors: [404, 502, 504],
    },
    (call) => {
      const { query, caller } = call;
      const asked = query.platform ? [query.platform] : config.platforms;
      const cache = { ttlMs: CACHE_MS, from: 'trades', platforms: asked } as const;
      return answerStored(services, call, cache, async () => {
        const { cursor, limit, ...filters } = query;
        const position = cursor === undefined ? null : cursors.decode('whales', filters, cursor, WhalePosition);
        const market =
          query.market_id === undefined
            ? null
            : await anyMarket(services, query.platform, query.market_id, caller.userId);
        const platforms = market ? [market.platform] : asked;
        const filter = {
          platforms,
          market,
          minSize: query.min_size,
          minNotional: query.min_notional,
          startMs: query.start_ts,
          endMs: query.end_ts,
          sort: query.sort,
        };
        // Whose watermark counts is known only now of a market that was named without its platform.
        const own = market && !query.platform ? { data_freshness: await freshness.trades(platforms) } : {};
        const page = await whalePage(clickhouse, filter, position, limit);
        const next = page.next ? cursors.encode('whales', filters, page.next) : null;
        return {
          body: { trades: page.trades, pagination: pagination(page.total, limit, next) },
          meta: {
            platform: market?.platform ?? query.platform ?? 'all',
            min_size_applied: decimalNumber(query.min_size, SIZE_SCALE),
            min_notional_applied: decimalNumber(query.min_notional, USD_SCALE),
            sort: query.sort,
            ...own,
          },
          rows: 'trades',
        };
      });
    },
  );

  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/analytics/trending',
      auth: 'key',
      tag: 'Analytics',
      operation: 'listTrendingMarkets',
      summary: 'Markets with the largest changes',
      description:
        'Open markets by the change of their volume against the window of equal length before, or of their price. Windows are exact to the second and end at meta.as_of, which moves every few seconds. Volumes come from the stored trades where these are complete for both windows, else from snapshots of the platform’s own totals, else they are null; meta.data_completeness says which.',
      query: {
        platform: optionalPlatformParam(),
        window: enumParam(['24h', '7d']).default('24h').describe('Period of the changes'),
        sort_by: enumParam(['volume_change', 'price_change'])
          .default('volume_change')
          .describe('Largest change first; price changes by absolute value'),
        category: textParam(100).optional().describe('Slug, as analytics/categories lists them'),
        limit: limitParam(20, 100),
      },
      stored: 'rows',
      answer: TrendingAnswer,
    },
    (call) => {
      const { query } = call;
      const platforms = query.platform ? [query.platform] : config.platforms;
      const cache = { ttlMs: CACHE_MS, from: 'trades', platforms } as const;
      return answerStored(services, call, cache, async () => {
        const { window, sort_by: sort, limit } = query;
        const category = query.category === undefined ? '' : categorySlug(query.category);
        await windowsReady();
        const { trending, meta } = await trendingMarkets(clickhouse, { platforms, category, window, sort }, limit);
        return {
          body: { trending },
          meta: { platforms, window, sort_by: sort, ...meta },
          rows: 'trending',
        };
      });
    },
  );

  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/analytics/categories',
      auth: 'key',
      tag: 'Analytics',
      operation: 'listCategories',
      summary: 'Markets by category',
      description:
        'Volumes of all markets of a category, liquidity and spread of its open ones, as of meta.as_of, which moves every few seconds.',
      query: { platform: optionalPlatformParam() },
      stored: 'rows',
      answer: CategoriesAnswer,
    },
    (call) => {
      const { query } = call;
      const platforms = query.platform ? [query.platform] : config.platforms;
      const cache = { ttlMs: CACHE_MS, from: 'listings', platforms } as const;
      return answerStored(services, call, cache, async () => {
        await windowsReady();
        const found = await categories(clickhouse, platforms);
        return {
          body: { categories: found.categories },
          meta: {
            platforms,
            total_active_markets: found.categories.reduce((sum, category) => sum + category.active_markets, 0),
            total_volume_24h: found.totalVolume24h,
            as_of: found.asOf,
          },
          rows: 'categories',
        };
      });
    },
  );

  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/analytics/calibration',
      auth: 'key',
      tag: 'Analytics',
      operation: 'getCalibration',
      summary: 'How often markets priced p came true',
      description:
        'Settled markets by the price of their first outcome at `horizon` before they closed: the last stored trade at or before that instant (blocks excepted), else the last stored quote, never a later one. A market closes when its trading ends or when it is settled, whichever comes first. Of more than 20,000 settled markets those that closed last count.',
      query: {
        platform: optionalPlatformParam(),
        category: textParam(100).optional().describe('Slug, as analytics/categories lists them'),
        horizon: enumParam(HORIZONS).default('1d').describe('Time before the close at which prices are taken'),
        bins: integerParam(1, MOST_BINS)
          .default(10)
          .describe(`Number of ranges of equal width that prices are counted in, 1 to ${MOST_BINS}`),
      },
      stored: 'rows',
      answer: CalibrationAnswer,
    },
    (call) => {
      const { query } = call;
      const platforms = query.platform ? [query.platform] : config.platforms;
      const cache = { ttlMs: CALIBRATION_MS, from: 'trades', platforms } as const;
      return answerStored(services, call, cache, async () => {
        const { horizon, bins } = query;
        const category = query.category === undefined ? '' : categorySlug(query.category);
        const found = await calibration(clickhouse, { platforms, category, horizon, bins });
        return {
          body: { calibration: found.calibration },
          meta: { platforms, category, horizon, bins, ...found.meta },
          rows: 'calibration',
        };
      });
    },
  );
}

/** A market by any id, on any platform when none is named: what is stored comes before what would have to be fetched. */
async function anyMarket(
  services: Services,
  platform: Platform | undefined,
  id: string,
  user: string,
): Promise<StoredMarket> {
  const { config, markets } = services;
  if (platform) return requireMarket(services, { platform, id, user });
  const stored = await Promise.all(config.platforms.map((one) => markets.storedByAnyId(one, id)));
  const home = stored.find((market) => market !== null);
  if (home) return home;
  for (const one of config.platforms) {
    const market = await markets.byAnyId(one, id, user);
    if (market) return market;
  }
  throw new ApiError(404, 'Market not found on any platform', {
    resolution: 'Check the id; GET /v1/api/markets lists all markets.',
    errorText: `no market ${JSON.stringify(id)} on ${config.platforms.map(platformName).join(', ')}`,
  });
}
