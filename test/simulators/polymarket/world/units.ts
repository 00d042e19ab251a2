import {
  decimalNumber,
  divideHalfEven,
  notionalUsd,
  ONE_PRICE,
  PRICE_SCALE,
  SIZE_SCALE,
  USD_SCALE,
} from '../../../../src/core/decimal.ts';
import { trimmedText } from '../../lib/index.ts';

/** Units of this world: prices are bigints ×10^10, shares and USD ×10^6, as in src/decimal.ts. Times are Unix ms. */
export const ONE = ONE_PRICE;

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** A plain decimal of a fixture, e.g. price('0.455'). */
export const price = (text: string): bigint => exact(text, PRICE_SCALE);
export const shares = (text: string): bigint => exact(text, SIZE_SCALE);
export const usd = (text: string): bigint => exact(text, USD_SCALE);

export const priceText = (value: bigint): string => trimmedText(value, PRICE_SCALE);
export const sizeText = (value: bigint): string => trimmedText(value, SIZE_SCALE);
export const priceNumber = (value: bigint): number => decimalNumber(value, PRICE_SCALE);
export const sizeNumber = (value: bigint): number => decimalNumber(value, SIZE_SCALE);
export const usdNumber = (value: bigint): number => decimalNumber(value, USD_SCALE);

/** price × size, half-even to a millionth of a dollar. */
export const usdOf = notionalUsd;

/** As the CLOB prints a last trade: at least three decimals ("0.940"). */
export function lastPriceText(value: bigint): string {
  const [whole = '0', fraction = ''] = priceText(value).split('.');
  return `${whole}.${fraction.padEnd(3, '0')}`;
}

/** Rounds a scaled integer to four decimals, half to even. */
export function toFourDecimals(value: bigint, scale: number): bigint {
  const unit = 10n ** BigInt(scale - 4);
  return divideHalfEven(value, unit) * unit;
}

/** The next double above (or `steps` above) a non-negative one: how the platform's float sums look. */
export function noisy(value: number, steps: number): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  view.setBigUint64(0, view.getBigUint64(0) + BigInt(steps));
  return view.getFloat64(0);
}

function exact(text: string, scale: number): bigint {
  const [whole = '', fraction = ''] = text.split('.');
  if (fraction.length > scale) throw new RangeError(`${text} has more than ${scale} decimals`);
  return BigInt(whole + fraction.padEnd(scale, '0'));
}
