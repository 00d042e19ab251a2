import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { reconcile } from '../ingest/reconcile.ts';
import { type ClickHouse, connect } from '../src/clickhouse.ts';
import { startEmbeddedClickHouse } from '../src/embedded/clickhouse.ts';
import { migrateClickHouse } from '../src/migrations.ts';
import { PLATFORMS } from '../src/schemas.ts';
import { isSound, verifyRollups } from '../src/verify.ts';
import { fillStore } from './bench/fill.ts';
import { silent } from './helpers/silent-log.ts';

const SIZE = { trades: 6000, markets: 60, nowMs: Date.now() };
const COMMAND = fileURLToPath(new URL('../src/cli/verify.ts', import.meta.url));
let directory: string;
let url: string;
let store: ClickHouse;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'forecastle-verify-'));
  const engine = await startEmbeddedClickHouse({ dataDir: directory, memoryMb: 800, log: silent });
  ({ url } = engine);
  store = connect(url, () => engine.close());
  await migrateClickHouse(store, silent);
  await fillStore(store, SIZE);
});
afterAll(async () => {
  await store?.close();
  await rm(directory, { recursive: true, force: true });
});

/** Names of roll-ups that do not agree with the trades. */
const unsound = async (markets?: number): Promise<string[]> =>
  (await verifyRollups(store, { markets })).results.filter((one) => !isSound(one)).map((one) => one.rollup);

const run = (...args: string[]) =>
  new Promise<{ code: number; out: string; err: string }>((resolve) => {
    execFile(
      process.execPath,
      ['--import', 'tsx', COMMAND, ...args],
      { env: { ...process.env, CLICKHOUSE_URL: url, DATA_DIR: directory, LOG_LEVEL: 'error' } },
      (error, out, err) => resolve({ code: error ? Number(error.code) : 0, out, err }),
    );
  });

test('a generated store is the same for the same numbers, and every roll-up agrees with it', async () => {
  const { trades, markets, results } = await verifyRollups(store);
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
  });
  const print = (): Promise<unknown> =>
    store.sql(
      'SELECT sum(cityHash64(market_key, executed_at, trade_id, price, size, outcome, side, trader)) AS print FROM trades',
    );
  const first = await print();
  for (const table of ['trades', ...results.map((one) => one.rollup)]) await store.command(`TRUNCATE TABLE ${table}`);
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
    const { results } = await verifyRollups(store);
    const wrong = results.find((one) => !isSound(one));
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
  '%s are told of every roll-up, and npm run verify ends with 1',
  async (_, column, columnsOf, keep) => {
    await spoil(columnsOf, keep);
    const { code, out } = await run('--all');
    const found = ROLLUPS.map((rollup) => {
      const line = out.split('\n').find((one) => one.startsWith(`${rollup} `)) ?? '';
      const [, , missing, extra, different] = line.split(/ +/).map(Number);
      return [rollup, { missing, extra, different }];
    });
    const nothing = { missing: 0, extra: 0, different: 0 };
    const told = ROLLUPS.map((rollup) => [rollup, { ...nothing, [column]: Math.max(columnsOf(rollup).length, 1) }]);
    expect(found).toEqual(told);
    expect(code).toBe(1);
    for (const rollup of ROLLUPS) await store.command(`TRUNCATE TABLE ${rollup}`);
    for (const platform of PLATFORMS) await reconcile(store, platform, new Date(0));
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
  expect(await unsound()).toEqual([]);
  stop.abort();
  await filling;
  expect(await unsound()).toEqual([]);
});

describe('npm run verify', () => {
  test('prints a table and ends well when all agree', async () => {
    const { code, out } = await run('--markets', '20', '--seed', '3');
    expect(out).toMatch(/^roll-up +rows +missing +extra +different\ncandles_1m +\d+ +0 +0 +0\n/);
    expect(out).toMatch(/\nAll roll-ups agree with the trades: 20 markets of a store of \d{4} trades\.\n$/);
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
