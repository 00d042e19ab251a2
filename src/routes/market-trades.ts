import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../accounts/caller.ts';
import { decimalNumber, SIZE_SCALE } from '../core/decimal.ts';
import { PLATFORMS, type Platform } from '../core/model.ts';
import { answerStored } from '../http/cached-answer.ts';
import { pagination } from '../http/cursors.ts';
import { endpoint } from '../http/endpoint.ts';
import { completenessWith, ofKept } from '../markets/completeness.ts';
import { requireMarket, type WantedMarket } from '../markets/lookup.ts';
import { mergedSpan, storedHistory } from '../markets/trade-history.ts';
import { MANIFESTS } from '../platforms/manifests.ts';
import { isUpTo } from '../present/trades/read.ts';
import { heldPage, tradeAnswer, tradePage, TradePosition } from '../queries/market-trades.ts';
import { MarketTradesAnswer } from '../schemas/markets.ts';
import { cursorParam, flagParam, limitParam, marketIdParam, platformParam } from '../schemas/parameters.ts';
import type { Services } from './services.ts';

const TRADES =
  'Each fill once, from its taker. meta.complete_from and meta.older_trades say what is missing. If the operator drops old raw trades, pagination.total still counts them; has_more does not.';

/** GET markets/trades, markets/id/{id}/trades. */
export function marketTradesRoutes(app: FastifyInstance, services: Services): void {
  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/markets/trades',
      auth: 'key',
      tag: 'Markets',
      operation: 'listMarketTrades',
      summary: 'Trades of one market, newest first',
      description: `${TRADES} Limitless is not supported here; its trades are in GET markets/id/{id}/trades.`,
      query: {
        provider: platformParam(
          PLATFORMS.filter((platform) => MANIFESTS[platform].listsTrades),
          'GET /v1/api/markets/id/{id}/trades',
        ),
        market_id: marketIdParam(),
        limit: limitParam(100, 1000),
        cursor: cursorParam(),
        takerOnly: flagParam(false).describe('No effect: every stored trade is seen from its taker'),
      },
      stored: 'rows',
      answer: MarketTradesAnswer,
      errors: [404, 502, 504],
    },
    (call) => {
      const { provider, market_id: id, takerOnly } = call.query;
      return answerTrades(services, call, id, { endpoint: 'market_trades', filters: { provider, id, takerOnly } });
    },
  );

  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/markets/id/:id/trades',
      auth: 'key',
      tag: 'Markets',
      operation: 'getMarketTrades',
      summary: 'Trades of one market of any platform, newest first',
      description: `${TRADES} The answer is that of GET markets/trades.`,
      params: { id: marketIdParam() },
      query: { provider: platformParam(), limit: limitParam(100, 1000), cursor: cursorParam() },
      stored: 'rows',
      answer: MarketTradesAnswer,
      errors: [404, 502, 504],
    },
    (call) => {
      const { id } = call.params;
      const { provider } = call.query;
      return answerTrades(services, call, id, { endpoint: 'trades_of_market', filters: { provider, id } });
    },
  );
}

interface TradesCall {
  request: FastifyRequest;
  reply: FastifyReply;
  params: object;
  query: { provider: Platform; limit: number; cursor?: string | undefined };
  caller: Pick<Caller, 'userId'>;
  answer: typeof MarketTradesAnswer;
}

/** A page of one market's stored trades, and how complete these are. Its cursors belong to one endpoint and its filters. */
function answerTrades(
  services: Services,
  call: TradesCall,
  id: string,
  { endpoint: of, filters }: { endpoint: string; filters: object },
) {
  const { query, caller } = call;
  const { provider: platform, cursor, limit } = query;
  const { cursors, clickhouse } = services;
  const cache = { from: 'trades', platforms: [platform] } as const;
  return answerStored(services, call, cache, async () => {
    const position = cursors.decode(of, filters, cursor, TradePosition);
    const wanted = { platform, id, user: caller.userId };
    const held = await newestTrades(services, wanted, position, limit);
    const market = held?.market ?? (await requireMarket(services, wanted));
    const page = held?.page ?? (await tradePage(services, market, position, limit));
    const history = held?.history ?? (await storedHistory(clickhouse, platform, market.ref));
    const next = cursors.encode(of, filters, page.next);
    return {
      body: {
        trades: page.rows.map((row) => tradeAnswer(row, market, page.traderOf(row))),
        pagination: pagination(page.total, limit, next),
      },
      meta: {
        market_id: market.platformId,
        platform,
        smallest_size: decimalNumber(services.platforms[platform]?.users?.smallestTrade ?? null, SIZE_SCALE),
        ...ofKept(await completenessWith(clickhouse, market, history, services.clock.now()), history.keptUs),
      },
      rows: 'trades',
    };
  });
}

/**
 * A page from PostgreSQL, in one statement, with the number of trades from ClickHouse if PostgreSQL has only some of them. null if it lacks
 * the market, or trades up to the stated freshness.
 */
async function newestTrades(
  { clickhouse, markets, freshness }: Services,
  { platform, id }: WantedMarket,
  position: TradePosition | null,
  limit: number,
) {
  const freshTo = await freshness.trades([platform]);
  const held = await markets.tape(platform, id, { after: position, limit });
  if (!held) return null;
  const { market, own, feed, gaps, keptUs } = held;
  if (!isUpTo(freshTo, held)) return { market, page: null, history: null };
  const page = await heldPage(clickhouse, held, position, limit);
  return { market, page, history: { span: mergedSpan(own, feed), gaps, keptUs } };
}
