import { TupleParam } from '@clickhouse/client';
import { sql, type SQL } from 'drizzle-orm';
import { z } from 'zod';
import { type Platform, PLATFORMS } from '../core/model.ts';
import { storeTime } from '../core/time.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import type { Postgres } from '../stores/postgres/client.ts';
import { jsonbOf, rowsOf } from '../stores/postgres/json-row.ts';
import { ownKey } from './rows.ts';
import { partsOf } from '../core/parts.ts';

/** Pairs copied by one statement. */
const PAIRS_AT_ONCE = 1000;

interface Stores {
  clickhouse: Pick<ClickHouse, 'query'>;
  postgres: Pick<Postgres, 'db'>;
}

const PairRow = z.object({ a_key: z.string(), b_key: z.string() });
/** The keys of a pair's markets. */
export type MatchPair = z.infer<typeof PairRow>;
const WrittenRow = PairRow.extend({ checked_at: z.string() });

/** A row of sql/queries/present_matches.sql. */
const CopiedMatch = z.object({
  own_a_key: z.string(),
  own_b_key: z.string(),
  own_match_key: z.string(),
  a_platform: z.enum(PLATFORMS),
  own_a_texts: z.string(),
  a_event_id: z.string(),
  a_category: z.string(),
  b_platform: z.enum(PLATFORMS),
  own_b_texts: z.string(),
  b_event_id: z.string(),
  b_category: z.string(),
  relation: z.string(),
  kind: z.string(),
  reasons: z.string(),
  rules_version: z.number(),
  is_withdrawn: z.boolean(),
  found_at: z.string(),
  checked_at: z.string(),
});

/** A pair with the keys that PostgreSQL uses. */
const ownPair = ({ a_key: a, b_key: b }: MatchPair): MatchPair => ({ a_key: ownKey(a), b_key: ownKey(b) });

/** Copies the verdicts on these pairs from ClickHouse to PostgreSQL, as they are now. A copied verdict never replaces a later one. */
export async function copyMatches(stores: Stores, pairs: readonly MatchPair[]): Promise<void> {
  for (const part of partsOf(pairs, PAIRS_AT_ONCE)) await copyGroup(stores, part);
}

async function copyGroup({ clickhouse, postgres }: Stores, pairs: readonly MatchPair[]): Promise<void> {
  const keys = pairs.map(({ a_key: a, b_key: b }) => new TupleParam([BigInt(a), BigInt(b)]));
  const rows = await clickhouse.query('present_matches', CopiedMatch, { pairs: keys });
  if (rows.length === 0) return;
  // Sorted: two processes that copy the same pairs lock them in one order.
  await postgres.db.execute(sql`
    INSERT INTO present_matches AS old (a_key, b_key, match_key, a_platform, a_texts, a_event_id, a_category, b_platform, b_texts, b_event_id, b_category,
      relation, kind, reasons, rules_version, is_withdrawn, found_at, checked_at)
    SELECT own_a_key, own_b_key, own_match_key, a_platform, own_a_texts, a_event_id, a_category, b_platform, own_b_texts, b_event_id, b_category,
      relation, kind, reasons, rules_version, is_withdrawn, found_at, checked_at
    FROM jsonb_to_recordset(${jsonbOf(rows)}) AS r(own_a_key bigint, own_b_key bigint, own_match_key bigint, a_platform text, own_a_texts bigint,
      a_event_id text, a_category text, b_platform text, own_b_texts bigint, b_event_id text, b_category text, relation text, kind text, reasons text,
      rules_version integer, is_withdrawn boolean, found_at timestamptz, checked_at timestamptz)
    ORDER BY 1, 2
    ON CONFLICT (a_key, b_key) DO UPDATE SET (a_texts, a_event_id, a_category, b_texts, b_event_id, b_category, relation, kind, reasons, rules_version,
      is_withdrawn, found_at, checked_at) = ROW(excluded.a_texts, excluded.a_event_id, excluded.a_category, excluded.b_texts, excluded.b_event_id,
      excluded.b_category, excluded.relation, excluded.kind, excluded.reasons, excluded.rules_version, excluded.is_withdrawn, excluded.found_at,
      excluded.checked_at)
    WHERE old.checked_at <= excluded.checked_at`);
}

/** Removes the pairs of these markets, by their keys in ClickHouse, and people's verdicts on them. */
export async function forgetMatches({ postgres }: Pick<Stores, 'postgres'>, keys: readonly string[]): Promise<void> {
  const own = sql`ANY(${sql.param(keys.map(ownKey))}::bigint[])`;
  await postgres.db.execute(sql`
    WITH gone AS (DELETE FROM present_matches WHERE a_key = ${own} OR b_key = ${own} RETURNING match_key)
    DELETE FROM match_verdicts AS v USING gone AS g WHERE v.match_key = g.match_key`);
}

/** Copies all pairs whose first market is of a platform. Removes pairs that ClickHouse does not have. */
export async function copyAllMatches(stores: Stores, platform: Platform): Promise<void> {
  let after: MatchPair = { a_key: '0', b_key: '0' };
  for (;;) {
    const rows = await stores.clickhouse.query('present_matches_next', PairRow, {
      platform,
      after_a: BigInt(after.a_key),
      after_b: BigInt(after.b_key),
      limit: PAIRS_AT_ONCE,
    });
    await copyGroup(stores, rows);
    const last = rows.length < PAIRS_AT_ONCE ? null : (rows.at(-1) ?? null);
    await removeOthers(stores, platform, { after, upTo: last, pairs: rows });
    if (last === null) return;
    after = last;
  }
}

/** Removes the other pairs that PostgreSQL has in the range of these pairs. */
async function removeOthers(
  { postgres }: Stores,
  platform: Platform,
  { after, upTo, pairs }: { after: MatchPair; upTo: MatchPair | null; pairs: readonly MatchPair[] },
): Promise<void> {
  const pairOf = (pair: MatchPair): SQL => sql`(${ownKey(pair.a_key)}::bigint, ${ownKey(pair.b_key)}::bigint)`;
  await postgres.db.execute(sql`
    DELETE FROM present_matches WHERE a_platform = ${platform} AND (a_key, b_key) > ${pairOf(after)}
      ${upTo === null ? sql`` : sql`AND (a_key, b_key) <= ${pairOf(upTo)}`}
      AND (a_key, b_key) NOT IN (SELECT a_key, b_key FROM jsonb_to_recordset(${jsonbOf(pairs.map(ownPair))}) AS r(a_key bigint, b_key bigint))`);
}

/** Copies verdicts made since an instant whose copy has another time or is missing; returns their number. */
export async function catchUpMatches(stores: Stores, platform: Platform, sinceMs: number): Promise<number> {
  const since = storeTime(sinceMs);
  const written = await stores.clickhouse.query('present_matches_written', WrittenRow, { platform, since });
  const differing: MatchPair[] = [];
  for (const part of partsOf(written, PAIRS_AT_ONCE)) {
    const asked = part.map((pair, n) => Object.assign(ownPair(pair), { n, checked_at: pair.checked_at }));
    const rows = await stores.postgres.db.execute(sql`
      SELECT w.n FROM jsonb_to_recordset(${jsonbOf(asked)}) AS w(a_key bigint, b_key bigint, n integer, checked_at timestamptz)
      LEFT JOIN present_matches AS m USING (a_key, b_key) WHERE m.checked_at IS DISTINCT FROM w.checked_at`);
    differing.push(...rowsOf(rows).flatMap(({ n }) => part[Number(n)] ?? []));
  }
  await copyMatches(stores, differing);
  return differing.length;
}
