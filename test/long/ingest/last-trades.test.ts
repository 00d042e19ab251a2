import { afterAll, beforeAll, expect, test } from 'vitest';
import { pollGlobalTrades, pollMarketTrades, type TradesDeps } from '../../../ingest/trades.ts';
import { parsePrice } from '../../../src/core/decimal.ts';
import type { Platform } from '../../../src/core/model.ts';
import { type IngestRig, startIngestRig } from '../../helpers/ingest-rig.ts';
import { LEASE, market, quotes, type MarketStore, startMarketStore, trade } from '../../helpers/market-store.ts';
import { limitlessMarket, listedMarkets } from '../../oracle/limitless.ts';
import type { ServedMarket } from '../../oracle/pipeline.ts';
import { startKalshi } from '../../simulators/kalshi.ts';
import { startLimitless } from '../../simulators/limitless.ts';

let store: MarketStore;
beforeAll(async () => {
  store = await startMarketStore();
});
afterAll(() => store?.close());

const storing = (rig: IngestRig): TradesDeps => ({
  ...rig.deps(1),
  onTradesStored: (refs) => rig.markets.onTradesStored(rig.data.platform, refs),
});
/** The first outcome's price of each stored market. */
async function storedPrices({ clickhouse, data }: IngestRig) {
  const rows = await clickhouse.sql<{ ref: string; price: string | null }>(
    `SELECT ref, toString(s.prices[1]) AS price FROM (SELECT * FROM market_state FINAL WHERE platform = {platform:String}) AS s
     INNER JOIN (SELECT market_key, ref FROM markets FINAL) AS m USING (market_key)`,
    { platform: data.platform },
  );
  return new Map(rows.map(({ ref, price }) => [ref, price === null ? null : Number(price)]));
}
const moved = (before: Map<string, unknown>, after: Map<string, unknown>): number =>
  [...after].filter(([ref, price]) => price !== before.get(ref)).length;

test('the price of a Kalshi market follows its last trade before any further listing', async () => {
  const sim = await startKalshi({ seed: 9, markets: 15, tradesPerMarket: 10, historyDays: 2 });
  sim.enforceLimits = false;
  const rig = await startIngestRig(sim, 'kalshi');
  try {
    await rig.writer.open(LEASE, null);
    await rig.list();
    const listed = await storedPrices(rig);
    sim.trade(150);
    await pollGlobalTrades(storing(rig), rig.data, rig.run);
    const priced = await storedPrices(rig);
    // Fills of one order share their instant: there the greater id is the later trade, as in bars.
    const truth = sim.world.markets
      .filter(
        ({ ticker, status }) => listed.has(ticker) && status === 'active' && sim.world.tradesOf(ticker).length > 0,
      )
      .map(({ ticker }) => {
        const [last] = sim.world
          .tradesOf(ticker)
          .filter(({ isBlockTrade }) => !isBlockTrade)
          .toSorted((a, b) => b.timeUs - a.timeUs || (a.tradeId < b.tradeId ? 1 : -1));
        return [ticker, Number(last?.yesPrice)];
      });
    expect(truth.map(([ticker]) => [ticker, priced.get(String(ticker))])).toEqual(truth);
    expect(moved(listed, priced)).toBeGreaterThan(3);
  } finally {
    await rig.close();
    await sim.close();
  }
});

test('the price of a Limitless market follows its last trade before any further listing', async () => {
  const sim = await startLimitless({ seed: 9, markets: 8, tradesPerMarket: 10, historyDays: 2 });
  sim.enforceLimits = false;
  const rig = await startIngestRig(sim, 'limitless');
  try {
    await rig.writer.open(LEASE, null);
    await rig.list();
    await pollMarketTrades(storing(rig), rig.data, rig.run);
    sim.trade(40);
    rig.clock.now = Date.now();
    await rig.list();
    const listed = await storedPrices(rig);
    await pollMarketTrades(storing(rig), rig.data, rig.run);
    const priced = await storedPrices(rig);
    const worldMs = Date.now();
    const truth = listedMarkets(sim.world)
      .filter(({ kind, slug, status }) => kind === 'clob' && listed.has(slug) && status === 'FUNDED')
      .map((one) => [
        one.slug,
        limitlessMarket(sim.world, one, { syncedMs: worldMs, worldMs }).current_prices['yes']?.price,
      ]);
    expect(truth.map(([slug]) => [slug, priced.get(String(slug))])).toEqual(truth);
    expect(moved(listed, priced)).toBeGreaterThan(3);
  } finally {
    await rig.close();
    await sim.close();
  }
});

const served = async (platform: Platform, id: string) => {
  const path = `markets/id/${id}?provider=${platform}`;
  return (await store.get<{ markets: ServedMarket[] }>(path)).markets[0]!;
};

test('both outcomes and the changes move with a trade after the listing; bids, asks and the time of the listing stay', async () => {
  const fetchedAt = new Date(Date.now() - 60_000).toISOString();
  const state = { quotes: quotes('0.4', '0.39', '0.42'), priceChange24h: parsePrice('-0.1') };
  const of = market({ platform: 'kalshi', ref: 'KXMOVES-1', fetchedAt, state });
  await store.list(of);
  await store.trade(
    trade({ of, atMs: Date.now() - 120_000, price: '0.9', size: '1' }),
    trade({ of, atMs: Date.now() - 2000, price: '0.36', size: '1', outcome: 'no' }),
    trade({ of, atMs: Date.now() - 1000, price: '0.99', size: '1', isBlockTrade: true }),
  );
  expect(await served('kalshi', 'KXMOVES-1')).toMatchObject({
    current_prices: { yes: { price: 0.64, bid: 0.39, ask: 0.42 }, no: { price: 0.36, bid: 0.58, ask: 0.61 } },
    price_24h_changes: { yes: 0.14, no: -0.14 },
    price_7d_changes: {},
    last_synced_at: fetchedAt,
  });
});

const polymarketAt = (atMs: number, price: string) =>
  market({
    platform: 'polymarket',
    ref: '0xback',
    platformId: '4711',
    fetchedAt: new Date(atMs).toISOString(),
    state: { quotes: quotes(price) },
  });

test('a listing received before a stored trade does not take its price back', async () => {
  const of = polymarketAt(Date.now() - 60_000, '0.4');
  await store.list(of);
  await store.trade(trade({ of, atMs: Date.now() - 5000, price: '0.55', size: '1' }));
  await store.list(polymarketAt(Date.now() - 30_000, '0.45'));
  expect((await served('polymarket', '4711')).current_prices['yes']?.price).toBe(0.55);
  await store.list(polymarketAt(Date.now(), '0.4'));
  expect((await served('polymarket', '4711')).current_prices['yes']?.price).toBe(0.4);
});

test.each(['settled', 'unopened'] as const)('no trade prices a market that is %s', async (status) => {
  const fetchedAt = new Date(Date.now() - 60_000).toISOString();
  const of = market({ platform: 'limitless', ref: `not-${status}`, fetchedAt, state: { status, quotes: quotes('1') } });
  await store.list(of);
  await store.trade(trade({ of, atMs: Date.now() - 1000, price: '0.3', size: '1' }));
  expect((await served('limitless', `not-${status}`)).current_prices['yes']?.price).toBe(1);
});
