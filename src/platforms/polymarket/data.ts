import { PlatformError } from '../../errors.ts';
import type { CandleRecord, ExchangeState, JsonObject, MarketRecord, OrderBook } from '../../schemas.ts';
import { type Usd, parseUsd } from '../../decimal.ts';
import type { PlatformReply } from '../http.ts';
import type { AdapterDeps, MarketKeys, PlatformData, ReadContext } from '../platform.ts';
import { toOrderBook } from './book.ts';
import { toCandles } from './candle.ts';
import { type PolymarketClient, createPolymarketClient, parseBody, parseRows } from './client.ts';
import { sweepMarkets, withParents } from './listing.ts';
import { readTrades } from './trade-feed.ts';
import { bareList, clobBook, gammaMarket, historyBody, historyPoint, openInterestRow } from './wire.ts';

/** Longer windows are refused when both ends are named. */
const HISTORY_WINDOW_SEC = 15 * 86_400;
/** Minutes between samples: an hour's bar needs several for its high and low. */
const FIDELITY_MIN = { 1: 1, 60: 10 } as const;
/** Indexers deliver late rows within minutes, and the first version's cache holds for up to five. */
const OVERLAP_MS = 300_000;
const OPEN_INTEREST_IDS = 50;

const CONDITION_ID = /^0x([0-9a-f]{62}|[0-9a-f]{64})$/i;
const GAMMA_ID = /^\d{1,15}$/;
const SLUG = /^(?=.*[^\d])[\w.-]{1,400}$/;

/** Polymarket's read side: Gamma lists markets, the Data API trades, the CLOB books and price samples. */
export function createPolymarketData(deps: AdapterDeps): PlatformData {
  const client = createPolymarketClient(deps);
  return {
    platform: 'polymarket',
    tradeFeed: 'global',
    tradeOverlapMs: OVERLAP_MS,
    candleIntervalsMin: [1, 60],
    sweep: (scope, context) => sweepMarkets(client, scope, context),
    market: (id, context) => readMarket(client, id, context),
    trades: (query, directory, context) => readTrades({ client, query, directory, context, now: deps.now }),
    candles: (market, intervalMin, startTs, endTs, context) =>
      readCandles(client, market, intervalMin, startTs, endTs, context),
    orderBook: (market, context) => readOrderBook(client, market, context),
    exchangeState: (context) => readExchangeState(client, deps.now, context),
    openInterest: (conditionIds, context) => readOpenInterest(client, conditionIds, context),
  };
}

/** What `call` gives, null where the platform answers that there is no such thing. */
async function orNull<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof PlatformError && error.kind === 'not_found') return null;
    throw error;
  }
}

/** All digits is a Gamma id, 0x a condition id, anything else a slug. Lists hide closed markets unless asked for them. */
async function readMarket(client: PolymarketClient, id: string, context: ReadContext): Promise<MarketRecord | null> {
  if (CONDITION_ID.test(id)) {
    for (const closed of [false, true]) {
      const reply = await client.get('gamma/markets', '/markets', { condition_ids: id.toLowerCase(), closed }, context);
      const [json] = parseBody(bareList, reply, '/markets');
      if (json !== undefined) return marketOf(client, { ...reply, json }, '/markets', context);
    }
    return null;
  }
  if (!GAMMA_ID.test(id) && !SLUG.test(id)) return null;
  const path = GAMMA_ID.test(id) ? `/markets/${id}` : `/markets/slug/${id}`;
  const reply = await orNull(client.get('gamma/markets', path, {}, context));
  return reply && marketOf(client, reply, path, context);
}

async function marketOf(
  client: PolymarketClient,
  reply: PlatformReply,
  endpoint: string,
  context: ReadContext,
): Promise<MarketRecord | null> {
  const listed = { row: parseBody(gammaMarket, reply, endpoint), raw: reply.json as JsonObject };
  const [record] = await withParents(client, [listed], reply.receivedAt, context);
  return record ?? null;
}

/** Bars out of the CLOB's price samples of the first token. */
async function readCandles(
  client: PolymarketClient,
  market: MarketKeys,
  intervalMin: 1 | 60,
  startTs: number,
  endTs: number,
  context: ReadContext,
): Promise<CandleRecord[]> {
  const token = market.outcomes[0]?.tokenId ?? '';
  if (token === '') return [];
  const points = [];
  for (let from = startTs; from < endTs; from += HISTORY_WINDOW_SEC) {
    const query = {
      market: token,
      startTs: from,
      endTs: Math.min(from + HISTORY_WINDOW_SEC, endTs),
      fidelity: FIDELITY_MIN[intervalMin],
    };
    const reply = await client.get('clob/prices-history', '/prices-history', query, context);
    const { history } = parseBody(historyBody, reply, '/prices-history');
    points.push(...parseRows(historyPoint, history, 'candle', context).map(({ row }) => row));
  }
  return toCandles(points, market.ref, intervalMin, startTs, endTs);
}

/** Both tokens in one call, so that they are of one moment; the reply's order is not promised. */
async function readOrderBook(
  client: PolymarketClient,
  market: MarketKeys,
  context: ReadContext,
): Promise<OrderBook | null> {
  const tokens = market.outcomes.slice(0, 2).map((outcome) => outcome.tokenId);
  if (tokens.length < 2 || tokens.includes('')) return null;
  const body = tokens.map((token_id) => ({ token_id }));
  const reply = await orNull(client.post('clob/books', '/books', body, context));
  if (!reply) return null;
  const books = parseRows(clobBook, parseBody(bareList, reply, '/books'), 'book', context);
  const [first, second] = tokens.map((token) => books.find(({ row }) => row.asset_id === token));
  if (!first || !second) return null;
  return toOrderBook(market, first.row, second.row, { books: [first.raw, second.raw] }, reply.receivedAt);
}

async function readExchangeState(
  client: PolymarketClient,
  now: () => number,
  context: ReadContext,
): Promise<ExchangeState> {
  try {
    await client.get('clob/other', '/ok', {}, context);
    return { trading: true, note: '', resumesAt: null };
  } catch (error) {
    if (!(error instanceof PlatformError) || error.kind !== 'maintenance') throw error;
    const resumesAt = error.retryAfterMs === undefined ? null : new Date(now() + error.retryAfterMs).toISOString();
    return { trading: false, note: error.detail, resumesAt };
  }
}

/** USD by condition id in lower case; markets that the platform leaves out are left out. */
async function readOpenInterest(
  client: PolymarketClient,
  conditionIds: readonly string[],
  context: ReadContext,
): Promise<Map<string, Usd>> {
  const interest = new Map<string, Usd>();
  for (let from = 0; from < conditionIds.length; from += OPEN_INTEREST_IDS) {
    const query = { market: conditionIds.slice(from, from + OPEN_INTEREST_IDS).join(',') };
    const reply = await client.get('data/other', '/oi', query, context);
    for (const { row } of parseRows(openInterestRow, parseBody(bareList, reply, '/oi'), 'market', context)) {
      interest.set(row.market, parseUsd(row.value));
    }
  }
  return interest;
}
