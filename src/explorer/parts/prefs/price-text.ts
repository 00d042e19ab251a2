import { plain, points, rounded } from '../exact.ts';
import { prefs } from './prefs.ts';

const UNITS = { usd: '', cents: ' ¢', percent: ' %' } as const;

/** A price with `digits` decimals of USD, as the user prefers it: 0.94, 94 ¢ or 94 %. */
export function priceIn(value: number, digits: number): string {
  const { prices } = prefs();
  const text = prices === 'usd' ? rounded(value, digits) : rounded(points(value), Math.max(0, digits - 2));
  return `${text.replace('-', '−')}${UNITS[prices]}`;
}

/** All digits of a price, as the user prefers it. */
export const exactPriceIn = (value: number): string => {
  const { prices } = prefs();
  return `${plain(prices === 'usd' ? value : points(value))}${UNITS[prices]}`;
};
