import { z } from 'zod';
import { matchId } from '../../core/market-key.ts';
import { RELATIONS } from '../../core/model.ts';
import { mappingOf } from '../../matching/judge.ts';
import { type MatchFilter, type PresentMatch, readMatches } from '../../present/read-matches.ts';
import { type MatchAnswer, MatchedMarketAnswer, ReasonAnswer } from '../../schemas/matches.ts';
import { type Market, marketsByKey, type Reading } from '../markets-by-key.ts';

/** The last match of a page; the next page begins after it. */
export const MatchPosition = z.object({ foundAt: z.string(), key: z.string(), total: z.number() });
type MatchPosition = z.infer<typeof MatchPosition>;

/** A match and the stored keys of its markets. */
export interface FoundMatch {
  match: z.infer<typeof MatchAnswer>;
  a: Market;
  b: Market;
}

/** A page of matches as they are for a user, and where the next page begins. A pair of which a market is no longer listed is left out. */
export async function matchPage(
  reading: Reading,
  user: string | null,
  filter: MatchFilter,
  after: MatchPosition | null,
  limit: number,
): Promise<{ matches: FoundMatch[]; total: number; next: MatchPosition | null }> {
  const { matches, total: counted } = await readMatches(reading.postgres, user, filter, {
    after,
    limit: limit + 1,
    isCounted: after === null,
  });
  const page = matches.slice(0, limit);
  const last = matches.length > limit ? page.at(-1) : undefined;
  const total = after?.total ?? counted ?? 0;
  return {
    matches: await described(reading, page),
    total,
    next: last ? { foundAt: last.foundAt, key: last.key, total } : null,
  };
}

/** One pair as it is for a user, by the key of its id; null while no verdict counts for it. */
export async function oneMatch(reading: Reading, user: string | null, key: string): Promise<FoundMatch | null> {
  const [found] = await newestMatches(reading, user, { ids: [key] }, 1);
  return found ?? null;
}

/** The newest matches as they are for a user, without their number. */
export async function newestMatches(
  reading: Reading,
  user: string | null,
  filter: MatchFilter,
  limit: number,
): Promise<FoundMatch[]> {
  const { matches } = await readMatches(reading.postgres, user, filter, { after: null, limit, isCounted: false });
  return described(reading, matches);
}

async function described(reading: Reading, rows: readonly PresentMatch[]): Promise<FoundMatch[]> {
  const sides = rows.flatMap((row) => [
    { platform: row.aPlatform, key: row.aKey },
    { platform: row.bPlatform, key: row.bKey },
  ]);
  const found = await marketsByKey(reading, sides);
  return rows.flatMap((row) => {
    const [a, b] = [found.get(row.aKey), found.get(row.bKey)];
    return a && b ? [{ a, b, match: toMatch(row, a, b) }] : [];
  });
}

const Relation = z.enum(RELATIONS);

function toMatch(row: PresentMatch, a: Market, b: Market): z.infer<typeof MatchAnswer> {
  const relation = Relation.parse(row.relation);
  const { by, given } = row;
  return {
    id: matchId(row.key),
    relation,
    verdict: {
      by,
      decision: given && (relation === 'unknown' ? 'refuse' : 'confirm'),
      note: given?.note ?? null,
      given_at: given?.givenAt ?? null,
      is_on_older_texts: given?.isOlder ?? false,
    },
    rules_relation: Relation.nullable().parse(row.rulesRelation),
    kind: row.kind,
    a: MatchedMarketAnswer.parse(a),
    b: MatchedMarketAnswer.parse(b),
    mapping: mappingOf(relation).map(([one, other]) => ({
      a: a.outcomes[one]?.id ?? '',
      b: b.outcomes[other]?.id ?? '',
    })),
    reasons: z.array(ReasonAnswer).parse(JSON.parse(row.reasons)),
    rules_version: row.rulesVersion,
    found_at: row.foundAt,
    checked_at: row.checkedAt,
  };
}
