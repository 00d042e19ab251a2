import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from 's3rver';
import { parse } from 'yaml';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ConfigError } from '../../../src/core/config-error.ts';
import { loadConfig } from '../../../src/core/config.ts';
import { DAY_MS, systemClock } from '../../../src/core/time.ts';
import { startEmbeddedClickHouse } from '../../../src/embedded/clickhouse/supervisor.ts';
import { connect, type ClickHouse } from '../../../src/stores/clickhouse/client.ts';
import { migrateClickHouse } from '../../../src/stores/clickhouse/migrations.ts';
import { applyRetention, keptFrom } from '../../../src/stores/clickhouse/retention.ts';
import { openOwnClickHouse } from '../../helpers/own-clickhouse.ts';
import { silent } from '../../helpers/silent-log.ts';
import { insertTrades } from '../../helpers/sql-port.ts';

const SHIPPED = new URL('../../../sql/server/', import.meta.url);
let directory: string;
let bucket: S3rver;
let store: ClickHouse;

type Node = string | number | boolean | null | { [name: string]: Node };

/** Configuration as XML: chDB reads no YAML, which a server does. */
function xml(name: string, node: Node): string {
  if (node === null || typeof node !== 'object') return `<${name}>${node ?? ''}</${name}>`;
  const entries = Object.entries(node);
  const attributes = entries
    .filter(([key]) => key.startsWith('@'))
    .map(([key, value]) => ` ${key.slice(1)}="${String(value)}"`);
  const children = entries.filter(([key]) => !key.startsWith('@')).map(([key, value]) => xml(key, value));
  return `<${name}${attributes.join('')}>${children.join('')}</${name}>`;
}

/** An engine with the configuration that docker compose gives a server, and an object storage of this test. */
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'forecastle-cold-'));
  const objects = join(directory, 'objects');
  await mkdir(objects);
  bucket = new S3rver({
    port: 0,
    silent: true,
    directory: objects,
    configureBuckets: [{ name: 'history', configs: [] }],
  });
  const { port } = await bucket.run();
  const dataDir = join(directory, 'data');
  await mkdir(join(dataDir, 'conf.d'), { recursive: true });
  for (const [from, to] of [
    ['common', 'common'],
    ['small', 'size'],
    ['cold', 'storage'],
  ]) {
    const text = await readFile(new URL(`${from}.yaml`, SHIPPED), 'utf8');
    const own = parse(text.replaceAll('/backups/', `${join(directory, 'backups')}/`)) as Node;
    await writeFile(join(dataDir, 'conf.d', `${to}.xml`), xml('clickhouse', own));
  }
  // The engine looks for what to move every second or two, not every ten seconds to ten minutes.
  const looks = 'background_move_processing_pool_task_sleep_seconds_when_no_work';
  const often = { [`${looks}_min`]: 1, [`${looks}_max`]: 1 };
  await writeFile(join(dataDir, 'conf.d', 'often.xml'), xml('clickhouse', often));
  Object.assign(process.env, {
    COLD_S3_ENDPOINT: `http://127.0.0.1:${port}/history/cold/`,
    COLD_S3_KEY_ID: 'S3RVER',
    COLD_S3_SECRET: 'S3RVER',
  });
  const engine = await startEmbeddedClickHouse({ dataDir, memoryMb: 800, log: silent, clock: systemClock });
  store = connect(engine.url, () => engine.close());
  await migrateClickHouse(store, silent);
  // Removed parts keep their objects for eight minutes otherwise.
  await store.command(
    'ALTER TABLE market_snapshots MODIFY SETTING old_parts_lifetime = 1, cleanup_delay_period = 1, max_cleanup_delay_period = 1, cleanup_delay_period_random_add = 0',
  );
});

afterAll(async () => {
  await store?.close();
  await bucket?.close();
  await rm(directory, { recursive: true, force: true });
});

const rules = (coldDays: number) => ({
  RETENTION_TRADES_DAYS: 0,
  RETENTION_SNAPSHOTS_DAYS: 0,
  RETENTION_STREAM_DAYS: 30,
  RETENTION_BOOKS_DAYS: 30,
  COLD_AFTER_DAYS: coldDays,
});

/** Applies the rules; resolves with how many tables were changed. */
async function apply(coldDays: number, kept: Partial<ReturnType<typeof rules>> = {}): Promise<number> {
  const changed = new Set<unknown>();
  const info = ({ table }: { table: string }): void => void changed.add(table);
  await applyRetention(store, { ...rules(coldDays), ...kept }, { ...silent, info } as typeof silent);
  return changed.size;
}

async function ttlOf(table: string): Promise<string> {
  const [row] = await store.sql<{ engine: string }>(
    'SELECT engine_full AS engine FROM system.tables WHERE database = currentDatabase() AND name = {table:String}',
    { table },
  );
  return / TTL (.*) SETTINGS /.exec(row?.engine ?? '')?.[1] ?? '';
}

const midnight = (daysAgo: number): Date => new Date((Math.ceil(Date.now() / DAY_MS) - daysAgo) * DAY_MS);

/** The oldest and the youngest age in days of a table's rows on each disk. */
async function ages(table: string, time: string): Promise<Record<string, [number, number]>> {
  const rows = await store.sql<{ disk: string; oldest: string; youngest: string }>(
    `SELECT disk_name AS disk, max(dateDiff('day', ${time}, now())) AS oldest, min(dateDiff('day', ${time}, now())) AS youngest
     FROM ${table} INNER JOIN (SELECT name, disk_name FROM system.parts WHERE database = currentDatabase() AND table = '${table}' AND active) AS p
     ON p.name = _part GROUP BY disk ORDER BY disk`,
  );
  return Object.fromEntries(rows.map(({ disk, oldest, youngest }) => [disk, [Number(oldest), Number(youngest)]]));
}

const snapshots = (from: number, to: number) =>
  store.insert(
    'market_snapshots (platform, ref, at, status, price, liquidity)',
    Array.from({ length: from - to + 1 }, (_, i) => ({
      platform: 'kalshi',
      ref: 'M1',
      at: new Date(Date.now() - (from - i) * DAY_MS).toISOString(),
      status: 'open',
      price: '0.5',
      liquidity: '1',
    })),
  );

/** The bucket's files of what the table has in object storage. */
async function objectsOf(table: string): Promise<string[]> {
  const rows = await store.sql<{ object: string }>(
    `SELECT DISTINCT remote_path AS object FROM system.remote_data_paths
     WHERE disk_name = 'cold' AND local_path LIKE (SELECT concat('%', toString(uuid), '%') FROM system.tables WHERE database = currentDatabase() AND name = {table:String})`,
    { table },
  );
  return rows.map(({ object }) => join(directory, 'objects/history', `${object}._S3rver_object`));
}

const READ = ['trades', 'candles_1m', 'candles_1h', 'volume_1h', 'whales', 'market_snapshots'];
/** A count and a hash of all rows of each table. */
const everything = async (): Promise<[string, string, string][]> => {
  const rows = await store.sql<{ name: string; n: string; hash: string }>(
    READ.map(
      (name) =>
        `SELECT '${name}' AS name, count() AS n, groupBitXor(cityHash64(toString(tuple(*)))) AS hash FROM ${name} FINAL`,
    ).join(' UNION ALL '),
  );
  return rows.map(({ name, n, hash }) => [name, n, hash] as [string, string, string]).toSorted();
};
const trades = async (): Promise<number> => Number((await everything()).find(([name]) => name === 'trades')?.[1]);

test('rows of an old month move to object storage, rows of the present stay, and queries answer the same', async () => {
  const now = Date.now();
  await snapshots(100, 95);
  await snapshots(3, 0);
  await insertTrades(store, 500, 'old', now - 100 * DAY_MS, { size: '300' });
  await insertTrades(store, 500, 'new', now, { size: '300' });
  const before = await everything();
  await apply(60);
  await expect.poll(() => ages('market_snapshots', 'at')).toEqual({ cold: [100, 95], default: [3, 0] });
  await expect.poll(() => ages('volume_1h', 'hour')).toEqual({ cold: [100, 100], default: [0, 0] });
  expect(await everything()).toEqual(before);
});

test('rows that are old when they are inserted move too, in tables without partitions as well', async () => {
  const before = await trades();
  await insertTrades(store, 500, 'late', Date.now() - 200 * DAY_MS);
  await expect.poll(() => ages('trades', 'executed_at')).toMatchObject({ cold: [200, expect.any(Number)] });
  await expect.poll(() => ages('candles_1h', 't')).toMatchObject({ cold: [200, expect.any(Number)] });
  expect(await trades()).toBe(before + 500);
});

test('retention drops months from object storage, and the objects with them', async () => {
  const objects = await objectsOf('market_snapshots');
  expect(objects.filter((object) => existsSync(object)).length).toBeGreaterThan(0);
  expect(objects.filter((object) => !existsSync(object))).toEqual([]);
  expect(await apply(60, { RETENTION_SNAPSHOTS_DAYS: 90 })).toBe(2);
  await expect.poll(() => ages('market_snapshots', 'at')).toEqual({ default: [3, 0] });
  await expect.poll(() => objects.filter((object) => existsSync(object))).toEqual([]);
});

test('days of retention and of cold rows change without each other, and rows dropped earlier do not move', async () => {
  expect(await apply(60, { RETENTION_SNAPSHOTS_DAYS: 90 })).toBe(0);
  // All but the four tables that keep 30 days; snapshots and bars of platforms are now dropped before they are cold.
  expect(await apply(95, { RETENTION_SNAPSHOTS_DAYS: 90 })).toBe(9);
  expect(await ttlOf('market_snapshots')).toBe('toDateTime(at) + toIntervalDay(90)');
  expect(await ttlOf('trades')).toBe("toDateTime(executed_at) + toIntervalDay(95) TO VOLUME 'cold'");
  expect(await apply(60, { RETENTION_SNAPSHOTS_DAYS: 100, RETENTION_TRADES_DAYS: 400 })).toBe(9);
  expect(await ttlOf('market_snapshots')).toBe(
    "toDateTime(at) + toIntervalDay(60) TO VOLUME 'cold', toDateTime(at) + toIntervalDay(100)",
  );
  expect(await keptFrom(store, 'market_snapshots')).toEqual(midnight(89));
  expect(await apply(60)).toBe(3);
  expect(await ttlOf('trades')).toBe("toDateTime(executed_at) + toIntervalDay(60) TO VOLUME 'cold'");
});

test('with 0 nothing moves any more, and what has moved is still read', async () => {
  await snapshots(80, 80);
  await expect.poll(() => ages('market_snapshots', 'at')).toEqual({ cold: [80, 80], default: [3, 0] });
  const before = await everything();
  expect(await apply(0)).toBe(9);
  expect(await apply(0)).toBe(0);
  expect(await ttlOf('market_snapshots')).toBe('');
  // With this policy nothing moves when the disk fills either.
  const policies = await store.sql(
    "SELECT DISTINCT storage_policy AS policy FROM system.tables WHERE policy LIKE 'forecastle%'",
  );
  expect(policies).toEqual([{ policy: 'forecastle_cold_off' }]);
  expect(await everything()).toEqual(before);
  await snapshots(81, 81);
  // Longer than the engine takes between its looks at what to move.
  await systemClock.sleep(4000);
  expect(await ages('market_snapshots', 'at')).toEqual({ cold: [80, 80], default: [81, 0] });
  await apply(60);
  await expect.poll(() => ages('market_snapshots', 'at')).toEqual({ cold: [81, 80], default: [3, 0] });
});

test('days without the storage policy, or without a server, are refused by name, and change nothing', async () => {
  const { clickhouse: plain } = await openOwnClickHouse();
  const definition = () =>
    plain.sql("SELECT engine_full, comment FROM system.tables WHERE database = currentDatabase() AND name = 'trades'");
  const before = await definition();
  const refused = applyRetention(plain, { ...rules(60), RETENTION_TRADES_DAYS: 400 }, silent);
  await expect(refused).rejects.toThrow(/^COLD_AFTER_DAYS: .* sql\/server\/cold\.yaml/);
  await expect(refused).rejects.toThrow(ConfigError);
  expect(await definition()).toEqual(before);
  await plain.close();
  const given = { DATA_DIR: directory, COLD_AFTER_DAYS: '60' };
  expect(() => loadConfig(given)).toThrow(/^COLD_AFTER_DAYS: must be 0 without CLICKHOUSE_URL/);
  expect(loadConfig({ ...given, CLICKHOUSE_URL: 'http://127.0.0.1:1/f' }).COLD_AFTER_DAYS).toBe(60);
  expect(() => loadConfig({ ...given, COLD_AFTER_DAYS: '7' })).toThrow(
    /^COLD_AFTER_DAYS: must be 0 or at least 35 days/,
  );
});
