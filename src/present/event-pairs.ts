import { sql } from 'drizzle-orm';
import { hasEnded, type Platform, unifiedId, type VerdictBy } from '../core/model.ts';
import type { Postgres } from '../stores/postgres/client.ts';
import { rowsOf } from '../stores/postgres/json-row.ts';
import { BY, COUNTS, joinsFor, ofEvent, RELATION } from './read-matches.ts';
import { storeKey } from './rows.ts';

/** Maximum pairs of one read: a market has at most ten, and an event rarely a hundred markets. */
const MOST_PAIRS = 5000;
const MOST_MARKETS = 5000;

/** An identical or complementary pair whose markets both have an event, with keys as in ClickHouse. */
export interface EventPair {
  key: string;
  relation: 'identical' | 'complement';
  by: VerdictBy;
  aEvent: readonly [Platform, string];
  bEvent: readonly [Platform, string];
  a: string;
  b: string;
  /** Unified ids of both markets. */
  aId: string;
  bId: string;
}

/** Identical and complementary pairs with a market of one of these events, as they count for a user. One statement. */
export async function eventPairs(
  { db }: Pick<Postgres, 'db'>,
  user: string | null,
  events: readonly (readonly [Platform, string])[],
): Promise<EventPair[]> {
  const rows = rowsOf(
    await db.execute(sql`
      SELECT m.match_key, ${RELATION} AS counts, ${BY} AS by, m.a_platform, m.a_event_id, m.a_key, a.platform_id AS a_id, m.b_platform, m.b_event_id,
        m.b_key, b.platform_id AS b_id
      FROM present_matches AS m ${joinsFor(user)}
      WHERE ${COUNTS} AND ${RELATION} IN ('identical', 'complement') AND m.a_event_id <> '' AND m.b_event_id <> ''
        AND (${sql.join(events.map(ofEvent), sql` OR `)})
      ORDER BY m.found_at, m.match_key LIMIT ${MOST_PAIRS}`),
  );
  return rows.map((row) => {
    const [aPlatform, bPlatform] = [row['a_platform'] as Platform, row['b_platform'] as Platform];
    return {
      key: storeKey(String(row['match_key'])),
      relation: row['counts'] as EventPair['relation'],
      by: row['by'] as VerdictBy,
      aEvent: [aPlatform, String(row['a_event_id'])],
      bEvent: [bPlatform, String(row['b_event_id'])],
      a: storeKey(String(row['a_key'])),
      b: storeKey(String(row['b_key'])),
      aId: unifiedId(aPlatform, String(row['a_id'])),
      bId: unifiedId(bPlatform, String(row['b_id'])),
    };
  });
}

/** The listed markets of these events, those with the largest volume first; placeholders and combinations are left out. One statement. */
export async function marketsOfEvents(
  { db }: Pick<Postgres, 'db'>,
  events: readonly (readonly [Platform, string])[],
): Promise<{ key: string; platform: Platform; eventId: string; hasEnded: boolean }[]> {
  const asked = sql`unnest(${sql.param(events.map(([platform]) => platform))}::text[], ${sql.param(events.map(([, id]) => id))}::text[])`;
  const rows = rowsOf(
    await db.execute(sql`
      SELECT DISTINCT r.key, r.platform, r.event_id, r.status, r.by_volume_total FROM ${asked} AS e(platform, event_id)
      JOIN present_ranks AS r USING (platform, event_id) WHERE r.hidden = 0 ORDER BY r.by_volume_total, r.key LIMIT ${MOST_MARKETS}`),
  );
  return rows.map((row) => ({
    key: storeKey(String(row['key'])),
    platform: row['platform'] as Platform,
    eventId: String(row['event_id']),
    hasEnded: hasEnded({ status: String(row['status']) }),
  }));
}
