import { randomUUID } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/core/config.ts';
import { createLog } from '../../src/core/log.ts';
import { type ClickHouse, connect } from '../../src/stores/clickhouse/client.ts';
import { migrateClickHouse } from '../../src/stores/clickhouse/migrations.ts';
import { refreshWindows } from '../../src/stores/clickhouse/windows.ts';
import { migratePostgres, openPostgres, type Postgres } from '../../src/stores/postgres/client.ts';
import { freshDatabase, TEST_SERVER } from '../helpers/databases.ts';
import { openOwnClickHouse, type OwnClickHouse } from '../helpers/own-clickhouse.ts';
import { silent } from '../helpers/silent-log.ts';

let folder: URL;
beforeEach(() => {
  folder = pathToFileURL(`${mkdtempSync(join(tmpdir(), 'forecastle-sql-'))}/`);
  for (const kind of ['views', 'functions']) mkdirSync(new URL(kind, folder));
});
afterEach(() => rmSync(folder, { recursive: true }));

const file = (name: string, text: string) => writeFileSync(new URL(name, folder), text);
const view = (name: string, select: string) =>
  file(`views/${name}.sql`, `CREATE OR REPLACE VIEW ${name} AS SELECT ${select}`);
const sqlFunction = (name: string, select: string) =>
  file(
    `functions/${name}.sql`,
    `CREATE OR REPLACE FUNCTION ${name}() RETURNS int LANGUAGE sql STABLE AS $$ SELECT ${select} $$`,
  );

/** Collects what a migration says that it defined. */
function counted() {
  const defined: unknown[] = [];
  const info = (...[line]: unknown[]) => {
    const { view, function: name = view } = line as Record<string, unknown>;
    if (name !== undefined) defined.push(name);
  };
  return { defined, log: { ...silent, info } };
}

/** The numbered files of a former release. */
function copyRelease(from: string, newest: number): void {
  for (const name of readdirSync(from)) {
    if (Number(name.slice(0, 3)) <= newest) cpSync(join(from, name), new URL(name, folder));
  }
}

/** How the tables and views of a database are made. */
const schema = (store: ClickHouse) =>
  store.sql(
    `SELECT name, replaceRegexpAll(create_table_query, concat('\\\\b', currentDatabase(), '\\\\b\\\\.?'), '') AS text FROM system.tables
     WHERE database = currentDatabase() AND name NOT LIKE '.%' ORDER BY name`,
  );

/** Leaves what the files 020 to 024 of release 1.0 left, which defined the views for analysts. */
async function defineByNumber(store: ClickHouse): Promise<void> {
  for (const file of readdirSync('sql/schema/views').filter((name) => name.startsWith('v_')))
    await store.command(`CREATE OR REPLACE VIEW ${file.replace('.sql', '')} AS SELECT 1 AS former`);
  const numbers = [20, 21, 22, 23, 24];
  await store.insert(
    'schema_migrations',
    numbers.map((number) => ({ number, statement: 1, statements: 2, name: 'views.sql', checksum: 'former' })),
  );
}

describe('views', () => {
  let own: OwnClickHouse;
  let store: ClickHouse;
  let database: string;
  beforeAll(async () => {
    own = await openOwnClickHouse();
  });
  afterAll(() => own.clickhouse.close());

  const open = () => {
    const url = new URL(own.url);
    url.pathname = database;
    return connect(url.href);
  };
  beforeEach(async () => {
    database = `views_${randomUUID().slice(0, 8)}`;
    await own.clickhouse.command(`CREATE DATABASE ${database}`);
    store = open();
    file('001_a.sql', 'CREATE TABLE IF NOT EXISTS a (x Int32) ENGINE = MergeTree ORDER BY x; INSERT INTO a VALUES (7)');
  });
  afterEach(async () => {
    await store.close();
    await own.clickhouse.command(`DROP DATABASE ${database} SYNC`);
  });

  const migrate = async (from = store): Promise<unknown[]> => {
    const { defined, log } = counted();
    await migrateClickHouse(from, log, folder);
    return defined;
  };

  test('are defined after the numbered files, and again whenever their text changes or a numbered file is applied', async () => {
    view('v', 'x FROM a');
    expect(await migrate()).toEqual(['v']);
    file('002_b.sql', 'ALTER TABLE a ADD COLUMN IF NOT EXISTS y Int32 DEFAULT 8');
    view('v', 'x, y FROM a');
    expect(await migrate()).toEqual(['v']);
    expect(await store.sql('SELECT * FROM v')).toEqual([{ x: 7, y: 8 }]);
    view('v', 'x FROM a');
    expect(await migrate()).toEqual(['v']);
    expect(await store.sql('SELECT * FROM v')).toEqual([{ x: 7 }]);
    expect(await migrate()).toEqual([]);
    file('003_v.sql', 'CREATE OR REPLACE VIEW v AS SELECT * FROM a');
    expect(await migrate()).toEqual(['v']);
    expect(await store.sql('SELECT * FROM v')).toEqual([{ x: 7 }]);
  });

  test('on other views are defined after them, whatever their names and comments', async () => {
    view('top', 'x FROM middle -- bottom');
    view('middle', "x, 'top' AS name FROM bottom -- top");
    view('bottom', 'x FROM a');
    expect(await migrate()).toEqual(['bottom', 'middle', 'top']);
    expect(await store.sql('SELECT * FROM top')).toEqual([{ x: 7 }]);
  });

  test('are defined by one of the processes that start at once', async () => {
    view('v', 'x FROM a');
    view('w', 'x FROM v');
    const stores = Array.from({ length: 4 }, open);
    expect((await Promise.all(stores.map(migrate))).flat()).toEqual(['v', 'w']);
    await Promise.all(stores.map((one) => one.close()));
  });

  test('are defined by the next start, wherever a kill ended the one before', async () => {
    await migrate();
    for (const killedBehind of [0, 1, 2, 3]) {
      file('002_b.sql', 'ALTER TABLE a ADD COLUMN IF NOT EXISTS y Int32 DEFAULT 8');
      view('v', `x + ${killedBehind} AS n, y FROM a`);
      view('w', `n + ${killedBehind} AS n, y FROM v`);
      let left = killedBehind;
      const killed: ClickHouse = {
        ...store,
        async command(text, ...rest) {
          if (/^(ALTER|CREATE OR)/.test(text) && (left -= 1) < 0) throw new Error('killed');
          await store.command(text, ...rest);
        },
        async insert(table, ...rest) {
          if (table === 'schema_views') throw new Error('killed');
          await store.insert(table, ...rest);
        },
      };
      await expect(migrate(killed)).rejects.toThrow('killed');
      expect(await migrate()).toEqual(['v', 'w']);
      expect(await store.sql('SELECT n, y FROM w')).toEqual([{ n: String(7 + 2 * killedBehind), y: 8 }]);
    }
  });

  test('are defined again if a kill followed a numbered file that replaced them for the time being', async () => {
    view('v', 'x FROM a');
    await migrate();
    file('002_v.sql', 'CREATE OR REPLACE VIEW v AS SELECT 1 AS y');
    const killed: ClickHouse = {
      ...store,
      async command(text, ...rest) {
        if (text.includes('SELECT x FROM a')) throw new Error('killed');
        await store.command(text, ...rest);
      },
    };
    await expect(migrate(killed)).rejects.toThrow('killed');
    expect(await migrate()).toEqual(['v']);
    expect(await store.sql('SELECT * FROM v')).toEqual([{ x: 7 }]);
  });

  test('of a newer release stay as they are, and this release is refused with one line', async () => {
    view('v', 'x FROM a');
    await migrate();
    await store.insert('schema_views', [{ name: 'v', checksum: 'other', release: '99.10.0' }]);
    await expect(migrate()).rejects.toThrow(
      /^ClickHouse: v is defined by release 99.10.0, this is \d+\.\d+\.\d+: run a newer release$/,
    );
    await store.insert('schema_views', [{ name: 'v', checksum: 'other', release: '0.99.0' }]);
    expect(await migrate()).toEqual(['v']);
  });

  test('in a replicated database are recorded in a replicated table', async () => {
    const ledgers: string[] = [];
    const cluster: ClickHouse = {
      ...store,
      sql: ((text: string, ...rest: []) =>
        text.includes('system.databases')
          ? Promise.resolve([{ engine: 'Replicated' }])
          : store.sql(text, ...rest)) as ClickHouse['sql'],
      async command(text, ...rest) {
        if (text.includes('schema_views')) ledgers.push(text);
        await store.command(text.replace('= Replicated', '= '), ...rest);
      },
    };
    view('v', 'x FROM a');
    expect(await migrate(cluster)).toEqual(['v']);
    expect(ledgers).toEqual([expect.stringContaining('ENGINE = ReplicatedReplacingMergeTree(defined_at)')]);
  });

  test.each([25, 30])(
    'and tables of a store up to %d become those of a new store, and its rows stay',
    async (newest) => {
      rmSync(new URL('001_a.sql', folder));
      copyRelease('sql/schema', newest);
      await migrate();
      await defineByNumber(store);
      await store.command('SYSTEM WAIT VIEW market_windows_mv');
      await store.command('INSERT INTO market_windows (market_key) VALUES (7)');
      await store.command('DROP TABLE schema_views SYNC');
      await migrateClickHouse(store, silent);
      expect(await schema(store)).toEqual(await schema(own.clickhouse));
      // The row stays until the windows are computed: no market is stored.
      await store.command('SYSTEM WAIT VIEW market_windows_mv');
      const windows = () => store.sql('SELECT market_key FROM market_windows');
      expect(await windows()).toEqual([{ market_key: '7' }]);
      await refreshWindows(store);
      expect(await windows()).toEqual([]);
    },
  );
});

describe('functions', () => {
  let postgres: Postgres;
  let drop: () => Promise<void>;
  beforeEach(async () => {
    const database = await freshDatabase(TEST_SERVER);
    postgres = await openPostgres(
      loadConfig({ DATABASE_URL: database.url }, 'stores'),
      createLog({ LOG_LEVEL: 'silent' }),
    );
    drop = database.drop;
    file('001_a.sql', 'CREATE TABLE a (x int); INSERT INTO a VALUES (7)');
  });
  afterEach(async () => {
    await postgres.close();
    await drop();
  });

  const run = (text: string) => postgres.transact((statement) => statement(text));
  const migrate = async (): Promise<unknown[]> => {
    const { defined, log } = counted();
    await migratePostgres(postgres, log, folder);
    return defined;
  };

  test('are defined after the numbered files, and again with a further one or another text, by one process', async () => {
    sqlFunction('f', 'g() + 1');
    sqlFunction('g', 'x FROM a');
    expect(await migrate()).toEqual(['g', 'f']);
    file('002_b.sql', 'ALTER TABLE a ADD COLUMN y int DEFAULT 8');
    sqlFunction('g', 'y FROM a');
    expect((await Promise.all(Array.from({ length: 4 }, migrate))).flat()).toEqual(['g', 'f']);
    expect(await run('SELECT f()')).toEqual([{ f: 9 }]);
    expect(await migrate()).toEqual([]);
  });

  test('that cannot be defined leave all as it was', async () => {
    sqlFunction('f', 'x FROM a');
    await migrate();
    file('002_b.sql', 'ALTER TABLE a ADD COLUMN y int DEFAULT 8');
    sqlFunction('f', 'y FROM a');
    sqlFunction('g', 'z FROM a');
    await expect(migrate()).rejects.toThrow('column "z" does not exist');
    expect(await run('SELECT *, f() FROM a')).toEqual([{ x: 7, f: 7 }]);
  });

  test('of a newer release stay as they are, and this release is refused with one line', async () => {
    sqlFunction('f', 'x FROM a');
    await migrate();
    await run(`UPDATE schema_functions SET checksum = 'other', release = '99.10.0'`);
    await expect(migrate()).rejects.toThrow(/^DATABASE_URL: f is defined by release 99.10.0, .* run a newer release$/);
  });
});

test('each view and function is defined by the file of its name alone', () => {
  const DEFINES = /^CREATE (?:OR REPLACE )?(?:VIEW|FUNCTION)(?: IF NOT EXISTS)? (\w+)(?! AS SELECT \* FROM \w+;$)\b/gm;
  for (const [numbered, kind, twice] of [
    // The dictionary of 006_markets.sql reads this view.
    ['sql/schema', 'views', ['named_markets']],
    ['sql/postgres', 'functions', []],
  ] as const) {
    const definedBy = (path: string) => [...readFileSync(path, 'utf8').matchAll(DEFINES)].map(([, name]) => name);
    for (const name of readdirSync(join(numbered, kind)))
      expect(definedBy(join(numbered, kind, name))).toEqual([name.replace('.sql', '')]);
    const files = readdirSync(numbered).filter((name) => name.endsWith('.sql'));
    expect(files.flatMap((name) => definedBy(join(numbered, name)))).toEqual(twice);
  }
});
