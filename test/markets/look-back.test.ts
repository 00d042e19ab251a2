import { afterAll, beforeAll, expect, test } from 'vitest';
import { LookBack } from '../../src/markets/look-back.ts';
import { HOUR_MS, systemClock } from '../../src/core/time.ts';
import type { MarketRecord } from '../../src/core/model.ts';
import { microsecondText } from '../../src/stores/clickhouse/insert-rows.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { market, type MarketStore, quotes, startMarketStore, trade, usd } from '../helpers/market-store.ts';

const NOW_MS = Date.now();
const at = (hoursAgo: number): string => new Date(NOW_MS - hoursAgo * HOUR_MS).toISOString();

let store: MarketStore;
beforeAll(async () => {
  store = await startMarketStore();
});
afterAll(() => store.close());

const polymarket = (hoursAgo: number, total: string): MarketRecord => ({
  ...market({
    platform: 'polymarket',
    ref: 'SAME',
    fetchedAt: at(hoursAgo),
    state: { quotes: quotes('0.4', '0.3', '0.5'), volumeTotal: usd(total) },
  }),
  fromTrades: { volumes: 'market' },
});
const kalshi = (hoursAgo: number, ref = 'SAME'): MarketRecord => ({
  ...market({ platform: 'kalshi', ref, fetchedAt: at(hoursAgo) }),
  fromTrades: { volumes: 'feed' },
});

const made = (of: MarketRecord, hoursAgo: number, price: string, size = '1', change: object = {}) =>
  trade({ of, atMs: NOW_MS - hoursAgo * HOUR_MS, price, size, ...change });

test('markets of all platforms are looked back at together, each from the time at which it was read', async () => {
  await store.list(polymarket(26, '100'), kalshi(26));
  await store.list(polymarket(25, '200'));
  await store.trade(
    made(kalshi(0), 24.5, '0.5', '10'),
    made(kalshi(0), 3, '0.6', '7'),
    made(polymarket(0, '0'), 23, '0.5', '40'),
  );
  await store.cover('kalshi', NOW_MS - 48 * HOUR_MS, NOW_MS);
  const asked: string[] = [];
  const counted: Pick<ClickHouse, 'query'> = {
    query: (name, ...rest) => {
      asked.push(name);
      return store.clickhouse.query(name, ...rest);
    },
  };
  const lookBack = new LookBack(counted, systemClock);
  const [now, later, unknown] = [kalshi(0), polymarket(1.5, '300'), kalshi(0, 'UNKNOWN')];
  const [first, second] = await Promise.all([lookBack.read([now, unknown]), lookBack.read([later])]);
  expect(asked.toSorted()).toEqual(['market_lookback', 'market_traded']);
  // Kalshi counts contracts, and all trades of its day are stored, those of its week are not.
  expect(first.get(now)).toMatchObject({
    stored: { first_seen_at: at(26), title: 'Market SAME' },
    traded: { day_traded: '7', week_traded: null, last_price: '0.6' },
  });
  expect(first.get(unknown)).toMatchObject({ stored: undefined, traded: { last_price: null } });
  // A day before it was read only the first listing was stored; nothing says that all of its trades are.
  expect(second.get(later)).toMatchObject({
    stored: { day_total: '100' },
    traded: { day_traded: null, week_traded: null, last_price: '0.5' },
  });
  // Two readings of one market are two rows: each has its own day.
  const [one, other] = [kalshi(0), kalshi(0.6)];
  const both = await lookBack.read([one, other]);
  expect([both.get(one)?.traded?.day_traded, both.get(other)?.traded?.day_traded]).toEqual(['7', '17']);
});

test('a trade that two writers stored counts once', async () => {
  const twice = kalshi(0, 'TWICE');
  await store.list(twice);
  await store.trade(trade({ of: twice, atMs: NOW_MS - HOUR_MS, price: '0.5', size: '10' }));
  const { clickhouse } = store;
  const key = "sipHash64('kalshi', 'TWICE')";
  await clickhouse.command('SYSTEM STOP MERGES trades');
  await clickhouse.command(
    `INSERT INTO trades SELECT * REPLACE (now64(3) AS ingested_at) FROM trades WHERE market_key = ${key}`,
  );
  await clickhouse.command(`INSERT INTO doubled_markets SELECT ${key}`);
  const rows = await clickhouse.sql(`SELECT toString(count()) AS n FROM trades WHERE market_key = ${key}`);
  const found = await new LookBack(clickhouse, systemClock).read([twice], { isUrgent: true });
  await clickhouse.command('SYSTEM START MERGES trades');
  expect(rows).toEqual([{ n: '2' }]);
  expect(found.get(twice)?.traded).toMatchObject({ day_traded: '10', last_price: '0.5' });
});

test('the price a week ago is that of the last trade of the day before, where every trade since is stored', async () => {
  const [traded, moved, block] = [kalshi(0, 'TRADED'), kalshi(0, 'MOVED'), kalshi(0, 'BLOCK')];
  const [earlier, later] = [kalshi(0, 'EARLIER'), kalshi(0, 'LATER')];
  const own = { ...polymarket(0, '9'), info: { ...polymarket(0, '9').info, ref: 'OWN' } };
  await store.trade(
    made(traded, 170, '0.2'),
    made(traded, 169, '0.3'),
    made(traded, 167, '0.9'),
    made(moved, 168, '0.4'),
    made(moved, 1, '0.5'),
    made(block, 170, '0.2'),
    made(block, 169, '0.7', '1', { isBlockTrade: true }),
    made(earlier, 193, '0.2'),
    made(earlier, 1, '0.5'),
    made(later, 167, '0.6'),
    made(own, 169, '0.3'),
  );
  const weekPrices = async (fromHours: number) => {
    await store.cover('kalshi', NOW_MS - fromHours * HOUR_MS, NOW_MS);
    const all = [traded, moved, block, earlier, later, own];
    const found = await new LookBack(store.clickhouse, systemClock).read(all, { isUrgent: true });
    return all.map((one) => found.get(one)?.traded?.week_price);
  };
  expect(await weekPrices(240)).toEqual(['0.3', '0.4', '0.2', null, null, null]);
  // Between a trade and the first stored one there may have been others.
  expect(await weekPrices(168.5)).toEqual([null, '0.4', null, null, null, null]);
});

const stored = (hoursAgo: number): string => microsecondText((NOW_MS - hoursAgo * HOUR_MS) * 1000);

test('trades of a feed of one market count where they were read at its total volume, or just before', async () => {
  const spans = [
    { ref: 'read-at-its-total', total: '100.5', marker: '100.5', readHours: 40, day: '40' },
    { ref: 'read-once-at-its-total', total: '100.5', marker: '100.5?', readHours: 40, day: '40' },
    { ref: 'traded-since', total: '5000', marker: '100.5', readHours: 40, day: null },
    { ref: 'read-14-minutes-ago', total: '5000', marker: '100.5', readHours: 14 / 60, day: '40' },
    { ref: 'read-16-minutes-ago', total: '5000', marker: '100.5', readHours: 16 / 60, day: null },
    { ref: 'unknown-total', total: null, marker: '', readHours: 40, day: null },
    { ref: 'unknown-total-just-read', total: null, marker: '', readHours: 14 / 60, day: '40' },
    { ref: 'never-read', total: '40', marker: null, readHours: 0, day: null },
    { ref: 'never-read-of-unknown-total', total: null, marker: null, readHours: 0, day: null },
  ];
  const listed = spans.map(({ ref, total }): MarketRecord => ({
    ...market({
      platform: 'limitless',
      ref,
      fetchedAt: at(0),
      state: { volumeTotal: total === null ? null : usd(total) },
    }),
    fromTrades: { volumes: 'market' },
  }));
  await store.trade(...listed.map((one) => made(one, 20, '0.5', '80')));
  await store.clickhouse.insert(
    'trade_coverage (platform, ref, complete_from, complete_to, marker, version)',
    spans.flatMap(({ ref, marker, readHours }) => {
      const span = { platform: 'limitless', ref, complete_from: stored(500), complete_to: stored(20) };
      return marker === null ? [] : { ...span, marker, version: stored(readHours) };
    }),
  );
  const found = await new LookBack(store.clickhouse, systemClock).read(listed, { isUrgent: true });
  const [days, weeks] = (['day_traded', 'week_traded'] as const).map((name) =>
    listed.map((one) => [one.info.ref, found.get(one)?.traded?.[name]]),
  );
  expect(days).toEqual(spans.map(({ ref, day }) => [ref, day]));
  expect(weeks).toEqual(days);
});
