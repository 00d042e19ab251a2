import type { FastifyInstance } from 'fastify';
import { textParam } from '../../core/fields.ts';
import { answerStored } from '../../http/cached-answer.ts';
import { endpoint } from '../../http/endpoint.ts';
import { categorySlug } from '../../platforms/categories.ts';
import { categories } from '../../queries/categories.ts';
import { MOST_TRENDING, trendingMarkets } from '../../queries/trending.ts';
import { askedWindows } from '../../queries/windows.ts';
import { CategoriesAnswer, TrendingAnswer } from '../../schemas/analytics.ts';
import { enumParam, limitParam, optionalPlatformParam } from '../../schemas/parameters.ts';
import type { Services } from '../services.ts';

/** GET analytics/trending, analytics/categories: figures over windows of 24 hours and more. */
export function windowRoutes(app: FastifyInstance, services: Services): void {
  const { clickhouse, config } = services;
  const windowsFresh = askedWindows(services);

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
        'Open markets by the change of their volume against the window of equal length before, or of their price. Windows are exact to the second and end at meta.as_of: they are computed when a request asks for them, at most every ten seconds, less often if that takes more than a second. During a computation, answers use the windows before it. Volumes come from the stored trades where these are complete for both windows, else from snapshots of the platform’s own totals, else they are null; meta.data_completeness says which.',
      query: {
        platform: optionalPlatformParam(),
        window: enumParam(['24h', '7d']).default('24h').describe('Period of the changes'),
        sort_by: enumParam(['volume_change', 'price_change'])
          .default('volume_change')
          .describe('Largest change first; price changes by absolute value'),
        category: textParam(100).optional().describe('Slug of analytics/categories'),
        limit: limitParam(20, MOST_TRENDING),
      },
      stored: 'rows',
      answer: TrendingAnswer,
    },
    (call) => {
      const { query } = call;
      const platforms = query.platform ? [query.platform] : config.platforms;
      const cache = { from: 'trades', platforms } as const;
      return answerStored(services, call, cache, async () => {
        const { window, sort_by: sort, limit } = query;
        const category = query.category === undefined ? '' : categorySlug(query.category);
        const stores = { ...services, ofWindows: await windowsFresh() };
        const { trending, meta } = await trendingMarkets(stores, { platforms, category, window, sort }, limit);
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
        'Volumes of all markets of a category, liquidity and spread of its open ones, as of meta.as_of: they are computed when a request asks for them, at most every ten seconds, less often if that takes more than a second. During a computation, answers use the windows before it.',
      query: { platform: optionalPlatformParam() },
      stored: 'rows',
      answer: CategoriesAnswer,
    },
    (call) => {
      const { query } = call;
      const platforms = query.platform ? [query.platform] : config.platforms;
      const cache = { from: 'listings', platforms } as const;
      return answerStored(services, call, cache, async () => {
        const found = await categories({ clickhouse, ofWindows: await windowsFresh() }, platforms);
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
}
