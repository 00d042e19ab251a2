import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from 'vitest';
import { systemClock } from '../../src/core/time.ts';
import { connect, type ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { ConfigError } from '../../src/core/config-error.ts';
import type { Log } from '../../src/core/log.ts';
import { startEmbeddedClickHouse, type EmbeddedClickHouse } from '../../src/embedded/clickhouse/supervisor.ts';
import { migrateClickHouse } from '../../src/stores/clickhouse/migrations.ts';
import { normalizeSql, forDatabaseEngine, splitStatements, withStableStatistics } from '../../src/core/sql-text.ts';
import { PLATFORMS } from '../../src/core/model.ts';
import { MANIFESTS } from '../../src/platforms/manifests.ts';
import { silent } from '../helpers/silent-log.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'forecastle-migrations-'));
let embedded: EmbeddedClickHouse;
let store: ClickHouse;
let folder: URL;
let database: string;

beforeAll(async () => {
  embedded = await startEmbeddedClickHouse({ dataDir, memoryMb: 512, log: silent, clock: systemClock });
});

afterAll(async () => {
  await embedded.close();
  rmSync(dataDir, { recursive: true });
});

// Each test has a database and a folder of its own.
let made = 0;
beforeEach(async () => {
  await store?.close();
  made += 1;
  database = `schema_${made}`;
  folder = pathToFileURL(`${mkdtempSync(join(dataDir, 'sql-'))}/`);
  mkdirSync(new URL('views', folder));
  const first = connect(embedded.url);
  await first.command(`CREATE DATABASE ${database}`);
  await first.close();
  store = open();
});

const open = () => connect(embedded.url.replace(/forecastle$/, database));
const file = (name: string, sql: string) => writeFileSync(new URL(name, folder), sql);
const migrate = (log: Log = silent) => migrateClickHouse(store, log, folder);
const tables = async () =>
  (
    await store.sql<{ name: string }>(
      "SELECT name FROM system.tables WHERE database = currentDatabase() AND name NOT LIKE 'schema_%' ORDER BY name",
    )
  ).map(({ name }) => name);
const recorded = async () => (await store.sql('SELECT 1 FROM schema_migrations')).length;

const TWO =
  '-- Two; in one file.\nCREATE TABLE IF NOT EXISTS a (x Int32) ENGINE = MergeTree ORDER BY x;\nCREATE TABLE IF NOT EXISTS b (x Int32) ENGINE = MergeTree ORDER BY x;\n';

test('the table of platforms agrees with their manifests', async () => {
  await migrateClickHouse(store, silent);
  const rows = await store.sql('SELECT platform, volume_basis, has_pools FROM platforms FINAL ORDER BY platform');
  const said = PLATFORMS.map((platform) => {
    const { volumeBasis, hasPools } = MANIFESTS[platform];
    return { platform, volume_basis: volumeBasis, has_pools: hasPools };
  });
  expect(rows).toEqual(said.toSorted((a, b) => (a.platform < b.platform ? -1 : 1)));
});

const bar = (ref: string, source: string, low: string, high: string): string =>
  `('polymarket', '${ref}', 60, '2026-11-01 10:00:00', ${low}, ${high}, '${source}')`;

test('bars with a payout that an earlier build stored are dropped, others stay', async () => {
  const schema = new URL('../../sql/schema/', import.meta.url);
  const earlier = readdirSync(schema).filter((name) => name < '027' && name.endsWith('.sql'));
  for (const name of earlier) cpSync(new URL(name, schema), new URL(name, folder));
  await migrate();
  const bars = [
    bar('won', 'midpoint', '0.97', '1'),
    bar('lost', 'midpoint', '0', '0.02'),
    bar('open', 'midpoint', '0.4', '0.6'),
    bar('sold', 'trades', '0.5', '1'),
  ];
  await store.command(
    `INSERT INTO platform_candles (platform, ref, interval_min, t, low, high, source) VALUES ${bars.join()}`,
  );
  cpSync(new URL('027_bars_of_payouts.sql', schema), new URL('027_bars_of_payouts.sql', folder));
  await migrate();
  const left = () => store.sql<{ low: string }>('SELECT low FROM platform_candles ORDER BY low');
  await expect.poll(async () => (await left()).map(({ low }) => Number(low)), { timeout: 20_000 }).toEqual([0.4, 0.5]);
});

test('a new store passes over a statement that a later file replaces, unless that file is missing', async () => {
  const mark = '-- Replaced by 002_again.sql: a new store passes over this statement.\n';
  file('001_first.sql', `${mark}CREATE VIEW v AS SELECT 1 AS first`);
  const lines: unknown[] = [];
  const log: Log = { ...silent, info: (line: unknown) => lines.push(line) };
  await migrate(log);
  expect(lines).toEqual([{ migration: '001_first.sql', statement: 1 }]);
  file('002_again.sql', 'DROP VIEW IF EXISTS v; CREATE VIEW v AS SELECT 2 AS second');
  await migrate();
  expect(await store.sql('SELECT * FROM v')).toEqual([{ second: 2 }]);

  await store.command('DROP VIEW v');
  await store.command('TRUNCATE TABLE schema_migrations');
  lines.length = 0;
  await migrate(log);
  expect(lines).toEqual([1, 2].map((statement) => ({ migration: '002_again.sql', statement })));
  expect(await store.sql('SELECT * FROM v')).toEqual([{ second: 2 }]);
  expect(await recorded()).toBe(3);
});

test('every statement that a new store passes over names a file of the schema', () => {
  const schema = new URL('../../sql/schema/', import.meta.url);
  const names = readdirSync(schema).filter((name) => name.endsWith('.sql'));
  const texts = names.map((name) => readFileSync(new URL(name, schema), 'utf8')).join('');
  const named = [...texts.matchAll(/^-- Replaced by (\S+): .*$/gm)];
  expect(named.map(([, name]) => name)).toEqual(['026_compared_liquidity.sql']);
  for (const [, name] of named) expect(names).toContain(name);
});

test('a new store whose first migration was killed begins again, and ends with the same schema', async () => {
  // A refresh in progress writes to a table of its own.
  const schema = () =>
    store.sql(
      `SELECT name, create_table_query FROM system.tables WHERE database = currentDatabase() AND name NOT LIKE '.tmp.%' ORDER BY name`,
    );
  await migrateClickHouse(store, silent);
  const [whole, statements] = [await schema(), await recorded()];
  for (const killedBehind of [30, 60, statements]) {
    await store.command(`DROP DATABASE ${database} SYNC`);
    const first = connect(embedded.url);
    await first.command(`CREATE DATABASE ${database}`);
    await first.close();
    let left = killedBehind;
    const killed: ClickHouse = {
      ...store,
      async command(text, ...rest) {
        if (!/schema_(lock|migrations|views)/.test(text) && (left -= 1) < 0) throw new Error('killed');
        await store.command(text, ...rest);
      },
      async insert(table, ...rest) {
        if (!table.startsWith('schema_')) await store.insert(table, ...rest);
      },
    };
    await migrateClickHouse(killed, silent).catch((error: Error) => expect(error.message).toBe('killed'));
    expect(await recorded()).toBe(0);
    await migrateClickHouse(store, silent);
    expect(await recorded()).toBe(statements);
    expect(await schema()).toEqual(whole);
  }
});

describe('the schema', () => {
  it('is made from the numbered files in order, once', async () => {
    file('002_view.sql', "CREATE VIEW IF NOT EXISTS v AS SELECT x, ';' AS s FROM a;");
    file('001_tables.sql', TWO);
    file('notes.sql', 'not a migration');
    await migrate();
    expect(await tables()).toEqual(['a', 'b', 'v']);
    expect(await recorded()).toBe(3);
    await migrate({ ...silent, info: () => expect.unreachable('nothing is left to do') });
    expect(await recorded()).toBe(3);
  });

  it('grows by new files only', async () => {
    file('001_tables.sql', TWO);
    await migrate();
    file('002_more.sql', 'ALTER TABLE a ADD COLUMN IF NOT EXISTS y Int32');
    await migrate();
    expect(
      await store.sql(
        "SELECT count() > 0 AS there FROM system.columns WHERE database = currentDatabase() AND table = 'a' AND name = 'y'",
      ),
    ).toEqual([{ there: 1 }]);
  });

  it('is changed by one process at a time, each statement once', async () => {
    // Not repeatable: a second run of any of these would fail or show.
    file('001_tables.sql', TWO.replaceAll(' IF NOT EXISTS', ''));
    file('002_rows.sql', 'INSERT INTO a SELECT 1; INSERT INTO a SELECT 2; ALTER TABLE a ADD COLUMN y Int32;');
    const stores = Array.from({ length: 4 }, open);
    await Promise.all(stores.map((one) => migrateClickHouse(one, silent, folder)));
    await Promise.all(stores.map((one) => one.close()));
    expect(await recorded()).toBe(5);
    expect(await store.sql('SELECT x, y FROM a ORDER BY x')).toEqual([
      { x: 1, y: 0 },
      { x: 2, y: 0 },
    ]);
  });

  it('goes on where it was interrupted, and the part that failed may be corrected', async () => {
    file('001_tables.sql', `${TWO.replaceAll(' IF NOT EXISTS', '')} CREATE TABLE c (x Nonsense) ENGINE = Memory;`);
    await expect(migrate()).rejects.toMatchObject({ name: 'StoreError', code: '50' });
    expect(await tables()).toEqual(['a', 'b']);
    file('001_tables.sql', `${TWO.replaceAll(' IF NOT EXISTS', '')} CREATE TABLE c (x Int32) ENGINE = Memory;`);
    await migrate();
    expect(await tables()).toEqual(['a', 'b', 'c']);
  });

  it('of a newer release is refused with one line', async () => {
    file('001_tables.sql', TWO);
    file('007_later.sql', 'CREATE TABLE later (x Int32) ENGINE = Memory');
    await migrate();
    rmSync(new URL('007_later.sql', folder));
    await expect(migrate()).rejects.toThrow(
      new ConfigError('ClickHouse: its schema has version 7, this release knows 1: run a newer release'),
    );
  });

  it('is refused when an applied file was edited, extended or shortened, not when its comments were', async () => {
    file('001_tables.sql', TWO);
    await migrate();
    file('001_tables.sql', `/* better said */ ${TWO.replace('-- Two', '-- Both')}\n-- the end`);
    await migrate();
    for (const edited of [
      TWO.replace('x Int32', 'x Int64'),
      `${TWO}SELECT 1;`,
      TWO.slice(0, TWO.lastIndexOf('CREATE')),
    ]) {
      file('001_tables.sql', edited);
      await expect(migrate()).rejects.toThrow(/^001_tables.sql: was edited after it had been applied/);
    }
    expect(await recorded()).toBe(2);
  });

  it('is refused when an applied file is lost, unless its number is retired', async () => {
    for (const number of ['001', '020', '024', '025']) file(`${number}_some.sql`, 'SELECT 1');
    await migrate();
    for (const number of ['020', '024']) rmSync(new URL(`${number}_some.sql`, folder));
    await migrate();
    rmSync(new URL('001_some.sql', folder));
    await expect(migrate()).rejects.toThrow('migration 1: was edited');
  });

  it('is left alone by a process that waits for another, until the lock of that one has expired', async () => {
    file('001_tables.sql', TWO);
    await store.command(
      "CREATE TABLE schema_lock (holder String, expires_at DateTime64(3, 'UTC'), claimed_at DateTime64(6, 'UTC')) ENGINE = ReplacingMergeTree(claimed_at) ORDER BY holder",
    );
    const held = (seconds: number) =>
      store.command(`INSERT INTO schema_lock SELECT 'dead', now64(3) + toIntervalSecond(${seconds}), now64(6)`);
    await held(3600);
    const reported: unknown[] = [];
    const migrated = migrate({ ...silent, info: (...line: unknown[]) => void reported.push(line.at(-1)) });
    await expect.poll(() => reported[0]).toContain('waiting');
    expect(await tables()).toEqual([]);
    await held(0);
    await migrated;
    expect(await tables()).toEqual(['a', 'b']);
  });

  it('of a database that does not exist names the setting', async () => {
    const nowhere = connect(embedded.url.replace(/forecastle$/, 'nowhere'));
    await expect(migrateClickHouse(nowhere, silent, folder)).rejects.toThrow(
      /^CLICKHOUSE_URL: names a database that does not exist/,
    );
    await nowhere.close();
  });
});

describe('SQL text', () => {
  it('is cut at semicolons that end statements only', () => {
    const text =
      "SELECT ';', \"a;b\", `c;d`, 'it''s; \\'ok', $x$ ; $x$ -- no; comment\n; /* ; */ SELECT 2 # neither; here\n;;\n-- the end;";
    expect(splitStatements(text)).toEqual([
      "SELECT ';', \"a;b\", `c;d`, 'it''s; \\'ok', $x$ ; $x$ -- no; comment",
      '/* ; */ SELECT 2 # neither; here',
    ]);
  });

  it('means the same with other comments and blanks, not with other literals', () => {
    expect(normalizeSql("SELECT  1 -- one\n, '--  x'")).toBe("SELECT 1 , '-- x'");
    expect(normalizeSql("SELECT 'a'")).not.toBe(normalizeSql("SELECT 'b'"));
  });

  test('corr, covarPop and covarSamp are asked for in the forms that take decimals, whatever stands in texts and names', () => {
    const plain = "SELECT corr(a, b), COVAR_POP (a, b), covarSampIf(a, b, 'corr(') FROM t -- corr(\nWHERE corr > 1";
    const stable =
      "SELECT corrStable(a, b), covarPopStable (a, b), covarSampStableIf(a, b, 'corr(') FROM t -- corr(\nWHERE corr > 1";
    expect(withStableStatistics(plain)).toBe(stable);
    expect(withStableStatistics(stable)).toBe(stable);
  });

  it('names replicated engines in a replicated database, and only there', () => {
    const text = "CREATE TABLE x (a String DEFAULT 'ENGINE = MergeTree') ENGINE = ReplacingMergeTree(v) ORDER BY a";
    expect(forDatabaseEngine(text, 'Atomic')).toBe(text);
    expect(forDatabaseEngine(text, 'Replicated')).toBe(text.replace('= Replacing', '= ReplicatedReplacing'));
    for (const same of [
      'CREATE TABLE x (a Int8) ENGINE = Memory',
      'CREATE TABLE x (a Int8) ENGINE=ReplicatedMergeTree ORDER BY a',
    ])
      expect(forDatabaseEngine(same, 'Replicated')).toBe(same);
    expect(
      forDatabaseEngine('CREATE MATERIALIZED VIEW v ENGINE MergeTree ORDER BY a AS SELECT 1 AS a', 'Replicated'),
    ).toContain('ENGINE ReplicatedMergeTree');
  });
});
