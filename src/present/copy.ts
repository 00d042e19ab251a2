import { sql, type SQL } from 'drizzle-orm';
import type { Platform } from '../core/model.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import type { Database, Postgres } from '../stores/postgres/client.ts';
import { rowsOf } from '../stores/postgres/json-row.ts';
import { CopiedRow, marketOf, namesOf, stateOf } from './rows.ts';

/** Where markets are copied from, and to. */
export interface Stores {
  clickhouse: Pick<ClickHouse, 'query'>;
  postgres: Pick<Postgres, 'db'>;
}

/** Markets copied by one transaction. */
export const GROUP = 500;
/** Within the time after which a lock of PostgreSQL is given up. */
const READ_MS = 4000;

/** Rows as one parameter, for `FROM jsonb_to_recordset(…)`. */
const json = (rows: readonly object[]): SQL => sql`${JSON.stringify(rows)}::jsonb`;

/**
 * Copies markets, at most GROUP, from ClickHouse to PostgreSQL, as they are now; one that ClickHouse does not list is removed. The
 * platform's row is locked before the rows are read: whoever copies later has read later.
 */
export async function copyMarkets(
  { clickhouse, postgres }: Stores,
  platform: Platform,
  refs: readonly string[],
): Promise<void> {
  if (refs.length === 0) return;
  await postgres.db.transaction(async (db) => {
    const version = await nextVersion(db, platform);
    const rows = await clickhouse.query('present_markets', CopiedRow, { platform, refs }, { timeoutMs: READ_MS });
    const listed = new Set(rows.map(({ ref }) => ref));
    await removeMarkets(
      db,
      platform,
      refs.filter((ref) => !listed.has(ref)),
    );
    if (rows.length > 0) await storeMarkets(db, platform, rows, version);
  });
}

/** Removes one market before it is removed from ClickHouse: killed in between, it is found missing at its platform once more. */
export async function dropMarket({ postgres }: Pick<Stores, 'postgres'>, platform: Platform, ref: string) {
  await postgres.db.transaction(async (db) => {
    await nextVersion(db, platform);
    await removeMarkets(db, platform, [ref]);
  });
}

/** Locks the platform's row until the transaction ends. */
async function nextVersion(db: Database, platform: Platform): Promise<string> {
  const [row] = rowsOf(
    await db.execute(sql`
      INSERT INTO present_platforms (platform, version) VALUES (${platform}, 1)
      ON CONFLICT (platform) DO UPDATE SET version = present_platforms.version + 1
      RETURNING version`),
  );
  return String(row?.['version']);
}

async function removeMarkets(db: Database, platform: Platform, refs: readonly string[]): Promise<void> {
  if (refs.length === 0) return;
  await db.execute(sql`
    WITH gone AS (DELETE FROM present_markets WHERE platform = ${platform} AND ref = ANY(${sql.param(refs)}::text[]) RETURNING key),
      names AS (DELETE FROM present_names AS n USING gone AS g WHERE n.key = g.key)
    DELETE FROM present_states AS s USING gone AS g WHERE s.key = g.key`);
}

async function storeMarkets(
  db: Database,
  platform: Platform,
  rows: readonly CopiedRow[],
  version: string,
): Promise<void> {
  const changed = await db.execute(sql`
    INSERT INTO present_markets AS old (key, platform, ref, platform_id, token_ids, info, first_seen_at, info_version)
    SELECT key, ${platform}, ref, platform_id, token_ids, info, first_seen_at, info_version
    FROM jsonb_to_recordset(${json(rows.map(marketOf))}) AS r(key bigint, ref text, platform_id text, token_ids text[], info text, first_seen_at timestamptz, info_version timestamptz)
    ON CONFLICT (key) DO UPDATE SET platform_id = excluded.platform_id, token_ids = excluded.token_ids, info = excluded.info, first_seen_at = excluded.first_seen_at,
      info_version = excluded.info_version
    WHERE (old.platform_id, old.token_ids, old.info, old.first_seen_at, old.info_version)
      IS DISTINCT FROM (excluded.platform_id, excluded.token_ids, excluded.info, excluded.first_seen_at, excluded.info_version)
    RETURNING key`);
  const keys = new Set(rowsOf(changed).map(({ key }) => String(key)));
  if (keys.size > 0) {
    const names = rows.filter(({ key }) => keys.has(key)).flatMap(namesOf);
    await db.execute(sql`DELETE FROM present_names WHERE key = ANY(${sql.param([...keys])}::bigint[])`);
    await db.execute(sql`
      INSERT INTO present_names (platform, name, key, rank)
      SELECT ${platform}, name, key, rank FROM jsonb_to_recordset(${json(names)}) AS r(name text, key bigint, rank smallint)`);
  }
  await db.execute(sql`
    INSERT INTO present_states AS old (key, platform, version, state, unique_traders, traded_since, synced_at, written_at)
    SELECT key, ${platform}, ${version}::bigint, state, unique_traders, traded_since, synced_at, written_at
    FROM jsonb_to_recordset(${json(rows.map(stateOf))})
      AS r(key bigint, state text, unique_traders bigint, traded_since timestamptz, synced_at timestamptz, written_at timestamptz)
    ON CONFLICT (key) DO UPDATE SET version = excluded.version, state = excluded.state, unique_traders = excluded.unique_traders,
      traded_since = excluded.traded_since, synced_at = excluded.synced_at, written_at = excluded.written_at
    WHERE (old.state, old.unique_traders, old.traded_since, old.written_at)
      IS DISTINCT FROM (excluded.state, excluded.unique_traders, excluded.traded_since, excluded.written_at)`);
}
