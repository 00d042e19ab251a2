import { isOneTypo } from '../core/search-text.ts';
import { isShortFor } from './tables/persons.ts';
import { words } from './text.ts';

/** Words that a name may have or not. */
const TITLES = new Set([
  'the',
  'mr',
  'mrs',
  'ms',
  'dr',
  'sen',
  'senator',
  'gov',
  'governor',
  'rep',
  'president',
  'party',
  'of',
  'and',
]);
/** Words that make another person or team of a name: a son, the women's team, the academy. */
const MARKS = new Set(
  (
    'jr sr ii iii iv women womens ladies femenino femeni feminine feminin frauen w u15 u16 u17 u18 u19 u20 u21 u22 u23 reserves b ' +
    'academy challengers juniors youth prospects ' +
    'state tech north south east west northern southern eastern western central not'
  ).split(' '),
);
const PLACEHOLDER =
  /^(?:(?:person|candidate|actor|actress|player|team|club|country|movie|film|artist|party|nominee|driver|company|option|song|show|album|model|individual) )?[a-z]{1,2}$|^(?:other|another|someone else|field|any other|none of the above|tbd)$/;

/** The words that distinguish a name from others. There are two countries of the name Congo. */
export const nameWords = (name: string): string[] =>
  words(name.replaceAll("'s ", ' ').replaceAll(/\b(?:dr congo|congo dr)\b/gi, 'drcongo')).filter(
    (word) => !TITLES.has(word),
  );

const marksOf = (list: readonly string[]): string =>
  list
    .filter((word) => MARKS.has(word))
    .toSorted()
    .join(' ');

/** Whether a name stands for somebody to be named later. */
export const isPlaceholder = (name: string): boolean => PLACEHOLDER.test(words(name).join(' '));

/** Whether one name is the other one and up to two words more, which make no other team of it: a city, and the city with its team. */
export function isBeginning(one: string, other: string): boolean {
  const [short, long] = [nameWords(one), nameWords(other)].toSorted((a, b) => a.length - b.length);
  if (!short || !long || short.length === 0 || marksOf(short) !== marksOf(long)) return false;
  const rest = long.slice(short.length);
  return rest.length <= 2 && short.every((word, at) => word === long[at]);
}

const PARTY =
  /\b(?:party|democrat\w*|republican\w*|gop|labou?r|conservatives|tories|liberals|greens|independent|libertarian\w*|candidate|nominee)\b/i;

/** What a name names: a party, some member of a class ("a woman"), or one alone. Members of two sorts exclude nothing. */
export const kindOfName = (name: string): 'party' | 'class' | 'one' =>
  PARTY.test(name) ? 'party' : /^an? /i.test(name) ? 'class' : 'one';

const isInitialOf = (short: string, long: string): boolean => short.length === 1 && long.startsWith(short);
const isSameWord = (a: string, b: string): boolean =>
  a === b || (Math.min(a.length, b.length) >= 4 && a.length !== b.length && isOneTypo(a, b));

/** Whether one name is one word, with which the other one ends: a family name; "Barcelona" and "Espanyol de Barcelona" are two clubs. */
export function isEnd(one: string, other: string): boolean {
  const [short, long] = [nameWords(one), nameWords(other)].toSorted((a, b) => a.length - b.length);
  return short?.length === 1 && long !== undefined && long.length > 1 && long.at(-1) === short[0];
}

/** Whether two names of several words begin with one first name, in full and short. */
const hasSameFirst = (a: readonly string[], b: readonly string[]): boolean => {
  const [one = '', other = ''] = [a[0], b[0]];
  return a.length > 1 && b.length > 1 && (isShortFor(one, other) || isShortFor(other, one));
};

/**
 * Whether two names name the same: every word of the shorter one is in the longer one, an initial stands for its word, and the marks
 * that make another person of it agree. One word alone must be the whole name or its end, the family name.
 */
export function isSameName(one: string, other: string): boolean {
  const [a, given] = [nameWords(one), nameWords(other)];
  if (a.length === 0 || given.length === 0 || marksOf(a) !== marksOf(given)) return false;
  const b = hasSameFirst(a, given) ? [a[0] ?? '', ...given.slice(1)] : given;
  if (a.join('') === b.join('')) return true;
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  const free = [...long];
  for (const word of short) {
    const at = free.findIndex((each) => isSameWord(word, each) || isInitialOf(word, each) || isInitialOf(each, word));
    if (at === -1) return false;
    free.splice(at, 1);
  }
  const isFamilyName = (long.at(-1) ?? '') === short[0];
  const left = free.filter((word) => word.length > 1);
  if (short.length === 1) return left.length === 0 || isFamilyName;
  return left.length <= 1;
}

/** A mark after a person's name that one of two texts may leave out; "II" is a second team as well. */
const GENERATION = /,? \b(?:jr|sr|iii|iv)\b\.?$/i;

/** Whether a mark of generation, which one name alone has, is all that parts two names. */
export function areOfGenerations(one: string, other: string): boolean {
  const [a, b] = [one, other].map((name) => name.trim().replace(GENERATION, ''));
  return a !== undefined && b !== undefined && (a === one.trim()) !== (b === other.trim()) && isSameName(a, b);
}

/** The mark of generation of a name, folded; '' if it has none. */
export const generationOf = (name: string): string => words(GENERATION.exec(name.trim())?.[0] ?? '').join('');

/** The full name of one of few persons, among whom no two differ by a mark of generation alone. */
export const fullNameOf = (name: string): string => nameWords(name.trim().replace(GENERATION, '')).join('');

const ACRONYM = /^[A-Z]{3,5}$/;

/** Whether one name alone is an acronym, whose letters the other has in their order: it may be short for it. */
export function mayBeShort(one: string, other: string): boolean {
  const [a = '', b = ''] = [one, other].map((name) => name.trim().replace(GENERATION, ''));
  if (ACRONYM.test(a) === ACRONYM.test(b)) return false;
  const [short, long] = ACRONYM.test(a) ? [a, b] : [b, a];
  return new RegExp(`^${[...short].join('.{0,60}?')}`, 'i').test(long);
}
