import { DAY_MS, DAY_US } from './time.ts';

const [HOUR_US, MINUTE_US, SECOND_US] = [3_600_000_000, 60_000_000, 1_000_000];

/** Calendar, ordinal and week dates, with or without hyphens; a year of six digits has a sign. */
const DATE =
  /(?<year>\d{4}|[+-]\d{6})(?:-(?<month>\d\d)-(?<day>\d\d)|(?<month2>\d\d)(?<day2>\d\d)|-?(?<ordinal>\d{3})|(?<dash>-?)W(?<week>\d\d)\k<dash>(?<weekday>\d))/;
/** The smallest unit that is given may have a fraction, after a point or a comma. */
const TIME = /(?<hour>\d\d)(?:(?<colon>:?)(?<minute>\d\d)(?:\k<colon>(?<second>\d\d))?)?(?:[.,](?<fraction>\d+))?/;
const OFFSET = /Z|(?<sign>[+\-\u2212])(?<offsetHour>\d\d)(?::?(?<offsetMinute>\d\d)(?::?(?<offsetSecond>\d\d))?)?/;
const ISO = new RegExp(`^${DATE.source}(?:[T ]${TIME.source}(?: ?(?:${OFFSET.source}))?|Z)?$`, 'i');

type Parts = Readonly<Record<string, string | undefined>>;

/** A part as a number up to `max`, 0 where the text leaves it out; NaN if it is larger. */
function part(text: string | undefined, max: number): number {
  const value = Number(text ?? 0);
  return value <= max ? value : NaN;
}

/** Midnight of a day by its number from 1 January on, Unix ms. */
function dayMs(year: number, month: number, day: number): number {
  return new Date(0).setUTCFullYear(year, month - 1, day);
}

/** Midnight of the date, Unix ms; NaN if the calendar has no such date. */
function dateMs({ year: yearText, month, month2, day, day2, ordinal, week, weekday }: Parts): number {
  const year = Number(yearText);
  if (week !== undefined) {
    // Week 1 contains 4 January; a week belongs to the year of its Thursday.
    const jan4 = dayMs(year, 1, 4);
    const monday = jan4 - ((new Date(jan4).getUTCDay() + 6) % 7) * DAY_MS;
    const thursday = monday + (Number(week) * 7 - 4) * DAY_MS;
    const exists = Number(week) >= 1 && Number(weekday) >= 1 && Number(weekday) <= 7;
    return exists && new Date(thursday).getUTCFullYear() === year ? thursday + (Number(weekday) - 4) * DAY_MS : NaN;
  }
  const [months, days] = ordinal === undefined ? [Number(month ?? month2), Number(day ?? day2)] : [1, Number(ordinal)];
  const date = new Date(dayMs(year, months, days));
  const isSame = date.getUTCFullYear() === year && (ordinal !== undefined || date.getUTCMonth() === months - 1);
  return isSame && months >= 1 && days >= 1 ? date.getTime() : NaN;
}

/** The time of day in µs, more digits cut; NaN if a clock has no such time. 24:00 is the end of the day. */
function timeUs({ hour, minute, second, fraction }: Parts): number {
  const unit = second !== undefined ? SECOND_US : minute !== undefined ? MINUTE_US : HOUR_US;
  const digits = (fraction ?? '').slice(0, 12);
  const fractionUs = Number((BigInt(digits || 0) * BigInt(unit)) / 10n ** BigInt(digits.length));
  const us = part(hour, 24) * HOUR_US + part(minute, 59) * MINUTE_US + part(second, 60) * SECOND_US + fractionUs;
  return us <= DAY_US || hour !== '24' ? us : NaN;
}

/** What a local time is ahead of UTC, in µs; NaN if no clock can be. */
function offsetUs({ sign, offsetHour, offsetMinute, offsetSecond }: Parts): number {
  const us = part(offsetHour, 23) * HOUR_US + part(offsetMinute, 59) * MINUTE_US + part(offsetSecond, 59) * SECOND_US;
  return sign === undefined || sign === '+' ? us : -us;
}

/**
 * Unix µs of a date or time in any form of ISO 8601 that names a day: calendar, week or ordinal date, basic or extended, decimal
 * fraction of any unit, offset with or without minutes and seconds; a blank may stand for `T`, and a text without offset is UTC. A leap
 * second is the first second of the next day. Null for other texts, and if a part is out of its range.
 */
export function parseIso8601(text: string): number | null {
  const parts = ISO.exec(text)?.groups;
  if (!parts) return null;
  const us = dateMs(parts) * 1000 + timeUs(parts) - offsetUs(parts);
  const isLeapSecond = parts.second === '60';
  return Number.isNaN(us) || (isLeapSecond && us % DAY_US >= SECOND_US) ? null : us;
}
