import { decimalNumber, USD_SCALE } from '../../core/decimal.ts';
import type { FoundIssue } from '../../core/errors.ts';
import { marketKey, matchKey } from '../../core/market-key.ts';
import type { Platform } from '../../core/model.ts';
import type { Values } from '../../http/read-input.ts';
import { promisingGaps } from '../../queries/matches/gaps.ts';
import { newestMatches } from '../../queries/matches/pairs.ts';
import { decimalParam } from '../../schemas/parameters.ts';
import { matchIdsParam } from '../../schemas/streams.ts';
import type { Channel, StreamFilter } from '../../streams/filter.ts';
import type { ReadGaps } from '../../streams/match-gaps.ts';
import type { Services } from '../services.ts';
import { reachIssues, reachOf, reachParams } from './gaps.ts';
import { eventsNamed } from '../../markets/directory.ts';
import { matchNotFound } from './not-found.ts';
import { liveRead } from '../../platforms/contract.ts';

/** Markets of one subscription. */
const MOST_MARKETS = 50;

/** Parameters of the channel match_gaps. */
export const watchedGapParams = {
  match_ids: matchIdsParam().optional(),
  ...reachParams,
  min_edge: decimalParam(USD_SCALE)
    .optional()
    .describe('Channel match_gaps: the edge after fees that a gap must reach, USD a contract; default 0'),
};

/** Parameters that no other channel has. */
const OWN = ['match_ids', 'size', 'amount', 'min_edge'] as const;

type Asked = { channels: readonly Channel[] } & Partial<Values<typeof watchedGapParams>>;

/** What is wrong with the parameters of the channel: pairs or markets are to be named, and how far books are walked. */
export function watchedGapIssues(
  asked: Asked & { market_ids?: readonly unknown[] | undefined },
  failing: ReadonlySet<string>,
): FoundIssue[] {
  if (!asked.channels.includes('match_gaps')) {
    // `size` would be taken for `min_size`.
    const expected = 'nothing without the channel match_gaps';
    return OWN.filter((name) => asked[name] !== undefined).map((field) => ({ field, expected }));
  }
  const { match_ids: ids, market_ids: named } = asked;
  const isNamed = ids !== undefined || failing.has('match_ids') || failing.has('market_ids');
  const isWrong = !isNamed && (!named || named.length > MOST_MARKETS);
  const expected = `1 to ${MOST_MARKETS} ids, or match_ids, with the channel match_gaps`;
  const received = named ? `${named.length} ids` : 'nothing';
  return [...(isWrong ? [{ field: 'market_ids', expected, received }] : []), ...reachIssues(asked, failing)];
}

/** What a subscription to match_gaps watches, null without that channel; 404 for pairs without a verdict. */
export async function watchedGaps(
  services: Services,
  user: string,
  asked: Asked,
  { platforms, markets, eventId }: Pick<StreamFilter, 'platforms' | 'markets' | 'eventId'>,
): Promise<StreamFilter['matchGaps']> {
  if (!asked.channels.includes('match_gaps')) return null;
  const keys = markets && keysOf(markets);
  const { match_ids: ids } = asked;
  const filter = {
    ...(ids ? { ids: await keysOfMatches(services, user, ids) } : {}),
    ...(keys ? { keys } : {}),
    ...(eventId === null ? {} : { events: eventsNamed(platforms, eventId) }),
  };
  const minEdge = asked.min_edge === undefined ? 0 : decimalNumber(asked.min_edge, USD_SCALE);
  return { filter, reach: reachOf(asked), minEdge };
}

/** Reads the gaps that streams watch, on the share of their user. */
export const gapReader =
  (services: Parameters<typeof promisingGaps>[0] & Pick<Services, 'onBadRow'>): ReadGaps =>
  (asked, first) =>
    promisingGaps(services, asked, liveRead(services, asked.user), first);

const keysOf = (markets: ReadonlyMap<Platform, ReadonlySet<string>>): string[] =>
  Array.from(markets, ([platform, refs]) => Array.from(refs, (ref) => marketKey({ platform, ref }))).flat();

async function keysOfMatches(services: Services, user: string, ids: readonly string[]): Promise<string[]> {
  const keys = ids.map((id) => {
    const key = matchKey(id);
    if (key === null) throw matchNotFound(id);
    return key;
  });
  const found = new Set((await newestMatches(services, user, { ids: keys }, keys.length)).map(({ match }) => match.id));
  const missing = ids.find((id) => !found.has(id));
  if (missing !== undefined) throw matchNotFound(missing);
  return keys;
}
