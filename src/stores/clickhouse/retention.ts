import type { ClickHouse } from './client.ts';
import type { Config } from '../../core/config.ts';
import type { Log } from '../../core/log.ts';
import { withMigrationLock } from './migration-lock.ts';
import { databaseEngine } from './migrations.ts';
import { DAY_MS, HOUR_MS, systemClock } from '../../core/time.ts';

type Settings = Pick<
  Config,
  'RETENTION_TRADES_DAYS' | 'RETENTION_SNAPSHOTS_DAYS' | 'RETENTION_STREAM_DAYS' | 'RETENTION_BOOKS_DAYS'
>;

/** Tables with retention, and the time column of their rows. Everything derived from trades is kept. */
const TABLES = [
  { table: 'trades', time: 'executed_at', setting: 'RETENTION_TRADES_DAYS' },
  { table: 'market_snapshots', time: 'at', setting: 'RETENTION_SNAPSHOTS_DAYS' },
  { table: 'event_log', time: 'logged_at', setting: 'RETENTION_STREAM_DAYS' },
  { table: 'book_changes', time: 'received_at', setting: 'RETENTION_BOOKS_DAYS' },
  { table: 'book_snapshots', time: 'received_at', setting: 'RETENTION_BOOKS_DAYS' },
  { table: 'book_gaps', time: 'from_at', setting: 'RETENTION_BOOKS_DAYS' },
] as const;
type ForgettingTable = (typeof TABLES)[number]['table'];

/** Prefix of a table's comment, before the time. */
const WHOLE_SINCE = 'No row was dropped for its age since ';

/** Sets the tables' TTL to the settings, if it differs. Rows are dropped in the background. */
export async function applyRetention(clickhouse: ClickHouse, settings: Settings, log: Log): Promise<void> {
  for (const { table, time, setting } of TABLES) {
    const days = settings[setting];
    const before = await keeping(clickhouse, table);
    if (before.days === days) continue;
    await withMigrationLock(clickhouse, await databaseEngine(clickhouse), log, async () => {
      // Records what the old rule has dropped: the new rule does not bring it back.
      await clickhouse.command(
        `ALTER TABLE ${table} MODIFY COMMENT '${WHOLE_SINCE}${wholeSince(before).toISOString()}'`,
      );
      await clickhouse.command(
        days === 0
          ? `ALTER TABLE ${table} REMOVE TTL`
          : `ALTER TABLE ${table} MODIFY TTL toDateTime(${time}) + toIntervalDay(${days})`,
      );
    });
    log.info({ table, days }, days === 0 ? 'Rows are kept without limit' : 'Rows older than this are dropped');
  }
}

/** Midnight from which a table certainly has all its rows; 1970 if none was ever dropped. */
export async function keptFrom(clickhouse: ClickHouse, table: ForgettingTable): Promise<Date> {
  return wholeSince(await keeping(clickhouse, table));
}

/** The time, Unix ms, since which a table has all rows until an hour after `nowMs`. Up to a day earlier than `keptFrom`. */
export async function keptSince(clickhouse: ClickHouse, table: ForgettingTable, nowMs: number): Promise<number> {
  const { days, earlier } = await keeping(clickhouse, table);
  // `earlier` is rounded up to midnight: an earlier rule has dropped up to a day less.
  return Math.max(0, earlier.getTime() - DAY_MS, days === 0 ? 0 : nowMs - days * DAY_MS + HOUR_MS);
}

/** Current retention in days, 0 = for ever, and from when no earlier rule dropped rows. */
interface Keeping {
  days: number;
  earlier: Date;
}

const wholeSince = ({ days, earlier }: Keeping): Date =>
  new Date(Math.max(earlier.getTime(), days === 0 ? 0 : Math.ceil(systemClock.now() / DAY_MS - (days - 1)) * DAY_MS));

/** Read from the table's own definition. */
async function keeping(clickhouse: ClickHouse, table: ForgettingTable): Promise<Keeping> {
  const [row] = await clickhouse.sql<{ engine_full: string; comment: string }>(
    'SELECT engine_full, comment FROM system.tables WHERE database = currentDatabase() AND name = {table:String}',
    { table },
  );
  const { engine_full: engine = '', comment = '' } = row ?? {};
  return {
    days: Number(/ TTL .*toIntervalDay\((\d+)\)/.exec(engine)?.[1] ?? 0),
    earlier: new Date(comment.startsWith(WHOLE_SINCE) ? comment.slice(WHOLE_SINCE.length) : 0),
  };
}
