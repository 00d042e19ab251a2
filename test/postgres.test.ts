import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { sql } from 'drizzle-orm';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loadConfig, type Config } from '../src/config.ts';
import { PostgresStream } from '../src/embedded/postgres-stream.ts';
import { createLog } from '../src/log.ts';
import { rowsOf } from '../src/orders/row-json.ts';
import { migratePostgres, openPostgres, type Postgres } from '../src/postgres.ts';
import { copyEmptyDatabase, freshDatabase } from './helpers/databases.ts';

const log = createLog({ LOG_LEVEL: 'silent' });
const { DATABASE_URL = '' } = process.env;

let dataDir = '';
let config: Config;
let clean: () => Promise<void>;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'forecastle-pg-'));
  const database = DATABASE_URL === '' ? null : await freshDatabase(DATABASE_URL);
  if (!database) await copyEmptyDatabase(join(dataDir, 'postgres'));
  config = loadConfig({ DATA_DIR: dataDir, NODE_ENV: 'test', DATABASE_URL: database?.url ?? '' });
  clean = async () => {
    await database?.drop();
    await rm(dataDir, { recursive: true, force: true });
  };
});
afterEach(() => clean());

async function using<T>(work: (postgres: Postgres) => Promise<T>): Promise<T> {
  const postgres = await openPostgres(config, log);
  return work(postgres).finally(() => postgres.close());
}
const applied = (postgres: Postgres) =>
  postgres.transact((run) => run('SELECT number, name FROM schema_migrations ORDER BY number'));

describe('migrations', () => {
  test('are applied once each, in order, and repeating them changes nothing', async () => {
    await using(async (postgres) => {
      await migratePostgres(postgres, log);
      const first = await applied(postgres);
      expect(first[0]).toMatchObject({ number: 1, name: '001_accounts.sql' });
      await migratePostgres(postgres, log);
      expect(await applied(postgres)).toEqual(first);
    });
  });

  test('by several processes at once are applied once', async () => {
    await using(async (postgres) => {
      await Promise.all(Array.from({ length: 6 }, () => migratePostgres(postgres, log)));
      expect((await applied(postgres)).filter(({ number }) => number === 1)).toHaveLength(1);
    });
  });

  test('refuse a schema of a newer release in one line', async () => {
    await using(async (postgres) => {
      await migratePostgres(postgres, log);
      await postgres.transact((run) => run(`INSERT INTO schema_migrations (number, name) VALUES (999, 'later.sql')`));
      const failure = await migratePostgres(postgres, log).catch((error: Error) => error);
      expect(failure).toMatchObject({
        name: 'ConfigError',
        message: expect.stringMatching(/^DATABASE_URL: .*999.*newer release$/),
      });
    });
  });

  test('that break off leave nothing behind', async () => {
    await using(async (postgres) => {
      await postgres.transact((run) => run('CREATE TABLE account_events (id int)'));
      await expect(migratePostgres(postgres, log)).rejects.toThrow('account_events');
      const tables = `SELECT tablename FROM pg_tables WHERE schemaname = 'public'`;
      expect(await postgres.transact((run) => run(tables))).toEqual([{ tablename: 'account_events' }]);
    });
  });
});

test('what is stored is there after closing and opening', async () => {
  await using((postgres) => postgres.transact((run) => run('CREATE TABLE kept (n int); INSERT INTO kept VALUES (7)')));
  await using(async (postgres) => {
    expect(await postgres.transact((run) => run('SELECT n FROM kept'))).toEqual([{ n: 7 }]);
    expect(await postgres.ping()).toBe(true);
  });
});

test('a transaction that fails changes nothing', async () => {
  await using(async (postgres) => {
    await postgres.transact((run) => run('CREATE TABLE t (n int)'));
    const broken = postgres.transact(async (run) => {
      await run('INSERT INTO t VALUES ($1)', [1]);
      throw new Error('changed my mind');
    });
    await expect(broken).rejects.toThrow('changed my mind');
    expect(await postgres.transact((run) => run('SELECT * FROM t'))).toEqual([]);
  });
});

test('what runs often is prepared, and goes on when a newer release adds a column', async () => {
  await using(async ({ db, transact }) => {
    await transact((run) => run('CREATE TABLE t (n int); INSERT INTO t VALUES (7)'));
    const often = async (): Promise<unknown[]> => {
      const found: unknown[] = [];
      for (let times = 0; times < 8; times += 1) {
        found.push(...rowsOf(await db.execute(sql`SELECT n FROM t WHERE n < ${10 + times}`)));
      }
      return found;
    };
    const all = Array.from({ length: 8 }, () => ({ n: 7 }));
    expect(await often()).toEqual(all);
    const prepared = await db.execute(
      sql`SELECT count(*)::int AS n FROM pg_prepared_statements WHERE statement LIKE '%FROM t %'`,
    );
    expect(rowsOf(prepared)).toEqual([{ n: 1 }]);
    await transact((run) => run('ALTER TABLE t ADD COLUMN later text'));
    expect(await often()).toEqual(all);
  });
});

describe.skipIf(DATABASE_URL !== '')('the embedded database', () => {
  test('gives the next connection nothing of one that broke', async () => {
    const engine = await PGlite.create({ dataDir: join(dataDir, 'postgres') });
    const connect = async (): Promise<pg.Client> => {
      const client = new pg.Client({ stream: () => new PostgresStream(engine), user: 'postgres', ssl: false });
      client.on('error', () => {});
      await client.connect();
      return client;
    };
    const first = await connect();
    await first.query('CREATE TABLE t (n int)');
    await first.query({ name: 'same', text: 'SELECT 1 AS n' });
    await first.query('BEGIN; INSERT INTO t VALUES (1)');
    const broken = first.query('SELECT pg_sleep(0.2)');
    first.connection.stream.destroy(new Error('broke'));
    await expect(broken).rejects.toThrow('broke');
    const second = await connect();
    expect((await second.query('SELECT n FROM t')).rows).toEqual([]);
    expect((await second.query({ name: 'same', text: 'SELECT 2 AS n' })).rows).toEqual([{ n: 2 }]);
    await second.end();
    await engine.close();
  });

  test('is refused to a second opener, naming the holder', async () => {
    await using(async () => {
      await expect(openPostgres(config, log)).rejects.toMatchObject({
        name: 'ConfigError',
        message: expect.stringContaining(`process ${process.pid}`),
      });
    });
    expect(existsSync(join(dataDir, 'postgres.lock'))).toBe(false);
  });

  test('is taken over from a process that died, also when its number lives on as another process', async () => {
    const child = spawn(process.execPath, ['-e', ''], { stdio: 'ignore' });
    await once(child, 'exit');
    const file = join(dataDir, 'postgres.lock');
    for (const holder of [`${child.pid} 123456`, `${process.ppid} 1`, 'nonsense']) {
      writeFileSync(file, holder);
      await using(async () => expect(readFileSync(file, 'utf8')).toMatch(new RegExp(`^${process.pid} `)));
    }
  });
});
