import { sql, type SQL } from 'drizzle-orm';
import type { Platform } from '../core/model.ts';
import type { Postgres } from '../stores/postgres/client.ts';
import { rowsOf } from '../stores/postgres/json-row.ts';
import { ownKey, storeKey } from './rows.ts';

/** Which matches are wanted; what is absent chooses all. */
export interface MatchFilter {
  ids?: readonly string[];
  /** Keys of markets, one of which is in the pair. */
  keys?: readonly string[];
  relations?: readonly string[];
  platform?: Platform | undefined;
  /** Events by platform and id, of which one market of the pair is. */
  events?: readonly (readonly [Platform, string])[];
  category?: string | undefined;
}

/** A place in the list of matches. */
export interface MatchPlace {
  foundAt: string;
  key: string;
}

/** A verdict that holds, with keys as in ClickHouse; reasons are JSON. */
export interface PresentMatch {
  key: string;
  aPlatform: Platform;
  aKey: string;
  bPlatform: Platform;
  bKey: string;
  relation: string;
  kind: string;
  reasons: string;
  rulesVersion: number;
  foundAt: string;
  checkedAt: string;
}

/** Verdicts on texts that both markets still have, newest pairs first, and their number; it is null after a place. One statement. */
export async function readMatches(
  { db }: Pick<Postgres, 'db'>,
  filter: MatchFilter,
  after: MatchPlace | null,
  limit: number,
): Promise<{ matches: PresentMatch[]; total: number | null }> {
  const total = after ? sql`NULL::bigint` : sql`count(*) OVER ()`;
  // Reasons are long: they are read of the page alone.
  const rows = rowsOf(
    await db.execute(sql`
      WITH page AS (
        SELECT m.a_key, m.b_key, ${total} AS total FROM present_matches AS m
        JOIN present_markets AS a ON a.key = m.a_key AND a.texts = m.a_texts
        JOIN present_markets AS b ON b.key = m.b_key AND b.texts = m.b_texts
        WHERE ${conditions(filter, after)}
        ORDER BY m.found_at DESC, m.match_key DESC LIMIT ${limit}
      )
      SELECT m.match_key, m.a_platform, a_key, m.b_platform, b_key, m.relation, m.kind, m.reasons, m.rules_version, m.found_at, m.checked_at, page.total
      FROM page JOIN present_matches AS m USING (a_key, b_key) ORDER BY m.found_at DESC, m.match_key DESC`),
  );
  return { matches: rows.map(toMatch), total: after ? null : Number(rows[0]?.['total'] ?? 0) };
}

const keysOf = (list: readonly string[]): SQL => sql`ANY(${sql.param(list.map(ownKey))}::bigint[])`;

function conditions(filter: MatchFilter, after: MatchPlace | null): SQL {
  const { ids, keys, relations = [], platform, events, category } = filter;
  const found = [sql`NOT m.is_withdrawn`];
  if (ids) found.push(sql`m.match_key = ${keysOf(ids)}`);
  if (keys) found.push(sql`(m.a_key = ${keysOf(keys)} OR m.b_key = ${keysOf(keys)})`);
  if (relations.length > 0) found.push(sql`m.relation = ANY(${sql.param(relations)}::text[])`);
  if (platform) found.push(sql`(m.a_platform = ${platform} OR m.b_platform = ${platform})`);
  if (events) found.push(sql`(${sql.join(events.map(ofEvent), sql` OR `)})`);
  if (category) found.push(sql`(m.a_category = ${category} OR m.b_category = ${category})`);
  if (after) found.push(sql`(m.found_at, m.match_key) < (${after.foundAt}::timestamptz, ${ownKey(after.key)}::bigint)`);
  return sql.join(found, sql` AND `);
}

const ofEvent = ([platform, id]: readonly [Platform, string]): SQL => sql`
  (m.a_platform = ${platform} AND m.a_event_id = ${id}) OR (m.b_platform = ${platform} AND m.b_event_id = ${id})`;

const timeOf = (value: unknown): string => new Date(value as string).toISOString();

const toMatch = (row: Record<string, unknown>): PresentMatch => ({
  key: storeKey(String(row['match_key'])),
  aPlatform: row['a_platform'] as Platform,
  aKey: storeKey(String(row['a_key'])),
  bPlatform: row['b_platform'] as Platform,
  bKey: storeKey(String(row['b_key'])),
  relation: String(row['relation']),
  kind: String(row['kind']),
  reasons: String(row['reasons']),
  rulesVersion: Number(row['rules_version']),
  foundAt: timeOf(row['found_at']),
  checkedAt: timeOf(row['checked_at']),
});
