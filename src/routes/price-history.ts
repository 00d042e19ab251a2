import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import { PriceHistoryAnswer, type PricePointAnswer } from '../answers.ts';
import type { Services } from '../app.ts';
import { type Bar, loadBars, ohlcNumbers } from '../bars.ts';
import { endpoint } from '../endpoint.ts';
import { badRequest } from '../errors.ts';
import { readyHistory } from '../market-history.ts';
import { integerOf, limitParam, marketIdsParam, platformParam, textParam, timestampParam } from '../parameters.ts';
import type { MarketKeys } from '../platforms/platform.ts';
import { CANDLE_INTERVALS_MIN } from '../schemas.ts';
import { answerStored } from '../stored-answers.ts';
import { cacheKey, requireMarket } from './markets.ts';

const CACHE_MS = 2000;
type Point = z.infer<typeof PricePointAnswer>;

/** GET markets/price-history. */
export function priceHistoryRoutes(app: FastifyInstance, services: Services): void {
  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/markets/price-history',
      auth: 'key',
      tag: 'Markets',
      operation: 'getPriceHistory',
      summary: 'Price bars of up to ten markets',
      description:
        "Bars of one minute, hour or UTC day, oldest first, cut at `limit`: go on with start_ts behind the last. A bucket is left out unless it has a trade or a bar of the platform's own; a platform bar without trades carries its previous close. Bid and ask come from the platform's bars, else from stored quotes of the bucket.",
      query: {
        provider: platformParam(),
        market_ids: marketIdsParam(10),
        start_ts: timestampParam(),
        end_ts: timestampParam(),
        interval: integerOf(CANDLE_INTERVALS_MIN).default(60).describe('Minutes of a bucket'),
        limit: limitParam(500, 5000),
        outcome: textParam(100).optional().describe('An outcome id, or all; default the first outcome'),
      },
      stored: 'rows',
      answer: PriceHistoryAnswer,
      errors: [404, 502, 504],
    },
    async ({ query, request, reply }) => {
      const step = query.interval * 60;
      const startTs = Math.floor(query.start_ts / 1000);
      const endTs = Math.min(Math.ceil(query.end_ts / 1000), Math.floor(services.now() / 1000) + 1);
      return answerStored(
        services.shared,
        { request, reply },
        { key: cacheKey('history', query), ttlMs: CACHE_MS },
        async () => {
          const markets = await Promise.all(query.market_ids.map((id) => requireMarket(services, query.provider, id)));
          const histories = await Promise.all(
            markets.map((market) => marketPoints(services, market, query.outcome, { startTs, endTs, step })),
          );
          const points = histories.flatMap((history) => history.points);
          const data = points.toSorted((a, b) => a.timestamp - b.timestamp).slice(0, query.limit);
          const sources = new Set(histories.flatMap((history) => [...history.sources]));
          return {
            body: { data },
            meta: {
              total_points: data.length,
              platforms: [query.provider],
              time_range: { start: startTs, end: endTs },
              interval: String(query.interval),
              data_freshness: await services.freshness.trades([query.provider]),
              source: sources.size > 1 ? 'mixed' : ([...sources][0] ?? 'trades'),
              complete: histories.every((history) => history.complete),
            },
            rows: 'data',
          };
        },
      );
    },
  );
}

async function marketPoints(
  services: Services,
  market: MarketKeys,
  outcome: string | undefined,
  range: { startTs: number; endTs: number; step: number },
): Promise<{ points: Point[]; sources: Set<Bar['source']>; complete: boolean }> {
  const wanted = wantedOutcomes(market, outcome);
  const bounds = {
    startTs: Math.floor(range.startTs / range.step) * range.step,
    endTs: range.endTs,
    stepSeconds: range.step,
  };
  const { span, complete } = await readyHistory(services, market, bounds);
  const points: Point[] = [];
  const sources = new Set<Bar['source']>();
  for (const index of wanted) {
    const series = market.outcomes.length > 2 ? index : 0;
    const bars = await loadBars(services.clickhouse, {
      platform: market.platform,
      ref: market.ref,
      series,
      ...bounds,
      span,
    });
    for (const bar of bars) {
      if (!bar.priced || bar.startTs < range.startTs) continue;
      sources.add(bar.source);
      points.push(toPoint(bar, market, index, index !== series));
    }
  }
  return { points, sources, complete };
}

function wantedOutcomes(market: MarketKeys, outcome: string | undefined): number[] {
  if (outcome === undefined) return [0];
  if (outcome === 'all') return market.outcomes.map((_, index) => index);
  const index = market.outcomes.findIndex(
    (known) => known.id === outcome || known.name.toLowerCase() === outcome.toLowerCase(),
  );
  if (index >= 0) return [index];
  const expected = `all, or an outcome of ${market.platformId}: ${market.outcomes.map((known) => known.id).join(', ')}`;
  throw badRequest([{ field: 'outcome', expected, received: JSON.stringify(outcome) }]);
}

function toPoint(bar: Bar, market: MarketKeys, index: number, flip: boolean): Point {
  return {
    timestamp: bar.startTs,
    platform: market.platform,
    marketId: market.platformId,
    outcomeId: market.outcomes[index]?.id ?? '',
    volume: bar.volume === null ? null : Number(bar.volume),
    openInterest: bar.openInterest === null ? null : Number(bar.openInterest),
    price: ohlcNumbers(bar.price, flip),
    // The other side's best bid is one minus this side's best ask.
    bidAsk: { bid: ohlcNumbers(flip ? bar.ask : bar.bid, flip), ask: ohlcNumbers(flip ? bar.bid : bar.ask, flip) },
  };
}
