import { afterAll, beforeAll, expect, test } from 'vitest';
import { microsecondText } from '../../src/stores/clickhouse/insert-rows.ts';
import type { MarketRecord } from '../../src/core/model.ts';
import { clockAt } from '../helpers/virtual-clock.ts';
import { type MarketStore, market, quotes, startMarketStore, trade, usd } from '../helpers/market-store.ts';

interface Snapshot {
  market_id: string;
  platform: string;
  title: string;
  status: string;
  metrics: {
    volume: Record<'total' | 'volume_24h' | 'volume_7d' | 'volume_30d' | 'volume_1y', number | null>;
    volume_usd: Record<'total' | 'volume_24h' | 'volume_7d' | 'volume_30d' | 'volume_1y', number | null>;
    volume_usd_basis: Record<'total' | 'volume_24h' | 'volume_7d' | 'volume_30d' | 'volume_1y', string | null>;
    liquidity: Record<'total' | 'liquidity_score' | 'clob_liquidity', number | null>;
    open_interest: number | null;
    notional_value: number | null;
    spread: Record<'best_bid' | 'best_ask' | 'spread' | 'adjusted_midpoint', number | null>;
    fees: Record<'fee_rate' | 'trading_fee' | 'withdrawal_fee', number | null>;
    competitive_score: number | null;
    unique_traders: number | null;
  };
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const START = Date.now();
/** The service's clock; tests move it. */
let nowMs = START;
let store: MarketStore;
const ago = (ms: number): string => new Date(nowMs - ms).toISOString();

beforeAll(async () => {
  store = await startMarketStore({ clock: clockAt(() => nowMs) });
});
afterAll(() => store?.close());

const snapshot = ({ info }: MarketRecord): Promise<Snapshot> =>
  store.get(`metrics/snapshot?platform=${info.platform}&market_id=${info.platformId}`);
const metrics = async (of: MarketRecord) => (await snapshot(of)).metrics;

const person = (n: number) => ({ address: `0x${String(n).repeat(40)}`, name: '', pseudonym: '', profileImage: '' });

test('a market is shown in full', async () => {
  const of = market({
    platform: 'polymarket',
    ref: `0x${'cd'.repeat(32)}`,
    platformId: '777',
    title: 'Will it?',
    createdAt: ago(3 * DAY),
    tradingStartAt: ago(2 * DAY),
    metadata: { liquidity_basis: 'full_book', fee: { enabled: true, rate: 0.05, exponent: 1, takerOnly: true } },
    state: {
      quotes: quotes('0.37', '0.36', '0.39'),
      volumeTotal: usd('1000.5'),
      volume24h: usd('10.25'),
      volume7d: usd('70'),
      volume30d: usd('300'),
      volume1y: usd('900.000001'),
      liquidity: usd('999'),
      openInterest: usd('321'),
      metadata: { competitive: 0.984375, liquidity_clob: 900.5, adjusted_midpoint: 0.38 },
    },
  });
  await store.list(of);
  await store.cover('polymarket', nowMs - 2 * DAY, nowMs);
  await store.trade(
    trade({ of, atMs: nowMs - 47 * HOUR, price: '0.3333333333', size: '7.000001', trader: person(1) }),
    trade({ of, atMs: nowMs - HOUR, price: '0.62', size: '10', outcome: 'no', side: 'sell', trader: person(2) }),
    trade({ of, atMs: nowMs - HOUR, price: '0.62', size: '0.5', trader: person(1) }),
  );
  expect(await snapshot(of)).toMatchObject({
    market_id: '777',
    platform: 'polymarket',
    title: 'Will it?',
    status: 'open',
    metrics: {
      volume: { total: 1000.5, volume_24h: 10.25, volume_7d: 70, volume_30d: 300, volume_1y: 900.000001 },
      // Every trade since the start of trading is stored: 6.2 + 0.31 of the last day, 2.333334 before.
      volume_usd: {
        total: 8.843334,
        volume_24h: 6.51,
        volume_7d: 8.843334,
        volume_30d: 8.843334,
        volume_1y: 8.843334,
      },
      volume_usd_basis: {
        total: 'traded',
        volume_24h: 'traded',
        volume_7d: 'traded',
        volume_30d: 'traded',
        volume_1y: 'traded',
      },
      liquidity: { total: 999, liquidity_score: 0.5, clob_liquidity: 900.5 },
      open_interest: 321,
      // 2.333334 + 6.2 + 0.31
      notional_value: 8.843334,
      spread: { best_bid: 0.36, best_ask: 0.39, spread: 0.03, adjusted_midpoint: 0.38 },
      // 0.05 × 0.39 × 0.61 = 0.011895, to five places.
      fees: { fee_rate: 0.05, trading_fee: 0.0119, withdrawal_fee: 0 },
      competitive_score: 0.984375,
      unique_traders: 2,
    },
  });
});

test.each([
  ['0.4', '0.45', 0.05, 0.425, 0.994406],
  ['0.4', '0.4', 0, 0.4, 0.990099],
  ['0.45', '0.4', null, null, null],
])('quotes of %s and %s have the spread %j and the middle %j', async (bid, ask, spread, middle, score) => {
  const of = market({ platform: 'kalshi', ref: `KXQUOTED-${bid}-${ask}`, state: { quotes: quotes('0.5', bid, ask) } });
  await store.list(of);
  const { spread: quoted, competitive_score } = await metrics(of);
  expect(quoted).toEqual({ best_bid: Number(bid), best_ask: Number(ask), spread, adjusted_midpoint: middle });
  expect(competitive_score === null ? null : Number(competitive_score.toFixed(6))).toBe(score);
  for (const view of ['v_markets', 'v_quotes']) {
    const [row] = await store.clickhouse.sql<{ spread: string | null }>(
      `SELECT spread FROM ${view} WHERE market_key IN (SELECT market_key FROM v_markets WHERE market_id = '${of.info.platformId}')`,
    );
    expect(row && [view, row.spread === null ? null : Number(row.spread)]).toEqual([view, spread]);
  }
  const { markets } = await store.get<{ markets: { platform_id: string }[] }>('markets?provider=kalshi&sort=spread');
  const place = markets.findIndex(({ platform_id }) => platform_id === of.info.platformId);
  expect(place < markets.length / 2).toBe(spread !== null);
});

test('of a market without description and trades everything that is not known is null', async () => {
  const of = market({ platform: 'kalshi', ref: 'KXBARE-1' });
  await store.list(of);
  expect(await metrics(of)).toEqual({
    volume: { total: null, volume_24h: null, volume_7d: null, volume_30d: null, volume_1y: null },
    liquidity: { total: 0, liquidity_score: 0, clob_liquidity: 0 },
    volume_usd: { total: null, volume_24h: null, volume_7d: null, volume_30d: null, volume_1y: null },
    volume_usd_basis: { total: null, volume_24h: null, volume_7d: null, volume_30d: null, volume_1y: null },
    open_interest: null,
    notional_value: null,
    spread: { best_bid: null, best_ask: null, spread: null, adjusted_midpoint: null },
    fees: { fee_rate: null, trading_fee: null, withdrawal_fee: null },
    competitive_score: null,
    unique_traders: null,
  });
});

test.each([
  ['polymarket', '0xusd'],
  ['kalshi', 'KXUSD-1'],
] as const)(
  'USD of %s are those of the trades where all of a window are stored, else the USD that the platform reports',
  async (platform, ref) => {
    const old = { createdAt: ago(400 * DAY), tradingStartAt: ago(399 * DAY) };
    const state = { volumeTotal: usd('900'), volume24h: usd('12'), volume7d: usd('80'), volume30d: usd('300') };
    const of = market({ platform, ref, ...old, state });
    await store.list(of);
    await store.cover(platform, nowMs - 3 * DAY, nowMs);
    await store.trade(trade({ of, atMs: nowMs - HOUR, price: '0.25', size: '12' }));
    const { volume_usd: worth, volume_usd_basis: basis } = await metrics(of);
    const reported = platform === 'polymarket';
    expect(worth).toEqual({
      total: reported ? 900 : null,
      volume_24h: 3,
      volume_7d: reported ? 80 : null,
      volume_30d: reported ? 300 : null,
      volume_1y: null,
    });
    const told = reported ? 'reported' : null;
    expect(basis).toEqual({ total: told, volume_24h: 'traded', volume_7d: told, volume_30d: told, volume_1y: null });
  },
);

test('USD are not 0 where the platform reports volume and none of its trades is stored', async () => {
  const state = { volumeTotal: usd('900'), volume24h: usd('12') };
  const of = market({ platform: 'kalshi', ref: 'KXELSE-1', createdAt: ago(DAY), tradingStartAt: ago(DAY), state });
  await store.list(of);
  await store.cover('kalshi', nowMs - 3 * DAY, nowMs);
  const { volume_usd: worth, notional_value, volume } = await metrics(of);
  expect([worth.total, worth.volume_24h, notional_value, volume.volume_30d]).toEqual([null, null, null, null]);
});

test('windows that the platform leaves out are those of the trades, exact to the microsecond', async () => {
  const old = { createdAt: ago(400 * DAY), tradingStartAt: ago(399 * DAY) };
  for (const platform of ['kalshi', 'limitless'] as const) {
    const of = market({ platform, ref: platform === 'kalshi' ? 'KXEDGES-1' : 'edges', ...old });
    await store.list(of);
    await store.cover(platform, nowMs - 400 * DAY, nowMs);
    const windows = [1, 7, 30, 365];
    // One exactly at the beginning of each window, which is outside, and one a microsecond later.
    const edges = windows.flatMap((days, i) => [
      trade({ of, atMs: nowMs - days * DAY, price: '0.5', size: `${10 ** i}` }),
      trade({ of, atMs: nowMs - days * DAY + 0.001, price: '0.5', size: `${2 * 10 ** i}` }),
    ]);
    const inside = trade({ of, atMs: nowMs - HOUR, price: '0.5', size: '0.5' });
    await store.trade(...edges, inside);
    const unit = platform === 'kalshi' ? 1 : 0.5;
    const { volume } = await metrics(of);
    expect(volume).toEqual({
      total: null,
      volume_24h: 2.5 * unit,
      volume_7d: 23.5 * unit,
      volume_30d: 233.5 * unit,
      volume_1y: 2333.5 * unit,
    });
    // A late trade and everything once more.
    await store.trade(...edges, inside, trade({ of, atMs: nowMs - 6.9 * DAY, price: '0.25', size: '4' }));
    const late = await metrics(of);
    expect(late.volume.volume_7d).toBe(23.5 * unit + (platform === 'kalshi' ? 4 : 1));
    expect(late.volume.volume_24h).toBe(2.5 * unit);
  }
});

test('windows move with the clock and end where the stored trades do not reach', async () => {
  const of = market({ platform: 'limitless', ref: 'moving', createdAt: ago(100 * DAY) });
  await store.list(of);
  await store.cover('limitless', nowMs - 10 * DAY, nowMs + DAY);
  await store.trade(trade({ of, atMs: nowMs - DAY + 2 * HOUR, price: '1', size: '3' }));
  const known = { volume_24h: 3, volume_7d: 3, volume_30d: null, volume_1y: null };
  expect((await metrics(of)).volume).toMatchObject(known);
  expect((await metrics(of)).notional_value).toBeNull();
  nowMs = START + 2 * HOUR - 1;
  expect((await metrics(of)).volume.volume_24h).toBe(3);
  nowMs = START + 2 * HOUR;
  expect((await metrics(of)).volume.volume_24h).toBe(0);
  // A feed that has fallen behind knows nothing of the last hours.
  nowMs = START + 2 * DAY;
  expect((await metrics(of)).volume).toMatchObject({ volume_24h: null, volume_7d: null });
  nowMs = START;
});

test('the volume of a pool is as its platform reports it: no feed brings its trades, and none stored is no zero', async () => {
  const metadata = { trade_type: 'amm', liquidity_basis: 'amm' };
  const of = market({ platform: 'limitless', ref: 'pool', createdAt: ago(3 * DAY), metadata });
  of.state.volumeTotal = usd('48.99');
  of.state.volume7d = usd('48.99');
  await store.list(of);
  await store.cover('limitless', nowMs - 10 * DAY, nowMs, 'pool');
  const { volume, notional_value: notional } = await metrics(of);
  expect(volume).toEqual({ total: 48.99, volume_24h: null, volume_7d: 48.99, volume_30d: null, volume_1y: null });
  expect(notional).toBeNull();
});

test('a gap in the feed makes windows unknown until it is filled', async () => {
  const of = market({ platform: 'polymarket', ref: '0xgapped', createdAt: ago(100 * DAY) });
  await store.list(of);
  await store.cover('polymarket', nowMs - 101 * DAY, nowMs);
  await store.trade(trade({ of, atMs: nowMs - HOUR, price: '0.5', size: '6' }));
  const gap = {
    platform: 'polymarket',
    gap_from: microsecondText((nowMs - 4 * DAY) * 1000),
    gap_to: microsecondText((nowMs - 3 * DAY) * 1000),
  };
  await store.clickhouse.insert('trade_gaps (platform, gap_from, gap_to, filled)', [{ ...gap, filled: 0 }]);
  await store.copiers.polymarket.gapsMoved();
  expect((await metrics(of)).volume).toMatchObject({ volume_24h: 3, volume_7d: null, volume_30d: null });
  expect((await metrics(of)).notional_value).toBeNull();
  await store.clickhouse.insert('trade_gaps (platform, gap_from, gap_to, filled)', [{ ...gap, filled: 1 }]);
  await store.copiers.polymarket.gapsMoved();
  expect((await metrics(of)).volume).toMatchObject({ volume_24h: 3, volume_7d: 3, volume_30d: 3 });
  expect((await metrics(of)).notional_value).toBe(3);
});

test('months and years come from the totals of snapshots before they come from trades', async () => {
  const of = { platform: 'kalshi', ref: 'KXTOTALS-1', createdAt: ago(500 * DAY) } as const;
  const at = (days: number, total: string) =>
    market({ ...of, fetchedAt: ago(days * DAY), state: { volumeTotal: usd(total) } });
  await store.list(at(365.1, '100'));
  await store.list(at(30.2, '1000'));
  await store.list(at(30.01, '1100.5'));
  await store.list(at(29.9, '2000'));
  await store.list(at(0, '5000'));
  const { volume } = await metrics(at(0, '5000'));
  expect(volume).toMatchObject({ total: 5000, volume_30d: 3899.5, volume_1y: 4900 });
});

test('a settled market keeps its figures and has no spread', async () => {
  const of = market({
    platform: 'kalshi',
    ref: 'KXOVER-1',
    createdAt: ago(20 * DAY),
    tradingEndAt: ago(5 * DAY),
    state: { status: 'settled', quotes: quotes('1'), volumeTotal: usd('55'), openInterest: usd('0') },
  });
  await store.list(of);
  const answer = await snapshot(of);
  expect(answer.status).toBe('settled');
  expect(answer.metrics).toMatchObject({
    volume: { total: 55 },
    open_interest: 0,
    spread: { best_bid: null, best_ask: null, spread: null, adjusted_midpoint: null },
    competitive_score: null,
  });
});

test.each([
  ['kalshi', { fee: { type: 'quadratic', multiplier: 1 } }, ['0.5', '0.49', '0.51'], [0.07, 0.0175, null]],
  // 0.035 × 0.001 × 0.999 = 0.000034965, rounded up.
  [
    'kalshi',
    { fee: { type: 'quadratic_with_maker_fees', multiplier: 0.5 } },
    ['0.001', null, null],
    [0.035, 0.0001, null],
  ],
  ['kalshi', { fee: { type: 'flat', multiplier: 1 } }, ['0.5', null, null], [null, null, null]],
  ['kalshi', { fee: { multiplier: 0 } }, ['0.5', null, null], [0, 0, null]],
  [
    'kalshi',
    { fee: { multiplier: 1 }, fee_waived_until: '2100-01-01T00:00:00.000Z' },
    ['0.5', null, null],
    [0, 0, null],
  ],
  [
    'kalshi',
    { fee: { multiplier: 1 }, fee_waived_until: '2026-01-01T00:00:00.000Z' },
    ['0.5', null, null],
    [0.07, 0.0175, null],
  ],
  ['polymarket', { fee: { enabled: false, rate: 0.05, exponent: 1 } }, ['0.5', null, null], [0, 0, 0]],
  ['polymarket', { fee: { enabled: true } }, ['0.5', null, null], [null, null, 0]],
  ['polymarket', { fee: { enabled: true, rate: 0.0001, exponent: 2 } }, ['0.01', null, null], [0.0001, 0.00001, 0]],
  ['polymarket', { fee: { enabled: true, rate: 0.07, exponent: 2 } }, ['0.5', null, '0.5'], [0.07, 0.00438, 0]],
  ['limitless', { fee: { enabled: true } }, ['0.3', null, '0.4'], [0.03, 0.012, null]],
  ['limitless', { fee: { enabled: true } }, ['0.525', null, null], [0.0276, 0.01449, null]],
  ['limitless', { fee: { enabled: true } }, ['0.99', '0.98', '0.992'], [0.0042, 0.0041664, null]],
  ['limitless', { fee: { enabled: true } }, ['0.9995', null, null], [0.004, 0.003998, null]],
  ['limitless', { fee: { enabled: false } }, ['0.3', null, '0.4'], [0, 0, null]],
  ['limitless', { fee: { enabled: true }, trade_type: 'amm' }, ['0.25', null, null], [0.004, 0.001, null]],
] as const)(
  'fees of %s with %j at %j are %j',
  async (platform, metadata, [price, bid, ask], [rate, fee, withdrawal]) => {
    const ref = `fees-${JSON.stringify([metadata, price]).replaceAll(/\W+/g, '-')}`;
    const of = market({ platform, ref: platform === 'kalshi' ? ref.toUpperCase() : ref, metadata });
    of.state.quotes = quotes(price, bid, ask);
    await store.list(of);
    const { fees, competitive_score: score } = await metrics(of);
    expect(fees).toEqual({ fee_rate: rate, trading_fee: fee, withdrawal_fee: withdrawal });
    expect(score === null).toBe(bid === null || ask === null);
  },
);

test('the competitive score is 1 / (1 + (midpoint − 0.5)²)', async () => {
  for (const [n, [bid, ask, score]] of [
    ['0.5', '0.51', 0.9999750006],
    ['0.01', '0.011', 0.806705172],
    ['0.064', '0.066', 0.8408837688],
  ].entries()) {
    const of = market({ platform: 'limitless', ref: `score-${n}` });
    of.state.quotes = quotes('0.5', String(bid), String(ask));
    await store.list(of);
    expect((await metrics(of)).competitive_score).toBe(score);
  }
});

test('liquidity in a book differs from that of a pool, and of an unread book it is unknown', async () => {
  for (const [basis, metadata, clob] of [
    ['best_level', {}, 50],
    ['amm', { trade_type: 'amm' }, 0],
  ] as const) {
    const of = market({
      platform: 'limitless',
      ref: `basis-${basis}`,
      metadata,
      state: { liquidity: usd('50'), metadata: { liquidity_basis: basis } },
    });
    await store.list(of);
    expect((await metrics(of)).liquidity).toEqual({ total: 50, liquidity_score: 0.2846, clob_liquidity: clob });
  }
  const unread = market({
    platform: 'limitless',
    ref: 'basis-none',
    state: { liquidity: null, metadata: { liquidity_basis: 'none' } },
  });
  const inOtherCollateral = market({
    platform: 'limitless',
    ref: 'pool-in-weth',
    metadata: { trade_type: 'amm' },
    state: { liquidity: null, metadata: { liquidity_basis: 'none' } },
  });
  await store.list(unread, inOtherCollateral);
  const unknown = { total: null, liquidity_score: null };
  expect((await metrics(unread)).liquidity).toEqual({ ...unknown, clob_liquidity: null });
  expect((await metrics(inOtherCollateral)).liquidity).toEqual({ ...unknown, clob_liquidity: 0 });
});

test('what a listing takes from trades is unknown while their feed is behind or has a gap', async () => {
  const asListed = async (ref: string) => {
    const reported = market({
      platform: 'kalshi',
      ref,
      createdAt: ago(100 * DAY),
      metadata: { volume_basis: 'contracts' },
      state: { volumeTotal: usd('50') },
      fetchedAt: ago(0),
    });
    const of = { ...reported, fromTrades: { volumes: 'feed' as const } };
    await store.trade(trade({ of, atMs: nowMs - DAY, price: '0.5', size: '3' }));
    await store.list(of);
    return (await store.get<{ markets: { volume_7d: number | null }[] }>(`markets/id/${ref}?provider=kalshi`))
      .markets[0];
  };
  await store.cover('kalshi', nowMs - 10 * DAY, nowMs - 5 * 60_000);
  expect(await asListed('KXFEED-1')).toMatchObject({ volume_7d: 3 });
  await store.cover('kalshi', nowMs - 10 * DAY, nowMs - HOUR);
  expect(await asListed('KXFEED-2')).toMatchObject({ volume_7d: null });
  await store.cover('kalshi', nowMs - 10 * DAY, nowMs);
  const gap = {
    platform: 'kalshi',
    gap_from: microsecondText((nowMs - 4 * DAY) * 1000),
    gap_to: microsecondText((nowMs - 3 * DAY) * 1000),
  };
  await store.clickhouse.insert('trade_gaps (platform, gap_from, gap_to, filled)', [{ ...gap, filled: 0 }]);
  expect(await asListed('KXFEED-3')).toMatchObject({ volume_7d: null });
  await store.clickhouse.insert('trade_gaps (platform, gap_from, gap_to, filled)', [{ ...gap, filled: 1 }]);
  expect(await asListed('KXFEED-4')).toMatchObject({ volume_7d: 3 });
});
