import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { loadConfig, type Config } from '../../src/core/config.ts';
import { createLog } from '../../src/core/log.ts';
import { storeFailure } from '../../src/http/store-failure.ts';
import { BoundedPool } from '../../src/stores/postgres/bounded-pool.ts';
import { rowsOf } from '../../src/stores/postgres/json-row.ts';
import { migratePostgres, openPostgres, type Postgres } from '../../src/stores/postgres/client.ts';
import { freshDatabase, TEST_SERVER } from '../helpers/databases.ts';

const log = createLog({ LOG_LEVEL: 'silent' });

let config: Config;
let clean: () => Promise<void>;
beforeEach(async () => {
  const database = await freshDatabase(TEST_SERVER);
  config = loadConfig({ DATABASE_URL: database.url }, 'stores');
  clean = database.drop;
});
afterEach(() => clean());

async function using<T>(work: (postgres: Postgres) => Promise<T>): Promise<T> {
  const postgres = await openPostgres(config, log);
  return work(postgres).finally(() => postgres.close());
}
const applied = (postgres: Postgres) =>
  postgres.transact((run) => run('SELECT number, name FROM schema_migrations ORDER BY number'));

// First: the driver warns once in a process.
test('the driver has nothing to warn of when connections are opened', async () => {
  const warnings: string[] = [];
  const note = (warning: Error) => void warnings.push(warning.message);
  process.on('warning', note);
  await using((postgres) => Promise.all([1, 2, 3].map(() => postgres.db.execute(sql`SELECT 1`))));
  await new Promise(setImmediate);
  process.off('warning', note);
  expect(warnings).toEqual([]);
});

test('a server that does not know the setting of its compiler is used all the same', async () => {
  const { host, port, user, password, database } = new pg.Client({ connectionString: config.DATABASE_URL });
  const relay = createServer((client) => {
    const server = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
    client.on('data', (sent) => server.write(sent.toString('latin1').replace('SET jit', 'SET jix'), 'latin1'));
    client.on('close', () => server.destroy());
    server.pipe(client);
  }).listen(0, '127.0.0.1');
  await once(relay, 'listening');
  const url = `postgres://${user}:${password ?? ''}@127.0.0.1:${(relay.address() as AddressInfo).port}/${database}`;
  const postgres = await openPostgres({ ...config, DATABASE_URL: url }, log);
  expect(await postgres.ping()).toBe(true);
  await postgres.close();
  relay.close();
});

/** What a database has: columns, storage, indexes, constraints, triggers, functions and statistics. */
const CATALOG = `
  SELECT 'column' AS kind, relname AS name, attname AS part, row_number() OVER (PARTITION BY c.oid ORDER BY attnum) AS n,
    concat_ws(' ', format_type(atttypid, atttypmod), attnotnull, attstorage, attcollation, pg_get_expr(adbin, adrelid)) AS text
  FROM pg_class AS c JOIN pg_attribute AS a ON attrelid = c.oid LEFT JOIN pg_attrdef ON adrelid = c.oid AND adnum = attnum
  WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
  UNION ALL
  SELECT c.relkind::text, c.relname, '', 0, concat_ws(' ', c.reloptions, t.reloptions)
  FROM pg_class AS c LEFT JOIN pg_class AS t ON t.oid = c.reltoastrelid WHERE c.relnamespace = 'public'::regnamespace
  UNION ALL
  SELECT 'index', tablename, indexname, 0, indexdef FROM pg_indexes WHERE schemaname = 'public'
  UNION ALL
  SELECT 'constraint', conrelid::regclass::text, conname, 0, pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'public'::regnamespace
  UNION ALL
  SELECT 'trigger', tgrelid::regclass::text, tgname, 0, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
  UNION ALL
  SELECT 'function', proname, '', 0, pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
  UNION ALL
  SELECT 'statistics', stxname, '', 0, pg_get_statisticsobjdef(oid) FROM pg_statistic_ext
  ORDER BY kind, name, part`;

/** Makes the copy of markets what release 1.0 left, with other columns: under other numbers, and with functions of its own. */
const copyOfRelease10 = (tables: readonly string[]): string => `
  DROP TABLE ${tables.join()};
  DROP FUNCTION present_ranks_changed, present_event_ranks_changed, is_one_typo;
  ${tables.map((name) => `CREATE TABLE ${name} (former int PRIMARY KEY);`).join('')}
  DROP TABLE present_platforms;
  CREATE TABLE present_platforms (platform text PRIMARY KEY, version bigint NOT NULL DEFAULT 0, copied_to timestamptz, former_from bigint NOT NULL DEFAULT 0);
  INSERT INTO present_platforms VALUES ('kalshi', 70, now(), 12);
  CREATE FUNCTION present_ranks_changed() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
  CREATE TRIGGER former_trigger AFTER INSERT ON present_ranks EXECUTE FUNCTION present_ranks_changed();
  CREATE FUNCTION is_one_typo(a text, b text) RETURNS boolean LANGUAGE sql AS 'SELECT false';
  DELETE FROM schema_functions WHERE name NOT IN ('announce_account', 'claim_order', 'present_event_sums');
  DELETE FROM schema_migrations WHERE number > 7;
  INSERT INTO schema_migrations (number, name) SELECT n, 'former.sql' FROM unnest(ARRAY[3, 4, 5, 8, 9, 10, 11, 12, 13, 14]) AS n`;

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

  test('make the copy of release 1.0 that of a new store, and keep what ClickHouse does not have', async () => {
    await using(async (postgres) => {
      const run = (text: string) => postgres.transact((statement) => statement(text));
      await migratePostgres(postgres, log);
      await run(`INSERT INTO users (email) VALUES ('ann@example.com');
        INSERT INTO match_verdicts (match_key, user_id, relation, a_texts, b_texts) SELECT 1, id, 'same', 2, 3 FROM users`);
      const made = await run(CATALOG);
      expect(made.length).toBeGreaterThan(400);
      const copies = made.filter(({ kind, name }) => kind === 'r' && String(name).startsWith('present_'));
      expect(copies).toHaveLength(20);
      await run(copyOfRelease10(copies.map(({ name }) => String(name))));
      await migratePostgres(postgres, log);
      expect(await run(CATALOG)).toEqual(made);
      // Later pages of lists that began before find that their former rows are gone.
      expect(await run('SELECT version, former_from, complete_to FROM present_platforms')).toEqual([
        { version: '71', former_from: '71', complete_to: null },
      ]);
      expect(await run('SELECT email, relation FROM users JOIN match_verdicts ON user_id = id')).toEqual([
        { email: 'ann@example.com', relation: 'same' },
      ]);
    });
  });

  test('begin again after a deadlock with another process', async () => {
    await using(async (postgres) => {
      let deadlocks = 2;
      const beside: Pick<Postgres, 'transact'> = {
        transact(work) {
          if ((deadlocks -= 1) < 0) return postgres.transact(work);
          const failure = new pg.DatabaseError('deadlock detected', 0, 'error');
          return Promise.reject(Object.assign(failure, { code: '40P01' }));
        },
      };
      await migratePostgres(beside, log);
      expect((await applied(postgres)).at(-1)).toMatchObject({ name: '015_present.sql' });
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

test('a connection that the server closes inside a transaction fails its statement, and the process goes on', async () => {
  await using(async (postgres) => {
    const cut = postgres.db.transaction(async (transaction) => {
      const [own] = rowsOf(await transaction.execute(sql`SELECT pg_backend_pid() AS pid`));
      await postgres.transact((run) => run('SELECT pg_terminate_backend($1)', [own?.['pid']]));
      const others = (): Promise<unknown[]> =>
        postgres.transact((run) => run('SELECT pid FROM pg_stat_activity WHERE pid = $1', [own?.['pid']]));
      await vi.waitFor(async () => expect(await others()).toEqual([]), { timeout: 5000 });
      await transaction.execute(sql`SELECT 1`);
    });
    await expect(cut).rejects.toThrow();
    expect(await postgres.ping()).toBe(true);
  });
});

test('transactions that cannot begin keep no connection', async () => {
  await using(async (postgres) => {
    for (let n = 0; n < 12; n += 1)
      await expect(postgres.db.transaction(async () => n, { isolationLevel: 'none' as never })).rejects.toThrow();
    expect(await postgres.ping()).toBe(true);
    await expect(
      postgres.db.transaction(async (one) => rowsOf(await one.execute(sql`SELECT 7 AS n`))),
    ).resolves.toEqual([{ n: 7 }]);
  });
});

test('statements of callers wait for no transaction of ingestion', async () => {
  await using(async ({ db, forOrders, forIngestion }) => {
    const end = new AbortController();
    const ended = once(end.signal, 'abort');
    const held = Array.from({ length: 20 }, () => forIngestion.db.transaction(() => ended));
    for (const callers of [db, forOrders.db]) {
      expect(rowsOf(await callers.execute(sql`SELECT 7 AS n`))).toEqual([{ n: 7 }]);
    }
    end.abort();
    await Promise.all(held);
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

test('a statement behind as many as may wait for a connection is refused at once, with 503 and the time to wait', async () => {
  const pool = new BoundedPool({ connectionString: config.DATABASE_URL, max: 1 }, 2);
  const held = await pool.connect();
  const waiting = Promise.all([drizzle(pool).execute(sql`SELECT 1 AS n`), pool.query('SELECT 1 AS n')]);
  await vi.waitFor(() => expect(pool.waitingCount).toBe(2));
  for (const refused of [drizzle(pool).execute(sql`SELECT 2`), pool.connect()]) {
    const failure = await refused.then(
      () => null,
      (error: unknown) => error,
    );
    expect(storeFailure(failure)).toMatchObject({ status: 503, retryAfter: 1 });
  }
  held.release();
  expect((await waiting).map(({ rows }) => rows)).toEqual([[{ n: 1 }], [{ n: 1 }]]);
  await pool.end();
});
