import { addDays } from './dates.ts';
import type { MarketFacts } from './facts.ts';
import { sideName } from './kinds/game-sides.ts';
import { fullNameOf, nameWords } from './names.ts';
import { collegeName } from './tables/colleges.ts';
import { clubWords } from './tables/sports.ts';
import { words } from './text.ts';

/** Terms of one market; further ones are left out. */
const MOST_TERMS = 30;

/** Fields that two markets on one question may say differently (relate.ts): no term requires them. */
const isLoose = (field: string): boolean => LOOSE.has(field);
const LOOSE: ReadonlySet<string> = new Set(['who', 'unit', 'form', 'year', 'year_of_end', 'day']);

/** The words that name the sides of a game, as either platform may write them. */
function sideWords({ topic, claim }: MarketFacts): string[] {
  if (claim.of.type !== 'game') return [];
  const league = topic.league?.value ?? null;
  return claim.of.sides.flatMap((side) => {
    const folded = collegeName(league, words(side).join(' '));
    return [sideName(league, side), ...clubWords(folded)];
  });
}

/** A line of a player is found by the player alone: a game has hundreds of them. */
function wordsOfGame(facts: MarketFacts): string[] {
  const { of } = facts.claim;
  if (of.type === 'game' && of.line.on === 'player') return [`player ${fullNameOf(of.line.player)}`];
  return sideWords(facts);
}

const termsOfGame = (facts: MarketFacts, days: readonly string[]): string[] =>
  days.flatMap((day) => wordsOfGame(facts).map((word) => `game|${day}|${word}`));

/** The topic, and with it what differs between markets on one topic: names, the day, the end of the window, the level. */
function termsOfStatement({ kind, topic, claim, window }: MarketFacts): string[] {
  const strict = Object.keys(topic)
    .filter((field) => !isLoose(field))
    .toSorted()
    .map((field) => `${field}=${topic[field]?.value}`);
  const about = `${kind}|${strict.join('|')}`;
  const { of } = claim;
  const names = of.type === 'choice' || of.type === 'stage' ? nameWords(of.name) : [];
  const ends = of.type === 'range' ? [of.range.low, of.range.high] : [];
  const loose = Object.keys(topic).filter(isLoose);
  return [
    about,
    ...names.map((name) => `${about}|name=${name}`),
    ...ends.flatMap((end) => (end === null ? [] : `${about}|end=${end}`)),
    ...loose.map((field) => `${about}|${field}=${topic[field]?.value}`),
    ...(window?.to ? [`${about}|to=${window.to}`] : []),
  ];
}

const unique = (terms: readonly string[]): string[] => [...new Set(terms)].slice(0, MOST_TERMS);

/** The terms under which a market is found. */
export function termsOf(facts: MarketFacts): string[] {
  if (facts.kind !== 'game') return unique(termsOfStatement(facts));
  return unique(termsOfGame(facts, [facts.topic.day?.value ?? '']));
}

/** The terms under which its matches are looked for: two platforms may date one game by days that are neighbours. */
export function termsSought(facts: MarketFacts): string[] {
  const day = facts.topic.day?.value;
  if (facts.kind !== 'game' || day === undefined) return termsOf(facts);
  const days = [day, addDays(day, -1), addDays(day, 1)];
  return days.flatMap((each) => unique(termsOfGame(facts, [each])));
}
