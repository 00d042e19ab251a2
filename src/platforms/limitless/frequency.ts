import { countedPeriod } from '../market-fields.ts';
import type { LimitlessMarket } from './wire.ts';

/** Recurring markets are filed under their period ("Minutely", "15 min"), which is neither a category nor a subcategory. */
export const PERIOD =
  /^((half-?)?hourly|minutely|daily|weekly|monthly|quarterly|yearly|annual(ly)?|\d+\s*(mins?|minutes?|h|hrs?|hours?|d|days?|weeks?|months?))$/i;

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
