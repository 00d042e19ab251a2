import { decimals } from './exact.ts';

/** From this value on, labels use compact notation. */
const LARGE = 10_000;
/** Significant digits that represent any double exactly. */
const MOST_DIGITS = 17;
const USUAL_DECIMALS = 6;
const USUAL_DIGITS = 4;

/** Labels of an axis: all compact if one value is large, with enough digits that different values get different labels. */
export function axisTexts(values: readonly number[]): string[] {
  if (Math.max(...values.map(Math.abs)) >= LARGE)
    return distinct(values, USUAL_DIGITS, (digits) => ({ notation: 'compact', maximumSignificantDigits: digits }));
  // Axis steps have binary rounding errors: 748.4500000000001.
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
