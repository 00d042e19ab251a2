import { datesIn } from '../dates.ts';
import type { GameLine, MarketTexts } from '../facts.ts';
import { metricIn, namesOfLeague, withoutPeriod } from '../tables/sports.ts';
import { isEnd } from '../names.ts';
import { WEEKDAYS, words } from '../text.ts';
import { withoutMentions } from '../statement.ts';
import { sideName, sideOf, sidesIn } from './game-sides.ts';

/** Words of a title that ask nothing beside the line. */
const PLAIN = new Set(
  (
    'will the a an in on at of for to be is there who which team teams win wins winner winning beat beats defeat defeats vs v and or tie draw end ends finish ' +
    'match game fight bout professional scheduled moneyline ml full time regular result pro mens men womens women s fc cf vs score scores scored scoring ' +
    'spread handicap o u over under total totals combined goals runs points more than fewer less by margin both btts exact correct yes leading lead ' +
    'against today tonight t20 t20i odi'
  ).split(' '),
);

/** The round of a tournament names the match: "A vs B: Round Of 16 match". */
const ROUND_OF_MATCH = /(?<= vs?\.? .{2,60}): [^:]{2,40} (?:match|fight|game|bout)\??$/i;
const HEADING = /^[^:]{2,60}: (?=.{2,80} vs?\.? )/i;
const BEST_OF = /\(?\b(?:bo ?\d|best of \d)\b\)?/gi;
const SERIES = /(?<!world )\bseries\b/i;
const WINS_SERIES =
  /\b(?:wins?|winner of|takes?|clinch(?:es)?) (?:the )?(?:\S+ ){0,6}series\b(?! (?:match|game|opener))|\bseries (?:winner|moneyline|price)\b/i;
/** In cricket the series heads a single match: "T20 Series: A vs B, 1st T20". */
const CRICKET = /\b(?:t20i?|odi)\b/i;
const SERIES_HEADING = /^[^:]{0,60}\bseries: (?=.{2,80} vs?\.? )/i;
const NTH_MATCH = /\b\d{1,2}(?:st|nd|rd|th) (?:t20i?|odi|test|match)\b/gi;
/** A part at the end of a title, after one of the signs that part titles. */
const LAST_PART = /(?:: | - | \| |, | \()(?!.{0,60} - )([^:|,()]{1,60})\)?\??$/;
const HEADING_PART = /^([^:]{2,60}?)(?:: | - )(?=.{2,80} vs?\.? )/i;
/** What such a part says without asking for more: a round, a week, the number of a match, a broadcast, the class or card of a fight. */
const HARMLESS_PART =
  /^(?:(?:grand )?finals?|semi-?finals?|quarter-?finals?|round of \d{1,3}|week \d{1,2}|match(?:day)? \d{1,3}|group (?:stage|[a-l])|playoffs?|ufc \d{1,3}|(?:sunday|monday|thursday) night football|(?:t20|one[- ]day) international|[a-z' ]{0,30}weight(?: (?:title|championship))?(?: (?:fight|bout))?|main card|(?:early )?prelims?|(?:main|title) (?:event|fight|bout))$/i;
/** A round of a tournament; in a fight it is a part of the fight. */
const ROUND = /^round \d{1,2}$/i;
/** A name in capitals that ends with the form of a tournament. */
const TOURNAMENT_PART = /^(?:[A-Z][\w'.]{0,20} ){1,3}(?:Open|Cup|Championship|League|Masters|Trophy)$/;
const FIGHTS: ReadonlySet<string | null> = new Set(['mma', 'boxing', null]);

const isHarmless = (part: string, sport: string | null): boolean =>
  HARMLESS_PART.test(part) || TOURNAMENT_PART.test(part) || (ROUND.test(part) && !FIGHTS.has(sport));

/** A title without the parts beside its sides that say nothing of the result. */
function withoutParts(title: string, sport: string | null): string {
  const [heading = '', before = ''] = HEADING_PART.exec(title) ?? [];
  let rest = isHarmless(before, sport) ? title.slice(heading.length) : title;
  let found = LAST_PART.exec(rest);
  while (found?.[1] !== undefined && / vs?\.? /i.test(rest.slice(0, found.index)) && isHarmless(found[1], sport)) {
    rest = rest.slice(0, found.index);
    found = LAST_PART.exec(rest);
  }
  return rest;
}

/** A name of a person, with at most two words before the family name. */
const FULL_NAME = /^(?:\p{Lu}\S{0,20} ){0,2}\p{Lu}\S{0,30}$/u;

interface Of {
  league: string | null;
  sport: string | null;
}

/** The numbers by which a title may state a line. */
function numbersOf(line: GameLine): string[] {
  if (line.on === 'score') return line.score.map(String);
  if (!('over' in line)) return [];
  const over = Math.abs(line.over);
  return [...String(over).split('.'), String(over + 0.5), String(over - 0.5)];
}

/** What a market names as its winner, in the places where markets name one. */
export const namesIn = ({ outcomeName, title }: MarketTexts): (string | null | undefined)[] => [
  outcomeName,
  / vs?\.? .*: ([^:]{2,60}?)\??$/i.exec(title)?.[1],
  /\bwill (?:the )?(.{2,60}?) (?:win|beat|defeat)\b/i.exec(title)?.[1],
  /^(.{2,60}?) (?:to win|wins?|leading at half ?time)\b/i.exec(title)?.[1],
];

/** Whether a market asks who wins a series of games. In esports a series is the match itself. */
export const asksSeries = ({ title, eventTitle }: MarketTexts, sport: string | null): boolean =>
  sport !== 'esports' && [title, eventTitle].some((text) => WINS_SERIES.test(text));

/** Whether a series is named where it heads no single match. */
function isOfSeries({ title, eventTitle }: MarketTexts, sport: string | null): boolean {
  if (sport === 'esports') return false;
  const isCricket = sport === 'cricket' || CRICKET.test(`${title} ${eventTitle}`);
  return [title, eventTitle].some((text) => SERIES.test(isCricket ? text.replace(SERIES_HEADING, '') : text));
}

const PERSONS: ReadonlySet<string | null> = new Set(['mma', 'boxing', 'tennis']);

/** The sides as a title writes them: persons with their first names, teams as the table has them. */
function ownSides(title: string, sides: readonly [string, string], { league, sport }: Of): readonly string[] {
  const own = sidesIn(title) ?? [];
  const isSide = (name: string): boolean =>
    sides.some(
      (side) =>
        sideName(league, name) === sideName(league, side) ||
        (PERSONS.has(sport) && FULL_NAME.test(name) && isEnd(name, side)),
    );
  return own.every(isSide) ? own : [];
}

/** A title without its tournament: its heading, and its end in esports, where it stands alone or its event has them too. */
function withoutTournament({ title, eventTitle }: MarketTexts, sport: string | null): string {
  const isAlone = eventTitle === '' || title === eventTitle;
  const heading = HEADING.exec(title)?.[0] ?? '';
  const rest = withoutParts(isAlone || eventTitle.startsWith(heading) ? title.slice(heading.length) : title, sport);
  return isAlone && sport === 'esports' ? rest.replace(/ [-|] [^:]{2,80}$/, '') : rest;
}

/** Whether a title of a game asks for more than its line: words are left when sides, dates, league, period and line are taken away. */
export function hasMore(market: MarketTexts, sides: readonly [string, string], line: GameLine, of: Of): boolean {
  const { title, eventTitle } = market;
  if (isOfSeries(market, of.sport)) return true;
  const bare = withoutTournament(market, of.sport)
    .replace(ROUND_OF_MATCH, '')
    .replaceAll(BEST_OF, ' ')
    .replaceAll(NTH_MATCH, ' ');
  const folded = withoutPeriod(words(withoutMentions(bare, datesIn(bare, '2026-01-01'))).join(' '));
  const leagues = of.league === null ? [] : namesOfLeague(of.league);
  const names = namesIn(market).filter(
    (name) => typeof name === 'string' && !/ - |,/.test(name) && sideOf(name, sides, of.league) !== null,
  );
  const said = [
    ...sides,
    ...ownSides(withoutParts(title, of.sport), sides, of),
    ...names,
    ...market.outcomes,
    title === eventTitle ? '' : eventTitle,
    ...leagues,
    of.sport ?? '',
  ];
  const known = new Set([...words(said.join(' ')), ...numbersOf(line)]);
  const left = folded
    .split(' ')
    .filter(
      (word) =>
        word !== '' && !PLAIN.has(word) && !WEEKDAYS.has(word) && !known.has(word) && metricIn(word) === 'score',
    );
  return left.length > 0 && sideOf(left.join(' '), sides, of.league) === null;
}
