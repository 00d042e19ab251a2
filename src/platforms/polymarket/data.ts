import type { Usd } from '../../decimal.ts';
import { PlatformError } from '../../errors.ts';
import type { CandleRecord, ExchangeState, JsonObject, MarketRecord, OrderBook } from '../../schemas.ts';
import type { PlatformReply } from '../http.ts';
import type { AdapterDeps, MarketKeys, PlatformData, ReadContext } from '../platform.ts';
import { isNotFound, parseBody, parseRows } from '../rows.ts';
import { mapPolymarketBook } from './book.ts';
import { mapPolymarketCandles } from './candle.ts';
import { type PolymarketClient, createPolymarketClient } from './client.ts';
import { sweepMarkets, withParents } from './listing.ts';
import { createPolymarketSocial } from './social.ts';
import { lastMonthUs, readTrades } from './trade-feed.ts';
import { bareList, clobBook, gammaMarket, historyBody, historyPoint, openInterestRow } from './wire.ts';

/** Longer windows are refused when both ends are named. */
const HISTORY_WINDOW_SEC = 15 * 86_400;
/** Minutes between samples: an hour's bar needs several for its high and low. */
const FIDELITY_MIN = { 1: 1, 60: 10 } as const;
/** The indexer shows some trades minutes late. */
const OVERLAP_MS = 300_000;
const OPEN_INTEREST_IDS = 50;

const POINT_ROW = { platform: 'polymarket', kind: 'candle', idKey: 't' } as const;
const BOOK_ROW = { platform: 'polymarket', kind: 'book', idKey: 'asset_id' } as const;
const INTEREST_ROW = { platform: 'polymarket', kind: 'market', idKey: 'market' } as const;

const CONDITION_ID = /^0x([0-9a-f]{62}|[0-9a-f]{64})$/i;
const GAMMA_ID = /^\d{1,15}$/;
const SLUG = /^(?=.*[^\d])[\w.-]{1,400}$/;

/** Polymarket's read side: Gamma lists markets, the Data API trades, the CLOB books and price samples. */
export function createPolymarketData(deps: AdapterDeps): PlatformData {
  const client = createPolymarketClient(deps);
  return {
    platform: 'polymarket',
    social: createPolymarketSocial(deps),
    tradeFeed: 'global',
    tradeOverlapMs: OVERLAP_MS,
    tradesReachBackUs: () => lastMonthUs(deps.now()),
    // A pass is some 120 pages in series, over a minute.
    sweepFactor: 10,
    candleIntervalsMin: [1, 60],
    candlesBringQuotes: false,
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
const orNull = <T>(call: Promise<T>): Promise<T | null> =>
  call.catch((error: unknown) => {
    if (isNotFound(error)) return null;
    throw error;
  });

/** All digits is a Gamma id, 0x a condition id, anything else a slug. Lists hide closed markets unless asked for them. */
async function readMarket(client: PolymarketClient, id: string, context: ReadContext): Promise<MarketRecord | null> {
  if (CONDITION_ID.test(id)) {
    for (const closed of [false, true]) {
      const reply = await client.get('gamma/markets', '/markets', { condition_ids: id.toLowerCase(), closed }, context);
      const [json] = parseBody('polymarket', bareList, reply);
      if (json !== undefined) return marketOf(client, { ...reply, json }, context);
    }
    return null;
  }
  if (!GAMMA_ID.test(id) && !SLUG.test(id)) return null;
  const path = GAMMA_ID.test(id) ? `/markets/${id}` : `/markets/slug/${id}`;
  const reply = await orNull(client.get('gamma/markets', path, {}, context));
  return reply && marketOf(client, reply, context);
}

async function marketOf(
  client: PolymarketClient,
  reply: PlatformReply,
  context: ReadContext,
): Promise<MarketRecord | null> {
  const listed = { row: parseBody('polymarket', gammaMarket, reply), raw: reply.json as JsonObject };
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
    const { history } = parseBody('polymarket', historyBody, reply);
    const samples = parseRows(historyPoint, history, POINT_ROW, context);
    points.push(...samples.map(({ row }) => row));
  }
  return mapPolymarketCandles(points, market.ref, intervalMin, startTs, endTs);
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
  const rows = parseBody('polymarket', bareList, reply);
  const books = parseRows(clobBook, rows, BOOK_ROW, context);
  const [first, second] = tokens.map((token) => books.find(({ row }) => row.asset_id === token));
  if (!first || !second) return null;
  return mapPolymarketBook(market, first.row, second.row, { books: [first.raw, second.raw] }, reply.receivedAt);
}

async function readExchangeState(
  client: PolymarketClient,
  now: () => number,
  context: ReadContext,
): Promise<ExchangeState> {
  try {
    await client.get('clob/other', '/time', {}, context);
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
  // One that is none has the whole list refused.
  const ids = conditionIds.filter((id) => CONDITION_ID.test(id));
  for (let from = 0; from < ids.length; from += OPEN_INTEREST_IDS) {
    const query = { market: ids.slice(from, from + OPEN_INTEREST_IDS).join(',') };
    const reply = await client.get('data/other', '/oi', query, context);
    const rows = parseBody('polymarket', bareList, reply);
    for (const { row } of parseRows(openInterestRow, rows, INTEREST_ROW, context)) interest.set(row.market, row.value);
  }
  return interest;
}
