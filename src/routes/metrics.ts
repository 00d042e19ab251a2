import type { FastifyInstance } from 'fastify';
import { HistoryAnswer, SnapshotAnswer } from '../answers-analytics.ts';
import type { Services } from '../app.ts';
import { firstBars } from '../bars.ts';
import { endpoint } from '../endpoint.ts';
import { ApiError, badRequest, platformName } from '../errors.ts';
import { storedSpan } from '../history-requests.ts';
import { readyHistory } from '../market-history.ts';
import { marketSnapshot } from '../metrics-snapshot.ts';
import { availability, historyItems, INTERVAL_SECONDS, isKnown } from '../metrics-history.ts';
import { enumParam, limitParam, marketIdParam, platformParam, timestampParam } from '../parameters.ts';
import { answerStored } from '../stored-answers.ts';
import { cacheKey, marketWith } from './markets.ts';

const CACHE_MS = 2000;
const DAY_MS = 86_400_000;

/** GET metrics/historical, metrics/snapshot. */
export function metricsRoutes(app: FastifyInstance, services: Services): void {
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
        'Buckets with start_ts ≤ timestamp < end_ts (default: the last 24 hours), oldest first, cut at `limit`: go on with start_ts behind the last. A bucket is left out unless it has a trade, a bar of the platform or a stored quote; its price is never invented. Trades that are not stored yet are fetched first, within a bounded wait: meta.complete says whether they came.',
      query: {
        platform: platformParam(),
        market_id: marketIdParam(),
        start_ts: timestampParam().optional(),
        end_ts: timestampParam().optional(),
        interval: enumParam(['1m', '5m', '15m', '1h', '4h', '1d']).default('1h').describe('Width of a bucket'),
        limit: limitParam(1000, 5000),
      },
      stored: 'rows',
      answer: HistoryAnswer,
      errors: [404, 502, 504],
    },
    ({ query, request, reply }) => {
      const key = cacheKey('metrics_history', query);
      const cache = { key, ttlMs: CACHE_MS, from: 'trades', platforms: [query.platform] } as const;
      return answerStored(services, { request, reply }, cache, async () => {
        const { platform, market_id: id } = query;
        const spanOf = (ref: string) => storedSpan(clickhouse, platform, ref);
        const { market, value: stored } = await marketWith(services, platform, id, spanOf);
        const { startTs, endTs } = range(query.start_ts, query.end_ts, services.now());
        const stepSeconds = INTERVAL_SECONDS[query.interval];
        const bounds = { startTs: Math.ceil(startTs / stepSeconds) * stepSeconds, endTs, stepSeconds };
        const { span, complete } = await readyHistory(services, market, stored, bounds);
        const nowMs = services.now();
        const { ref } = market;
        const asked = { platform, ref, series: 0, ...bounds, span, quotesAlone: true, nowMs };
        const bars = await firstBars(clickhouse, asked, query.limit, isKnown);
        const { items, method } = historyItems(bars, nowMs);
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
            notional_method: method,
            complete,
          },
          rows: 'data',
        };
      });
    },
  );

  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/metrics/snapshot',
      auth: 'key',
      tag: 'Metrics',
      operation: 'getMetricsSnapshot',
      summary: 'One market in figures, now',
      description: 'From stored data; what neither the platform nor our history tells is null.',
      query: { platform: platformParam(), market_id: marketIdParam() },
      stored: 'whole',
      answer: SnapshotAnswer,
      errors: [404, 502, 504],
    },
    ({ query, request, reply }) => {
      const key = cacheKey('metrics_snapshot', query);
      const cache = { key, ttlMs: CACHE_MS, from: 'listings', platforms: [query.platform] } as const;
      return answerStored(services, { request, reply }, cache, async () => {
        const { platform, market_id: id } = query;
        const read = (ref: string) => marketSnapshot(services, { platform, ref }, services.now());
        const { market, value } = await marketWith(services, platform, id, read);
        // It may have been fetched from its platform meanwhile.
        const snapshot = value ?? (await read(market.ref));
        if (!snapshot)
          throw new ApiError(404, `Market not found on ${platformName(platform)}`, {
            resolution: 'It was just listed, or dropped by its platform: ask again in a minute.',
            errorText: `${market.platformId} has no state in the store`,
          });
        return {
          body: { market_id: market.platformId, platform: market.platform, ...snapshot },
          meta: { platforms: [market.platform] },
        };
      });
    },
  );
}

/** Unix seconds: what was asked for, by default the 24 hours up to now (or up to the end named, where it is past), cut at now. */
function range(startMs: number | undefined, endMs: number | undefined, nowMs: number) {
  const untilMs = endMs ?? nowMs;
  const sinceMs = startMs ?? Math.max(0, Math.min(untilMs, nowMs) - DAY_MS);
  if (sinceMs >= untilMs)
    throw badRequest([
      {
        field: 'start_ts',
        expected: 'a time before end_ts (default: now)',
        received: `${sinceMs / 1000} (${new Date(sinceMs).toISOString()})`,
      },
    ]);
  const startTs = Math.floor(sinceMs / 1000);
  return { startTs, endTs: Math.max(startTs, Math.min(Math.ceil(untilMs / 1000), Math.floor(nowMs / 1000) + 1)) };
}
