import { z } from 'zod';
import { PlatformError } from '../../core/errors.ts';
import type { CandleRecord, JsonObject, MarketRecord } from '../../core/model.ts';
import type { AdapterDeps, StoredMarket, PlatformData, ReadContext } from '../contract.ts';
import { nullIfStatedAbsent, parseBody, parseRows } from '../parse-rows.ts';
import { requireBookFor } from '../partial-book.ts';
import { ItemReader } from '../read-items.ts';
import { mapKalshiBook } from './book.ts';
import { readKalshiBooks } from './books.ts';
import { mapKalshiCandle } from './candle.ts';
import { KalshiCatalog } from './catalog.ts';
import { type KalshiClient, createKalshiClient } from './client.ts';
import { createCutoff } from './archive-cutoff.ts';
import { kalshi, type KalshiUrl } from './manifest.ts';
import type { KalshiKeySetting } from './operator-key.ts';
import { createKalshiUsers } from './users.ts';
import { kalshiSweep } from './listing.ts';
import { kalshiTrades } from './trade-feed.ts';
import { CANDLE_ROW, KalshiCandle, KalshiEventMetadata, KalshiOrderBook } from './wire.ts';
import { HOUR_MS } from '../../core/time.ts';

/** Tickers per request: those of combinations are long, and the URL stays under 4 KB. */
const MARKETS_PER_LOOKUP = 60;
/** Bars per request; Kalshi documents 10,000 for its batch form and no limit for this one. */
const CANDLES_PER_REQUEST = 5000;

/** Kalshi's public data: live endpoints, and the archive to which markets and trades move after about two months. */
export function createKalshiData(deps: AdapterDeps<KalshiUrl | KalshiKeySetting>): PlatformData {
  const { now } = deps;
  const client = createKalshiClient(deps);
  const catalog = new KalshiCatalog(client);
  const cutoff = createCutoff(client, now);

  const unlisted = new ItemReader<MarketRecord>({
    platform: 'kalshi',
    kind: 'market',
    groupSize: MARKETS_PER_LOOKUP,
    async read(tickers, context) {
      const query = { limit: MARKETS_PER_LOOKUP, tickers: tickers.join(',') };
      const { rows, receivedAt } = await client.page('/markets', 'markets', query, context);
      return catalog.join(rows, receivedAt, context);
    },
  });

  async function market(id: string, context: ReadContext): Promise<MarketRecord | null> {
    const ref = kalshi.normalizeId(id);
    if (ref === null) return null;
    const ticker = encodeURIComponent(ref);
    const path = `/markets/${ticker}`;
    const reply =
      (await client.get(path, {}, context).catch(nullIfStatedAbsent)) ??
      (await client.get(`/historical/markets/${ticker}`, {}, context).catch(nullIfStatedAbsent));
    if (!reply) return null;
    const body = parseBody('kalshi', z.object({ market: z.unknown() }), reply);
    const [record] = await catalog.join([body.market], reply.receivedAt, context);
    if (!record) throw new PlatformError('kalshi', 'bad_answer', { detail: `${path}: not a market` });
    return record;
  }

  async function candles(
    market: StoredMarket,
    intervalMin: 1 | 60,
    startTs: number,
    endTs: number,
    context: ReadContext,
  ): Promise<CandleRecord[]> {
    const ticker = encodeURIComponent(market.ref);
    const archive = `/historical/markets/${ticker}/candlesticks`;
    const series = market.seriesId || (await catalog.seriesTicker(market.eventId, context));
    const live = series ? [`/series/${encodeURIComponent(series)}/markets/${ticker}/candlesticks`] : [];
    const endedS = market.tradingEndAt === null ? Infinity : Date.parse(market.tradingEndAt) / 1000;
    const archived = market.status === 'settled' && endedS < (await cutoff('market_settled_ts', HOUR_MS, context));
    for (const path of archived ? [archive, ...live] : [...live, archive]) {
      const span = { intervalMin, startTs, endTs };
      const found = await readCandles(client, path, market.ref, span, context).catch(nullIfStatedAbsent);
      if (found) return found;
    }
    return [];
  }

  return {
    platform: 'kalshi',
    users: createKalshiUsers(deps),
    tradeFeed: 'global',
    tradeOverlapMs: 120_000,
    sweepFactor: 1,
    candleIntervalsMin: [1, 60],
    sweep: (scope, context) => kalshiSweep(client, catalog, now, scope, context),
    market,
    unlisted: (refs, context) => unlisted.readAll(refs, context),
    trades: (query, _directory, context) => kalshiTrades({ client, cutoff, now }, query, context),
    candles,
    async orderBook(market, context) {
      const path = `/markets/${encodeURIComponent(market.ref)}/orderbook`;
      const reply = await client.get(path, {}, context).catch(nullIfStatedAbsent);
      if (!reply) return null;
      const body = parseBody('kalshi', KalshiOrderBook, reply);
      return requireBookFor(context, mapKalshiBook(market, body, reply.json as JsonObject, reply.receivedAt));
    },
    orderBooks: (markets, context) => readKalshiBooks(client, markets, context),
    async eventImage(eventId, context) {
      const path = `/events/${encodeURIComponent(eventId)}/metadata`;
      const reply = await client.get(path, {}, context).catch(nullIfStatedAbsent);
      return reply === null ? '' : parseBody('kalshi', KalshiEventMetadata, reply, path).image_url;
    },
  };
}

/** Bars with startTs in [startTs, endTs): Kalshi dates a bar by its inclusive end, one interval later. */
async function readCandles(
  client: KalshiClient,
  path: string,
  ticker: string,
  { intervalMin, startTs, endTs }: { intervalMin: 1 | 60; startTs: number; endTs: number },
  context: ReadContext,
): Promise<CandleRecord[]> {
  const seconds = intervalMin * 60;
  const found: CandleRecord[] = [];
  for (let from = startTs; from < endTs; from += CANDLES_PER_REQUEST * seconds) {
    const to = Math.min(endTs, from + CANDLES_PER_REQUEST * seconds);
    const query = { start_ts: from + seconds, end_ts: to + seconds - 1, period_interval: intervalMin };
    const { rows } = await client.page(path, 'candlesticks', query, context);
    for (const { row } of parseRows(KalshiCandle, rows, CANDLE_ROW, context)) {
      const candle = mapKalshiCandle(ticker, intervalMin, row);
      if (candle && candle.startTs >= from && candle.startTs < to) found.push(candle);
      else if (!candle) {
        const reason = `end_period_ts: not a multiple of ${seconds} s`;
        context.onBadRow({ platform: 'kalshi', kind: 'candle', id: ticker, reason });
      }
    }
  }
  return found;
}
