import { DAY_MS, dayOf, HOUR_MS } from '../core/time.ts';

/** Dates of a text as days, without a clock: a day is `YYYY-MM-DD`, ends are exclusive. */
export interface Window {
  /** First day; null if the text does not say it. */
  from: string | null;
  /** The day after the last one; null if the text does not say it. */
  to: string | null;
}

export interface DateMention {
  from: string;
  to: string;
  unit: 'day' | 'month' | 'quarter' | 'year';
  /** Whether the text states the year; otherwise it was inferred. */
  hasYear: boolean;
  index: number;
  length: number;
}

/** Maximum dates that are read from a text. */
const MOST_DATES = 20;
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const MONTH =
  '(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\\.?';
const YEAR = "(20\\d\\d|'\\d\\d)";
const MENTION = new RegExp(
  [
    '\\b(20\\d\\d)-(\\d\\d)-(\\d\\d)\\b',
    `\\b${MONTH} (\\d{1,2})(?:st|nd|rd|th)?(?![\\d%]|:\\d)(?:,? ${YEAR}\\b)?`,
    `\\b(\\d{1,2})(?:st|nd|rd|th)? ${MONTH}(?:,? ${YEAR})?\\b`,
    `\\b${MONTH},? ${YEAR}\\b`,
    `\\b${YEAR} ${MONTH}\\b`,
    '\\bq([1-4]),? (20\\d\\d)\\b',
    '\\b(20\\d\\d)(?:[-/](?:20)?(\\d\\d)(?!\\d))?\\b',
    `\\b(?:(?:in|for|of|by|before|during|end of) )?${MONTH}(?= (?:meeting|(?:us |core |headline )?(?:cpi|pce|ppi|inflation|unemployment|jobs|jobless|nonfarm|payrolls|retail)\\b))|\\b(?:in|for|of|by|before|during|end of) ${MONTH}(?![a-z0-9])(?! ?\\d)`,
  ].join('|'),
  'gi',
);

export const msOfDay = (day: string): number => Date.parse(`${day}T00:00:00Z`);
export const addDays = (day: string, days: number): string => dayOf(msOfDay(day) + days * DAY_MS);
/** Whether two days are at most so many days apart. */
export const within = (a: string, b: string, days: number): boolean => a <= addDays(b, days) && b <= addDays(a, days);
const pad = (n: number): string => String(n).padStart(2, '0');
const monthStart = (year: number, month: number): string =>
  `${year + Math.floor(month / 12)}-${pad((month % 12) + 1)}-01`;
const monthNumber = (name: string): number => MONTHS.indexOf(name.slice(0, 3).toLowerCase());
const yearNumber = (text: string): number => (text.startsWith("'") ? 2000 + Number(text.slice(1)) : Number(text));

const day = (year: number, month: number, date: number): { from: string; to: string; unit: 'day' } | null => {
  const from = `${year}-${pad(month + 1)}-${pad(date)}`;
  const isReal = date >= 1 && date <= 31 && !Number.isNaN(msOfDay(from)) && dayOf(msOfDay(from)) === from;
  return isReal ? { from, to: addDays(from, 1), unit: 'day' } : null;
};

/** A record ends after the dates of its text more often than before: a date up to 90 days later is of the same year. */
const EARLIER_DAYS = 90;

/** The year in which a date without one lies nearest to a known day; null without that day. */
function nearestYear(month: number, date: number, near: string | null): number | null {
  if (near === null) return null;
  const year = Number(near.slice(0, 4));
  const at = msOfDay(addDays(near, -EARLIER_DAYS));
  const distance = (each: number): number => Math.abs(Date.UTC(each, month, date) - at);
  return [year - 1, year, year + 1].toSorted((a, b) => distance(a) - distance(b))[0] ?? null;
}

function spanOf(match: RegExpExecArray, near: string | null): Omit<DateMention, 'index' | 'length'> | null {
  const [
    ,
    isoY,
    isoM,
    isoD,
    mName,
    mDay,
    mYear,
    dDay,
    dName,
    dYear,
    myName,
    myYear,
    ymYear,
    ymName,
    q,
    qYear,
    y,
    y2,
    meeting,
    lone,
  ] = match;
  if (isoY) {
    const found = day(Number(isoY), Number(isoM) - 1, Number(isoD));
    return found && { ...found, hasYear: true };
  }
  const name = mName ?? dName;
  if (name) {
    const month = monthNumber(name);
    const date = Number(mDay ?? dDay);
    const stated = mYear ?? dYear;
    const year = stated ? yearNumber(stated) : nearestYear(month, date, near);
    const found = year === null ? null : day(year, month, date);
    return found && { ...found, hasYear: stated !== undefined };
  }
  const named = myName ?? ymName ?? meeting ?? lone;
  if (named) {
    const month = monthNumber(named);
    const stated = myYear ?? ymYear;
    const year = stated ? yearNumber(stated) : nearestYear(month, 15, near);
    if (year === null) return null;
    return {
      from: monthStart(year, month),
      to: monthStart(year, month + 1),
      unit: 'month',
      hasYear: stated !== undefined,
    };
  }
  if (q) {
    const month = (Number(q) - 1) * 3;
    return {
      from: monthStart(Number(qYear), month),
      to: monthStart(Number(qYear), month + 3),
      unit: 'quarter',
      hasYear: true,
    };
  }
  if (!y) return null;
  // A season, 2025-26, is named by the year in which it ends.
  const year = y2 ? Number(y.slice(0, 2) + y2) : Number(y);
  if (y2 && year !== Number(y) + 1) return null;
  return { from: `${year}-01-01`, to: `${year + 1}-01-01`, unit: 'year', hasYear: true };
}

/** The last date of its name that is not after a day. */
function notAfter(match: RegExpExecArray, last: string): ReturnType<typeof spanOf> {
  const year = Number(last.slice(0, 4));
  const span = spanOf(match, `${year}-10-01`);
  return span && span.from > last ? spanOf(match, `${year - 1}-10-01`) : span;
}

/** The dates of a text in their order; `near` gives the year to dates without one. */
export function datesIn(text: string, near: string | null): DateMention[] {
  const found: DateMention[] = [];
  const matches = [...text.matchAll(MENTION)].slice(0, MOST_DATES);
  for (const [at, match] of matches.entries()) {
    // "between March 3 and May 4, 2026": the year of the second date is the year of the first.
    const next = matches[at + 1];
    const isPair =
      next !== undefined && /^ ?(?:and|to|through|-) $/i.test(text.slice(match.index + match[0].length, next.index));
    const shared = isPair ? spanOf(next, null) : null;
    const span = shared?.hasYear ? notAfter(match, shared.from) : spanOf(match, near);
    if (span) found.push({ ...span, index: match.index, length: match[0].length });
  }
  return found;
}

/** "By 11:59 PM ET on": a clock may stand between the word and its date. */
const CLOCK = '(?: (?!12:00 ?am)\\d{1,2}(?::\\d\\d)? ?[ap]m(?: [a-z]{2,4})?,?(?: on)?)';
const BEFORE =
  /(?<!\b(?:on|at) or )\b(?:before|prior to|earlier than)(?: 12:00 ?am(?: [a-z]{2,4})?,?(?: on)?)?(?: the)?(?: (?:start|beginning) of)? ?$/i;
const BY = new RegExp(
  `\\b(?:by|until|till|through|to|and|(?:on|at) or (?:before|prior to)|no later than|as late as)${CLOCK}?(?: the)?(?: end of)? ?$|\\bbefore${CLOCK} ?$`,
  'i',
);
const BETWEEN = /\b(?:between|from|after|since)(?: the)? ?$/i;

/** The window that a sentence states with prepositions; both ends null if it states none. */
export function windowIn(text: string, near: string | null): Window {
  const window: Window = { from: null, to: null };
  const mentions = datesIn(text, near);
  for (const [at, mention] of mentions.entries()) {
    const next = mentions[at + 1];
    // "January 12 - January 19": from the one to the other.
    if (
      next &&
      window.to === null &&
      / ?- ?$/.test(text.slice(mention.index + mention.length, next.index)) &&
      next.to > mention.from &&
      next.index - mention.index - mention.length <= 3
    )
      return { from: mention.from, to: next.to };
    const inside = /^(in|for|of|by|before|during|end of) /i.exec(
      text.slice(mention.index, mention.index + mention.length),
    );
    const before = text.slice(Math.max(0, mention.index - 32), mention.index) + (inside ? inside[0] : '');
    // "The end of January" without "by" is its last day.
    if (
      /^end of/i.test(inside?.[0] ?? '') &&
      window.to === null &&
      !BY.test(before.replace(/(?: the)? end of ?$/i, ' ')) &&
      !BEFORE.test(before.replace(/(?: the)? end of ?$/i, ' '))
    ) {
      window.from = addDays(mention.to, -1);
      window.to = mention.to;
    } else if (BEFORE.test(before)) window.to ??= mention.from;
    else if (BETWEEN.test(before)) window.from ??= mention.from;
    else if (BY.test(before)) window.to ??= mention.to;
    else if (/\b(?:in|during|on|at|for|of) ?$/i.test(before) && window.to === null) {
      window.from ??= mention.from;
      window.to = mention.to;
    }
  }
  return window;
}

/** The day in New York at an instant; a time of exactly midnight UTC is a day already. */
export function dayInNewYork(ms: number): string {
  if (ms % DAY_MS === 0) return dayOf(ms);
  const year = new Date(ms).getUTCFullYear();
  return dayOf(ms - newYorkOffsetHours(ms, year) * HOUR_MS);
}

/** Hours behind UTC: 4 from the second Sunday of March to the first of November, else 5. */
function newYorkOffsetHours(ms: number, year: number): 4 | 5 {
  const sunday = (month: number, nth: number): number => {
    const first = new Date(Date.UTC(year, month, 1)).getUTCDay();
    return Date.UTC(year, month, 1 + ((7 - first) % 7) + (nth - 1) * 7);
  };
  return ms >= sunday(2, 2) + 7 * HOUR_MS && ms < sunday(10, 1) + 6 * HOUR_MS ? 4 : 5;
}

/** Whether the clock of New York shows a time twice on a day: the hour before the end of summer time. */
export function isTwiceInNewYork(dayText: string, minutes: number): boolean {
  const wall = msOfDay(dayText) + minutes * 60_000;
  const year = Number(dayText.slice(0, 4));
  return newYorkOffsetHours(wall + 4 * HOUR_MS, year) === 4 && newYorkOffsetHours(wall + 5 * HOUR_MS, year) === 5;
}

/** The instant of a wall-clock time in New York. */
export function newYorkMs(dayText: string, minutes: number): number {
  const wall = msOfDay(dayText) + minutes * 60_000;
  return wall + newYorkOffsetHours(wall + 5 * HOUR_MS, Number(dayText.slice(0, 4))) * HOUR_MS;
}
