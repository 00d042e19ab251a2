import { addDays, within, type Window } from './dates.ts';
import type { Claim, Facts, Reason } from './facts.ts';
import { areOfGenerations, isBeginning, isEnd, isPlaceholder, isSameName, kindOfName, mayBeShort } from './names.ts';
import { isOneSource } from './kinds/price-source.ts';
import { relateRanges, type SetRelation } from './range.ts';
import { relateGames } from './relate-games.ts';
import { VERDICT, type Related } from './related.ts';
import { teamIn, usualName } from './tables/teams.ts';
import { words } from './text.ts';

/** The league whose table names the teams of a subject. */
const LEAGUE_OF: Readonly<Record<string, string>> = { nba: 'nba', nhl: 'nhl', nfl: 'nfl', mlb: 'mlb', wnba: 'wnba' };
const leagueOf = (subject: string): string | null =>
  LEAGUE_OF[/\b(wnba|nba|nhl|nfl|mlb)(?:title|west|east|al|nl|afc|nfc)?\b/.exec(subject)?.[1] ?? ''] ?? null;

/** The same name, by the table of the league where there is one. */
function isSame(a: string, b: string, league: string | null): boolean {
  const [one, other] = [words(a).join(' '), words(b).join(' ')];
  const [teamA, teamB] = [league && teamIn(league, one), league && teamIn(league, other)];
  if (teamA && teamB) return teamA === teamB;
  const [usualA, usualB] = [usualName(one), usualName(other)];
  if (usualA === usualB) return true;
  if (usualA !== one || usualB !== other) return false;
  return isSameName(a, b);
}

/** Whether two names in one contest are one, two, or may be either. In an office a son may follow his father. */
function relateNames(a: string, b: string, league: string | null, isOffice: boolean): 'same' | 'other' | 'unknown' {
  if (isPlaceholder(a) || isPlaceholder(b)) return 'unknown';
  if (isSame(a, b, league)) return 'same';
  if (!isOffice && areOfGenerations(a, b)) return 'unknown';
  // A city and its team may be one name; a person may be of a party.
  if (isBeginning(a, b) || mayBeShort(a, b) || kindOfName(a) !== kindOfName(b) || kindOfName(a) === 'class')
    return 'unknown';
  // A word in common may be the same name written otherwise.
  const shared = words(a).filter((word) => word.length > 3 && words(b).includes(word));
  return shared.length > 0 && league === null && words(a).length > 1 && words(b).length > 1 && isNearly(a, b)
    ? 'unknown'
    : 'other';
}

/** Whether all but one word of both names agree, and no mark of another person parts them. */
function isNearly(a: string, b: string): boolean {
  const [one, other] = [words(a), words(b)];
  const shared = one.filter((word) => other.includes(word)).length;
  return one.length === other.length && shared >= 2 && shared === one.length - 1 && !/\b(?:jr|sr)\b/i.test(`${a} ${b}`);
}

/** Two windows in which the same thing may happen: the longer one includes the shorter. */
function relateWindows(a: Facts, b: Facts, reasons: Reason[]): SetRelation | 'unknown' {
  const [one, other] = [a.window, b.window];
  if (!one && !other) return 'identical';
  if (!one || !other) return 'unknown';
  const isBoth = one.to !== null && other.to !== null;
  const isSameEnd =
    one.to === other.to ||
    (isBoth && /\bfdv\b/.test(a.topic.subject?.value ?? '') && within(one.to ?? '', other.to ?? '', 2));
  const ends = isSameEnd ? 'identical' : (one.to ?? '') < (other.to ?? '') ? 'subset' : 'superset';
  const relation = isBoth ? both(ends, relateStarts(one, other)) : 'unknown';
  reasons.push({
    field: 'window',
    a: one.quote,
    b: other.quote,
    verdict: relation === 'unknown' ? 'missing' : VERDICT[relation],
  });
  return relation;
}

/** "In December" begins where "by December" has long begun; a year begins with the market. */
function relateStarts(a: Window, b: Window): SetRelation {
  const [one, other] = [isShort(a), isShort(b)];
  if (one !== other) return one ? 'subset' : 'superset';
  if (!one || a.from === b.from) return 'identical';
  return (a.from ?? '') > (b.from ?? '') ? 'subset' : 'superset';
}

const SHORT_DAYS = 100;
const isShort = ({ from, to }: Window): boolean => from !== null && to !== null && to <= addDays(from, SHORT_DAYS);

/** Competitions of persons, in the joined words of a subject ("f1drivers"). */
const OF_PERSONS =
  /f1|motogp|nascar|indycar|grand ?prix|\bgp\b|drivers|masters|wimbledon|\bopen\b|golf|tennis|pga|\b(?:atp|wta|tour)\b|scored|darts|chess|snooker/;
/** Whether a competition may be one of clubs or countries, whose names have no family name. */
const isOfTeams = ({ kind, topic }: Facts): boolean =>
  kind === 'competition' && !OF_PERSONS.test(topic.subject?.value ?? '');

function relateClaims(a: Facts, b: Facts): SetRelation | 'unknown' {
  const [one, other]: [Claim, Claim] = [a.claim.of, b.claim.of];
  const league = leagueOf(a.topic.subject?.value ?? '');
  if (one.type === 'range' && other.type === 'range') return relateRanges(one.range, other.range);
  if (one.type === 'choice' && other.type === 'choice') {
    const names = relateNames(one.name, other.name, league, a.kind === 'election');
    return names === 'same' ? 'identical' : names === 'other' ? 'disjoint' : 'unknown';
  }
  if (one.type === 'stage' && other.type === 'stage') {
    const names = relateNames(one.name, other.name, league, a.kind === 'election');
    if (names === 'unknown' || (isOfTeams(a) && isEnd(one.name, other.name))) return 'unknown';
    if (names === 'same') return one.rank === other.rank ? 'identical' : one.rank > other.rank ? 'subset' : 'superset';
    return one.rank === 100 && other.rank === 100 ? 'disjoint' : 'overlap';
  }
  return one.type === 'act' && other.type === 'act' ? 'identical' : 'unknown';
}

/** Both implications together: a part of a part is a part, parts in two directions only overlap. */
function both(claim: SetRelation, window: SetRelation): SetRelation {
  if (window === 'identical') return claim;
  if (claim === 'identical') return window;
  if (claim === 'complement' || claim === 'disjoint') return 'overlap';
  return claim === window ? claim : 'overlap';
}

/** A word more on one side narrows or widens a question in a way that no rule knows. */
const relateTopics = (a: Facts, b: Facts, reasons: Reason[]): boolean => {
  let isSameTopic = true;
  for (const field of new Set([...Object.keys(a.topic), ...Object.keys(b.topic)])) {
    const [one, other] = [a.topic[field], b.topic[field]];
    const isEqual =
      one?.value === other?.value ||
      ((field === 'who' || field === 'form') && (!one || !other)) ||
      ((field === 'year_of_end' || (field === 'day' && a.kind !== 'game')) && (!one || !other) && yearFits(a, b)) ||
      (field === 'year' && (!one || !other) && yearFits(a, b));
    if (!isEqual) isSameTopic = false;
    reasons.push({
      field,
      a: one?.quote ?? '',
      b: other?.quote ?? '',
      verdict: isEqual ? 'same' : one && other ? 'differs' : 'missing',
    });
  }
  return isSameTopic;
};

const yearOf = (facts: Facts): string | undefined => (facts.topic.year ?? facts.topic.year_of_end)?.value;

/** A stated year and the year in which the other record ends, or two such ends, agree. */
const yearFits = (a: Facts, b: Facts): boolean => yearOf(a) !== undefined && yearOf(a) === yearOf(b);

const MIRROR: Partial<Record<SetRelation, SetRelation>> = { subset: 'superset', superset: 'subset' };

/**
 * The relation of two questions that only their windows part. A longer window includes a shorter one; what lasts, and a count below
 * a number, includes a longer one. A count that may leave its range again, or that begins on another day, does neither.
 */
function relateByWindow(a: Facts, b: Facts, window: SetRelation): SetRelation | null {
  if (a.kind !== 'count') return a.topic.lasts ? (MIRROR[window] ?? window) : window;
  const ranges = [a, b].map(({ claim }) => (claim.of.type === 'range' ? claim.of.range : null));
  const [one, other] = [a.window?.from, b.window?.from];
  if (one && other && one !== other) return null;
  if (ranges.every((range) => range?.high === null)) return window;
  return ranges.every((range) => range?.low === null) ? (MIRROR[window] ?? window) : null;
}

/** Whether an act with a number may happen several times, with several numbers: they need not exclude each other. */
function isOpenAct(a: Facts, b: Facts, claim: SetRelation): boolean {
  if (a.kind !== 'act' || /\b(?:fdv|cap)\b/.test(a.topic.subject?.value ?? '')) return false;
  const hasTop = [a, b].some(({ claim: { of } }) => of.type === 'range' && of.range.high !== null);
  return claim === 'disjoint' || claim === 'complement' || (hasTop && a.window?.to !== b.window?.to);
}

/** How two markets of one kind, other than games, relate. */
function relateStatements(a: Facts, b: Facts): Related {
  const reasons: Reason[] = [];
  if (!relateTopics(a, b, reasons)) return { relation: 'unknown', reasons };
  const claim = relateClaims(a, b);
  reasons.push({
    field: 'claim',
    a: a.claim.quote,
    b: b.claim.quote,
    verdict: claim === 'unknown' ? 'missing' : VERDICT[claim],
  });
  const window = relateWindows(a, b, reasons);
  if (claim === 'unknown' || window === 'unknown' || isOpenAct(a, b, claim)) return { relation: 'unknown', reasons };
  const byWindow = window === 'identical' ? window : relateByWindow(a, b, window);
  const relation = byWindow === null ? 'overlap' : both(claim, byWindow);
  for (const tail of [...a.tails, ...b.tails]) {
    const isOfA = a.tails.includes(tail);
    reasons.push({ field: 'rare_case', a: isOfA ? tail.quote : '', b: isOfA ? '' : tail.quote, verdict: 'one_sided' });
  }
  return bySource(a, b, relation, reasons);
}

/** Whether a figure is of one place, which has several stations. */
const isOfPlace = ({ kind, topic }: Facts): boolean => kind === 'weather' && !topic.subject?.value.startsWith('global');

/** Whether two markets name one station, and at most one of them its publisher. */
function isSameStation(a: Facts, b: Facts): boolean {
  const [one, other] = [a.source?.value ?? '', b.source?.value ?? ''].toSorted((x, y) => x.length - y.length);
  return isOfPlace(a) && !!one && !!other?.startsWith(`${one} `);
}

/** Two sources may part by chance: what would be the same is only near it, and one unnamed source leaves it open. */
function bySource(a: Facts, b: Facts, relation: SetRelation, reasons: Reason[]): Related {
  const [one, other] = [a.source, b.source];
  if (!one && !other) return { relation, reasons };
  const isPrice = a.kind === 'price' || a.kind === 'up_or_down';
  const isEqual =
    one?.value === other?.value ||
    isSameStation(a, b) ||
    (isPrice && !!one && !!other && isOneSource(one.value, other.value));
  reasons.push({
    field: 'source',
    a: one?.quote ?? '',
    b: other?.quote ?? '',
    verdict: isEqual ? 'same' : one && other ? 'differs' : 'missing',
  });
  if (isEqual) return { relation, reasons };
  if (a.kind === 'count' && one && other) return { relation: 'overlap', reasons };
  if (!isPrice && a.kind !== 'weather') return { relation, reasons };
  if (one && other) return { relation: 'overlap', reasons };
  const isOpen =
    (relation === 'identical' || relation === 'complement') && (isOfPlace(a) || (one ?? other)?.value === 'own-index');
  return { relation: isOpen ? 'unknown' : relation, reasons };
}

/** How the questions of two markets relate, by their facts. */
export function relate(a: Facts, b: Facts): Related {
  if (a.kind !== b.kind)
    return {
      relation: 'unknown',
      reasons: [{ field: 'kind', a: a.claim.quote, b: b.claim.quote, verdict: 'differs' }],
    };
  return a.kind === 'game' ? relateGames(a, b) : relateStatements(a, b);
}
