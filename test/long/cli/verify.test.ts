import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Watermarks } from '../../../ingest/watermarks.ts';
import { reconcile } from '../../../ingest/reconcile-rollups.ts';
import type { ClickHouse } from '../../../src/stores/clickhouse/client.ts';
import { PLATFORMS } from '../../../src/core/model.ts';
import { type Clock, systemClock } from '../../../src/core/time.ts';
import { isSound, type Verified, verifyRollups } from '../../../src/stores/clickhouse/verify-rollups.ts';
import { fillStore } from '../../bench/fill.ts';
import { LEASE } from '../../helpers/market-store.ts';
import { openOwnClickHouse } from '../../helpers/own-clickhouse.ts';
import { LAUNCHER } from '../../helpers/process.ts';
import { hurriedClock } from '../../helpers/virtual-clock.ts';
import { noCopier } from '../../helpers/trade-writer.ts';

const SIZE = { trades: 6000, markets: 60, nowMs: Date.now() };
const COMMAND = fileURLToPath(new URL('../../../src/cli/verify.ts', import.meta.url));
const BARS = ['1m', '5m', '15m', '1h', '4h', '1d'].map((interval) => `bars of ${interval}`);
const MINUTES = BARS.slice(0, 3);
let directory: string;
let url: string;
let store: ClickHouse;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'forecastle-verify-'));
  ({ clickhouse: store, url } = await openOwnClickHouse());
  await fillStore(store, SIZE);
});
afterAll(async () => {
  await store?.close();
  await rm(directory, { recursive: true, force: true });
});

/** What does not agree with the trades, of a store that nobody writes to: it is looked at again at once. */
const wrongNow = async (clock: Clock = hurriedClock): Promise<Verified[]> =>
  (await verifyRollups(store, { clock })).results.filter((one) => !isSound(one));
const unsound = async (clock?: Clock): Promise<string[]> => (await wrongNow(clock)).map((one) => one.rollup);

const run = (...args: string[]) =>
  new Promise<{ code: number; out: string; err: string }>((resolve) => {
    execFile(
      process.execPath,
      [LAUNCHER, COMMAND, ...args],
      { env: { ...process.env, CLICKHOUSE_URL: url, DATA_DIR: directory, LOG_LEVEL: 'error' } },
      (error, out, err) => resolve({ code: error ? Number(error.code) : 0, out, err }),
    );
  });

test('a generated store is the same for the same numbers, and every roll-up agrees with it', async () => {
  const { trades, markets, results } = await verifyRollups(store, { clock: systemClock });
  expect([trades, markets]).toEqual([SIZE.trades, SIZE.markets]);
  expect(results.filter((one) => !isSound(one))).toEqual([]);
  expect(Object.fromEntries(results.map((one) => [one.rollup, one.compared > 0]))).toEqual({
    candles_1m: true,
    candles_1h: true,
    volume_1h: true,
    market_totals: true,
    whales: true,
    whale_sizes: true,
    market_windows: true,
    // Nothing has read bars of a platform.
    ...Object.fromEntries(BARS.map((bars) => [bars, false])),
  });
  const print = (): Promise<unknown> =>
    store.sql(
      'SELECT sum(cityHash64(market_key, executed_at, trade_id, price, size, outcome, side, trader)) AS print FROM trades',
    );
  const first = await print();
  for (const table of ['trades', 'market_windows', ...ROLLUPS]) await store.command(`TRUNCATE TABLE ${table}`);
  await fillStore(store, SIZE);
  expect(await print()).toEqual(first);
});

describe('what was done to a roll-up shows', () => {
  const row = `SELECT market_key, series, t FROM candles_1m ORDER BY market_key, t LIMIT 1`;
  const HARM: [string, string, string[]][] = [
    ['a bar counted twice', `INSERT INTO candles_1m SELECT * FROM candles_1m LIMIT 1`, ['candles_1m']],
    ['a bar that is gone', `ALTER TABLE candles_1h DELETE WHERE t = (SELECT max(t) FROM candles_1h)`, ['candles_1h']],
    [
      'an hour that is gone',
      `ALTER TABLE volume_1h DELETE WHERE hour = (SELECT min(hour) FROM volume_1h)`,
      ['volume_1h'],
    ],
    [
      'hours of this week that are gone',
      `ALTER TABLE volume_1h DELETE WHERE hour > now() - INTERVAL 6 DAY AND hour < now() - INTERVAL 5 DAY`,
      ['volume_1h', 'market_windows'],
    ],
    ['a whale that is gone', `ALTER TABLE whales DELETE WHERE size = (SELECT max(size) FROM whales)`, ['whales']],
    ['a whale held twice', `INSERT INTO whales SELECT * FROM whales LIMIT 1`, ['whales']],
    [
      'sizes that are gone',
      `ALTER TABLE whale_sizes DELETE WHERE size = (SELECT min(size) FROM whale_sizes)`,
      ['whale_sizes'],
    ],
    ['totals counted twice', `INSERT INTO market_totals SELECT * FROM market_totals LIMIT 1`, ['market_totals']],
  ];

  test.each(HARM)('%s, and is put right by a reconciliation', async (_what, harm, rollups) => {
    await store.command(harm.startsWith('ALTER') ? `${harm} SETTINGS mutations_sync = 2` : harm);
    expect(await unsound()).toEqual(rollups);
    for (const platform of PLATFORMS) await reconcile(store, platform, new Date(0));
    expect(await unsound()).toEqual([]);
  });

  test.each([
    ['a high that nobody traded at', `SELECT market_key, series, t, o, toDecimal64(1, 10), l, c, 0, 0, 0`],
    ['a bar without trades', `SELECT market_key, series, t - 60 * 60 * 24 * 900, o, h, l, c, v, q, n`],
  ])('%s, which only a rebuild puts right', async (_what, select) => {
    await store.command(`INSERT INTO candles_1m ${select} FROM candles_1m ORDER BY market_key, t LIMIT 1`);
    const [wrong] = await wrongNow();
    expect([wrong?.rollup, wrong!.missing, wrong!.extra + wrong!.different]).toEqual(['candles_1m', 0, 1]);
    expect(wrong?.example).toContain('instead of');
    await store.command(
      `ALTER TABLE candles_1m DELETE WHERE (market_key, series, t) IN (${row}) SETTINGS mutations_sync = 2`,
    );
    for (const platform of PLATFORMS) await reconcile(store, platform, new Date(0));
    expect(await unsound()).toEqual([]);
  });
});

const ROLLUPS = ['candles_1m', 'candles_1h', 'volume_1h', 'market_totals', 'whales', 'whale_sizes'] as const;
type Rollup = (typeof ROLLUPS)[number];
/** Columns that make a row another one, that no trade stands behind; and columns of another value. */
const ELSEWHERE: Record<Rollup, string> = {
  candles_1m: 't - 86400 * 900 AS t',
  candles_1h: 't - 86400 * 900 AS t',
  volume_1h: 'hour - 86400 * 900 AS hour',
  market_totals: 'market_key + 1 AS market_key',
  whales: 'trade_order + 1 AS trade_order',
  whale_sizes: 'trade_order + 1 AS trade_order',
};
const CHANGED: Record<Rollup, string[]> = {
  candles_1m: ['v + 1 AS v', 'q + 1 AS q'],
  candles_1h: ['v + 1 AS v', 'q + 1 AS q'],
  volume_1h: ['v + 1 AS v', 'q + 1 AS q', 'n + 1 AS n'],
  market_totals: [
    'v + 1 AS v',
    'q + 1 AS q',
    'n + 1 AS n',
    'first_trade_at - 1 AS first_trade_at',
    'last_trade_at + 1 AS last_trade_at',
  ],
  whales: ['price / 2 AS price', 'notional + 1 AS notional', "'nobody' AS trader"],
  whale_sizes: ['price / 2 AS price', 'notional + 1 AS notional', "'nobody' AS trader"],
};

/** Puts rows into each roll-up, one for each of `columns`, with that column instead of a row's own; unless they are kept, the rows are taken out. */
async function spoil(columnsOf: (rollup: Rollup) => string[], keep: boolean): Promise<void> {
  for (const rollup of ROLLUPS) {
    const columns = columnsOf(rollup);
    await store.command(`CREATE TABLE sound ENGINE = Memory AS SELECT * FROM ${rollup} FINAL`);
    await store.command(`TRUNCATE TABLE ${rollup}`);
    const without = keep ? 0 : Math.max(columns.length, 1);
    await store.command(`INSERT INTO ${rollup} SELECT * FROM sound LIMIT 1000000 OFFSET ${without}`);
    for (const [n, column] of columns.entries()) {
      await store.command(`INSERT INTO ${rollup} SELECT * REPLACE (${column}) FROM sound LIMIT 1 OFFSET ${n}`);
    }
    await store.command('DROP TABLE sound');
  }
}
const itself = (rollup: Rollup): string[] => [CHANGED[rollup][0]!.replace(/^.* AS (.*)$/, '$1 AS $1')];
const SPOILED: [string, 'missing' | 'extra' | 'different', (rollup: Rollup) => string[], boolean][] = [
  ['rows that are missing', 'missing', () => [], false],
  ['rows that no trade stands behind', 'extra', (rollup) => [ELSEWHERE[rollup]], true],
  ['rows that are held twice', 'different', itself, true],
  ['values that are wrong, in any column,', 'different', (rollup) => CHANGED[rollup], false],
];

test.each(SPOILED)(
  '%s are reported for every roll-up, and npm run verify ends with 1',
  async (_, column, columnsOf, keep) => {
    await spoil(columnsOf, keep);
    const { code, out } = await run('--all');
    const found = ROLLUPS.map((rollup) => {
      const line = out.split('\n').find((one) => one.startsWith(`${rollup} `)) ?? '';
      const [, , missing, extra, different] = line.split(/ +/).map(Number);
      return [rollup, { missing, extra, different }];
    });
    const nothing = { missing: 0, extra: 0, different: 0 };
    const expected = ROLLUPS.map((rollup) => [rollup, { ...nothing, [column]: Math.max(columnsOf(rollup).length, 1) }]);
    expect(found).toEqual(expected);
    expect(code).toBe(1);
    for (const rollup of ROLLUPS) await store.command(`TRUNCATE TABLE ${rollup}`);
    // In several ranges of markets, as in a store whose trades do not fit into memory.
    for (const platform of PLATFORMS) await reconcile(store, platform, new Date(0), 300);
    expect(await unsound()).toEqual([]);
  },
);

test('a store that takes in trades all the while is sound', async () => {
  const stop = new AbortController();
  const filling = (async () => {
    for (let n = 1; !stop.signal.aborted; n += 1) {
      await fillStore(store, { ...SIZE, trades: 200, nowMs: SIZE.nowMs + n * 1000 });
    }
  })();
  const meanwhile = await unsound(systemClock).finally(() => stop.abort());
  await filling;
  expect(meanwhile).toEqual([]);
  expect(await unsound()).toEqual([]);
});

/** Roll-ups and bars that do not agree, with how many rows are extra and different. */
const wrong = async () => (await wrongNow()).map((one) => [one.rollup, one.extra, one.different]);

describe('bars of the platform', () => {
  const columns = 'platform, market_key, interval_min, t, open, high, low, close, previous_close, volume, source';
  const insert = (select: string): Promise<void> =>
    store.command(`INSERT INTO platform_candles (${columns}) ${select}`);
  const minutes = `FROM platform_candles WHERE interval_min = 1 AND volume > 0 ORDER BY market_key, t`;

  beforeAll(async () => {
    // As Kalshi makes them of the trades, the end of a bar included and its start not; an untraded minute before each carries a close.
    for (const minutes of [1, 60]) {
      await insert(`SELECT 'kalshi', market_key, ${minutes}, toStartOfInterval(executed_at - toIntervalMicrosecond(1), toIntervalMinute(${minutes})) AS t,
        argMinIf(series_price, (executed_at, place), NOT is_block), maxIf(series_price, NOT is_block), minIf(series_price, NOT is_block), argMaxIf(series_price, (executed_at, place), NOT is_block),
        0.01, sum(size), 'trades' FROM trades FINAL WHERE platform = 'kalshi' GROUP BY market_key, t HAVING countIf(NOT is_block) > 0`);
      await insert(
        `SELECT platform, market_key, interval_min, t - 60 * ${minutes} AS earlier, 0.01, 0.01, 0.01, 0.01, 0.01, 0, 'trades' FROM platform_candles
        WHERE interval_min = ${minutes} AND (market_key, earlier) NOT IN (SELECT market_key, t FROM platform_candles WHERE interval_min = ${minutes})`,
      );
    }
    await new Watermarks(store, 'kalshi', systemClock, noCopier).move('', LEASE, () => ({
      fromUs: 0,
      toUs: Date.now() * 1000,
      marker: '',
    }));
  });

  test('agree with the trades when each counts what was traded in it, whatever close others carry', async () => {
    const { results } = await verifyRollups(store, { clock: systemClock });
    expect(results.filter((one) => !isSound(one))).toEqual([]);
    const compared = results.filter(({ rollup }) => BARS.includes(rollup)).map((one) => one.compared > 10);
    expect(compared).toEqual(BARS.map(() => true));
  });

  test.each([
    ['a high that nobody traded at', `open, 0.999, low, close, previous_close, volume`],
    ['an open that was not the first', `open + 0.0001, high, low, close, previous_close, volume`],
    ['a volume beyond that of the trades', `open, high, low, close, previous_close, volume + 1`],
  ])('with %s differ, at each interval they are served at', async (_what, values) => {
    const [of = { key: '', at: '' }] = await store.sql<{ key: string; at: string }>(
      `SELECT toString(market_key) AS key, toString(t) AS at ${minutes} LIMIT 1`,
    );
    const one = `WHERE interval_min = 1 AND market_key = ${of.key} AND t = '${of.at}'`;
    await store.command(`CREATE TABLE bar ENGINE = Memory AS SELECT * FROM platform_candles FINAL ${one}`);
    await insert(`SELECT platform, market_key, interval_min, t, ${values}, source FROM bar`);
    expect(await wrong()).toEqual(MINUTES.map((bars) => [bars, 0, 1]));
    await insert(`SELECT ${columns} FROM bar`);
    await store.command('DROP TABLE bar');
    expect(await wrong()).toEqual([]);
  });

  test('in which nothing was traded by our trades are extra; in a gap of the feed they prove nothing', async () => {
    const at = `toDateTime('2020-02-02 02:02:00', 'UTC')`;
    const gap = { platform: 'kalshi', gap_from: '2020-02-02 02:00:00', gap_to: '2020-02-02 03:00:00' };
    await insert(`SELECT platform, market_key, 1, ${at}, 0.5, 0.5, 0.5, 0.5, NULL, 7, 'trades' ${minutes} LIMIT 1`);
    expect(await wrong()).toEqual(MINUTES.map((bars) => [bars, 1, 0]));
    const { out } = await run('--all');
    expect(out).toMatch(/\nbars of 5m: market \d+, .+ instead of .+\n/);
    await store.insert('trade_gaps (platform, gap_from, gap_to, filled)', [{ ...gap, filled: 0 }]);
    expect(await wrong()).toEqual([]);
    await store.command(`ALTER TABLE platform_candles DELETE WHERE t = ${at} SETTINGS mutations_sync = 2`);
  });
});

describe('npm run verify', () => {
  test('prints a table and ends well when all agree', async () => {
    const { code, out } = await run('--markets', '20', '--seed', '3');
    expect(out).toMatch(/^roll-up +rows +missing +extra +different\ncandles_1m +\d+ +0 +0 +0\n/);
    expect(out).toMatch(/\nAll roll-ups and bars agree with the trades: 20 markets of a store of \d{4} trades\.\n$/);
    expect(code).toBe(0);
  });

  test('names what differs and ends with 1', async () => {
    await store.command('INSERT INTO volume_1h SELECT * FROM volume_1h LIMIT 1');
    const { code, out } = await run('--all');
    expect(code).toBe(1);
    expect(out).toMatch(/\nvolume_1h +\d+ +0 +0 +1\n/);
    expect(out).toMatch(/\nvolume_1h: market \d+, .+ instead of .+\nDifferences found: 60 markets/);
  });

  test('refuses arguments that it does not know', async () => {
    expect(await run('--everything')).toMatchObject({ code: 1, out: '' });
    expect((await run('--markets', 'many')).err).toContain('--markets: must be a whole number, received "many"');
  });
});
