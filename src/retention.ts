import type { ClickHouse } from './clickhouse.ts';
import type { Config } from './config.ts';
import type { Log } from './embedded/clickhouse.ts';
import { withMigrationLock } from './migration-lock.ts';
import { databaseEngine } from './migrations.ts';

type Settings = Pick<Config, 'RETENTION_TRADES_DAYS' | 'RETENTION_SNAPSHOTS_DAYS'>;

/** Tables that may forget, by the column of their rows' time. Everything made from trades is kept. */
const TABLES = [
  { table: 'trades', time: 'executed_at', setting: 'RETENTION_TRADES_DAYS' },
  { table: 'market_snapshots', time: 'at', setting: 'RETENTION_SNAPSHOTS_DAYS' },
] as const;

const DAY_MS = 86_400_000;

/** Gives the tables the TTL that the settings name; changes nothing where they have it. Rows go in the background. */
export async function applyRetention(clickhouse: ClickHouse, settings: Settings, log: Log): Promise<void> {
  for (const { table, time, setting } of TABLES) {
    const days = settings[setting];
    if ((await keptDays(clickhouse, table)) === days) continue;
    await withMigrationLock(clickhouse, await databaseEngine(clickhouse), log, () =>
      clickhouse.command(
        days === 0
          ? `ALTER TABLE ${table} REMOVE TTL`
          : `ALTER TABLE ${table} MODIFY TTL toDateTime(${time}) + toIntervalDay(${days})`,
      ),
    );
    log.info({ table, days }, days === 0 ? 'rows are kept for ever' : 'rows older than this are dropped');
  }
}

/** Midnight since when all stored trades are certainly still there; 1970 where none are ever dropped. */
export async function tradesKeptFrom(clickhouse: ClickHouse): Promise<Date> {
  const days = await keptDays(clickhouse, 'trades');
  return new Date(days === 0 ? 0 : Math.ceil(Date.now() / DAY_MS - (days - 1)) * DAY_MS);
}

/** What the table itself says; 0 = for ever. */
async function keptDays(clickhouse: ClickHouse, table: string): Promise<number> {
  const [row] = await clickhouse.sql<{ engine_full: string }>(
    'SELECT engine_full FROM system.tables WHERE database = currentDatabase() AND name = {table:String}',
    { table },
  );
  return Number(/ TTL .*toIntervalDay\((\d+)\)/.exec(row?.engine_full ?? '')?.[1] ?? 0);
}
