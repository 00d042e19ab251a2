import { sql } from 'drizzle-orm';
import type { Platform } from '../core/model.ts';
import type { Postgres } from '../stores/postgres/client.ts';
import { rowsOf } from '../stores/postgres/json-row.ts';
import { ownKey, storeKey } from './rows.ts';

/** A copied market. `info` and `state` are JSON texts, as in `rows.ts`. */
export interface PresentMarket {
  ref: string;
  tokenIds: string[];
  info: string;
  state: string;
  /** Takers among its stored trades, and since when these are stored; null if the trades name none. */
  traders: { count: number; since: string } | null;
  /** Number of its stored trades. */
  trades: number;
}

/** The markets that have these names (references, platform ids, tokens, slugs, as stored), by name. One statement. */
export async function marketsNamed(
  { db }: Pick<Postgres, 'db'>,
  platform: Platform,
  names: readonly string[],
): Promise<Map<string, PresentMarket>> {
  if (names.length === 0) return new Map();
  const rows = rowsOf(
    await db.execute(sql`
      SELECT DISTINCT ON (n.name) n.name, m.ref, m.token_ids, m.info, s.state, s.trades AS stored, s.unique_traders, s.traded_since
      FROM present_names AS n JOIN present_markets AS m USING (key) JOIN present_states AS s USING (key)
      WHERE n.platform = ${platform} AND n.name = ANY(${sql.param(names)}::text[])
      ORDER BY n.name, n.rank, m.first_seen_at DESC, n.key`),
  );
  return new Map(rows.map((row) => [String(row['name']), toMarket(row)]));
}

/** The market that each platform has under the name given for it (as stored). One statement. */
export async function marketsOnPlatforms(
  { db }: Pick<Postgres, 'db'>,
  names: ReadonlyMap<Platform, string>,
): Promise<Map<Platform, PresentMarket>> {
  if (names.size === 0) return new Map();
  const rows = rowsOf(
    await db.execute(sql`
      SELECT DISTINCT ON (n.platform) n.platform, m.ref, m.token_ids, m.info, s.state, s.trades AS stored, s.unique_traders, s.traded_since
      FROM unnest(${sql.param([...names.keys()])}::text[], ${sql.param([...names.values()])}::text[]) AS asked (platform, name)
      JOIN present_names AS n USING (platform, name) JOIN present_markets AS m USING (key) JOIN present_states AS s USING (key)
      ORDER BY n.platform, n.rank, m.first_seen_at DESC, n.key`),
  );
  return new Map(rows.map((row) => [row['platform'] as Platform, toMarket(row)]));
}

/** The platform ids of an event's markets, at most `limit`. One statement. */
export async function idsOfEvent(
  { db }: Pick<Postgres, 'db'>,
  platform: Platform,
  eventId: string,
  limit: number,
): Promise<string[]> {
  const rows = rowsOf(
    await db.execute(sql`
      SELECT m.platform_id FROM present_ranks AS r JOIN present_markets AS m USING (key)
      WHERE r.platform = ${platform} AND r.event_id = ${eventId} ORDER BY m.platform_id COLLATE "C" LIMIT ${limit}`),
  );
  return rows.map((row) => String(row['platform_id']));
}

/** The markets of these keys, as in ClickHouse, by key. One statement. */
export async function marketsOfKeys(
  { db }: Pick<Postgres, 'db'>,
  keys: readonly string[],
): Promise<Map<string, PresentMarket>> {
  if (keys.length === 0) return new Map();
  const rows = rowsOf(
    await db.execute(sql`
      SELECT key, m.ref, m.token_ids, m.info, s.state, s.trades AS stored, s.unique_traders, s.traded_since
      FROM present_markets AS m JOIN present_states AS s USING (key) WHERE key = ANY(${sql.param(keys.map(ownKey))}::bigint[])`),
  );
  return new Map(rows.map((row) => [storeKey(String(row['key'])), toMarket(row)]));
}

/** A row of present_markets with its state. */
export function toMarket(row: Record<string, unknown>): PresentMarket {
  const count = row['unique_traders'];
  return {
    ref: row['ref'] as string,
    tokenIds: row['token_ids'] as string[],
    info: row['info'] as string,
    state: row['state'] as string,
    traders:
      count === null ? null : { count: Number(count), since: new Date(row['traded_since'] as string).toISOString() },
    trades: Number(row['stored']),
  };
}
