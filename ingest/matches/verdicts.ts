import { z } from 'zod';
import { type Platform, PLATFORMS } from '../../src/core/model.ts';
import { storeTime } from '../../src/core/time.ts';
import { RULES_VERSION } from '../../src/matching/facts.ts';
import { judge } from '../../src/matching/judge.ts';
import { type IndexedMarket, mayMatch, type MatchIndex } from '../../src/matching/match-index.ts';
import type { MatchPair } from '../../src/present/matches.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';

/** A verdict that is stored. */
const StoredRow = z.object({
  a_platform: z.enum(PLATFORMS),
  a_key: z.string(),
  a_texts: z.string(),
  a_event_id: z.string(),
  a_category: z.string(),
  b_platform: z.enum(PLATFORMS),
  b_key: z.string(),
  b_texts: z.string(),
  b_event_id: z.string(),
  b_category: z.string(),
  relation: z.string(),
  kind: z.string(),
  rules_version: z.number(),
  found_at: z.string(),
});
type StoredRow = z.infer<typeof StoredRow>;

type Pair = readonly [a: IndexedMarket, b: IndexedMarket];

const rank = (platform: Platform): number => PLATFORMS.indexOf(platform);
/** The two markets of a pair in their one order: by platform. */
const ordered = (one: IndexedMarket, other: IndexedMarket): Pair =>
  rank(one.platform) < rank(other.platform) ? [one, other] : [other, one];
const nameOf = (aKey: string, bKey: string): string => `${aKey}:${bKey}`;

/**
 * Judges each of these markets with its candidates in the index, and with its partners in stored pairs. Stores the verdicts that changed,
 * and withdraws pairs that no longer match. Returns the pairs that were stored.
 */
export async function storeVerdicts(
  clickhouse: Pick<ClickHouse, 'query' | 'insert'>,
  index: MatchIndex,
  markets: readonly { key: string }[],
  nowMs: number,
): Promise<MatchPair[]> {
  const keys = markets.map(({ key }) => key);
  const rows = await clickhouse.query('matches_of_markets', StoredRow, { keys: keys.map(BigInt) });
  const stored = new Map(rows.map((row) => [nameOf(row.a_key, row.b_key), row]));
  const pairs = new Map<string, Pair>();
  const add = (one: IndexedMarket, other: IndexedMarket): void => {
    const [a, b] = ordered(one, other);
    pairs.set(nameOf(a.key, b.key), [a, b]);
  };
  for (const key of keys) {
    const own = index.market(key);
    if (own) for (const other of index.matchesOf(key)) add(own, other);
    await new Promise((resolve) => setImmediate(resolve));
  }
  for (const { a_key: aKey, b_key: bKey } of rows) {
    const [a, b] = [index.market(aKey), index.market(bKey)];
    if (a && b) add(a, b);
  }
  const at = storeTime(nowMs);
  const made = [...pairs].flatMap(([name, pair]) => verdictRow(pair, stored.get(name), at) ?? []);
  const withdrawn = rows
    .filter((row) => !pairs.has(nameOf(row.a_key, row.b_key)))
    .map((row) => Object.assign(row, { previous_relation: row.relation, is_withdrawn: true, checked_at: at }));
  const changed = [...made, ...withdrawn];
  if (changed.length > 0) await clickhouse.insert('matches', changed);
  return changed.map(({ a_key, b_key }) => ({ a_key, b_key }));
}

/** The row of a verdict; null if it is stored already, or if there is nothing to store or to withdraw. */
function verdictRow([a, b]: Pair, before: StoredRow | undefined, at: string): MatchPair | null {
  const verdict = judge(a.facts, b.facts);
  const { relation, kind, reasons, version } = verdict;
  if (!before && !mayMatch(verdict)) return null;
  const isStored =
    before?.relation === relation &&
    before.a_texts === a.texts &&
    before.b_texts === b.texts &&
    before.rules_version === version &&
    mayMatch(verdict);
  if (isStored) return null;
  const row = {
    a_platform: a.platform,
    a_key: a.key,
    a_texts: a.texts,
    a_event_id: a.eventId,
    a_category: a.categorySlug,
    b_platform: b.platform,
    b_key: b.key,
    b_texts: b.texts,
    b_event_id: b.eventId,
    b_category: b.categorySlug,
    relation,
    previous_relation: before?.relation ?? '',
    kind: kind ?? '',
    reasons: JSON.stringify(reasons),
    rules_version: RULES_VERSION,
    is_withdrawn: !mayMatch(verdict),
    found_at: before?.found_at ?? at,
    checked_at: at,
  };
  return row;
}
