import { sql, type SQL } from 'drizzle-orm';
import type { Platform, VerdictBy } from '../core/model.ts';
import type { Postgres } from '../stores/postgres/client.ts';
import { rowsOf } from '../stores/postgres/json-row.ts';
import { ownKey, storeKey } from './rows.ts';

/** Filters of matches; an absent one excludes nothing. */
export interface MatchFilter {
  ids?: readonly string[];
  /** Keys of markets, one of which is in the pair. */
  keys?: readonly string[];
  relations?: readonly string[];
  platform?: Platform | undefined;
  /** Events by platform and id; one market of the pair is in one of them. */
  events?: readonly (readonly [Platform, string])[];
  category?: string | undefined;
  /** Whose verdict counts. */
  by?: VerdictBy | undefined;
}

/** A place in the list of matches. */
interface MatchPlace {
  foundAt: string;
  key: string;
}

/** A pair with the verdict that counts, keys as in ClickHouse. */
export interface PresentMatch {
  key: string;
  aPlatform: Platform;
  aKey: string;
  bPlatform: Platform;
  bKey: string;
  relation: string;
  by: VerdictBy;
  /** The person's verdict that counts; null if that of the rules counts. */
  given: GivenVerdict | null;
  /** The verdict of the rules; null where they have none on the texts that the markets have now. */
  rulesRelation: string | null;
  kind: string;
  /** JSON; '[]' without a verdict of the rules. */
  reasons: string;
  rulesVersion: number;
  foundAt: string;
  checkedAt: string;
}

/** A person's verdict on a pair. */
interface GivenVerdict {
  note: string | null;
  givenAt: string;
  /** Whether a text of the pair has changed since. */
  isOlder: boolean;
}

/**
 * Pairs with the verdicts that count for a user, newest pairs first, in one statement. Their number only if `isCounted`, because counting
 * reads all pairs of the filter. A verdict of the rules counts as long as both markets have the texts that it was made on.
 */
export async function readMatches(
  { db }: Pick<Postgres, 'db'>,
  user: string | null,
  filter: MatchFilter,
  { after, limit, isCounted }: { after: MatchPlace | null; limit: number; isCounted: boolean },
): Promise<{ matches: PresentMatch[]; total: number | null }> {
  const counted = sql`(SELECT count(*) FROM present_matches AS m ${joinsFor(user)} WHERE ${conditions(filter, null)})`;
  // Reasons are long, so they are read only for the rows of the page.
  const rows = rowsOf(
    await db.execute(sql`
      WITH page AS (
        SELECT m.a_key, m.b_key, ${RELATION} AS counts, ${BY} AS by, ${HOLDS} AS holds, CASE WHEN u.match_key IS NULL THEN o.note ELSE u.note END AS note,
          coalesce(u.given_at, o.given_at) AS given_at,
          (a.texts, b.texts) IS DISTINCT FROM (coalesce(u.a_texts, o.a_texts), coalesce(u.b_texts, o.b_texts)) AS is_older
        FROM present_matches AS m ${joinsFor(user)}
        WHERE ${conditions(filter, after)}
        ORDER BY m.found_at DESC, m.match_key DESC LIMIT ${limit}
      )
      SELECT m.match_key, m.a_platform, a_key, m.b_platform, b_key, m.relation, m.kind, m.reasons, m.rules_version, m.found_at, m.checked_at,
        page.counts, page.by, page.holds, page.note, page.given_at, page.is_older, ${isCounted ? counted : sql`NULL`} AS total
      FROM page JOIN present_matches AS m USING (a_key, b_key) ORDER BY m.found_at DESC, m.match_key DESC`),
  );
  return { matches: rows.map(toMatch), total: isCounted ? Number(rows[0]?.['total'] ?? 0) : null };
}

const HOLDS = sql`(NOT m.is_withdrawn AND a.texts = m.a_texts AND b.texts = m.b_texts)`;
/** Whose verdict counts. */
export const BY = sql`CASE WHEN u.match_key IS NOT NULL THEN 'user' WHEN o.match_key IS NOT NULL THEN 'operator' ELSE 'rules' END`;
/** The relation that counts. */
export const RELATION = sql`coalesce(u.relation, o.relation, m.relation)`;
/** Whether any verdict counts. */
export const COUNTS = sql`(${HOLDS} OR u.match_key IS NOT NULL OR o.match_key IS NOT NULL)`;

/** Joins of a pair `m`: both markets, the user's verdict and the operator's. */
export const joinsFor = (user: string | null): SQL => sql`
  JOIN present_markets AS a ON a.key = m.a_key JOIN present_markets AS b ON b.key = m.b_key
  LEFT JOIN match_verdicts AS u ON u.match_key = m.match_key AND u.user_id = ${user}::uuid
  LEFT JOIN match_verdicts AS o ON o.match_key = m.match_key AND o.user_id IS NULL`;

const keysOf = (list: readonly string[]): SQL => sql`ANY(${sql.param(list.map(ownKey))}::bigint[])`;

function conditions(filter: MatchFilter, after: MatchPlace | null): SQL {
  const { ids, keys, relations = [], platform, events, category, by } = filter;
  const found = [COUNTS];
  if (ids) found.push(sql`m.match_key = ${keysOf(ids)}`);
  if (keys) found.push(sql`(m.a_key = ${keysOf(keys)} OR m.b_key = ${keysOf(keys)})`);
  if (relations.length > 0) found.push(sql`${RELATION} = ANY(${sql.param(relations)}::text[])`);
  if (platform) found.push(sql`(m.a_platform = ${platform} OR m.b_platform = ${platform})`);
  if (events) found.push(events.length === 0 ? sql`false` : sql`(${sql.join(events.map(ofEvent), sql` OR `)})`);
  if (category) found.push(sql`(m.a_category = ${category} OR m.b_category = ${category})`);
  if (by) found.push(sql`${BY} = ${by}`);
  if (after) found.push(sql`(m.found_at, m.match_key) < (${after.foundAt}::timestamptz, ${ownKey(after.key)}::bigint)`);
  return sql.join(found, sql` AND `);
}

/** Whether one market of a pair `m` is of an event. */
export const ofEvent = ([platform, id]: readonly [Platform, string]): SQL => sql`
  (m.a_platform = ${platform} AND m.a_event_id = ${id}) OR (m.b_platform = ${platform} AND m.b_event_id = ${id})`;

const timeOf = (value: unknown): string => new Date(value as string).toISOString();

function toMatch(row: Record<string, unknown>): PresentMatch {
  const by = row['by'] as VerdictBy;
  const holds = row['holds'] === true;
  return {
    key: storeKey(String(row['match_key'])),
    aPlatform: row['a_platform'] as Platform,
    aKey: storeKey(String(row['a_key'])),
    bPlatform: row['b_platform'] as Platform,
    bKey: storeKey(String(row['b_key'])),
    relation: String(row['counts']),
    by,
    given:
      by === 'rules'
        ? null
        : {
            note: row['note'] as string | null,
            givenAt: timeOf(row['given_at']),
            isOlder: row['is_older'] === true,
          },
    rulesRelation: holds ? String(row['relation']) : null,
    kind: String(row['kind']),
    reasons: holds ? String(row['reasons']) : '[]',
    rulesVersion: Number(row['rules_version']),
    foundAt: timeOf(row['found_at']),
    checkedAt: timeOf(row['checked_at']),
  };
}
