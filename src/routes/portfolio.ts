import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Services } from '../app.ts';
import { endpoint } from '../endpoint.ts';
import { ApiError, platformName } from '../errors.ts';
import { pagination } from '../pages.ts';
import { cursorParam, limitParam, textParam, toPlatform } from '../parameters.ts';
import type { ReadContext } from '../platforms/platform.ts';
import { isNotFound } from '../platforms/rows.ts';
import { type PlatformSocial, TradePosition } from '../platforms/social.ts';
import { portfolioMarkets, toPosition, toUserTrade, UserPositionsAnswer, UserTradesAnswer } from '../portfolio.ts';
import { answerStored } from '../stored-answers.ts';
import { cacheKey } from './markets.ts';

/** The platform is asked again after this: pages of one user follow each other within seconds. */
const KEPT_MS = 2000;
const SERVED = ['kalshi', 'polymarket'] as const;
const HoldingPosition = z.object({ after: z.string(), total: z.int() });

/** Limitless shows a user's trades and positions to that user only. */
const provider = z
  .preprocess(
    toPlatform,
    z.enum(SERVED, {
      error: ({ input }) =>
        input === 'limitless'
          ? `one of ${SERVED.join(', ')}: Limitless shows trades and positions to their owner only`
          : `one of ${SERVED.join(', ')}`,
    }),
  )
  .describe('kalshi or polymarket');
const user = textParam().describe('Kalshi nickname, or Polymarket wallet or profile name');

/** GET profile/trades, profile/positions: read from the platform, joined with what is stored of the markets. */
export function portfolioRoutes(app: FastifyInstance, services: Services): void {
  const { clickhouse, cursors } = services;
  const context: ReadContext = { priority: 'live', onBadRow: services.onBadRow };

  const socialOf = (platform: (typeof SERVED)[number]): PlatformSocial => {
    const social = services.platforms[platform]?.social;
    if (social) return social;
    throw new ApiError(404, `${platformName(platform)} is not served here`, {
      resolution: 'Operator: name it in PLATFORMS.',
    });
  };

  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/profile/trades',
      auth: 'key',
      tag: 'Portfolio',
      operation: 'listUserTrades',
      summary: 'Trades of a user, newest first',
      description:
        'Read from the platform. A user is a Kalshi nickname, or a Polymarket wallet or profile name. Both sides of a trade count: a trade between two users is in both lists.',
      query: { provider, user, limit: limitParam(50, 500), cursor: cursorParam() },
      stored: 'rows',
      answer: UserTradesAnswer,
      errors: [404, 502, 504],
    },
    ({ query, request, reply }) => {
      const { cursor, limit, ...filters } = query;
      const position = cursor === undefined ? null : cursors.decode('user_trades', filters, cursor, TradePosition);
      const key = cacheKey('user_trades', query);
      return answerStored(services, { request, reply }, { key, ttlMs: KEPT_MS }, async () => {
        const social = socialOf(query.provider);
        const page = await ofKnownUser(social, query.user, () =>
          social.userTrades(query.user, { limit, position }, context),
        );
        const markets = await portfolioMarkets(clickhouse, query.provider, page.trades);
        const next = page.next ? cursors.encode('user_trades', filters, page.next) : null;
        return {
          body: {
            trades: page.trades.map((row) => toUserTrade(query.provider, page.user, row, markets.get(row.ref))),
            pagination: pagination(page.total, limit, next),
          },
          meta: {
            platform: query.provider,
            data_freshness: page.readAt,
            visibility: page.visibility,
            total_is_exact: page.isTotal,
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
      url: '/v1/api/profile/positions',
      auth: 'key',
      tag: 'Portfolio',
      operation: 'listUserPositions',
      summary: 'Active positions of a user',
      description:
        'Read from the platform, ordered by token id. A user is a Kalshi nickname, or a Polymarket wallet or profile name.',
      query: { provider, user, limit: limitParam(50, 500), cursor: cursorParam() },
      stored: 'rows',
      answer: UserPositionsAnswer,
      errors: [404, 502, 504],
    },
    ({ query, request, reply }) => {
      const { cursor, limit, ...filters } = query;
      const from = cursor === undefined ? null : cursors.decode('user_positions', filters, cursor, HoldingPosition);
      const key = cacheKey('user_positions', query);
      return answerStored(services, { request, reply }, { key, ttlMs: KEPT_MS }, async () => {
        const social = socialOf(query.provider);
        const held = await ofKnownUser(social, query.user, () => social.positions(query.user, context));
        const all = held.positions.toSorted((a, b) => (a.tokenId < b.tokenId ? -1 : 1));
        const rest = from ? all.filter(({ tokenId }) => tokenId > from.after) : all;
        const page = rest.slice(0, limit);
        const markets = await portfolioMarkets(clickhouse, query.provider, page);
        const total = from?.total ?? all.length;
        const last = rest.length > limit ? page.at(-1) : undefined;
        const next = last ? cursors.encode('user_positions', filters, { after: last.tokenId, total }) : null;
        return {
          body: {
            user: held.user,
            positions: page.map((row) => toPosition(query.provider, row, markets.get(row.ref))),
            pagination: pagination(total, limit, next),
          },
          meta: {
            platform: query.provider,
            data_freshness: held.readAt,
            visibility: held.visibility,
            total_is_exact: held.isAll,
          },
          rows: 'positions',
        };
      });
    },
  );
}

/** What `read` gives; 404 that speaks of the user when the platform does not know them. */
async function ofKnownUser<T>({ platform }: PlatformSocial, user: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw new ApiError(404, `User not found on ${platformName(platform)}`, {
      resolution:
        platform === 'kalshi' ? 'Check the nickname.' : 'Check the wallet, or the profile name letter by letter.',
      errorText: error.detail || `no user ${JSON.stringify(user)}`,
      cause: error,
    });
  }
}
