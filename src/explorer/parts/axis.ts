import { decimals } from './exact.ts';

/** From here on an axis has its values in short. */
const LARGE = 10_000;
/** Digits of a number that JSON can carry. */
const MOST_DIGITS = 17;
const USUAL_DECIMALS = 6;
const USUAL_DIGITS = 4;

/** The texts of an axis: large values in short, all alike, with so many digits that two values never share a text. */
export function axisTexts(values: readonly number[]): string[] {
  if (Math.max(...values.map(Math.abs)) >= LARGE)
    return distinct(values, USUAL_DIGITS, (digits) => ({ notation: 'compact', maximumSignificantDigits: digits }));
  // An axis counts its steps in binary: 748.4500000000001.
  const rounded = values.map((value) => Number(value.toFixed(USUAL_DECIMALS)));
  const most = Math.max(0, ...rounded.map(decimals));
  return distinct(values, most, (digits) => ({ minimumFractionDigits: digits, maximumFractionDigits: digits }));
}

function distinct(
  values: readonly number[],
  fewest: number,
  optionsOf: (digits: number) => Intl.NumberFormatOptions,
): string[] {
  const count = new Set(values).size;
  for (let digits = fewest; ; digits += 1) {
    const format = new Intl.NumberFormat('en-US', optionsOf(digits));
    const texts = values.map((value) => format.format(value));
    if (digits >= MOST_DIGITS || new Set(texts).size >= count) return texts;
  }
}
