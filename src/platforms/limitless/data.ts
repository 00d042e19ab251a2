import { PlatformError } from '../../core/errors.ts';
import type { CandleRecord, JsonObject, OrderBook } from '../../core/model.ts';
import { isPool } from '../market-fields.ts';
import type { AdapterDeps, StoredMarket, PlatformData, ReadContext } from '../contract.ts';
import { restingFigures, rewardsMinSize } from '../book-sides.ts';
import { nullIfStatedAbsent, parseBody, parseRows } from '../parse-rows.ts';
import { requireBookFor } from '../partial-book.ts';
import { mapLimitlessBook } from './book.ts';
import { barsFromSamples } from './candle.ts';
import { type LimitlessClient, createLimitlessClient } from './client.ts';
import { LimitlessListing } from './listing.ts';
import { limitless, type LimitlessUrl } from './manifest.ts';
import { ofPool } from './pool-names.ts';
import { readOracleCandles } from './oracle.ts';
import { createLimitlessUsers } from './users.ts';
import { limitlessTrades } from './trade-feed.ts';
import { LimitlessOrderBook, LimitlessPriceHistory, LimitlessPricePoint } from './wire.ts';
import { HOUR_MS } from '../../core/time.ts';

/** Look-back windows of historical-price; shorter windows have denser samples (15 minutes in a day). */
const WINDOWS = [
  ['1d', 24 * HOUR_MS],
  ['1w', 7 * 24 * HOUR_MS],
  ['1m', 30 * 24 * HOUR_MS],
] as const;

/** null if Limitless states that it lacks what was asked for: by 404, or by 400 for a pool and for a market that is not trading. */
function nullIfAbsent(error: unknown): null {
  if (error instanceof PlatformError && error.status === 400 && error.body != null) return null;
  return nullIfStatedAbsent(error);
}

/** Limitless's public data. It has no bars of its own and no global trade feed. */
export function createLimitlessData(deps: AdapterDeps<LimitlessUrl>): PlatformData {
  const { now } = deps;
  const client = createLimitlessClient(deps);
  const listing = new LimitlessListing(client);
  return {
    platform: 'limitless',
    tradeFeed: 'per_market',
    tradeOverlapMs: 300_000,
    sweepFactor: 1,
    candleIntervalsMin: [60],
    sweep: (scope, context) => listing.sweep(scope, context),
    market: async (id, context) => {
      const ref = limitless.normalizeId(id);
      return ref === null ? null : listing.market(ref, context);
    },
    async *trades(query, _directory, context) {
      if (!query.market) throw new RangeError('market: required, Limitless has no feed of all trades');
      if (!isPool(query.market.metadata)) yield* limitlessTrades(client, query.market, query, context);
    },
    async candles(market, intervalMin, startTs, endTs, context) {
      if (intervalMin !== 60) return [];
      const bars = await midpointBars(client, market, now() - startTs * 1000, context);
      return bars.filter((bar) => bar.startTs >= startTs && bar.startTs < endTs);
    },
    oracleCandles: (market, span, context) => readOracleCandles(client, market, span, context),
    users: createLimitlessUsers(client),
    orderBook: (market, context) => readBook(client, market, context),
    async bookFigures(market, context) {
      const book = await readBook(client, market, context);
      if (!book) return null;
      return { resting: restingFigures(book.yes, rewardsMinSize(market)), lastTradePrice: book.lastTradePrice };
    },
  };
}

async function readBook(
  client: LimitlessClient,
  market: StoredMarket,
  context: ReadContext,
): Promise<OrderBook | null> {
  if (isPool(market.metadata)) return null;
  const path = `/markets/${encodeURIComponent(market.ref)}/orderbook`;
  const reply = await client.get(path, {}, context).catch(nullIfAbsent);
  if (!reply) return null;
  const body = parseBody('limitless', LimitlessOrderBook, reply);
  return requireBookFor(context, mapLimitlessBook(market, body, reply.json as JsonObject, reply.receivedAt));
}

async function midpointBars(
  client: LimitlessClient,
  market: StoredMarket,
  ageMs: number,
  context: ReadContext,
): Promise<CandleRecord[]> {
  const interval = WINDOWS.find(([, ms]) => ageMs <= ms)?.[0] ?? 'all';
  const reply = await ofPool(market.ref, market.metadata['address'], (name) =>
    client.get(`/markets/${encodeURIComponent(name)}/historical-price`, { interval }, context).catch(nullIfAbsent),
  );
  if (!reply) return [];
  const { prices } = parseBody('limitless', LimitlessPriceHistory, reply);
  const about = { platform: 'limitless', kind: 'candle', idKey: 'timestamp' } as const;
  const points = parseRows(LimitlessPricePoint, prices, about, context).map(({ row }) => row);
  return barsFromSamples(market.ref, points, isPool(market.metadata));
}
