import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import { OracleCandlesAnswer, PriceHistoryAnswer, type PricePointAnswer } from '../schemas/price-history.ts';
import type { Services } from './services.ts';
import { type Bar, firstBars, ohlcNumbers } from '../queries/bars.ts';
import { heldRange } from '../queries/bars-of-trades.ts';
import { endpoint } from '../http/endpoint.ts';
import { decimalText } from '../core/decimal.ts';
import { ApiError, badRequest, platformName } from '../core/errors.ts';
import { requestTimeMs } from '../http/cursors.ts';
import { type Completeness, completenessWith, historyOfBars, lacks, together } from '../markets/completeness.ts';
import { readyHistory } from '../markets/ensure-history.ts';
import {
  intervalParam,
  type IntervalWord,
  limitParam,
  marketIdParam,
  marketIdsParam,
  minutesParam,
  platformParam,
  timestampParam,
} from '../schemas/parameters.ts';
import { textParam } from '../core/fields.ts';
import { ORACLE_SCALE, type OracleCandles, type StoredMarket, liveRead } from '../platforms/contract.ts';
import { INTERVAL_SECONDS } from '../core/model.ts';
import { answerStored } from '../http/cached-answer.ts';
import { type MarketHistory, requireHistories, requireMarket } from '../markets/lookup.ts';

/** Maximum age of an oracle's bars. */
const ORACLE_MS = 5000;
/** Bars of an oracle in one answer: as many as one request of the platform brings. */
const MOST_ORACLE_BARS = 1000;
type Point = z.infer<typeof PricePointAnswer>;

/** GET markets/price-history, markets/id/{id}/oracle-candles. */
export function priceHistoryRoutes(app: FastifyInstance, services: Services): void {
  getPriceHistoryRoute(app, services);
  listOracleCandlesRoute(app, services);
}

function listOracleCandlesRoute(app: FastifyInstance, services: Services): void {
  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/markets/id/:id/oracle-candles',
      auth: 'key',
      tag: 'Markets',
      operation: 'listOracleCandles',
      summary: 'Bars of the asset on which a price market settles, by its oracle',
      description:
        'Only for markets on the price of an asset: their metadata has an `oracle`. Read from the platform, at most five seconds old. Bars with start_ts ≤ timestamp < end_ts, oldest first, cut at `limit`: while meta.has_more is true, continue with start_ts after the last timestamp, `limit` bars later where there is none. Default end: now, or the end of the market; default start: `limit` bars before the end. The last bar may not be over yet. 400 for a market without an oracle.',
      params: { id: marketIdParam() },
      query: {
        provider: platformParam(),
        interval: intervalParam('1m'),
        start_ts: timestampParam().optional(),
        end_ts: timestampParam().optional(),
        limit: limitParam(200, MOST_ORACLE_BARS),
      },
      answer: OracleCandlesAnswer,
      errors: [404, 502, 504],
    },
    async ({ params, query, caller, reply }) => {
      const { provider: platform, interval } = query;
      const user = caller.userId;
      const market = await requireMarket(services, { platform, id: params.id, user });
      const { hasMore, ...span } = oracleSpan(query, market, services.clock.now());
      const context = liveRead(services, user);
      const key = ['oracle', platform, market.ref, interval, span.startTs, span.endTs].join(':');
      const { value, hit } = await services.shared.cached(key, ORACLE_MS, async () =>
        oracleAnswer(await services.platforms[platform]?.oracleCandles?.(market, span, context)),
      );
      if (value === null) throw noOracle(market);
      const { data, source, symbol } = value;
      const meta = { request_time: requestTimeMs(reply), cache_hit: hit, market_id: market.platformId, platform };
      return { data, meta: { ...meta, interval, has_more: hasMore, complete_from: null, source, symbol } };
    },
  );
}

/** The bars asked for, at most `limit` of them, and whether there may be later ones; throws 400 if there can be none. */
function oracleSpan(
  { interval, limit, ...asked }: { interval: IntervalWord; limit: number; start_ts?: number; end_ts?: number },
  { tradingEndAt }: StoredMarket,
  nowMs: number,
) {
  const stepMs = INTERVAL_SECONDS[interval] * 1000;
  const endMs = Math.min(asked.end_ts ?? (Date.parse(tradingEndAt ?? '') || Infinity), nowMs);
  const end = Math.ceil(endMs / stepMs);
  const start = asked.start_ts === undefined ? end - limit : Math.ceil(asked.start_ts / stepMs);
  if (start >= end) {
    const received = new Date(asked.start_ts ?? endMs).toISOString();
    throw badRequest([{ field: 'start_ts', expected: 'a time before end_ts and now', received }]);
  }
  const seconds = stepMs / 1000;
  const hasMore = end > start + limit;
  return { interval, startTs: start * seconds, endTs: Math.min(end, start + limit) * seconds, hasMore };
}

const priceText = (price: bigint): string => decimalText(price, ORACLE_SCALE);

/** Bars as answered and cached; null of a market without an oracle. */
const oracleAnswer = (read: OracleCandles | null | undefined) =>
  read
    ? {
        source: read.source || null,
        symbol: read.symbol || null,
        data: read.candles.map(({ startTs, open, high, low, close }) => ({
          timestamp: startTs,
          open: priceText(open),
          high: priceText(high),
          low: priceText(low),
          close: priceText(close),
        })),
      }
    : null;

const noOracle = ({ platform, platformId }: StoredMarket): ApiError =>
  new ApiError(400, 'This market has no price oracle', {
    resolution:
      'Use a market on the price of an asset: its metadata has `oracle`. For the prices of this market use GET /v1/api/markets/price-history.',
    errorText: `${platformName(platform)} states no oracle for ${platformId}`,
  });

function getPriceHistoryRoute(app: FastifyInstance, services: Services): void {
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
        "Bars of one minute, hour or UTC day, oldest first, cut at `limit` between two timestamps (within one only if it alone has more points): while meta.has_more is true, continue with start_ts after the last timestamp. The last bar may not be over yet. Buckets without a trade or a platform bar are omitted. Prices come from stored trades where all of a bucket are stored (block trades excepted), else from the platform's bar. A platform's minute or hour without trades stands at the price before it; a day takes its price from its hours with trades, and has none without them. Bid and ask come from the platform's bars, else from stored quotes of the bucket.",
      query: {
        provider: platformParam(),
        market_ids: marketIdsParam(10),
        start_ts: timestampParam(),
        end_ts: timestampParam(),
        interval: minutesParam(60),
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
      // Up: a bar that starts within this second, before start_ts, is not asked for.
      const startTs = Math.ceil(query.start_ts / 1000);
      const untilTs = Math.min(Math.ceil(query.end_ts / 1000), Math.floor(services.clock.now() / 1000) + 1);
      const endTs = Math.max(startTs, untilTs);
      return answerStored(services, call, { from: 'trades', platforms: [query.provider] }, async () => {
        const bounds = { startTs: Math.ceil(startTs / step) * step, endTs, stepSeconds: step };
        const asked = { ids: query.market_ids, user };
        const markets = await requireHistories(services, query.provider, asked, heldRange(bounds));
        const histories = await Promise.all(
          markets.map((known) => marketPoints(services, { ...known, user }, { ...query, sinceTs: startTs }, bounds)),
        );
        const found = histories.flatMap((history) => history.points).toSorted((a, b) => a.bar.startTs - b.bar.startTs);
        const points = firstPoints(found, query.limit);
        const data = points.map(({ bar, market, index, flip }) => toPoint(bar, market, index, flip));
        const sources = new Set(points.map(({ bar }) => bar.source));
        return {
          body: { data },
          meta: {
            total_points: data.length,
            has_more: data.length < found.length,
            platforms: [query.provider],
            time_range: { start: startTs, end: endTs },
            interval: String(query.interval),
            source: sources.size > 1 ? ('mixed' as const) : ([...sources][0] ?? 'trades'),
            complete: histories.every((history) => history.complete),
            ...together(histories.map((history) => history.completeness)),
          },
          rows: 'data',
        };
      });
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
  known: MarketHistory & { user: string },
  { outcome, limit, sinceTs }: { outcome?: string | undefined; limit: number; sinceTs: number },
  bounds: { startTs: number; endTs: number; stepSeconds: number },
): Promise<{ points: Found[]; complete: boolean; completeness: Completeness }> {
  const { market } = known;
  const { platform, ref } = market;
  const wanted = wantedOutcomes(market, outcome);
  // One more, to see whether the last timestamp is complete.
  const most = limit + 1;
  const { complete, ...history } = await readyHistory(services, known, { ...bounds, limit: most });
  const completeness = await completenessWith(services.clickhouse, market, history, services.clock.now());
  const ofBars = historyOfBars(history, completeness);
  const points: Found[] = [];
  for (const index of wanted) {
    const series = market.outcomes.length > 2 ? index : 0;
    const asked = { platform, ref, series, ...bounds, ...ofBars, quotesAlone: false, nowMs: services.clock.now() };
    const bars = await firstBars(services, asked, most, (bar) => bar.priced);
    points.push(...bars.map((bar) => ({ bar, market, index, flip: index !== series })));
  }
  return { points, complete: complete && !lacks(completeness, sinceTs), completeness };
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
