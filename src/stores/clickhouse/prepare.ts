import { admitAnalyst } from './analyst-user.ts';
import type { ClickHouse } from './client.ts';
import { admitDictionaries } from './dictionaries.ts';
import { cliMessage, StoreError } from './errors.ts';
import { ConfigError } from '../../core/config-error.ts';
import type { Config } from '../../core/config.ts';
import type { Log } from '../../core/log.ts';
import { migrateClickHouse } from './migrations.ts';
import { applyRetention } from './retention.ts';

/** Prepares ClickHouse for this release and its settings: schema, retention, and on a server dictionaries and the analysts' user. */
export async function prepareClickHouse(clickhouse: ClickHouse, config: Config, log: Log): Promise<void> {
  try {
    await migrateClickHouse(clickhouse, log);
    await applyRetention(clickhouse, config, log);
    if (config.CLICKHOUSE_URL === undefined) return;
    await admitDictionaries(clickhouse, config.CLICKHOUSE_URL, log);
    await admitAnalyst(clickhouse, config, log);
  } catch (error) {
    if (config.CLICKHOUSE_URL === undefined || !(error instanceof StoreError)) throw error;
    throw new ConfigError(`CLICKHOUSE_URL: its schema could not be migrated: ${cliMessage(error)}`);
  }
}
