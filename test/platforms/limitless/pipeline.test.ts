import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { MERGED_INTERVALS, mergedBars, minutesOf, withoutQuotes } from '../../oracle/bars.ts';
import { StoppableClock } from '../../oracle/clock.ts';
import { faultRounds, spoil } from '../../oracle/faults.ts';
import {
  limitlessBook,
  limitlessHistory,
  limitlessMarket,
  limitlessTrades,
  listedMarkets,
  type ServedWhale,
} from '../../oracle/limitless.ts';
import {
  eventually,
  largePage,
  type Page,
  type Pipeline,
  type ServedMarket,
  type ServedPoint,
  startPipeline,
} from '../../oracle/pipeline.ts';
import { type Difference, differences } from '../../oracle/vocabulary.ts';
import { startLimitless } from '../../simulators/limitless.ts';
import type { ClobMarket, Market } from '../../simulators/limitless/model.ts';
import type { LimitlessWorld } from '../../simulators/limitless/world.ts';
import type { Simulator } from '../../simulators/simulator.ts';
import { waitsInRealTime } from '../../helpers/real-time.ts';

waitsInRealTime('ingestion runs every second beside the requests');

// Checks end as soon as they find everything right; a busy machine gets there later.
vi.setConfig({ testTimeout: 240_000 });

const clock = new StoppableClock();
const startedMs = Date.now();
let sim: Simulator<LimitlessWorld>;
let world: LimitlessWorld;
let service: Pipeline;
/** What the service can know: every market that was ever listed while it ran, or asked for. */
const known = new Set<Market>();
/** Those of them that were over before they were asked for. */
const past = new Set<Market>();

beforeAll(async () => {
  sim = await startLimitless({ seed: 21, clock, markets: 1, tradesPerMarket: 40, historyDays: 12 });
  sim.enforceLimits = false;
  ({ world } = sim);
  service = await startPipeline([sim], ['limitless']);
});
afterEach(() => sim.clearFaults());
afterAll(async () => {
  await service?.close();
  await sim?.close();
});

const noteListed = (): void => {
  for (const market of listedMarkets(world)) known.add(market);
};
const clobs = (): ClobMarket[] => [...known, ...past].filter((market) => market.kind === 'clob');
const oneOf = (wanted: (market: ClobMarket) => boolean): ClobMarket => {
  const found = listedMarkets(world).find((market): market is ClobMarket => market.kind === 'clob' && wanted(market));
  if (!found) throw new Error('the cast lacks such a market');
  return found;
};

function wrongFields(market: Market, row: ServedMarket | undefined): Difference[] {
  if (!row) return differences(market.slug, row, {});
  const syncedMs = Date.parse(row.last_synced_at);
  const truth = limitlessMarket(world, market, { syncedMs, worldMs: clock.at(syncedMs) });
  return differences(market.slug, row, { ...truth, last_synced_at: row.last_synced_at });
}

async function wrongMarkets(): Promise<Difference[]> {
  noteListed();
  const { rows } = await service.markets('provider=limitless&sort=created', largePage());
  const served = new Map(rows.map((row) => [row.platform_id, row]));
  const wrong = [...known].flatMap((market) => wrongFields(market, served.get(market.slug)));
  const extra = rows.filter((row) => ![...known, ...past].some(({ slug }) => slug === row.platform_id));
  return [...wrong, ...extra.map((row) => ({ id: row.id, field: '', served: row.status, expected: 'nothing' }))];
}

/** Every Limitless trade as it is served among the whales, newest first. */
async function whales(): Promise<ServedWhale[]> {
  const rows: ServedWhale[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const path = `trades/whales?platform=limitless&min_size=0&limit=${200 - (largePage() % 50)}&cursor=${cursor}`;
    const body: { trades: ServedWhale[]; pagination: Page } = await service.get(path);
    rows.push(...body.trades);
    cursor = body.pagination.next_cursor;
  }
  return rows;
}

const byId = (a: ServedWhale, b: ServedWhale): number => (a.trade_id < b.trade_id ? -1 : 1);

async function wrongTrades(): Promise<Difference[]> {
  noteListed();
  const served = (await whales()).toSorted(byId);
  const truth = clobs()
    .flatMap((market) => limitlessTrades(world, market))
    .toSorted(byId);
  if (served.length !== truth.length) {
    const ids = new Set(served.map(({ trade_id: id }) => id));
    const missing = truth.filter(({ trade_id: id }) => !ids.has(id)).map(({ market_id: id }) => id);
    return [{ id: 'all', field: 'count', served: served.length, expected: [truth.length, ...missing] }];
  }
  return truth.flatMap((trade, at) => differences(trade.trade_id, served[at], trade));
}

async function live(trades: number): Promise<void> {
  clock.run();
  for (let left = trades; left > 0; left -= 10) {
    sim.trade(Math.min(10, left));
    noteListed();
    await sleep(100);
  }
  clock.stop();
}

test('after the first sync every listed market, the children of groups and pools included, is served as it truly is', async () => {
  expect(await eventually(wrongMarkets)).toEqual([]);
  const kinds = new Set([...known].map((market) => (market.kind === 'clob' && market.group ? 'child' : market.kind)));
  expect([...kinds].toSorted()).toEqual(['amm', 'child', 'clob']);
});

test('every trade of a listed market is served exactly once', async () => {
  expect(await eventually(wrongTrades)).toEqual([]);
});

test('trades that a transaction shares, or that are alike in all but their place, are all there once', () => {
  const trades = clobs().flatMap((market) => limitlessTrades(world, market));
  const hashes = trades.map(({ transaction_hash: hash }) => hash);
  expect(new Set(hashes).size).toBeLessThan(hashes.length);
  const rows = trades.map(({ trade_id: _id, ...row }) => JSON.stringify(row));
  expect(new Set(rows).size).toBeLessThan(rows.length);
});

test.each(['volume_24h', 'created'])(
  'small pages by %s repeat no market and miss none while trading goes on',
  async (sort) => {
    clock.run();
    const before = await service.markets('provider=limitless', largePage());
    const { rows, pages } = await service.markets(`provider=limitless&sort=${sort}`, 8, async () => {
      sim.trade(10);
      noteListed();
      await sleep(200);
    });
    clock.stop();
    const ids = rows.map((row) => row.platform_id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(before.rows.filter((row) => !ids.includes(row.platform_id))).toEqual([]);
    expect(pages.map(({ total }) => total)).toEqual(pages.map(() => ids.length));
  },
);

test('after live trading every market and trade is served as it truly is', async () => {
  await live(120);
  expect(await eventually(wrongTrades)).toEqual([]);
  expect(await eventually(wrongMarkets)).toEqual([]);
});

test('a trade that is listed seconds after it moved the volume is not lost', async () => {
  world.minedDelayMs = 2500;
  clock.run();
  sim.trade(25);
  await sleep(3000);
  clock.stop();
  world.minedDelayMs = 0;
  expect(await eventually(wrongTrades)).toEqual([]);
  expect(await eventually(wrongMarkets)).toEqual([]);
});

test('listing pages that shift while they are read lose nothing', async () => {
  clock.run();
  for (let i = 0; i < 12; i++) {
    world.createMarket({ title: `Shifted in at ${i}?`, expiresAt: Date.now() + 9 * 86_400_000 });
    noteListed();
    await sleep(150);
  }
  clock.stop();
  expect(await eventually(wrongMarkets)).toEqual([]);
});

/** Lets markets pause, end, become known early and be paid out; gives some of them by how they were. */
function endSome() {
  clock.run();
  const open = listedMarkets(world).filter((market): market is ClobMarket => market.kind === 'clob' && !market.series);
  const funded = open.filter(({ status, group }) => status === 'FUNDED' && group === null);
  const slugs = (type: string) => funded.filter((one) => one.automationType === type).map(({ slug }) => slug);
  const [locked, expired, announced, yes, split] = slugs('manual') as [string, ...string[]];
  const [no, unsaid] = slugs('sports');
  world.lock(locked);
  world.expire(expired!);
  world.expire(announced!);
  world.announce(announced!, 1);
  world.resolve(yes!, 0);
  world.resolve(no!, 1);
  world.resolve(split!, 'split');
  world.resolve(unsaid!, 'split');
  world.addChild([...world.groups.keys()][0]!, 'Somebody else');
  clock.stop();
  return { yes: yes!, no: no!, split: split!, unsaid: unsaid! };
}
/** There are not enough of them to do it twice: who tries again looks at the same. */
let ended: ReturnType<typeof endSome> | undefined;

test('what becomes of markets shows: pauses, ends, results known early, payouts of every kind, new children', async () => {
  const { yes, no, split, unsaid } = (ended ??= endSome());
  expect(await eventually(wrongMarkets)).toEqual([]);
  expect(await eventually(wrongTrades)).toEqual([]);
  for (const [slug, price] of [
    [yes, 1],
    [no, 0],
    [split, 0.5],
    [unsaid, null],
  ] as const) {
    const { markets } = await service.get<{ markets: ServedMarket[] }>(`markets/id/${slug}?provider=limitless`);
    expect([slug, markets[0]?.current_prices['yes']]).toEqual([slug, { price, bid: null, ask: null }]);
  }
});

test('a market that was never listed is fetched when it is asked for; the slug of a group names its children', async () => {
  const over = [...world.markets.values()].filter((market) => !known.has(market) && market.status === 'RESOLVED');
  expect(over.length).toBeGreaterThan(0);
  for (const market of over.slice(0, 3)) {
    const { markets } = await service.get<{ markets: ServedMarket[] }>(`markets/id/${market.slug}?provider=limitless`);
    // What its trades show comes when they have been read.
    const wrong = wrongFields(market, markets[0]).map(({ field }) => field);
    expect(wrong.filter((field) => !['unique_traders', 'metadata', 'volume_24h', 'volume_7d'].includes(field))).toEqual(
      [],
    );
    past.add(market);
  }
  expect(await eventually(wrongTrades)).toEqual([]);
  const [group] = world.groups.values();
  const { error } = await service.get<{ error: { resolution: string } }>(
    `markets/id/${group!.slug}?provider=limitless`,
    404,
  );
  expect(error.resolution).toContain(group!.children[0]!.slug);
  await service.get('markets/id/no-such-market-1790000000000?provider=limitless', 404);
  await service.get(`markets/trades?provider=limitless&market_id=${oneOf(() => true).slug}`, 400);
});

let wordy: ClobMarket | undefined;

test('words are found whatever stands beside them', async () => {
  clock.run();
  // Its number is none of a clock or a calendar, which other titles contain.
  wordy ??= world.createMarket({
    title: '“Brightwell” named café of the year, 7041°C…',
    expiresAt: Date.now() + 9e8,
  });
  const { slug } = wordy;
  noteListed();
  clock.stop();
  expect(await eventually(wrongMarkets)).toEqual([]);
  for (const query of ['brightwell', '“BRIGHTWELL”', 'café', 'CAFÉ named', '7041', '7041°c', 'brightwell… year?']) {
    const { rows } = await service.markets(`provider=limitless&query=${encodeURIComponent(query)}`, largePage());
    expect([query, ...rows.map((row) => row.platform_id)]).toEqual([query, slug]);
  }
  expect((await service.markets('provider=limitless&query=%3F%21', largePage())).rows).toEqual([]);
});

test('order books of both outcomes are the live book; pools and markets that do not trade have empty ones', async () => {
  const pool = [...known].find(({ kind }) => kind === 'amm')!;
  const settled = [...known].find(({ status }) => status === 'RESOLVED')!;
  for (const market of [...listedMarkets(world).slice(0, 8), pool, settled]) {
    const askedMs = Date.now();
    const { data } = await service.get<{ data: Record<string, unknown> }>(
      `markets/id/${market.slug}/orderbook?provider=limitless`,
    );
    const { timestamp, ...book } = data;
    expect(Date.parse(String(timestamp))).toBeGreaterThan(askedMs - 5000);
    expect(book).toEqual({ market_id: market.slug, platform: 'limitless', ...limitlessBook(market, clock.now()) });
  }
});

test.each([1, 60, 1440] as const)(
  'price history of %i minutes is made of the trades, bucket by bucket',
  async (stepMin) => {
    const toTs = Math.floor(startedMs / (stepMin * 60_000)) * stepMin * 60;
    const [busy] = clobs()
      .filter(({ series }) => series === null)
      .toSorted((a, b) => b.trades.length - a.trades.length);
    const span = { fromTs: toTs - (stepMin === 1 ? 2 : 12) * 86_400, toTs, stepMin };
    const { data, meta } = await service.get<{ data: ServedPoint[]; meta: { complete: boolean; source: string } }>(
      `markets/price-history?provider=limitless&market_ids=${busy!.slug}&start_ts=${span.fromTs}&end_ts=${toTs}&interval=${stepMin}&limit=5000`,
    );
    expect(data.length).toBeGreaterThan(0);
    expect(data).toEqual(limitlessHistory(world, busy!, span));
    expect(meta).toMatchObject({ complete: true, source: 'trades' });
  },
);

test.each(MERGED_INTERVALS)('bars of %s are made of the trades, bucket by bucket', async (interval) => {
  const stepMin = minutesOf(interval);
  const toTs = Math.floor(startedMs / 86_400_000) * 86_400;
  const span = { fromTs: toTs - 12 * 86_400, toTs, stepMin };
  const [busy] = clobs()
    .filter(({ series }) => series === null)
    .toSorted((a, b) => b.trades.length - a.trades.length);
  const truth = withoutQuotes(limitlessHistory(world, busy!, span));
  expect(truth.length).toBeGreaterThan(3);
  expect(await mergedBars(service, { platform: 'limitless', id: busy!.slug }, interval, span)).toEqual(truth);
});

test('after each kind of failure everything is served as it truly is', async () => {
  const endpoints = [/\/markets\/active\?/, /\/markets\/[^/]+\/events/, /\/markets\/[\w-]+$/];
  for (const faults of faultRounds(endpoints, 5, 2)) {
    for (const fault of faults) sim.inject(fault);
    await live(20);
    expect(await eventually(wrongTrades)).toEqual([]);
  }
  expect(await eventually(wrongMarkets)).toEqual([]);
});

test('a market whose trades cannot be read keeps no other waiting, and /health names it', async () => {
  const broken = oneOf(({ popularity }) => popularity > 0);
  const events = new RegExp(`/markets/${broken.slug}/events`);
  sim.inject({ match: events, times: 99, kind: 'status', status: 400, body: '{"message":"broken on purpose"}' });
  clock.run();
  world.tradeOn(broken.slug, { outcome: 0, side: 'BUY', limitTick: 999, want: { shares: 3_000_000n } });
  sim.trade(20);
  noteListed();
  clock.stop();
  const others = async () => (await wrongTrades()).filter(({ id }) => id !== 'all');
  expect(await eventually(() => service.unlessIll('limitless', /broken on purpose/))).toEqual([]);
  expect(await eventually(others)).toEqual([]);
  sim.clearFaults();
  expect(await eventually(wrongTrades)).toEqual([]);
});

test('a field that vanishes from many rows is named by /health', async () => {
  await spoil(
    sim,
    `${sim.env['LIMITLESS_API_URL']}/markets/active?page=1&limit=25&sortBy=newest`,
    Infinity,
    ({ data = [] }) => {
      for (const row of data) if (!row['markets']) delete row['title'];
    },
  );
  expect(await eventually(() => service.unlessIll('limitless', /market title: /))).toEqual([]);
  sim.clearFaults();
  expect(await eventually(wrongMarkets)).toEqual([]);
});
