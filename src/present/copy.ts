import { DrizzleQueryError, sql, type SQL } from 'drizzle-orm';
import type { Log } from '../core/log.ts';
import { marketKey } from '../core/market-key.ts';
import { type Platform, PLATFORMS } from '../core/model.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import type { Database, Postgres } from '../stores/postgres/client.ts';
import { jsonbOf, rowsOf } from '../stores/postgres/json-row.ts';
import {
  eventsOfMarkets,
  ParentIds,
  readParents,
  copiedSeries,
  storeEventRanks,
  storeParents,
  uncopied,
  vocabularyOf,
} from './parents.ts';
import { storeRanks } from './ranks.ts';
import { CopiedRow, marketOf, namesOf, ownKey, searchedOf, stateOf, UNKNOWN_PRICE, withoutNul } from './rows.ts';

/** Where markets are copied from, and to. */
export interface Stores {
  clickhouse: Pick<ClickHouse, 'query'>;
  postgres: Pick<Postgres, 'db'>;
  log: Log;
}

/** A market by its platform's reference. */
export interface MarketRef {
  platform: Platform;
  ref: string;
}

/** Markets copied by one transaction. */
export const MARKETS_AT_ONCE = 1500;
/** Former ranks are kept for this long after they were replaced; later pages of older lists come from ClickHouse. */
const FORMER_KEPT = '10 minutes';
/** Ranks that one transaction refreshes, and former ranks that one statement removes: both stay within the time limit of a statement. */
const REFRESHED = 2000;
const FORGOTTEN = 20_000;
/** Time limit of a read of ClickHouse under a lock; PostgreSQL gives up waiting for a lock later than that. */
export const READ_MS = 4000;

/**
 * Copies markets, at most MARKETS_AT_ONCE, from ClickHouse to PostgreSQL, as they are now; one that ClickHouse does not list is removed. A
 * market that PostgreSQL cannot hold is removed and logged, and the others are copied. Their events and series are copied too: all of them
 * if `changed` is absent, else those in `changed` and those that PostgreSQL lacks.
 */
export async function copyMarkets(stores: Stores, markets: readonly MarketRef[], changed?: ParentIds): Promise<void> {
  const [first] = markets;
  if (!first && !changed) return;
  try {
    await copyGroup(stores, markets, changed);
  } catch (error) {
    if (!isUnheld(error)) throw error;
    if (changed) return copyApart(stores, markets, changed);
    if (!first) return;
    if (markets.length === 1) {
      const { platform, ref } = first;
      await dropMarket(stores, platform, ref);
      stores.log.warn({ platform, ref, code: error.cause.code }, 'PostgreSQL cannot hold this market');
      return;
    }
    const half = Math.ceil(markets.length / 2);
    await copyMarkets(stores, markets.slice(0, half));
    await copyMarkets(stores, markets.slice(half));
  }
}

/** Copies markets with their own events and series, then the others one by one. */
async function copyApart(stores: Stores, markets: readonly MarketRef[], changed: ParentIds): Promise<void> {
  await copyMarkets(stores, markets);
  for (const alone of [...changed.events, ...changed.series]) {
    try {
      await copyGroup(stores, [], new ParentIds([alone]));
    } catch (error) {
      if (!isUnheld(error)) throw error;
      stores.log.warn({ ...alone, code: error.cause.code }, 'PostgreSQL cannot hold this event or series');
    }
  }
}

/** Whether a value caused the error: SQLSTATE class 22 (data exception) or 54 (a limit of PostgreSQL). */
const isUnheld = (error: unknown): error is { cause: { code: string } } =>
  error instanceof DrizzleQueryError && /^(22|54)/.test(String((error.cause as { code?: unknown } | undefined)?.code));

/** Copies markets under a lock on their platforms, taken before ClickHouse is read: a later copy has later data. */
async function copyGroup(
  { clickhouse, postgres }: Stores,
  markets: readonly MarketRef[],
  changed: ParentIds | undefined,
): Promise<void> {
  await postgres.db.transaction(async (db) => {
    const versions = await nextVersions(
      db,
      [...markets, ...(changed ?? [])].map(({ platform }) => platform),
    );
    const parents = new ParentIds();
    for (const platform of versions.keys()) {
      const keys = markets.filter((market) => market.platform === platform).map(keyOf);
      parents.add(platform, { events: await eventsOfMarkets(db, keys) });
    }
    const asked = { platforms: markets.map(({ platform }) => platform), refs: markets.map(({ ref }) => ref) };
    const rows =
      markets.length === 0 ? [] : await clickhouse.query('present_markets', CopiedRow, asked, { timeoutMs: READ_MS });
    for (const [platform, version] of versions) {
      const own = rows.filter((row) => row.platform === platform);
      const listed = new Set(own.map(({ ref }) => ref));
      const gone = markets.filter((market) => market.platform === platform && !listed.has(market.ref));
      await removeMarkets(db, gone.map(keyOf));
      if (own.length > 0) await storeMarkets(db, platform, own, version);
    }
    for (const { platform, listed_event: event, series_id: id } of rows) {
      parents.add(platform, { events: [withoutNul(event)], series: [id] });
    }
    const due = changed === undefined ? parents : await uncopied(db, parents);
    // A series is first copied with one of its markets: a changed series without a copy is left out.
    if (changed !== undefined) due.addAll([...changed.events, ...(await copiedSeries(db, changed.series))]);
    parents.addAll(due);
    const read = await readParents(clickhouse, due);
    for (const [platform, version] of versions) {
      const events = parents.events.filter((event) => event.platform === platform).map(({ id }) => id);
      const own = read.filter((row) => row.of_platform === platform);
      await storeParents(db, { platform, version, events, parents: own });
    }
  });
}

/** The key of a market's rows in PostgreSQL. Its tables have no index on references. */
const keyOf = (market: MarketRef): string => ownKey(marketKey(market));

/** Removes one market before it is removed from ClickHouse. After a kill in between, the sweep finds it missing again. */
export async function dropMarket({ postgres }: Pick<Stores, 'postgres'>, platform: Platform, ref: string) {
  await postgres.db.transaction(async (db) => {
    const version = await nextVersion(db, platform);
    const keys = [keyOf({ platform, ref })];
    const events = await eventsOfMarkets(db, keys);
    await removeMarkets(db, keys);
    await storeEventRanks(db, { platform, version, events });
  });
}

/** Limits a condition on ranks to REFRESHED of them. */
const someRanks = (condition: SQL): SQL =>
  sql`key = ANY(ARRAY(SELECT key FROM present_ranks WHERE ${condition} LIMIT ${REFRESHED}))`;

/** Sets the volumes of the last day and week of closed markets to 0, and their change of a day to unknown, once their stale_at and stale_week_at have passed. */
export async function refreshRanks({ postgres }: Pick<Stores, 'postgres'>, platform: Platform, nowMs: number) {
  const over = (column: SQL) =>
    sql`platform = ${platform} AND ${column} <= ${new Date(nowMs).toISOString()}::timestamptz`;
  const day = over(sql`stale_at`);
  const week = over(sql`stale_week_at`);
  const due = sql`
    (SELECT key FROM present_ranks WHERE ${day} LIMIT 1) UNION ALL (SELECT key FROM present_ranks WHERE ${week} LIMIT 1)`;
  while (rowsOf(await postgres.db.execute(due)).length > 0) {
    await postgres.db.transaction(async (db) => {
      const version = await nextVersion(db, platform);
      const now = sql`version = ${version}::bigint`;
      const overDay = await db.execute(sql`
        UPDATE present_ranks SET by_volume_24h = 0, by_volume_24h_usd = 0, by_change_24h = ${String(UNKNOWN_PRICE)}::bigint, stale_at = NULL, ${now} WHERE ${someRanks(day)} RETURNING event_id`);
      const overWeek = await db.execute(
        sql`UPDATE present_ranks SET by_volume_7d_usd = 0, stale_week_at = NULL, ${now} WHERE ${someRanks(week)} RETURNING event_id`,
      );
      const events = new Set([...rowsOf(overDay), ...rowsOf(overWeek)].map((row) => String(row['event_id'])));
      await storeEventRanks(db, { platform, version, events: [...events] });
    });
  }
}

/** Removes at most FORGOTTEN former ranks of a table that are older than FORMER_KEPT. */
const formerRanks = (table: SQL, platform: Platform): SQL => sql`
  DELETE FROM ${table} WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM ${table} WHERE platform = ${platform} AND replaced_at < now() - ${FORMER_KEPT}::interval LIMIT ${FORGOTTEN}
  )) RETURNING until`;

/** Removes former ranks older than FORMER_KEPT. */
export async function forgetFormer({ postgres }: Pick<Stores, 'postgres'>, platform: Platform): Promise<void> {
  for (let isOver = false; !isOver;) {
    const forgotten = await postgres.db.execute(sql`
      WITH markets AS (${formerRanks(sql`present_ranks_were`, platform)}),
        events AS (${formerRanks(sql`present_event_ranks_were`, platform)}),
        gone AS (SELECT until FROM markets UNION ALL SELECT until FROM events)
      UPDATE present_platforms SET former_from = greatest(former_from, (SELECT max(until) FROM gone))
      WHERE platform = ${platform} AND EXISTS (SELECT FROM gone) RETURNING platform`);
    isOver = rowsOf(forgotten).length === 0;
  }
}

/** The next version of a platform's copy. Locks the platform's row until the transaction ends. */
const nextVersion = async (db: Database, platform: Platform): Promise<string> =>
  (await nextVersions(db, [platform])).get(platform) ?? '';

/** The next version of each platform's copy. Locks the platforms' rows until the transaction ends, always in the same order. */
async function nextVersions(db: Database, platforms: readonly Platform[]): Promise<Map<Platform, string>> {
  const locked = PLATFORMS.filter((platform) => platforms.includes(platform));
  const rows = rowsOf(
    await db.execute(sql`
      INSERT INTO present_platforms (platform, version) SELECT platform, 1 FROM unnest(${sql.param(locked)}::text[]) AS p(platform)
      ON CONFLICT (platform) DO UPDATE SET version = present_platforms.version + 1
      RETURNING platform, version`),
  );
  const versions = new Map(rows.map((row) => [row['platform'], String(row['version'])]));
  return new Map(locked.map((platform) => [platform, versions.get(platform) ?? '']));
}

async function removeMarkets(db: Database, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  await db.execute(sql`
    WITH gone AS (DELETE FROM present_markets WHERE key = ANY(${sql.param(keys)}::bigint[]) RETURNING key),
      names AS (DELETE FROM present_names AS n USING gone AS g WHERE n.key = g.key),
      searched AS (DELETE FROM present_searched AS t USING gone AS g WHERE t.key = g.key),
      ranks AS (DELETE FROM present_ranks AS r USING gone AS g WHERE r.key = g.key)
    DELETE FROM present_states AS s USING gone AS g WHERE s.key = g.key`);
}

async function storeMarkets(
  db: Database,
  platform: Platform,
  rows: readonly CopiedRow[],
  version: string,
): Promise<void> {
  const changed = await db.execute(sql`
    INSERT INTO present_markets AS old (key, platform, ref, platform_id, token_ids, info, first_seen_at, info_version, texts)
    SELECT key, ${platform}, ref, platform_id, token_ids, info, first_seen_at, info_version, texts
    FROM jsonb_to_recordset(${jsonbOf(rows.map(marketOf))}) AS r(key bigint, ref text, platform_id text, token_ids text[], info text, first_seen_at timestamptz, info_version timestamptz, texts bigint)
    ON CONFLICT (key) DO UPDATE SET platform_id = excluded.platform_id, token_ids = excluded.token_ids, info = excluded.info, first_seen_at = excluded.first_seen_at,
      info_version = excluded.info_version, texts = excluded.texts
    WHERE (old.platform_id, old.token_ids, old.info, old.first_seen_at, old.info_version, old.texts)
      IS DISTINCT FROM (excluded.platform_id, excluded.token_ids, excluded.info, excluded.first_seen_at, excluded.info_version, excluded.texts)
    RETURNING key`);
  const keys = new Set(rowsOf(changed).map(({ key }) => String(key)));
  if (keys.size > 0) {
    const renamed = rows.filter(({ key }) => keys.has(key));
    await db.execute(sql`DELETE FROM present_names WHERE key = ANY(${sql.param([...keys])}::bigint[])`);
    await db.execute(sql`
      INSERT INTO present_names (platform, name, key, rank)
      SELECT ${platform}, name, key, rank FROM jsonb_to_recordset(${jsonbOf(renamed.flatMap(namesOf))}) AS r(name text, key bigint, rank smallint)`);
    await storeWords(db, platform, renamed, version);
  }
  await storeRanks(db, platform, rows, version);
  await db.execute(sql`
    INSERT INTO present_states AS old (key, platform, version, state, trades, unique_traders, traded_since, synced_at, written_at)
    SELECT key, ${platform}, ${version}::bigint, state, trades, unique_traders, traded_since, synced_at, written_at
    FROM jsonb_to_recordset(${jsonbOf(rows.map(stateOf))})
      AS r(key bigint, state text, trades bigint, unique_traders bigint, traded_since timestamptz, synced_at timestamptz, written_at timestamptz)
    ON CONFLICT (key) DO UPDATE SET version = excluded.version, state = excluded.state, trades = excluded.trades, unique_traders = excluded.unique_traders,
      traded_since = excluded.traded_since, synced_at = excluded.synced_at, written_at = excluded.written_at
    WHERE (old.state, old.trades, old.unique_traders, old.traded_since, old.written_at)
      IS DISTINCT FROM (excluded.state, excluded.trades, excluded.unique_traders, excluded.traded_since, excluded.written_at)`);
}

async function storeWords(
  db: Database,
  platform: Platform,
  rows: readonly CopiedRow[],
  version: string,
): Promise<void> {
  await db.execute(sql`
    WITH given AS (
      SELECT * FROM jsonb_to_recordset(${jsonbOf(rows.map(searchedOf))}) AS r(key bigint, id text, title text, title_words text[], words text[])
    ),
    vocabulary AS (${vocabularyOf(platform, 'market', version)})
    INSERT INTO present_searched (key, platform, id, title, words)
    SELECT key, ${platform}, id, title, array_to_tsvector(words) FROM given
    ON CONFLICT (key) DO UPDATE SET id = excluded.id, title = excluded.title, words = excluded.words`);
}
