import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { MERGED_INTERVALS, mergedBars, minutesOf, withoutQuotes } from '../../oracle/bars.ts';
import { StoppableClock } from '../../oracle/clock.ts';
import { faultRounds, spoil } from '../../oracle/faults.ts';
import {
  eventually,
  largePage,
  ofEach,
  type Pipeline,
  type ServedMarket,
  type ServedPoint,
  startPipeline,
} from '../../oracle/pipeline.ts';
import {
  openInterestOf,
  polymarketBook,
  polymarketHistory,
  polymarketMarket,
  polymarketTrades,
} from '../../oracle/polymarket.ts';
import { type Difference, differences } from '../../oracle/vocabulary.ts';
import { startPolymarket } from '../../simulators/polymarket.ts';
import { hasBook, type SimMarket } from '../../simulators/polymarket/world/model.ts';
import type { PolymarketWorld } from '../../simulators/polymarket/world/world.ts';
import type { Simulator } from '../../simulators/simulator.ts';
import { waitsInRealTime } from '../../helpers/real-time.ts';

waitsInRealTime('ingestion runs every second beside the requests');

// Checks end as soon as they find everything right; a busy machine gets there later.
vi.setConfig({ testTimeout: 240_000 });

const clock = new StoppableClock();
const startedMs = Date.now();
let sim: Simulator<PolymarketWorld>;
let world: PolymarketWorld;
let service: Pipeline;

beforeAll(async () => {
  sim = await startPolymarket({ seed: 21, clock, markets: 70, tradesPerMarket: 40, historyDays: 20 });
  sim.enforceLimits = false;
  ({ world } = sim);
  service = await startPipeline([sim], ['polymarket']);
});
afterEach(() => sim.clearFaults());
afterAll(async () => {
  await service?.close();
  await sim?.close();
});

/** Archived markets are in no list: they must be asked for. */
const listed = (): SimMarket[] => {
  world.advance();
  return world.markets.filter((market) => !market.archived);
};
const oneOf = (wanted: (market: SimMarket) => boolean): SimMarket => {
  const found = listed().find(wanted);
  if (!found) throw new Error('the cast lacks such a market');
  return found;
};
const isTrading = (market: SimMarket): boolean => market.state === 'open' && hasBook(market) && market.volume > 0n;

function wrongFields(market: SimMarket, row: ServedMarket | undefined): Difference[] {
  if (!row) return differences(market.id, row, {});
  const syncedMs = Date.parse(row.last_synced_at);
  // Of what had stopped trading before the service came it is not known, or not yet reported.
  const unreported = market.state !== 'open' && row.open_interest === null;
  const openInterest = market.volume === 0n || unreported ? null : openInterestOf(market);
  const truth = polymarketMarket(world, market, { syncedMs, worldMs: clock.at(syncedMs) }, openInterest);
  const { open_interest_at: _read, ...metadata } = row.metadata;
  return differences(market.id, { ...row, metadata }, { ...truth, last_synced_at: row.last_synced_at });
}

async function wrongMarkets(): Promise<Difference[]> {
  const { rows } = await service.markets('provider=polymarket&sort=created', largePage());
  const served = new Map(rows.map((row) => [row.platform_id, row]));
  const truth = listed();
  const wrong = truth.flatMap((market) => wrongFields(market, served.get(market.id)));
  const extra = rows.filter((row) => !world.markets.some(({ id }) => id === row.platform_id));
  return [...wrong, ...extra.map((row) => ({ id: row.id, field: '', served: row.status, expected: 'nothing' }))];
}

const wrongTrades = (markets: readonly SimMarket[]): Promise<Difference[]> =>
  ofEach(markets, async (market) => {
    const { rows, pages } = await service.trades(`provider=polymarket&market_id=${market.id}`, 500 + largePage());
    const truth = polymarketTrades(world, market);
    return differences(market.id, { rows, total: pages[0]?.total }, { rows: truth, total: truth.length });
  });

/** Trades of the store against those of the world, by id. */
async function strayTrades(): Promise<string[]> {
  const rows = await service.clickhouse.sql<{ id: string }>('SELECT trade_id AS id FROM trades');
  const stored = new Set(rows.map(({ id }) => id));
  const truth = new Set(world.markets.flatMap((market) => polymarketTrades(world, market).map((one) => one.trade_id)));
  const doubled = rows.length - stored.size;
  return [
    ...[...truth].filter((id) => !stored.has(id)).map((id) => `missing ${id}`),
    ...[...stored].filter((id) => !truth.has(id)).map((id) => `invented ${id}`),
    ...(doubled > 0 ? [`${doubled} rows twice`] : []),
  ];
}

async function live(trades: number): Promise<void> {
  clock.run();
  for (let left = trades; left > 0; left -= 20) {
    sim.trade(Math.min(20, left));
    await sleep(100);
  }
  clock.stop();
}

test('after the first sync every market that is listed, open or closed, old or new, is served as it truly is', async () => {
  expect(await eventually(wrongMarkets)).toEqual([]);
  const { rows } = await service.markets('provider=polymarket', largePage());
  expect([...new Set(rows.map(({ status }) => status))].toSorted()).toEqual(
    ['closed', 'open', 'paused', 'settled', 'unopened'].toSorted(),
  );
  expect([...new Set(rows.map((row) => row.market_type))].toSorted()).toEqual(['binary', 'multiple_choice', 'scalar']);
});

test('after the backfill every trade is served exactly once, those too that are alike within a transaction', async () => {
  expect(await eventually(strayTrades)).toEqual([]);
  expect(await wrongTrades(listed())).toEqual([]);
  const ids = world.markets.flatMap((market) => polymarketTrades(world, market).map((one) => one.trade_id));
  expect(ids.some((id) => id.endsWith('.2'))).toBe(true);
});

test('small pages by volume_24h repeat no market and miss none while trading goes on', async () => {
  clock.run();
  const before = await service.markets('provider=polymarket', largePage());
  const { rows, pages } = await service.markets('provider=polymarket&sort=volume_24h', 12, async () => {
    sim.trade(10);
    await sleep(200);
  });
  clock.stop();
  const ids = rows.map((row) => row.platform_id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(before.rows.filter((row) => !ids.includes(row.platform_id))).toEqual([]);
  expect(pages.map(({ total }) => total)).toEqual(pages.map(() => ids.length));
});

test('small pages of trades repeat none and miss none while trading goes on', async () => {
  clock.run();
  const query = `provider=polymarket&market_id=${oneOf(isTrading).id}`;
  const before = await service.trades(query, 500 + largePage());
  const { rows, pages } = await service.trades(query, 7, () => sim.trade(10));
  clock.stop();
  const ids = rows.map((row) => row.trade_id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(before.rows.filter((trade) => !ids.includes(trade.trade_id))).toEqual([]);
  expect(pages.length).toBeGreaterThan(5);
});

test('trades that are shown late, out of order, while pages shift, and of dust, are all served once', async () => {
  Object.assign(world.indexer, { delayMs: 1500, jitterMs: 1500 });
  world.drift.trades = 2;
  clock.run();
  const dusty = oneOf(isTrading);
  // The least that any feed shows is 0.01 shares.
  for (const size of [5000n, 10_000n]) world.makeTrade(dusty, undefined, size);
  await live(100);
  Object.assign(world.indexer, { delayMs: 0, jitterMs: 0 });
  world.drift.trades = 0;
  clock.run();
  await sleep(3000);
  clock.stop();
  expect(await eventually(strayTrades)).toEqual([]);
  expect(await wrongTrades(listed().filter(isTrading))).toEqual([]);
  expect(await eventually(wrongMarkets)).toEqual([]);
});

test('what becomes of markets shows: openings, pauses, results proposed, payouts of every kind, new listings', async () => {
  clock.run();
  const [paused, closed, yes, no, split] = listed().filter(isTrading) as [SimMarket, ...SimMarket[]];
  world.pauseMarket(paused);
  world.closeMarket(closed!, { uma: 'proposed' });
  world.resolveMarket(yes!, 0);
  world.resolveMarket(no!, 1);
  world.resolveMarket(split!, 'split');
  world.openMarket(oneOf(({ state }) => state === 'unopened'));
  const event = world.createEvent({ title: 'Which comet comes first?', tags: [world.catalog.tag('Science')] });
  for (const name of ['Halley', 'Encke']) world.createMarket({ question: `Will ${name} come first?` }, event);
  clock.stop();
  expect(await eventually(wrongMarkets)).toEqual([]);
  for (const [market, price] of [
    [yes, 1],
    [no, 0],
    [split, 0.5],
  ] as const) {
    const { markets } = await service.get<{ markets: ServedMarket[] }>(`markets/id/${market!.id}?provider=polymarket`);
    expect(Object.values(markets[0]!.current_prices)[0]).toEqual({ price, bid: null, ask: null });
  }
});

test('a market is found by its id, condition id and slug; one that no list shows is fetched, and its trades are there', async () => {
  const market = oneOf(isTrading);
  for (const id of [
    market.id,
    `polymarket:${market.id}`,
    market.conditionId.toUpperCase().replace('X', 'x'),
    market.slug,
  ]) {
    const { markets } = await service.get<{ markets: ServedMarket[] }>(`markets/id/${id}?provider=polymarket`);
    expect([id, markets[0]?.platform_id]).toEqual([id, market.id]);
  }
  const archived = world.markets.find((one) => one.archived)!;
  const { markets } = await service.get<{ markets: ServedMarket[] }>(`markets/id/${archived.id}?provider=polymarket`);
  // Its event, which would bring the tags, is hidden too.
  expect(wrongFields(archived, markets[0]).map(({ field }) => field)).toEqual(['category', 'tags']);
  expect(markets[0]?.event_id).toBe(archived.event.id);
  expect(await wrongTrades([archived])).toEqual([]);
  const { error } = await service.get<{ error: { resolution: string } }>(
    `markets/id/${market.event.id}?provider=polymarket`,
    404,
  );
  expect(error.resolution).toContain(market.id);
});

test('order books of both tokens are the live book; markets that do not trade have empty ones', async () => {
  const open = listed().filter(({ state }) => state === 'open');
  const settled = oneOf((market) => market.state === 'resolved' && hasBook(market));
  for (const market of [...open.slice(0, 10), oneOf(({ tick }) => tick === 1_000_000n), settled]) {
    const { data } = await service.get<{ data: Record<string, unknown> }>(
      `markets/id/${market.id}/orderbook?provider=polymarket`,
    );
    const { timestamp, ...book } = data;
    const shown = world.book(market)?.updatedMs;
    if (shown !== undefined) expect(Date.parse(String(timestamp))).toBe(shown);
    expect(book).toEqual({ market_id: market.id, platform: 'polymarket', ...polymarketBook(world, market) });
  }
});

test.each([1, 60, 1440] as const)(
  'price history of %i minutes is made of the trades, bucket by bucket',
  async (stepMin) => {
    const toTs = Math.floor(startedMs / (stepMin * 60_000)) * stepMin * 60;
    const span = { fromTs: toTs - (stepMin === 1 ? 2 : 12) * 86_400, toTs, stepMin };
    const query = `start_ts=${span.fromTs}&end_ts=${toTs}&interval=${stepMin}&limit=5000`;
    const [market, teams] = [oneOf(isTrading), oneOf((one) => isTrading(one) && one.outcomes[0] === 'Gulls')];
    for (const one of [market, teams]) {
      const { data, meta } = await service.get<{ data: ServedPoint[]; meta: { complete: boolean } }>(
        `markets/price-history?provider=polymarket&market_ids=${one.id}&${query}`,
      );
      expect(data).toEqual(polymarketHistory(world, one, span));
      expect(meta).toMatchObject({ complete: true });
    }
    const both = await service.get<{ data: ServedPoint[] }>(
      `markets/price-history?provider=polymarket&market_ids=${market.id},${teams.conditionId}&${query}`,
    );
    const truth = [...polymarketHistory(world, market, span), ...polymarketHistory(world, teams, span)];
    expect(both.data).toHaveLength(truth.length);
    expect(both.data.map(({ timestamp }) => timestamp)).toEqual(
      truth.map(({ timestamp }) => timestamp).toSorted((a, b) => a - b),
    );
  },
);

test.each(MERGED_INTERVALS)('bars of %s are made of the trades, bucket by bucket', async (interval) => {
  const stepMin = minutesOf(interval);
  const toTs = Math.floor(startedMs / 86_400_000) * 86_400;
  const span = { fromTs: toTs - 12 * 86_400, toTs, stepMin };
  const market = oneOf(isTrading);
  const truth = withoutQuotes(polymarketHistory(world, market, span));
  expect(truth.length).toBeGreaterThan(3);
  expect(await mergedBars(service, { platform: 'polymarket', id: market.id }, interval, span)).toEqual(truth);
});

test('after each kind of failure everything is served as it truly is', async () => {
  const endpoints = [/\/gamma\/events\/keyset/, /\/data\/v2\/trades/, /\/gamma\/markets\/keyset/];
  for (const faults of faultRounds(endpoints, 8, 2)) {
    for (const fault of faults) sim.inject(fault);
    await live(40);
    expect(await eventually(strayTrades)).toEqual([]);
    expect(await eventually(wrongMarkets)).toEqual([]);
  }
});

test('a malformed row costs itself only; a field that vanishes from many rows is named by /health', async () => {
  const url = `${sim.env['POLYMARKET_GAMMA_URL']}/events/keyset?closed=false&limit=100`;
  await spoil(sim, url, Infinity, ({ events = [] }) => {
    for (const event of events) {
      for (const row of (event['markets'] ?? []) as Record<string, unknown>[]) delete row['outcomes'];
    }
  });
  expect(await eventually(() => service.unlessIll('polymarket', /market outcomes: /))).toEqual([]);
  sim.clearFaults();
  expect(await eventually(wrongMarkets)).toEqual([]);
});
