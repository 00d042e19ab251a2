import { ConfigError } from '../core/config-error.ts';
import type { ClickHouse } from './clickhouse/client.ts';

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

/** Changes of existing tables that the new files do not make. */
const CHANGES = [
  'DROP VIEW IF EXISTS market_info_texts_mv SYNC',
  'DROP VIEW IF EXISTS market_state_texts_mv SYNC',
  'DROP TABLE IF EXISTS market_info_texts SYNC',
  'DROP TABLE IF EXISTS market_state_texts SYNC',
  'DROP VIEW IF EXISTS market_windows_mv SYNC',
  `ALTER TABLE market_windows ADD COLUMN IF NOT EXISTS liquidity_known Bool AFTER first_seen_at`,
  `ALTER TABLE market_windows ADD COLUMN IF NOT EXISTS volume_24h_usd Nullable(Decimal64(6)) AFTER liquidity_known`,
  `ALTER TABLE market_windows ADD COLUMN IF NOT EXISTS volume_24h_usd_basis Enum8('unknown' = 0, 'traded' = 1, 'reported' = 2) AFTER volume_24h_usd`,
  `ALTER TABLE market_windows ADD COLUMN IF NOT EXISTS volume_7d_usd Nullable(Decimal64(6)) AFTER volume_24h_usd_basis`,
  `ALTER TABLE market_windows ADD COLUMN IF NOT EXISTS volume_7d_usd_basis Enum8('unknown' = 0, 'traded' = 1, 'reported' = 2) AFTER volume_7d_usd`,
  `ALTER TABLE market_windows ADD COLUMN IF NOT EXISTS volume_total_usd Nullable(Decimal64(6)) AFTER volume_7d_usd_basis`,
  `ALTER TABLE market_windows ADD COLUMN IF NOT EXISTS volume_total_usd_basis Enum8('unknown' = 0, 'traded' = 1, 'reported' = 2) AFTER volume_total_usd`,
  'ALTER TABLE market_state ADD COLUMN IF NOT EXISTS sent_info UInt64 DEFAULT 0 AFTER is_combo',
  'ALTER TABLE market_state ADD COLUMN IF NOT EXISTS sent_state UInt64 DEFAULT 0 AFTER sent_info',
  'ALTER TABLE trades ADD INDEX IF NOT EXISTS by_time executed_at TYPE minmax GRANULARITY 1 FIRST',
  'ALTER TABLE trades MATERIALIZE INDEX by_time',
  'ALTER TABLE matches ADD COLUMN IF NOT EXISTS previous_relation LowCardinality(String) AFTER relation',
  'ALTER TABLE matches ADD INDEX IF NOT EXISTS checked checked_at TYPE minmax GRANULARITY 1',
];

/** Whether ClickHouse was migrated by the former files. Throws ConfigError unless all of them were applied. */
export async function isClickHouseBefore10(clickhouse: Pick<ClickHouse, 'sql'>): Promise<boolean> {
  const rows = await clickhouse.sql<{ name: string }>('SELECT DISTINCT name FROM schema_migrations');
  const applied = new Set(rows.map(({ name }) => name));
  if (!applied.has('001_trades.sql')) return false;
  if (!applied.has('100_matches_view.sql')) throw notLast('ClickHouse');
  return true;
}

/** Changes existing tables and forgets the former files: the new ones create what is missing. After a kill the next start repeats it. */
export async function convertClickHouse(clickhouse: Pick<ClickHouse, 'command'>): Promise<void> {
  for (const change of CHANGES) await clickhouse.command(change);
  await clickhouse.command('DROP TABLE IF EXISTS schema_migrations SYNC');
}

/** The copy of current markets in PostgreSQL, which the service makes again. */
const COPY = `
  DROP TABLE IF EXISTS present_platforms, present_markets, present_names, present_states, present_ranks, present_ranks_were, present_counts,
    present_words, present_matches;
  DROP FUNCTION IF EXISTS present_ranks_changed, is_one_typo;`;

/** Keeps accounts and orders of a PostgreSQL that was migrated by the former files, and drops the copy. */
export async function convertPostgres(run: (text: string) => Promise<Record<string, unknown>[]>): Promise<void> {
  const rows = await run('SELECT name FROM schema_migrations');
  const applied = new Set(rows.map(({ name }) => name));
  if (!applied.has('003_account_security.sql')) return;
  if (!applied.has('024_user_limits.sql')) throw notLast('DATABASE_URL');
  await run(`${COPY} DELETE FROM schema_migrations;
    INSERT INTO schema_migrations (number, name) VALUES (1, '001_accounts.sql'), (2, '002_orders.sql')`);
}
