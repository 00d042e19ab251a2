import type { FastifyInstance } from 'fastify';
import { decimalNumber, parseSize, SIZE_SCALE, USD_SCALE } from '../../core/decimal.ts';
import { answerStored } from '../../http/cached-answer.ts';
import { pagination } from '../../http/cursors.ts';
import { endpoint } from '../../http/endpoint.ts';
import { feedsReach, marketReach, ofKept } from '../../markets/completeness.ts';
import { anyMarket } from '../../markets/lookup.ts';
import { isListed, type WhaleFilter, WhalePosition, whalePage } from '../../queries/whale-trades.ts';
import {
  cursorParam,
  decimalParam,
  enumParam,
  limitParam,
  marketIdParam,
  optionalPlatformParam,
  timestampParam,
} from '../../schemas/parameters.ts';
import { walletsParam } from '../../schemas/streams.ts';
import { WhalesAnswer } from '../../schemas/whale-trades.ts';
import type { Services } from '../services.ts';

/** The floor where neither size nor notional is given. */
const MIN_SIZE = parseSize('1000');

/** GET trades/whales. */
export function whaleTradeRoutes(app: FastifyInstance, services: Services): void {
  const { config, cursors, freshness } = services;

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
        'Trades of at least `min_size` contracts and `min_notional` USD with start_ts ≤ time < end_ts, newest or largest first; ties by later time, then larger trade id. Each fill counts once, from its taker. Pages repeat no trade and miss none that existed at the first page, even while trades arrive.',
      query: {
        platform: optionalPlatformParam(),
        market_id: marketIdParam().optional(),
        addresses: walletsParam('Only trades that one of these wallets took').optional(),
        min_size: decimalParam(SIZE_SCALE)
          .optional()
          .describe('Contracts or shares; 0 is allowed. Default: 1000 without `min_notional`, else 0'),
        min_notional: decimalParam(USD_SCALE).optional().describe('USD. Default: 0'),
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
      const cache = { from: 'trades', platforms: asked } as const;
      return answerStored(services, call, cache, async () => {
        const { cursor, limit, ...given } = query;
        const minSize = given.min_size ?? (given.min_notional === undefined ? MIN_SIZE : 0n);
        const minNotional = given.min_notional ?? 0n;
        const filters = { ...given, min_size: minSize, min_notional: minNotional };
        const position = cursors.decode('whales', filters, cursor, WhalePosition);
        const market =
          query.market_id === undefined
            ? null
            : await anyMarket(services, query.platform, query.market_id, caller.userId);
        const platforms = market ? [market.platform] : asked;
        const filter: WhaleFilter = {
          platforms,
          market,
          addresses: query.addresses ?? [],
          minSize,
          minNotional,
          startMs: query.start_ts,
          endMs: query.end_ts,
          sort: query.sort,
        };
        // If a market is given without its platform, the platform of the watermark is known only now.
        const own = market && !query.platform ? { data_freshness: await freshness.trades(platforms) } : {};
        const reach = await (market
          ? marketReach(services, market, services.clock.now())
          : feedsReach(services, platforms));
        // The tables of large trades keep theirs. Other trades that may have been dropped are left out, so that pages and total agree.
        const keptUs = isListed(filter) ? 0 : reach.keptUs;
        if (keptUs > 0) filter.startMs = Math.max(filter.startMs ?? 0, keptUs / 1000);
        const page = await whalePage(services, filter, position, limit);
        const next = cursors.encode('whales', filters, page.next);
        return {
          body: { trades: page.trades, pagination: pagination(page.total, limit, next) },
          meta: {
            platform: market?.platform ?? query.platform ?? 'all',
            min_size_applied: decimalNumber(minSize, SIZE_SCALE),
            min_notional_applied: decimalNumber(minNotional, USD_SCALE),
            sort: query.sort,
            ...ofKept(reach.completeness, keptUs),
            ...own,
          },
          rows: 'trades',
        };
      });
    },
  );
}
