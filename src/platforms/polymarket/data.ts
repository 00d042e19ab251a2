import { PlatformError } from '../../core/errors.ts';
import type { MarketRecord } from '../../core/model.ts';
import type { PlatformReply } from '../http/request.ts';
import type { AdapterDeps, PlatformData, ReadContext, ReadInterest } from '../contract.ts';
import { nullIfStatedAbsent, parseBody, parseRow, parseRows } from '../parse-rows.ts';
import { ItemReader } from '../read-items.ts';
import { readOrderBooks } from './books.ts';
import { type PolymarketClient, createPolymarketClient } from './client.ts';
import { madeAt } from '../http/made-at.ts';
import { polymarket, type PolymarketUrl } from './manifest.ts';
import { gammaIdOf } from './market.ts';
import { sweepMarkets } from './listing/sweeps.ts';
import { type MarketSource, completed, createMarketSource } from './listing/market-source.ts';
import { conditionSpellings } from './protocol.ts';
import { createPolymarketUsers } from './users.ts';
import { lastMonthUs, MAX_WAIT_MS, readTrades } from './trade-feed.ts';
import { readCandles } from './prices.ts';
import { dataPage, openInterestRow } from './wire.ts';
import { MARKET_ROW, gammaMarket, marketPage } from './gamma-wire.ts';

/** The indexer shows some trades minutes late. */
const OVERLAP_MS = 300_000;
const OPEN_INTEREST_IDS = 20;

const INTEREST_ROW = { platform: 'polymarket', kind: 'market', idKey: 'condition_id' } as const;

const CONDITION_ID = /^0x([0-9a-f]{62}|[0-9a-f]{64})$/i;
const GAMMA_ID = /^\d{1,15}$/;
const TOKEN_ID = /^\d{16,}$/;

/** Polymarket's read side: Gamma for markets, the Data API for trades, open interest and price samples, the CLOB for books. */
export function createPolymarketData(deps: AdapterDeps<PolymarketUrl>): PlatformData {
  const client = createPolymarketClient(deps);
  const source = createMarketSource(client);
  const interest = interestReader(client);
  return {
    platform: 'polymarket',
    users: createPolymarketUsers(deps),
    tradeFeed: 'global',
    tradeOverlapMs: OVERLAP_MS,
    tradeWaitMs: MAX_WAIT_MS,
    tradesReachBackUs: () => lastMonthUs(deps.now()),
    // A pass reads some 120 pages in sequence, which takes over a minute.
    sweepFactor: 10,
    candleIntervalsMin: [1, 60],
    sweep: (scope, context) => sweepMarkets(source, scope, context),
    market: (id, context) => readMarket(source, gammaIdOf(id) ?? id, context),
    trades: (query, directory, context) => readTrades({ client, query, directory, context, now: deps.now }),
    candles: (market, intervalMin, startTs, endTs, context) =>
      readCandles(client, market, { intervalMin, startTs, endTs, nowTs: Math.floor(deps.now() / 1000) }, context),
    orderBook: async (market, context) => {
      const book = (await readOrderBooks(client, [market], context)).get(market.ref);
      if (book instanceof PlatformError) throw book;
      return book ?? null;
    },
    countsWholeBooks: true,
    orderBooks: (markets, context) => readOrderBooks(client, markets, context),
    openInterest: (conditionIds, context) => readOpenInterest(interest, conditionIds, context),
  };
}

/** Digits only are a Gamma id, or a token if there are many, 0x a condition id, anything else a slug. Lists hide closed markets unless asked for them. */
async function readMarket(source: MarketSource, id: string, context: ReadContext): Promise<MarketRecord | null> {
  const { client } = source;
  if (CONDITION_ID.test(id) || TOKEN_ID.test(id)) {
    const named = TOKEN_ID.test(id) ? { clob_token_ids: id } : { condition_ids: conditionSpellings(id) };
    for (const closed of [false, true]) {
      const query = { ...named, closed, limit: 1 };
      const reply = await client.get('gamma/markets', '/markets/keyset', query, context);
      const [json] = parseBody('polymarket', marketPage, reply).rows;
      if (json !== undefined) return marketOf(source, { ...reply, json }, context);
    }
    return null;
  }
  if (polymarket.normalizeId(id) === null) return null;
  const path = GAMMA_ID.test(id) ? `/markets/${id}` : `/markets/slug/${encodeURIComponent(id)}`;
  const reply = await client.get('gamma/markets', path, {}, context).catch(nullIfStatedAbsent);
  return reply && marketOf(source, reply, context);
}

async function marketOf(
  source: MarketSource,
  reply: PlatformReply,
  context: ReadContext,
): Promise<MarketRecord | null> {
  const listed = parseRow(gammaMarket, reply.json, MARKET_ROW, context);
  if (!listed) throw new PlatformError('polymarket', 'bad_answer', { status: reply.status, detail: 'not a market' });
  const [record] = await completed(source, [listed], reply.receivedAt, context);
  return record ?? null;
}

interface ConditionInterest extends ReadInterest {
  conditionId: string;
}

const interestReader = (client: PolymarketClient): ItemReader<ConditionInterest> =>
  new ItemReader({
    platform: 'polymarket',
    kind: 'market',
    groupSize: OPEN_INTEREST_IDS,
    async read(ids, context) {
      const reply = await client.getFresh('data-v2/other', '/v2/oi', { condition: ids.join(',') }, context);
      const { rows } = parseBody('polymarket', dataPage, reply);
      return parseRows(openInterestRow, rows, INTEREST_ROW, context).map(({ row }) => ({
        conditionId: row.condition_id,
        value: row.value,
        at: madeAt(reply),
      }));
    },
  });

/** By condition id in lower case; markets that the platform omits are omitted. */
async function readOpenInterest(
  reader: ItemReader<ConditionInterest>,
  conditionIds: readonly string[],
  context: ReadContext,
): Promise<Map<string, ReadInterest>> {
  // One invalid id makes the platform reject the list, and an empty list asks for the sum of all markets.
  const ids = conditionIds.filter((id) => CONDITION_ID.test(id));
  const read = await reader.readAll(ids, context);
  return new Map(read.map(({ conditionId, value, at }) => [conditionId, { value, at }]));
}
