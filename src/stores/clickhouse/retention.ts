import { type ClickHouse, StoreError } from './client.ts';
import { ConfigError } from '../../core/config-error.ts';
import type { Config } from '../../core/config.ts';
import type { Log } from '../../core/log.ts';
import { withMigrationLock } from './migration-lock.ts';
import { databaseEngine } from './migrations.ts';
import { DAY_MS, HOUR_MS, systemClock } from '../../core/time.ts';

type Settings = Pick<
  Config,
  | 'RETENTION_TRADES_DAYS'
  | 'RETENTION_SNAPSHOTS_DAYS'
  | 'RETENTION_STREAM_DAYS'
  | 'RETENTION_BOOKS_DAYS'
  | 'COLD_AFTER_DAYS'
>;

/** Tables with rules for the age of their rows: the time column, and the setting after which rows are dropped; null = none drops them. */
const TABLES = [
  { table: 'trades', time: 'executed_at', setting: 'RETENTION_TRADES_DAYS' },
  { table: 'candles_1m', time: 't', setting: null },
  { table: 'candles_1h', time: 't', setting: null },
  { table: 'volume_1h', time: 'hour', setting: null },
  { table: 'whales', time: 'executed_at', setting: null },
  { table: 'whale_sizes', time: 'executed_at', setting: null },
  { table: 'market_snapshots', time: 'at', setting: 'RETENTION_SNAPSHOTS_DAYS' },
  // By the time of reading: an old bar that a request reads again is kept as long as a new one.
  { table: 'platform_candles', time: 'version', setting: 'RETENTION_SNAPSHOTS_DAYS' },
  { table: 'event_log', time: 'logged_at', setting: 'RETENTION_STREAM_DAYS' },
  { table: 'book_changes', time: 'received_at', setting: 'RETENTION_BOOKS_DAYS' },
  { table: 'book_snapshots', time: 'received_at', setting: 'RETENTION_BOOKS_DAYS' },
  { table: 'book_gaps', time: 'from_at', setting: 'RETENTION_BOOKS_DAYS' },
  { table: 'book_depth', time: 'minute', setting: null },
] as const;
type ForgettingTable = Extract<(typeof TABLES)[number], { setting: string }>['table'];

/** Prefix of a table's comment, before the time. */
const WHOLE_SINCE = 'No row was dropped for its age since ';

/** The storage policy of sql/server/cold.yaml whose volume `cold` takes old rows. */
const COLD = 'forecastle_cold';
/** The same policy without a cold volume in use. ClickHouse cannot remove a volume from a table's policy. */
const COLD_OFF = 'forecastle_cold_off';
const UNKNOWN_POLICY = '478';
/** Drops whole parts, and reads only the time column for a new TTL: otherwise parts would be read from object storage and written again. */
const WHOLE_PARTS = 'ttl_only_drop_parts = 1, materialize_ttl_recalculate_only = 1';

/**
 * Sets the tables' storage policy and TTL to the settings, where they differ. Rows move and are dropped in the background. Throws
 * ConfigError if rows are to move and the server has no storage policy for it.
 */
export async function applyRetention(clickhouse: ClickHouse, settings: Settings, log: Log): Promise<void> {
  const kept = await keepings(
    clickhouse,
    TABLES.map(({ table }) => table),
  );
  const changes = TABLES.flatMap(({ table, time, setting }) => {
    const before = kept.get(table) ?? UNLIMITED;
    // Where no setting drops rows, a rule that was set by hand stays.
    const days = setting === null ? before.days : settings[setting];
    // Rows that are dropped before they are cold do not move.
    const coldDays = days > 0 && days <= settings.COLD_AFTER_DAYS ? 0 : settings.COLD_AFTER_DAYS;
    const policy = coldDays > 0 ? COLD : before.policy === COLD ? COLD_OFF : before.policy;
    const same = before.days === days && before.coldDays === coldDays && before.policy === policy;
    return same ? [] : [{ table, time, before, days, coldDays, policy }];
  });
  if (changes.length === 0) return;
  await withMigrationLock(clickhouse, await databaseEngine(clickhouse), log, async () => {
    for (const { table, time, before, days, coldDays, policy } of changes) {
      // Statements of their own: a Replicated database refuses a setting and a TTL in one. The policy first: the TTL names its volume.
      if (before.policy !== policy) await setPolicy(clickhouse, table, policy);
      if (before.days !== days)
        // Records what the old rule has dropped: the new rule does not bring it back.
        await clickhouse.command(
          `ALTER TABLE ${table} MODIFY COMMENT '${WHOLE_SINCE}${wholeSince(before).toISOString()}'`,
        );
      if (before.days !== days || before.coldDays !== coldDays)
        await clickhouse.command(`ALTER TABLE ${table} ${ttl(time, { days, coldDays })}`);
      if (before.days !== days)
        log.info({ table, days }, days === 0 ? 'Rows are kept without limit' : 'Rows older than this are dropped');
      if (before.coldDays !== coldDays)
        log.info(
          { table, days: coldDays },
          coldDays === 0 ? 'Rows no longer move to the volume cold' : 'Rows older than this move to the volume cold',
        );
    }
  });
}

/** The clause that replaces a table's whole TTL. */
function ttl(time: string, { days, coldDays }: Pick<Keeping, 'days' | 'coldDays'>): string {
  const after = (age: number): string => `toDateTime(${time}) + toIntervalDay(${age})`;
  const rules = [...(coldDays > 0 ? [`${after(coldDays)} TO VOLUME 'cold'`] : []), ...(days > 0 ? [after(days)] : [])];
  return rules.length === 0 ? 'REMOVE TTL' : `MODIFY TTL ${rules.join(', ')}`;
}

async function setPolicy(clickhouse: ClickHouse, table: string, policy: string): Promise<void> {
  try {
    await clickhouse.command(`ALTER TABLE ${table} MODIFY SETTING storage_policy = '${policy}', ${WHOLE_PARTS}`);
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== UNKNOWN_POLICY) throw error;
    throw new ConfigError(
      `COLD_AFTER_DAYS: needs the storage policy ${policy}, which the ClickHouse server does not have; add sql/server/cold.yaml to its config.d (CLICKHOUSE_STORAGE=cold in docker compose)`,
    );
  }
}

/** Midnight from which a table certainly has all its rows; 1970 if none was ever dropped. */
export async function keptFrom(clickhouse: Pick<ClickHouse, 'sql'>, table: ForgettingTable): Promise<Date> {
  return wholeSince(await keeping(clickhouse, table));
}

/** The time, Unix ms, since which a table has all rows until an hour after `nowMs`. Up to a day earlier than `keptFrom`. */
export async function keptSince(clickhouse: ClickHouse, table: ForgettingTable, nowMs: number): Promise<number> {
  const { days, earlier } = await keeping(clickhouse, table);
  // `earlier` is rounded up to midnight: an earlier rule has dropped up to a day less.
  return Math.max(0, earlier.getTime() - DAY_MS, days === 0 ? 0 : nowMs - days * DAY_MS + HOUR_MS);
}

/** What a table's definition says of the age of its rows. */
interface Keeping {
  /** Retention in days; 0 = for ever. */
  days: number;
  /** From when no earlier rule dropped rows. */
  earlier: Date;
  /** Days after which rows move to the volume `cold`; 0 = never. */
  coldDays: number;
  /** The storage policy. */
  policy: string;
}

const wholeSince = ({ days, earlier }: Keeping): Date =>
  new Date(Math.max(earlier.getTime(), days === 0 ? 0 : Math.ceil(systemClock.now() / DAY_MS - (days - 1)) * DAY_MS));

const DROPPED = /toIntervalDay\((\d+)\)(?! TO )/;
const MOVED = /toIntervalDay\((\d+)\) TO VOLUME/;

/** The rules of a table that does not exist. */
const UNLIMITED: Keeping = { days: 0, earlier: new Date(0), coldDays: 0, policy: '' };

async function keepings(clickhouse: Pick<ClickHouse, 'sql'>, tables: string[]): Promise<Map<string, Keeping>> {
  const rows = await clickhouse.sql<{ name: string; engine: string; comment: string; policy: string }>(
    `SELECT name, engine_full AS engine, comment, storage_policy AS policy FROM system.tables
     WHERE database = currentDatabase() AND name IN {tables:Array(String)}`,
    { tables },
  );
  return new Map(
    rows.map(({ name, engine, comment, policy }) => {
      const days = Number(DROPPED.exec(engine)?.[1] ?? 0);
      const earlier = new Date(comment.startsWith(WHOLE_SINCE) ? comment.slice(WHOLE_SINCE.length) : 0);
      // Under another policy rows move by a rule that was set by hand.
      const isOurs = policy === COLD || policy === COLD_OFF;
      const coldDays = isOurs ? Number(MOVED.exec(engine)?.[1] ?? 0) : 0;
      return [name, { days, earlier, coldDays, policy }];
    }),
  );
}

const keeping = async (clickhouse: Pick<ClickHouse, 'sql'>, table: ForgettingTable): Promise<Keeping> =>
  (await keepings(clickhouse, [table])).get(table) ?? UNLIMITED;
