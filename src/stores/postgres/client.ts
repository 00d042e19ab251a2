import { readFile, readdir } from 'node:fs/promises';
import { drizzle } from 'drizzle-orm/node-postgres';
import type { PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core';
import pg from 'pg';
import { retry, waits } from '../../core/retry.ts';
import { type Clock, systemClock } from '../../core/time.ts';
import { ConfigError, noStore } from '../../core/config-error.ts';
import type { Config } from '../../core/config.ts';
import { servedElsewhere, startEmbeddedPostgres } from '../../embedded/postgres/supervisor.ts';
import type { Log } from '../../core/log.ts';
import { convertPostgres } from '../before-1.0.ts';
import { changedDefinitions, type Defined, readDefinitions } from '../definitions.ts';
import { BoundedPool } from './bounded-pool.ts';
import { type Heard, hearChannel } from './channel.ts';
import { PreparingClient } from './preparing-client.ts';

export type Database = PgDatabase<PgQueryResultHKT>;

/** Runs SQL text; without values it may contain several statements. */
type Run = (text: string, values?: unknown[]) => Promise<Record<string, unknown>[]>;

/** The relational store: PostgreSQL, a server's or the embedded one. */
export interface Postgres {
  db: Database;
  /** The same over separate connections, for orders and the keys of their users: reads of data do not delay them. */
  forOrders: { db: Database };
  /** The same over separate connections, for copies of markets and trades, which hold a connection while they read ClickHouse. */
  forIngestion: { db: Database };
  /** One transaction on one connection, without a time limit: for migrations. Requests use db.transaction. */
  transact<T>(work: (run: Run) => Promise<T>): Promise<T>;
  /** Calls back with each message of a channel, from a connection of its own. Close it before the store. */
  hear(channel: string, onMessage: (text: string) => void, clock: Clock): Heard;
  ping(): Promise<boolean>;
  close(): Promise<void>;
}

/**
 * Opens DATABASE_URL, or the embedded PostgreSQL in DATA_DIR, whose server only one process may start. With `beside` the server of a running
 * service is used. Migrations are not applied.
 */
export async function openPostgres(
  config: Pick<Config, 'DATABASE_URL' | 'dataDir'>,
  log: Log,
  { beside = false }: { beside?: boolean } = {},
): Promise<Postgres> {
  const url = config.DATABASE_URL;
  if (url === undefined) {
    const served = beside ? servedElsewhere(config.dataDir) : null;
    if (served) return openBeside(served, log);
    const server = await startEmbeddedPostgres({ dataDir: config.dataDir, log, clock: systemClock });
    const postgres = connected({ ...SERVER, ...server.connection, ...NO_SECRETS, max: EMBEDDED_MAX }, log);
    return { ...postgres, close: () => postgres.close().finally(() => server.close()) };
  }
  const postgres = connected({ ...SERVER, connectionString: url }, log, CHECK_MS);
  await postgres
    .transact((run) => run('SELECT 1'))
    .catch(async (error: Error) => {
      await postgres.close();
      throw noStore('DATABASE_URL', 'PostgreSQL', url, error);
    });
  return postgres;
}

const SERVER: pg.PoolConfig = {
  max: 10,
  connectionTimeoutMillis: 3000,
  query_timeout: 5_000,
  statement_timeout: 5_000,
  idleTimeoutMillis: 30_000,
  keepAlive: true,
  // The system's default is two hours.
  keepAliveInitialDelayMillis: 30_000,
  application_name: 'forecastle',
};
/** How often a connection for messages of a server is checked. The embedded server cannot vanish without ending its connections. */
const CHECK_MS = 3_000;
/** The embedded server shares few cores, and each of its connections takes 7 to 13 MB for its plans and descriptions of tables. */
const EMBEDDED_MAX = 3;
/** Connections of orders, which open when they are needed. */
const ORDERS_MAX = 4;
/** Those of ingestion: on each platform trades may wait for a row that a read of older ones has locked, beside the copy of markets. */
const INGESTION_MAX = 8;
/** Overrides settings of the environment, which are for another server. */
const NO_SECRETS = { ssl: false, password: '' };

async function openBeside(
  { by, connection }: NonNullable<ReturnType<typeof servedElsewhere>>,
  log: Log,
): Promise<Postgres> {
  const postgres = connected({ ...SERVER, ...connection, ...NO_SECRETS }, log);
  await postgres
    .transact((run) => run('SELECT 1'))
    .catch(async () => {
      await postgres.close();
      throw new ConfigError(
        `DATA_DIR: its database is in use by process ${by}, and does not answer; try again in a few seconds`,
      );
    });
  return postgres;
}

const MIGRATION_MS = 600_000;

function createPool(config: pg.PoolConfig, log: Log): pg.Pool {
  const pool = new BoundedPool({ ...config, Client: PreparingClient, onConnect: prepared });
  // The server closed an idle connection; the pool replaces it.
  pool.on('error', (error) => {
    if (!pool.ending) log.warn({ err: error }, 'PostgreSQL dropped a connection');
  });
  return pool;
}

async function prepared(client: pg.ClientBase): Promise<void> {
  // A connection in use that drops fails its statement; without a listener its event would end the process.
  client.on('error', () => undefined);
  // A server compiles statements that seem dear, which takes longer than any of ours runs. One that refuses is used as it is.
  await client.query('SET jit = off').catch((error: unknown) => {
    if (!(error instanceof pg.DatabaseError)) throw error;
  });
}

/** Runs `work` on one connection. If `work` fails, its transaction is rolled back; if that fails too, the connection is closed. */
async function onConnection<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    return await work(client);
  } catch (error) {
    broken = await client.query('ROLLBACK').then(
      () => undefined,
      (failure: Error) => failure,
    );
    throw error;
  } finally {
    client.release(broken);
  }
}

function databaseOf(pool: pg.Pool): Database {
  const db: Database = drizzle(pool);
  // Drizzle's own `transaction` never returns its connection to the pool if BEGIN fails.
  db.transaction = (work, config) => onConnection(pool, (client) => drizzle(client).transaction(work, config));
  return db;
}

function connected(config: pg.PoolConfig, log: Log, checkMs?: number): Postgres {
  const pool = createPool(config, log);
  const ordersPool = createPool({ ...config, max: ORDERS_MAX }, log);
  const ingestionPool = createPool({ ...config, max: INGESTION_MAX }, log);
  return {
    db: databaseOf(pool),
    forOrders: { db: databaseOf(ordersPool) },
    forIngestion: { db: databaseOf(ingestionPool) },
    transact: (work) =>
      onConnection(pool, async (client) => {
        await client.query('BEGIN; SET LOCAL statement_timeout = 0');
        const run: Run = async (text, values) => {
          const query = { text, values, query_timeout: MIGRATION_MS };
          return (await client.query<Record<string, unknown>>(query)).rows;
        };
        const result = await work(run);
        await client.query('COMMIT');
        return result;
      }),
    hear(channel, onMessage, clock) {
      const send = (text: string): Promise<unknown> => pool.query('SELECT pg_notify($1, $2)', [channel, text]);
      return hearChannel(config, { channel, onMessage, send, checkMs, log, clock });
    },
    ping: () =>
      pool.query('SELECT 1').then(
        () => true,
        () => false,
      ),
    async close() {
      await Promise.all([pool, ordersPool, ingestionPool].map((each) => each.end()));
    },
  };
}

const FOLDER = new URL('../../../sql/postgres/', import.meta.url);
/** The number of the lock for migrations: any constant that all processes share. */
const LOCK = 4_051_963_407;
/** Waits after a deadlock with a process of the former release, which still reads the tables. */
const DEADLOCK_WAITS_MS = [500, 1000, 2000, 4000, 8000];
const isDeadlock = (error: unknown): boolean => error instanceof pg.DatabaseError && error.code === '40P01';

/**
 * Applies the new numbered files of `folder`, then defines the functions of `folder`/functions whose text has changed, in one
 * transaction under a lock; after a deadlock it begins again. Rejects a schema newer than the files.
 */
export async function migratePostgres(
  postgres: Pick<Postgres, 'transact'>,
  log: Pick<Log, 'info'>,
  folder: URL = FOLDER,
): Promise<void> {
  const functions = readDefinitions(new URL('functions/', folder));
  const files = (await readdir(folder)).filter((name) => /^\d{3}_.*\.sql$/.test(name)).toSorted();
  const known = Math.max(0, ...files.map((name) => Number(name.slice(0, 3))));
  const apply = async (run: Run): Promise<void> => {
    await run('SELECT pg_advisory_xact_lock($1)', [LOCK]);
    await run(
      `CREATE TABLE IF NOT EXISTS schema_migrations (number int PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now());
       CREATE TABLE IF NOT EXISTS schema_functions (name text PRIMARY KEY, checksum text NOT NULL, release text NOT NULL, defined_at timestamptz NOT NULL DEFAULT now())`,
    );
    await convertPostgres(run);
    const rows = await run('SELECT number FROM schema_migrations');
    const applied = new Set(rows.map((row) => Number(row.number)));
    const newest = Math.max(0, ...applied);
    if (newest > known) {
      throw new ConfigError(
        `DATABASE_URL: its schema has version ${newest}, this release knows ${known}: run a newer release`,
      );
    }
    const due = files.filter((name) => !applied.has(Number(name.slice(0, 3))));
    for (const name of due) {
      const number = Number(name.slice(0, 3));
      await run(await readFile(new URL(name, folder), 'utf8'));
      await run('INSERT INTO schema_migrations (number, name) VALUES ($1, $2)', [number, name]);
      log.info({ migration: name }, 'PostgreSQL schema changed');
    }
    // A numbered file may drop a table, and its triggers with it: then all functions and their triggers are due.
    const recorded = (await run('SELECT name, checksum, release FROM schema_functions')) as unknown as Defined[];
    const defined = due.length > 0 ? recorded.map((row) => ({ ...row, checksum: '' })) : recorded;
    for (const { name, text, checksum, release } of changedDefinitions('DATABASE_URL', functions, defined)) {
      await run(text);
      await run(
        `INSERT INTO schema_functions (name, checksum, release) VALUES ($1, $2, $3)
         ON CONFLICT (name) DO UPDATE SET checksum = excluded.checksum, release = excluded.release, defined_at = now()`,
        [name, checksum, release],
      );
      log.info({ function: name }, 'PostgreSQL function defined');
    }
  };
  await retry(() => postgres.transact(apply), {
    waitMs: waits(DEADLOCK_WAITS_MS, isDeadlock),
    sleep: systemClock.sleep,
  });
}
