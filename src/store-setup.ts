import { admitAnalyst } from './analyst.ts';
import type { ClickHouse } from './clickhouse.ts';
import { shellWords, StoreError } from './clickhouse-errors.ts';
import { ConfigError, type Config } from './config.ts';
import type { Log } from './embedded/clickhouse.ts';
import { migrateClickHouse } from './migrations.ts';
import { applyRetention } from './retention.ts';

/** Brings ClickHouse to what this release and the settings ask for: schema, retention, and on a server the analysts' user. */
export async function prepareClickHouse(clickhouse: ClickHouse, config: Config, log: Log): Promise<void> {
  try {
    await migrateClickHouse(clickhouse, log);
    await applyRetention(clickhouse, config, log);
    if (config.CLICKHOUSE_URL !== undefined) await admitAnalyst(clickhouse, config, log);
  } catch (error) {
    if (config.CLICKHOUSE_URL === undefined || !(error instanceof StoreError)) throw error;
    throw new ConfigError(`CLICKHOUSE_URL: its schema cannot be brought up to date: ${shellWords(error)}`);
  }
}
