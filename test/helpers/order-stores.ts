import { randomBytes, randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/core/time.ts';
import { loadConfig } from '../../src/core/config.ts';
import { createCredentials, type Credentials } from '../../src/accounts/credentials.ts';
import { startEmbeddedClickHouse } from '../../src/embedded/clickhouse/supervisor.ts';
import { createLog } from '../../src/core/log.ts';
import { migratePostgres, openPostgres, type Database } from '../../src/stores/postgres/client.ts';
import { insertKey } from './app.ts';
import { freshDatabase } from './databases.ts';
import { silent } from './silent-log.ts';

/** Somebody who trades, before any service runs. */
export interface StoredCustomer {
  userId: string;
  key: string;
}

/** Stores that service processes start on, one after another or, on servers, together. */
export interface OrderStores {
  /** Settings that name them; a process beside another needs a DATA_DIR of its own. */
  env: Record<string, string>;
  directory: string;
  /** Opens the database while no process holds it. */
  within<T>(
    work: (parts: { db: Database; credentials: Credentials; customer(): Promise<StoredCustomer> }) => Promise<T>,
  ): Promise<T>;
  close(): Promise<void>;
}

/** A ClickHouse of this process's own, and an embedded PostgreSQL in a fresh DATA_DIR; DATABASE_URL and REDIS_URL where they are set. */
export async function startOrderStores(): Promise<OrderStores> {
  const { DATABASE_URL = '', REDIS_URL = '' } = process.env;
  const directory = await mkdtemp(join(tmpdir(), 'forecastle-orders-'));
  const engine = await startEmbeddedClickHouse({ dataDir: directory, memoryMb: 1000, log: silent, clock: systemClock });
  const database = DATABASE_URL ? await freshDatabase(DATABASE_URL) : null;
  const redis = REDIS_URL && new URL(REDIS_URL);
  // A numbered database of its own: leases of another run must not be in the way.
  if (redis) redis.pathname = `/${randomInt(1, 13)}`;
  const env = {
    DATA_DIR: directory,
    CLICKHOUSE_URL: engine.url,
    JWT_SECRET: randomBytes(30).toString('hex'),
    CREDENTIALS_KEY: `test:${randomBytes(32).toString('base64')}`,
    ...(database ? { DATABASE_URL: database.url } : {}),
    ...(redis ? { REDIS_URL: redis.href } : {}),
  };
  return {
    env,
    directory,
    async within(work) {
      const config = loadConfig({ ...env, LOG_LEVEL: 'silent' });
      const log = createLog(config);
      const postgres = await openPostgres(config, log);
      try {
        await migratePostgres(postgres, log);
        const credentials = createCredentials(postgres.db, config.credentialKeys);
        return await work({ db: postgres.db, credentials, customer: () => insertKey(postgres, 'pro') });
      } finally {
        await postgres.close();
      }
    },
    async close() {
      await engine.close();
      await database?.drop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
