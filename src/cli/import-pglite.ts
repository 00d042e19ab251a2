import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '../core/config-error.ts';
import { loadConfig } from '../core/config.ts';
import { createLog } from '../core/log.ts';
import { lock } from '../embedded/postgres/lock.ts';
import { CLUSTER } from '../embedded/postgres/supervisor.ts';
import { migratePostgres, openPostgres } from '../stores/postgres/client.ts';
import { runCommand } from './command.ts';
import { copyTables } from './pglite/copy-tables.ts';
import { openPglite } from './pglite/open.ts';

const USAGE = `npm run import-pglite
Moves accounts, keys, credentials and orders of a DATA_DIR that an older release made with PGlite into the embedded PostgreSQL, or
into DATABASE_URL where that is set. Stop the service first. The older files stay where they are, in DATA_DIR/postgres.`;

await runCommand(USAGE, async () => {
  const config = loadConfig(process.env, 'stores');
  const log = createLog({ LOG_LEVEL: 'warn' });
  const older = join(config.dataDir, 'postgres');
  const cluster = join(config.dataDir, CLUSTER);
  if (!existsSync(join(older, 'PG_VERSION')))
    throw new ConfigError(`DATA_DIR: must hold what PGlite wrote, received ${config.dataDir} without postgres`);
  const embedded = config.DATABASE_URL === undefined;
  if (embedded && existsSync(cluster))
    throw new ConfigError(`DATA_DIR: must hold no embedded PostgreSQL yet, received ${cluster}`);
  // The first is the lock of the older release.
  const locks = [`${older}.lock`, `${cluster}.lock`].map(lock);
  // Both are prepared outside their final place, so that a failed import leaves DATA_DIR unchanged.
  const work = join(config.dataDir, 'import-pglite');
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { mode: 0o700 });
  try {
    cpSync(older, join(work, 'pglite'), { recursive: true });
    const source = await openPglite(join(work, 'pglite'));
    const target = await openPostgres(embedded ? { ...config, dataDir: work } : config, log);
    let copied: [table: string, rows: number][];
    try {
      await migratePostgres(source, log);
      await migratePostgres(target, log);
      copied = await copyTables(source, target);
    } finally {
      await target.close();
      await source.close();
    }
    if (embedded) renameSync(join(work, CLUSTER), cluster);
    process.stdout.write(`moved: ${copied.map(([table, rows]) => `${table} ${rows}`).join(', ')}\n`);
  } finally {
    rmSync(work, { recursive: true, force: true });
    for (const unlock of locks) unlock();
  }
});
