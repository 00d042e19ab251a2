import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DAY_MS, systemClock } from '../../../src/core/time.ts';
import { reconcile } from '../../../ingest/reconcile-rollups.ts';
import { connect, type ClickHouse } from '../../../src/stores/clickhouse/client.ts';
import { ConfigError } from '../../../src/core/config-error.ts';
import { loadConfig } from '../../../src/core/config.ts';
import { startEmbeddedClickHouse } from '../../../src/embedded/clickhouse/supervisor.ts';
import { migrateClickHouse } from '../../../src/stores/clickhouse/migrations.ts';
import { applyRetention, keptFrom } from '../../../src/stores/clickhouse/retention.ts';
import { silent } from '../../helpers/silent-log.ts';
import { insertTrades } from '../../helpers/sql-port.ts';

let directory: string;
let store: ClickHouse;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'forecastle-retention-'));
  const engine = await startEmbeddedClickHouse({ dataDir: directory, memoryMb: 800, log: silent, clock: systemClock });
  store = connect(engine.url, () => engine.close());
  await migrateClickHouse(store, silent);
});

afterAll(async () => {
  await store.close();
  rmSync(directory, { recursive: true });
});

const keep = async (trades: number, snapshots = 0): Promise<number> => {
  let changes = 0;
  const log = { ...silent, info: () => void (changes += 1) };
  await applyRetention(
    store,
    {
      RETENTION_TRADES_DAYS: trades,
      RETENTION_SNAPSHOTS_DAYS: snapshots,
      RETENTION_STREAM_DAYS: 30,
      RETENTION_BOOKS_DAYS: 30,
      COLD_AFTER_DAYS: 0,
    },
    log,
  );
  return changes;
};

const rulesOf = (table: string) =>
  store.sql(
    'SELECT engine_full, comment FROM system.tables WHERE database = currentDatabase() AND name = {table:String}',
    {
      table,
    },
  );

const sums = async () =>
  store.sql(
    ['candles_1m', 'candles_1h', 'volume_1h', 'market_totals']
      .map((table) => `SELECT '${table}' AS name, sum(n) AS n, sum(v) AS v, sum(q) AS q FROM ${table}`)
      .join(' UNION ALL ')
      .concat(' ORDER BY name'),
  );

const rawTrades = async () => Number((await store.sql<{ n: string }>('SELECT count() AS n FROM trades'))[0]?.n);

it('is what the settings say, changed only when they change', async () => {
  expect(await keptFrom(store, 'trades')).toEqual(new Date(0));
  expect(await keep(40, 400)).toBe(3);
  expect(await keep(40, 400)).toBe(0);
  expect(await keep(50, 400)).toBe(1);
  expect(await keep(0, 0)).toBe(3);
  expect(await keep(0, 0)).toBe(0);
});

it.each([
  ['a rule set by hand that drops rows of a table without a setting', 'toIntervalDay(4000)'],
  ['a rule set by hand that moves rows to a volume', "toIntervalDay(4000) TO VOLUME 'default'"],
  ['a rule set by hand that moves rows to a disk', "toIntervalDay(4000) TO DISK 'default'"],
])('%s stays', async (_, rule) => {
  const before = await rulesOf('candles_1m');
  await store.command(`ALTER TABLE candles_1m MODIFY TTL toDateTime(t) + ${rule}`);
  const byHand = await rulesOf('candles_1m');
  expect(byHand).not.toEqual(before);
  expect(await keep(0, 0)).toBe(0);
  expect(await rulesOf('candles_1m')).toEqual(byHand);
  await store.command('ALTER TABLE candles_1m REMOVE TTL');
});

it('that was lifted is remembered: what it dropped is not taken for missing, nor for never counted', async () => {
  const midnight = Math.ceil(Date.now() / DAY_MS) * DAY_MS;
  expect(await keptFrom(store, 'trades')).toEqual(new Date(midnight - 39 * DAY_MS));
  await keep(100);
  expect(await keptFrom(store, 'trades')).toEqual(new Date(midnight - 39 * DAY_MS));
  await keep(0);
  expect(await keptFrom(store, 'trades')).toEqual(new Date(midnight - 39 * DAY_MS));
});

it('drops old raw trades and keeps everything made from them, through later repairs too', async () => {
  const now = Date.now();
  await insertTrades(store, 500, 'old', now - 60 * DAY_MS);
  await insertTrades(store, 500, 'new', now);
  const before = await sums();
  await keep(40);
  await store.command('OPTIMIZE TABLE trades FINAL');
  expect(await rawTrades()).toBe(500);
  expect(await sums()).toEqual(before);
  // A late trade of an hour whose others are gone touches that hour and its market.
  await insertTrades(store, 1, 'late', now - 60 * DAY_MS);
  const after = await sums();
  await reconcile(store, 'kalshi', new Date(0));
  expect(await sums()).toEqual(after);
  // What is missing from an hour that is still whole is put back.
  await store.command('TRUNCATE TABLE volume_1h');
  await reconcile(store, 'kalshi', new Date(0));
  const [hours] = await store.sql<{ n: string }>('SELECT sum(n) AS n FROM volume_1h');
  expect(hours?.n).toBe('500');
  // A market's totals remember its dropped trades as long as its bars do.
  await store.command('TRUNCATE TABLE market_totals');
  await reconcile(store, 'kalshi', new Date(0));
  const [totals] = await store.sql<{ n: string; v: string }>('SELECT sum(n) AS n, sum(v) AS v FROM market_totals');
  const [bars] = await store.sql<{ n: string; v: string }>('SELECT sum(n) AS n, sum(v) AS v FROM candles_1h');
  expect(totals).toEqual(bars);
});

it('drops bars of a platform by the time when they were read, so that an old bar that is read again stays', async () => {
  const now = Date.now();
  const bar = (ref: string, ageDays: number, readDays: number) => ({
    platform: 'kalshi',
    ref,
    interval_min: 60,
    t: new Date(now - ageDays * DAY_MS).toISOString(),
    source: 'trades',
    version: new Date(now - readDays * DAY_MS).toISOString(),
  });
  await store.insert('platform_candles (platform, ref, interval_min, t, source, version)', [
    bar('dropped', 61, 60),
    bar('read again', 61, 0),
    bar('new', 0, 0),
  ]);
  const keys = () => store.sql('SELECT DISTINCT market_key FROM platform_candles');
  expect(await keys()).toHaveLength(3);
  await keep(0, 40);
  await store.command('OPTIMIZE TABLE platform_candles FINAL');
  expect(await keys()).toHaveLength(2);
});

it('of less than a month is refused, because windows look back that far', () => {
  expect(() => loadConfig({ DATA_DIR: directory, RETENTION_TRADES_DAYS: '7' })).toThrow(ConfigError);
  expect(loadConfig({ DATA_DIR: directory, RETENTION_TRADES_DAYS: '35' }).RETENTION_TRADES_DAYS).toBe(35);
});
