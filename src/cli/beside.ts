import { type Config, loadConfig } from '../core/config.ts';
import { requireStore } from '../core/data-dir.ts';
import { createLog, type Log } from '../core/log.ts';
import { type Database, migratePostgres, openPostgres } from '../stores/postgres/client.ts';

/**
 * Runs `work` on the service's PostgreSQL, also beside a running service with embedded stores. Throws ConfigError if there is no store,
 * unless it `mayBeNew`.
 */
export async function besideService(
  work: (db: Database, means: { config: Config; log: Log }) => Promise<void>,
  { mayBeNew = false }: { mayBeNew?: boolean } = {},
): Promise<void> {
  const config = loadConfig(process.env, 'stores');
  if (!mayBeNew && config.DATABASE_URL === undefined) requireStore(config.dataDir, 'postgresql');
  const log = createLog({ LOG_LEVEL: 'warn' });
  const postgres = await openPostgres(config, log, { beside: true });
  try {
    await migratePostgres(postgres, log);
    await work(postgres.db, { config, log });
  } finally {
    await postgres.close();
  }
}
