import type { FastifyInstance } from 'fastify';
import { HistoryAnswer, SnapshotAnswer } from '../schemas/metrics.ts';
import type { Services } from './services.ts';
import { firstBars } from '../queries/bars.ts';
import { heldRange } from '../queries/bars-of-trades.ts';
import { endpoint } from '../http/endpoint.ts';
import { completenessWith, historyOfBars, lacks } from '../markets/completeness.ts';
import { readyHistory } from '../markets/ensure-history.ts';
import { marketSnapshot } from '../queries/market-metrics.ts';
import { availability, historyItems, isKnown } from '../queries/historical-metrics.ts';
import { intervalParam, limitParam, marketIdParam, platformParam, timestampParam } from '../schemas/parameters.ts';
import { INTERVAL_SECONDS } from '../core/model.ts';
import { answerStored } from '../http/cached-answer.ts';
import { requireHistories, unknownMarket } from '../markets/lookup.ts';
import { DAY_MS } from '../core/time.ts';

/** GET metrics/historical, metrics/snapshot. */
export function metricsRoutes(app: FastifyInstance, services: Services): void {
  getHistoricalMetricsRoute(app, services);
  getMetricsSnapshotRoute(app, services);
}

function getHistoricalMetricsRoute(app: FastifyInstance, services: Services): void {
  const { clickhouse } = services;

  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/metrics/historical',
      auth: 'key',
      tag: 'Metrics',
      operation: 'getHistoricalMetrics',
      summary: 'Price, volume, open interest and top of book of one market over time',
      description:
        'Buckets with start_ts ≤ timestamp < end_ts (default: the last 24 hours), oldest first, cut at `limit`: while meta.has_more is true, continue with start_ts after the last timestamp. The last bucket may not be over yet. Buckets without a trade, a platform bar or a stored quote are omitted. Trades that are not stored yet are fetched first, within a bounded wait: meta.complete says whether they arrived.',
      query: {
        platform: platformParam(),
        market_id: marketIdParam(),
        start_ts: timestampParam().optional(),
        end_ts: timestampParam().optional(),
        interval: intervalParam('1h'),
        limit: limitParam(1000, 5000),
      },
      together: ({ start_ts: start, end_ts: end }, failing) =>
        failing.has('end_ts') || (start !== undefined && end !== undefined)
          ? []
          : notBefore(start ?? 0, end ?? services.clock.now()),
      stored: 'rows',
      answer: HistoryAnswer,
      errors: [404, 502, 504],
    },
    (call) => {
      const { query, caller } = call;
      const user = caller.userId;
      const cache = { from: 'trades', platforms: [query.platform] } as const;
      return answerStored(services, call, cache, async () => {
        const { platform, market_id: id } = query;
        const { startTs, endTs } = range(query.start_ts, query.end_ts, services.clock.now());
        const stepSeconds = INTERVAL_SECONDS[query.interval];
        const bounds = { startTs: Math.ceil(startTs / stepSeconds) * stepSeconds, endTs, stepSeconds };
        const [known] = await requireHistories(services, platform, { ids: [id], user }, heldRange(bounds));
        if (!known) throw await unknownMarket(services.markets, platform, id);
        const { market } = known;
        // One more, to see whether there are more.
        const most = query.limit + 1;
        const wanted = { ...bounds, limit: most };
        const { complete, ...history } = await readyHistory(services, { ...known, user }, wanted);
        const nowMs = services.clock.now();
        const completeness = await completenessWith(clickhouse, market, history, nowMs);
        const { ref, outcomes } = market;
        // With more than two outcomes each is a series of its own.
        const alsoCounted = outcomes.length > 2 ? outcomes.map((_, index) => index).slice(1) : [];
        const ofBars = historyOfBars(history, completeness);
        const asked = { platform, ref, series: 0, alsoCounted, ...bounds, ...ofBars, quotesAlone: true, nowMs };
        const bars = await firstBars(services, asked, most, isKnown);
        const { items, method } = historyItems(bars.slice(0, query.limit), nowMs);
        return {
          body: {
            market_id: market.platformId,
            platform: market.platform,
            interval: query.interval,
            data: items,
            data_availability: availability(items),
          },
          meta: {
            platforms: [market.platform],
            time_range: { start: startTs, end: endTs },
            interval: query.interval,
            total_candles: items.length,
            has_more: bars.length > query.limit,
            notional_method: method,
            complete: complete && !lacks(completeness, bounds.startTs),
            ...completeness,
          },
          rows: 'data',
        };
      });
    },
  );
}

function getMetricsSnapshotRoute(app: FastifyInstance, services: Services): void {
  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/metrics/snapshot',
      auth: 'key',
      tag: 'Metrics',
      operation: 'getMetricsSnapshot',
      summary: 'Current figures of one market',
      description: 'From stored data; a figure that neither the platform nor stored history provides is null.',
      query: { platform: platformParam(), market_id: marketIdParam() },
      stored: 'whole',
      answer: SnapshotAnswer,
      errors: [404, 502, 504],
    },
    (call) => {
      const { query, caller } = call;
      const user = caller.userId;
      const cache = { from: 'listings', platforms: [query.platform] } as const;
      return answerStored(services, call, cache, async () => {
        const { platform, market_id: id } = query;
        // Before the market: its spans are compared with it.
        const freshTo = await services.freshness.trades([platform]);
        const nowMs = services.clock.now();
        const found = await services.markets.spanned(platform, id, nowMs, user);
        if (!found) throw await unknownMarket(services.markets, platform, id);
        const body = await marketSnapshot(services, platform, found, { freshTo, nowMs, user });
        return { body, meta: { platforms: [platform] } };
      });
    },
  );
}

const wholeSecond = (ms: number): number => ms - (ms % 1000);

/** What is wrong with a range of which one end is given; of two, the reader of parameters says it. */
const notBefore = (startMs: number, untilMs: number) =>
  startMs < untilMs
    ? []
    : [
        {
          field: 'start_ts',
          expected: 'a time before end_ts (default: now)',
          received: `${startMs / 1000} (${new Date(startMs).toISOString()})`,
        },
      ];

/** Unix seconds: the requested range, by default the 24 hours up to now (or up to a past end), cut at now. */
function range(startMs: number | undefined, endMs: number | undefined, nowMs: number) {
  const untilMs = endMs ?? nowMs;
  const sinceMs = startMs ?? wholeSecond(Math.max(0, Math.min(untilMs, nowMs) - DAY_MS));
  // Up: a bucket that starts within this second, before the range, is not asked for.
  const startTs = Math.ceil(sinceMs / 1000);
  return { startTs, endTs: Math.max(startTs, Math.min(Math.ceil(untilMs / 1000), Math.floor(nowMs / 1000) + 1)) };
}
