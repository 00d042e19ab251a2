import type { LimitlessMarket } from './wire.ts';

/** Recurring markets are filed under their period ("Minutely", "15 min"), which is neither a category nor a subcategory. */
export const PERIOD =
  /^((half-?)?hourly|minutely|daily|weekly|monthly|quarterly|yearly|annual(ly)?|\d+\s*(mins?|minutes?|h|hrs?|hours?|d|days?|weeks?|months?))$/i;

const UNIT = String.raw`(m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?|months?|y|years?)`;
/** "5-min", "15 min", "1h"; or "minutes_5", "hours_1". */
const COUNTED = new RegExp(String.raw`^(\d{1,6})[\s_-]*${UNIT}$`, 'i');
const COUNTED_AFTER = new RegExp(String.raw`^${UNIT}[\s_-]+(\d{1,6})$`, 'i');

/** A unit of time: how many of it make the next unit, and the word for a period of one unit. */
interface Unit {
  name: string;
  word: string | null;
  next: [count: number, unit: Unit] | null;
}
const YEARS: Unit = { name: 'y', word: 'annual', next: null };
const MONTHS: Unit = { name: 'mo', word: 'monthly', next: [12, YEARS] };
const WEEKS: Unit = { name: 'w', word: 'weekly', next: null };
const DAYS: Unit = { name: 'd', word: 'daily', next: [7, WEEKS] };
const HOURS: Unit = { name: 'h', word: 'hourly', next: [24, DAYS] };
const MINUTES: Unit = { name: 'm', word: null, next: [60, HOURS] };

const unitOf = (word: string): Unit => {
  const start = word.toLowerCase();
  if (start.startsWith('mo')) return MONTHS;
  return [MINUTES, HOURS, DAYS, WEEKS, YEARS].find(({ name }) => start.startsWith(name)) ?? MINUTES;
};

/** Words of platforms, with the answer's word. "Minutely" is not among them: it names no number of minutes. */
const WORDS: ReadonlyMap<string, string> = new Map([
  ['half-hourly', '30m'],
  ['halfhourly', '30m'],
  ['hourly', 'hourly'],
  ['daily', 'daily'],
  ['weekly', 'weekly'],
  ['monthly', 'monthly'],
  ['quarterly', 'quarterly'],
  ['yearly', 'annual'],
  ['annual', 'annual'],
  ['annually', 'annual'],
]);

/** A number of units in the largest unit that it is a whole number of: 60 minutes are "hourly", 240 are "4h". */
function counted(count: number, unit: Unit): string | null {
  if (count === 0) return null;
  const [size, larger] = unit.next ?? [];
  if (size && larger && count % size === 0) return counted(count / size, larger);
  if (unit === MONTHS && count === 3) return 'quarterly';
  return (count === 1 && unit.word) || `${count}${unit.name}`;
}

function countedPeriod(text: string): string | null {
  const [, number, unit] = COUNTED.exec(text.trim()) ?? [];
  const [, unitBefore, numberAfter] = COUNTED_AFTER.exec(text.trim()) ?? [];
  const name = unit ?? unitBefore;
  return name ? counted(Number(number ?? numberAfter), unitOf(name)) : null;
}

type Recurring = Pick<
  LimitlessMarket,
  'properties' | 'metadata' | 'subFrequency' | 'frequency' | 'categories' | 'category'
>;

/**
 * How often the series of a market recurs: a number and a unit as in 5m, 15m, 4h, 2d, or hourly, daily, weekly, monthly, quarterly,
 * annual; null if unknown. Its duration and sub-frequency are exact; `frequency` and categories may be as vague as "minutely".
 */
export function frequencyOf({
  properties,
  metadata,
  subFrequency,
  frequency,
  categories,
  category,
}: Recurring): string | null {
  const durations = (properties ?? []).filter(({ propertyKeySlug }) => propertyKeySlug === 'duration');
  const minutes = metadata?.minutesDeadline;
  const texts = [
    ...durations.flatMap(({ value }) => value ?? []),
    metadata?.frequencySubType,
    subFrequency,
    minutes && `${minutes} min`,
    ...(categories ?? [category]),
    frequency,
  ].flatMap((text) => text || []);
  return texts.flatMap((text) => countedPeriod(text) ?? WORDS.get(text.trim().toLowerCase()) ?? [])[0] ?? null;
}
