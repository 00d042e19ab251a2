import { ConfigError } from '../core/config-error.ts';
import type { ClickHouse } from './clickhouse/client.ts';
import type { Run } from './postgres/client.ts';

/**
 * Stores that were made before 1.0, when the same schema had other files. They are converted once, by forgetting those files. This
 * file is deleted after 1.0.
 */

/** The last commit with the former files. */
const LAST_COMMIT = '112f67f';

const notLast = (store: string): ConfigError =>
  new ConfigError(
    `${store}: its schema is older than the last one before 1.0: run npm run migrate of commit ${LAST_COMMIT} first`,
  );

/** Tables and views that 1.0 does not have. */
const LEFT_OUT = [
  'VIEW IF EXISTS market_info_texts_mv',
  'VIEW IF EXISTS market_state_texts_mv',
  'TABLE IF EXISTS market_info_texts',
  'TABLE IF EXISTS market_state_texts',
];

/** Whether ClickHouse was migrated by the former files. Throws ConfigError unless all of them were applied. */
export async function isClickHouseBefore10(clickhouse: Pick<ClickHouse, 'sql'>): Promise<boolean> {
  const rows = await clickhouse.sql<{ name: string }>('SELECT DISTINCT name FROM schema_migrations');
  const applied = new Set(rows.map(({ name }) => name));
  if (!applied.has('001_trades.sql')) return false;
  if (!applied.has('100_matches_view.sql')) throw notLast('ClickHouse');
  return true;
}

/**
 * Forgets the former files: the new ones then make what is missing, which is nothing, and define the same views again. Killed at any
 * point, it starts again or has ended.
 */
export async function convertClickHouse(clickhouse: Pick<ClickHouse, 'command'>): Promise<void> {
  for (const object of LEFT_OUT) await clickhouse.command(`DROP ${object} SYNC`);
  await clickhouse.command('DROP TABLE IF EXISTS schema_migrations SYNC');
}

/** Records that PostgreSQL has what the first three new files make, if it was migrated by the former ones. */
export async function convertPostgres(run: Run): Promise<void> {
  const rows = await run('SELECT name FROM schema_migrations');
  const applied = new Set(rows.map(({ name }) => name));
  if (!applied.has('003_account_security.sql')) return;
  if (!applied.has('024_user_limits.sql')) throw notLast('DATABASE_URL');
  await run(`DELETE FROM schema_migrations;
    INSERT INTO schema_migrations (number, name) VALUES (1, '001_accounts.sql'), (2, '002_orders.sql'), (3, '003_present.sql')`);
}
