/** A range of a quantity, in steps of its precision: both ends belong to it, null is no end. */
export interface Range {
  low: number | null;
  high: number | null;
  /** Distance of two neighbouring values; 0 where the quantity has no steps. */
  step: number;
  /** False: the end itself does not belong to it. Counts only where the step is 0. */
  hasLow: boolean;
  hasHigh: boolean;
}

export type SetRelation = 'identical' | 'complement' | 'subset' | 'superset' | 'overlap' | 'disjoint';

/** Digits that no sum of doubles disturbs: prices of a millionth of a cent and counts of trillions keep theirs. */
const DIGITS = 14;
const round = (value: number): number => Number(value.toPrecision(DIGITS));

/** Ends on the grid of the step: "above 4.2" with steps of 0.1 begins at 4.3. */
function onGrid(range: Range, step: number): Range {
  if (step === 0) return { ...range, step };
  const { low, high } = range;
  return {
    step,
    low:
      low === null ? null : round((Math.floor(round(low / step)) + (range.hasLow && isOn(low, step) ? 0 : 1)) * step),
    high:
      high === null
        ? null
        : round((Math.ceil(round(high / step)) - (range.hasHigh && isOn(high, step) ? 0 : 1)) * step),
    hasLow: true,
    hasHigh: true,
  };
}

const isOn = (value: number, step: number): boolean => Math.abs(round(value / step) - Math.round(value / step)) < 1e-6;

/** Below zero: a begins before b. */
function compareLow(a: Range, b: Range): number {
  if (a.low === null || b.low === null) return (a.low === null ? 0 : 1) - (b.low === null ? 0 : 1);
  return a.low === b.low ? Number(b.hasLow) - Number(a.hasLow) : a.low - b.low;
}

function compareHigh(a: Range, b: Range): number {
  if (a.high === null || b.high === null) return (b.high === null ? 0 : 1) - (a.high === null ? 0 : 1);
  return a.high === b.high ? Number(a.hasHigh) - Number(b.hasHigh) : a.high - b.high;
}

/** Whether all of `a` lies below all of `b`. */
function isBelow(a: Range, b: Range): boolean {
  if (a.high === null || b.low === null) return false;
  return a.high < b.low || (a.high === b.low && !(a.hasHigh && b.hasLow));
}

/** Whether nothing lies between the end of `a` and the beginning of `b`. */
function meets(a: Range, b: Range, step: number): boolean {
  if (a.high === null || b.low === null) return false;
  if (step > 0) return Math.abs(round(b.low - a.high) - step) < 1e-6;
  return a.high === b.low && a.hasHigh !== b.hasLow;
}

/** How two ranges of one quantity relate; their common step is the finer one. */
export function relateRanges(one: Range, other: Range): SetRelation {
  const step = one.step === 0 || other.step === 0 ? 0 : Math.min(one.step, other.step);
  const a = onGrid(one, step);
  const b = onGrid(other, step);
  if (isBelow(a, b) || isBelow(b, a)) {
    const isWhole = (a.low === null && b.high === null) || (b.low === null && a.high === null);
    return isWhole && (meets(a, b, step) || meets(b, a, step)) ? 'complement' : 'disjoint';
  }
  const low = compareLow(a, b);
  const high = compareHigh(a, b);
  if (low === 0 && high === 0) return 'identical';
  if (low <= 0 && high >= 0) return 'superset';
  if (low >= 0 && high <= 0) return 'subset';
  return 'overlap';
}

export const above = (low: number, hasLow: boolean): Range => ({ low, high: null, step: 0, hasLow, hasHigh: false });
export const below = (high: number, hasHigh: boolean): Range => ({ low: null, high, step: 0, hasLow: false, hasHigh });

const UNITS: Readonly<Record<string, number>> = {
  k: 1e3,
  thousand: 1e3,
  m: 1e6,
  million: 1e6,
  b: 1e9,
  bn: 1e9,
  billion: 1e9,
  t: 1e12,
  trillion: 1e12,
};
const NUMBER =
  '[$€£+]?(-?\\d{1,15}(?:,\\d{3}){0,5}(?:\\.\\d{1,18})?) ?(k|m|bn|b|t|thousand|million|billion|trillion)?\\b ?(?:%|°[cf]?|º[cf]?|degrees|percent|bps|basis points)?';
const EDGE = '(?: ?\\((inclusive|exclusive)\\))?';

const valueOf = (digits: string, unit: string | undefined): number =>
  round(Number(digits.replaceAll(',', '')) * (unit ? (UNITS[unit.toLowerCase()] ?? 1) : 1));

type Reader = readonly [RegExp, (match: RegExpExecArray) => Range];
const reader = (pattern: string, read: (match: RegExpExecArray) => Range): Reader => [new RegExp(pattern, 'i'), read];
const value = (match: RegExpExecArray, at = 1): number => valueOf(match[at] ?? '', match[at + 1]);

/** The unit of "100-150k" and "between $1 and 2 million" stands at the second number alone. */
function between(
  low: string,
  lowUnit: string | undefined,
  high: string,
  highUnit: string | undefined,
  edges: readonly [boolean, boolean],
): Range {
  return {
    low: valueOf(low, lowUnit ?? highUnit),
    high: valueOf(high, highUnit),
    step: 0,
    hasLow: edges[0],
    hasHigh: edges[1],
  };
}

const FROM =
  '(?<!\\bnot? )(at least|at or above|no less than|(?:greater|more) than or equal to|above|over|more than|greater than|higher than|≥|>=|>)';
const UNTIL =
  '(at most|at or below|no more than|(?:less|fewer) than or equal to|below|under|less than|fewer than|lower than|≤|<=|<)';
/** Whether the number belongs to what its comparator states. */
const isWith = (comparator: string | undefined): boolean => /least|most|at or|no |equal|[≥≤=]/i.test(comparator ?? '');

const READERS: readonly Reader[] = [
  reader(`${FROM} ?${NUMBER},? (?:and|but) ${UNTIL} ?${NUMBER}`, (m) =>
    between(m[2] ?? '', m[3], m[5] ?? '', m[6], [isWith(m[1]), isWith(m[4])]),
  ),
  reader(`\\bbetween ${NUMBER}${EDGE} ?(?:and|to|-) ?${NUMBER}${EDGE}`, (m) =>
    between(m[1] ?? '', m[2], m[4] ?? '', m[5], [
      m[3]?.toLowerCase() !== 'exclusive',
      m[6]?.toLowerCase() !== 'exclusive',
    ]),
  ),
  reader(`${NUMBER} ?(?:or more|or higher|or above|or greater|or over|and above|\\+|or hotter|or warmer)`, (m) =>
    above(value(m), true),
  ),
  reader(`\\+?(-?\\d[\\d,]{0,18}(?:\\.\\d{1,18})?)(k|m|b)?\\+(?![\\d])`, (m) => above(value(m), true)),
  reader(`${NUMBER} ?(?:or less|or fewer|or lower|or below|or under|or colder|or cooler)`, (m) =>
    below(value(m), true),
  ),
  reader(
    `\\b(?:at least|at or (?:above|over|exceeding)|(?:equals?|equal to) or (?:above|over|exceeding|exceeds|(?:more|greater|higher) than)|(?:meets|reaches) or exceeds|exceeds or equals|(?:no|not) (?:less|fewer|lower) than|not below|greater than or equal to|minimum of) ${NUMBER}|(?:≥|>=) ?${NUMBER}`,
    (m) => above(m[1] ? value(m) : value(m, 3), true),
  ),
  reader(
    `\\b(?:at most|at or (?:below|under)|(?:equals?|equal to) or (?:below|under|(?:less|fewer|lower) than)|(?:no|not) (?:more|higher|greater) than|not (?:above|over|exceed(?:ing)?)|less than or equal to|up to) ${NUMBER}|(?:≤|<=) ?${NUMBER}`,
    (m) => below(m[1] ? value(m) : value(m, 3), true),
  ),
  reader(`\\b(?:above|over|more than|greater than|higher than|exceeds?|exceeding|>) ?${NUMBER}|> ?${NUMBER}`, (m) =>
    above(m[1] ? value(m) : value(m, 3), false),
  ),
  reader(`\\b(?:below|under|less than|fewer than|lower than) ${NUMBER}|< ?${NUMBER}`, (m) =>
    below(m[1] ? value(m) : value(m, 3), false),
  ),
  reader(`(?<![\\d.-])${NUMBER}${EDGE} ?(?:-|to) ?${NUMBER}${EDGE}`, (m) =>
    between(m[1] ?? '', m[2], m[4] ?? '', m[5], [
      m[3]?.toLowerCase() !== 'exclusive',
      m[6]?.toLowerCase() !== 'exclusive',
    ]),
  ),
  reader(`\\bexactly ${NUMBER}`, (m) => ({ low: value(m), high: value(m), step: 0, hasLow: true, hasHigh: true })),
];

/** The first range that a text states with a comparator, with the words that state it; null if it states none. */
export function rangeIn(text: string): { range: Range; quote: string } | null {
  for (const [pattern, read] of READERS) {
    const match = pattern.exec(text);
    if (match) return { range: read(match), quote: match[0].trim() };
  }
  return null;
}

/** The only number of a text that says no comparator; null if there are none or several. */
export function loneNumberIn(text: string): { value: number; quote: string } | null {
  const found = [...text.matchAll(new RegExp(`(?<![\\d.,])${NUMBER}`, 'gi'))];
  const [first] = found;
  return found.length === 1 && first ? { value: value(first), quote: first[0].trim() } : null;
}

/** A single value. */
export const exactly = (at: number): Range => ({ low: at, high: at, step: 0, hasLow: true, hasHigh: true });
export const withStep = (range: Range, step: number): Range => ({ ...range, step });
