import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import { PriceHistoryAnswer, type PricePointAnswer } from '../schemas/markets.ts';
import type { Services } from './services.ts';
import { type Bar, firstBars, ohlcNumbers } from '../queries/bars.ts';
import { endpoint } from '../http/endpoint.ts';
import { badRequest } from '../core/errors.ts';
import { storedHistory, type StoredHistory } from '../markets/trade-history.ts';
import { type Completeness, completenessWith, lacks, together } from '../markets/completeness.ts';
import { readyHistory } from '../markets/ensure-history.ts';
import { limitParam, marketIdsParam, platformParam, timestampParam } from '../schemas/parameters.ts';
import { integerOf, textParam } from '../core/fields.ts';
import type { StoredMarket } from '../platforms/contract.ts';
import { CANDLE_INTERVALS_MIN } from '../core/model.ts';
import { answerStored } from '../http/cached-answer.ts';
import { marketWith } from '../markets/lookup.ts';

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
        "Bars of one minute, hour or UTC day, oldest first, cut at `limit` between two timestamps (within one only if it alone has more points): continue with start_ts after the last timestamp. Buckets without a trade or a platform bar are omitted. Prices come from stored trades where all of a bucket are stored (block trades excepted), else from the platform's bar. A platform's minute or hour without trades stands at the price before it; a day takes its price from its hours with trades, and has none without them. Bid and ask come from the platform's bars, else from stored quotes of the bucket.",
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
    (call) => {
      const { query, caller } = call;
      const user = caller.userId;
      const step = query.interval * 60;
      const startTs = Math.floor(query.start_ts / 1000);
      const untilTs = Math.min(Math.ceil(query.end_ts / 1000), Math.floor(services.now() / 1000) + 1);
      const endTs = Math.max(startTs, untilTs);
      return answerStored(
        services,
        call,
        {
          ttlMs: CACHE_MS,
          from: 'trades',
          platforms: [query.provider],
        },
        async () => {
          const historyOf = (ref: string) => storedHistory(services.clickhouse, query.provider, ref);
          const asked = await Promise.all(
            query.market_ids.map((id) => marketWith(services, { platform: query.provider, id, user }, historyOf)),
          );
          // Two ids may denote the same market.
          const markets = [...new Map(asked.map((one) => [one.market.ref, one])).values()];
          const histories = await Promise.all(
            markets.map(({ market, value }) =>
              marketPoints(services, { market, stored: value, user }, query, { startTs, endTs, step }),
            ),
          );
          const found = histories
            .flatMap((history) => history.points)
            .toSorted((a, b) => a.bar.startTs - b.bar.startTs);
          const points = firstPoints(found, query.limit);
          const data = points.map(({ bar, market, index, flip }) => toPoint(bar, market, index, flip));
          const sources = new Set(points.map(({ bar }) => bar.source));
          return {
            body: { data },
            meta: {
              total_points: data.length,
              platforms: [query.provider],
              time_range: { start: startTs, end: endTs },
              interval: String(query.interval),
              source: sources.size > 1 ? ('mixed' as const) : ([...sources][0] ?? 'trades'),
              complete: histories.every((history) => history.complete),
              ...together(histories.map((history) => history.completeness)),
            },
            rows: 'data',
          };
        },
      );
    },
  );
}

/** A bar of one outcome; `flip` if it is stated in terms of the other one. */
interface Found {
  bar: Bar;
  market: StoredMarket;
  index: number;
  flip: boolean;
}

/** The oldest points of each requested outcome, as many as fit into the answer. */
async function marketPoints(
  services: Services,
  { market, stored, user }: { market: StoredMarket; stored: StoredHistory; user: string },
  { outcome, limit }: { outcome?: string | undefined; limit: number },
  range: { startTs: number; endTs: number; step: number },
): Promise<{ points: Found[]; complete: boolean; completeness: Completeness }> {
  const { platform, ref } = market;
  const wanted = wantedOutcomes(market, outcome);
  const bounds = {
    startTs: Math.ceil(range.startTs / range.step) * range.step,
    endTs: range.endTs,
    stepSeconds: range.step,
  };
  const { complete, ...history } = await readyHistory(services, { market, stored, user }, bounds);
  const completeness = await completenessWith(services.clickhouse, market, history, services.now());
  const points: Found[] = [];
  for (const index of wanted) {
    const series = market.outcomes.length > 2 ? index : 0;
    const asked = { platform, ref, series, ...bounds, ...history, quotesAlone: false, nowMs: services.now() };
    // One more, to see whether the last timestamp is complete.
    const bars = await firstBars(services.clickhouse, asked, limit + 1, (bar) => bar.priced);
    points.push(...bars.map((bar) => ({ bar, market, index, flip: index !== series })));
  }
  return { points, complete: complete && !lacks(completeness, range.startTs), completeness };
}

/** The first `limit` points, without an incomplete last timestamp: a request that continues after the last point misses none. */
function firstPoints(points: Found[], limit: number): Found[] {
  const beyond = points[limit]?.bar.startTs;
  if (beyond === undefined) return points;
  const whole = points.slice(0, limit).filter(({ bar }) => bar.startTs < beyond);
  return whole.length > 0 ? whole : points.slice(0, limit);
}

function wantedOutcomes(market: StoredMarket, outcome: string | undefined): number[] {
  if (outcome === undefined) return [0];
  if (outcome === 'all') return market.outcomes.map((_, index) => index);
  const index = market.outcomes.findIndex(
    (known) => known.id === outcome || known.name.toLowerCase() === outcome.toLowerCase(),
  );
  if (index >= 0) return [index];
  const expected = `all, or an outcome of ${market.platformId}: ${market.outcomes.map((known) => known.id).join(', ')}`;
  throw badRequest([{ field: 'outcome', expected, received: JSON.stringify(outcome) }]);
}

function toPoint(bar: Bar, market: StoredMarket, index: number, flip: boolean): Point {
  return {
    timestamp: bar.startTs,
    platform: market.platform,
    marketId: market.platformId,
    outcomeId: market.outcomes[index]?.id ?? '',
    volume: bar.volume === null ? null : Number(bar.volume),
    openInterest: bar.openInterest === null ? null : Number(bar.openInterest),
    price: ohlcNumbers(bar.price, flip),
    // The other outcome's best bid is one minus this outcome's best ask.
    bidAsk: { bid: ohlcNumbers(flip ? bar.ask : bar.bid, flip), ask: ohlcNumbers(flip ? bar.bid : bar.ask, flip) },
  };
}
