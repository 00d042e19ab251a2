import type { z } from 'zod';
import { matchId } from '../../core/market-key.ts';
import type { Platform } from '../../core/model.ts';
import { oneByOne } from '../../matching/event-match.ts';
import { eventPairs, marketsOfEvents, type EventPair } from '../../present/event-pairs.ts';
import type { EventMatchAnswer, UnpairedAnswer } from '../../schemas/matches.ts';
import { type Market, marketsByKey, type Reading } from '../markets-by-key.ts';

/** Events that are answered, those with the most pairs first. */
const MOST_EVENTS = 10;
/** Markets without a partner that are listed of one side. */
const MOST_UNPAIRED = 100;

type EventName = readonly [Platform, string];
type Side = 'a' | 'b';

/** A pair of events that match market by market. */
interface MatchedEvents {
  a: EventName;
  b: EventName;
  pairs: EventPair[];
}

/** The events of other platforms whose markets match those of these events one by one, for a user, each with what has no partner. */
export async function matchesOfEvents(
  reading: Reading,
  user: string | null,
  events: readonly EventName[],
): Promise<z.infer<typeof EventMatchAnswer>[]> {
  if (events.length === 0) return [];
  const found = matched(await eventPairs(reading.postgres, user, events)).slice(0, MOST_EVENTS);
  if (found.length === 0) return [];
  const listed = await marketsOfEvents(
    reading.postgres,
    found.flatMap(({ a, b }) => [a, b]),
  );
  const unpaired = (one: MatchedEvents, side: Side): string[] => {
    const [platform, id] = one[side];
    const paired = new Set(one.pairs.map((pair) => pair[side]));
    const open = listed.filter((row) => row.platform === platform && row.eventId === id && !row.hasEnded);
    return open.map(({ key }) => key).filter((key) => !paired.has(key));
  };
  const lists = found.map((one) => ({ one, a: unpaired(one, 'a'), b: unpaired(one, 'b') }));
  const shown = lists.flatMap(({ one, a, b }) => [...named(one, 'a', a), ...named(one, 'b', b)]);
  const markets = await marketsByKey(reading, shown);
  const sideOf = ({ pairs, ...events }: MatchedEvents, side: Side, keys: readonly string[]) => ({
    platform: events[side][0],
    event_id: events[side][1],
    event_name: markets.get(pairs[0]?.[side] ?? '')?.event_name ?? '',
    without_partner: keys.slice(0, MOST_UNPAIRED).flatMap((key) => unpairedOf(markets.get(key))),
    without_partner_total: keys.length,
  });
  return lists.map(({ one, a, b }) => ({
    is_whole: a.length === 0 && b.length === 0,
    a: sideOf(one, 'a', a),
    b: sideOf(one, 'b', b),
    pairs: one.pairs.map((pair) => ({
      match_id: matchId(pair.key),
      relation: pair.relation,
      verdict_by: pair.by,
      a: pair.aId,
      b: pair.bId,
    })),
  }));
}

/** The markets of a side that are described: those without a partner, and the first pair's, which has the name of the event. */
const named = (one: MatchedEvents, side: Side, keys: readonly string[]): { platform: Platform; key: string }[] =>
  [...keys.slice(0, MOST_UNPAIRED), ...one.pairs.slice(0, 1).map((pair) => pair[side])].map((key) => ({
    platform: one[side][0],
    key,
  }));

function matched(pairs: readonly EventPair[]): MatchedEvents[] {
  const groups = new Map<string, EventPair[]>();
  for (const pair of pairs) {
    const name = JSON.stringify([pair.aEvent, pair.bEvent]);
    const group = groups.get(name) ?? [];
    group.push(pair);
    groups.set(name, group);
  }
  const found = [...groups.values()].flatMap((group) => {
    const [first] = group;
    const chosen = oneByOne(group);
    return first && chosen ? [{ a: first.aEvent, b: first.bEvent, pairs: chosen }] : [];
  });
  return found.toSorted((one, other) => other.pairs.length - one.pairs.length);
}

const unpairedOf = (market: Market | undefined): z.infer<typeof UnpairedAnswer>[] =>
  market ? [{ id: market.id, title: market.title, outcome_name: market.outcome_name, status: market.status }] : [];
