import { TupleParam } from '@clickhouse/client';
import { z } from 'zod';
import { type Platform, PLATFORMS } from '../core/model.ts';
import { storeTime } from '../core/time.ts';
import type { Relation } from '../matching/facts.ts';
import { mappingOf } from '../matching/judge.ts';
import { marketsOfKeys } from '../present/read.ts';
import { type MatchAnswer, MatchedMarketAnswer, ReasonAnswer, RELATIONS } from '../schemas/matches.ts';
import { type Market, marketsOf, type Reading } from './markets-by-key.ts';

const MatchRow = z.object({
  match_key: z.string(),
  a_platform: z.enum(PLATFORMS),
  a_key: z.string(),
  b_platform: z.enum(PLATFORMS),
  b_key: z.string(),
  relation: z.enum(RELATIONS),
  kind: z.string(),
  reasons: z.string(),
  rules_version: z.number(),
  found_at: z.string(),
  checked_at: z.string(),
  total: z.coerce.number(),
});
type MatchRow = z.infer<typeof MatchRow>;

/** Which matches are wanted; what is absent chooses all. */
export interface MatchFilter {
  ids?: readonly string[];
  /** Keys of markets, one of which is in the pair. */
  keys?: readonly string[];
  relations?: readonly Relation[];
  platform?: Platform | undefined;
  /** Events by platform and id, of which one market of the pair is. */
  events?: readonly (readonly [Platform, string])[];
  category?: string | undefined;
}

/** The last match of a page; the next page begins after it. */
export const MatchPosition = z.object({ foundAt: z.string(), key: z.string(), total: z.number() });
type MatchPosition = z.infer<typeof MatchPosition>;

const FAR = '2199-01-01 00:00:00.000';
const LARGEST_KEY = String((1n << 64n) - 1n);

/** A match and the stored keys of its markets. */
export interface FoundMatch {
  match: z.infer<typeof MatchAnswer>;
  a: Market;
  b: Market;
}

/** A page of matches, and where the next page begins. A pair of which a market is no longer listed is left out. */
export async function matchPage(
  reading: Reading,
  filter: MatchFilter,
  after: MatchPosition | null,
  limit: number,
): Promise<{ matches: FoundMatch[]; total: number; next: MatchPosition | null }> {
  const rows = await reading.clickhouse.query('matches_list', MatchRow, {
    ids: (filter.ids ?? []).map(BigInt),
    keys: (filter.keys ?? []).map(BigInt),
    relations: filter.relations ?? [],
    platform: filter.platform ?? '',
    events: (filter.events ?? []).map((event) => new TupleParam(event)),
    category: filter.category ?? '',
    before: after ? storeTime(after.foundAt) : FAR,
    before_key: BigInt(after?.key ?? LARGEST_KEY),
    limit: limit + 1,
  });
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  const total = after?.total ?? rows[0]?.total ?? 0;
  return {
    matches: await described(reading, page),
    total,
    next: last ? { foundAt: last.found_at, key: last.match_key, total } : null,
  };
}

/** The key of a match's id; null for text that is none. */
export const matchKey = (id: string): string | null =>
  /^[0-9a-f]{16}$/.test(id) ? BigInt(`0x${id}`).toString() : null;
/** The id of a match, from its key. */
export const matchId = (key: string): string => BigInt(key).toString(16).padStart(16, '0');

async function described(reading: Reading, rows: readonly MatchRow[]): Promise<FoundMatch[]> {
  const sides = rows.flatMap((row) => [
    { platform: row.a_platform, key: row.a_key },
    { platform: row.b_platform, key: row.b_key },
  ]);
  const stored = await marketsOfKeys(reading.postgres, [...new Set(sides.map(({ key }) => key))]);
  const found = new Map<string, Market>();
  for (const { platform, key } of sides) {
    const market = found.has(key) ? undefined : stored.get(key);
    if (!market) continue;
    const [answer] = await marketsOf(reading, platform, [market], false);
    if (answer) found.set(key, answer);
  }
  return rows.flatMap((row) => {
    const [a, b] = [found.get(row.a_key), found.get(row.b_key)];
    return a && b ? [{ a, b, match: toMatch(row, a, b) }] : [];
  });
}

const toMatch = (row: MatchRow, a: Market, b: Market): z.infer<typeof MatchAnswer> => ({
  id: matchId(row.match_key),
  relation: row.relation,
  kind: row.kind,
  a: MatchedMarketAnswer.parse(a),
  b: MatchedMarketAnswer.parse(b),
  mapping: mappingOf(row.relation).map(([one, other]) => ({
    a: a.outcomes[one]?.id ?? '',
    b: b.outcomes[other]?.id ?? '',
  })),
  reasons: z.array(ReasonAnswer).parse(JSON.parse(row.reasons)),
  rules_version: row.rules_version,
  found_at: row.found_at,
  checked_at: row.checked_at,
});
