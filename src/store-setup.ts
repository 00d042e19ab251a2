import { admitAnalyst } from './analyst.ts';
import type { ClickHouse } from './clickhouse.ts';
import type { Config } from './config.ts';
import type { Log } from './embedded/clickhouse.ts';
import { migrateClickHouse } from './migrations.ts';
import { applyRetention } from './retention.ts';

/** Brings ClickHouse to what this release and the settings ask for: schema, retention, and on a server the analysts' user. */
export async function prepareClickHouse(clickhouse: ClickHouse, config: Config, log: Log): Promise<void> {
  await migrateClickHouse(clickhouse, log);
  await applyRetention(clickhouse, config, log);
  if (config.CLICKHOUSE_URL !== undefined) await admitAnalyst(clickhouse, config, log);
}
