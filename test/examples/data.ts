import { setTimeout as sleep } from 'node:timers/promises';
import type { WholeService } from '../helpers/whole-service.ts';
import type { Caller } from './service.ts';

const DAY_S = 86_400;

/** An open Kalshi market that traded. */
export async function tradedMarket({ send }: Caller): Promise<string> {
  const { body } = await send('listMarkets', 200, { query: { provider: 'kalshi', status: 'open', limit: 50 } });
  const markets = body['markets'] as { platform_id: string; volume_24h: number | null }[];
  const [busiest] = markets.toSorted((a, b) => (b.volume_24h ?? 0) - (a.volume_24h ?? 0));
  if (!busiest) throw new Error('no open market');
  return busiest.platform_id;
}

/** The examples of data: markets, books, history, analytics, users of the platforms. */
export async function dataExamples(caller: Caller, { simulators }: WholeService, id: string): Promise<void> {
  const { example } = caller;
  const now = Math.floor(Date.now() / 1000);
  const provider = 'kalshi';
  await example('listMarkets', 200, { query: { provider: 'polymarket', status: 'open', limit: 1 } });
  await example('getMarket', 200, { path: { id }, query: { provider } });
  await example('getOrderBook', 200, { path: { id }, query: { provider } });
  await example('listBookChanges', 200, { path: { id }, query: { provider, limit: 1 } });
  await example('listMarketTrades', 200, { query: { provider, market_id: id, limit: 1 } });
  await example('getMarketTrades', 200, { path: { id }, query: { provider, limit: 1 } });
  const day = { start_ts: now - DAY_S, end_ts: now };
  await example('getPriceHistory', 200, { query: { provider, market_ids: id, interval: 60, ...day } });
  await example('getMetricsSnapshot', 200, { query: { platform: provider, market_id: id } });
  await example('getHistoricalMetrics', 200, { query: { platform: provider, market_id: id, interval: '1h' } });
  await example('listWhaleTrades', 200, { query: { min_size: 100, limit: 1 } });
  await example('listTrendingMarkets', 200, { query: { limit: 1 } });
  await example('listCategories', 200);
  await example('getCalibration', 200, { query: { horizon: '1h', bins: 1 } });
  await example('listEvents', 200, { query: { provider, status: 'open', limit: 1 } });
  await example('searchAll', 200, { query: { q: 'president', types: 'markets,events,series', limit: 2 } });
  await example('listSeries', 200, { query: { provider, limit: 1 } });
  const { body } = await caller.send('getMarket', 200, { path: { id }, query: { provider } });
  const [{ event_id: event }] = body['markets'] as [{ event_id: string }];
  await example('getEvent', 200, { path: { id: event }, query: { provider } });
  await example('listOrderBooks', 200, { query: { provider, market_ids: id } });
  await example('listMarketPrices', 200, { query: { provider, market_ids: id } });
  const matches = await example('listMatches', 200, { query: { relation: 'identical', limit: 1 } });
  const [match] = matches.body['matches'] as [{ id: string }];
  await example('getMatch', 200, { path: { id: match.id } });
  await example('listMatchGaps', 200, { query: { size: 100, limit: 1 } });
  const priced = [...simulators[2].world.markets.values()].find((one) => one.kind === 'clob' && one.series !== null);
  await example('listOracleCandles', 200, {
    path: { id: priced?.slug ?? '' },
    query: { provider: 'limitless', limit: 1 },
  });
  const user = simulators[0].world.demoAccount.nickname;
  await example('listUserTrades', 200, { query: { provider, user, limit: 1 } });
  await example('listUserPositions', 200, { query: { provider, user, limit: 1 } });
  const address = simulators[1].world.demoUser.address;
  await example('getWallet', 200, { path: { address } });
  await example('listWalletTrades', 200, { path: { address }, query: { limit: 1 } });
  await example('listWalletPositions', 200, { path: { address }, query: { limit: 1 } });
}

/** The state of the service after its first sync, with the check of a platform: that of a store has only two fields. */
export async function healthExample({ send, example }: Caller): Promise<void> {
  while ((await send('getHealth', 200)).body['status'] !== 'ok') await sleep(1000);
  await example('getHealth', 200, {}, (body) => ({
    ...body,
    checks: (body['checks'] as { platform?: string }[]).filter(({ platform }) => platform === 'polymarket'),
  }));
}
