/**
 * Arithmetic of the oracles, apart from the service's own: a decimal is a whole number of units of 10^-scale.
 * What a test compares with is a JSON number; it is made from decimal text only.
 */

/** The JSON number of `value` units of 10^-scale. */
export function toNumber(value: bigint | number, scale: number): number {
  const digits = BigInt(value);
  const sign = digits < 0n ? '-' : '';
  const text = (digits < 0n ? -digits : digits).toString().padStart(scale + 1, '0');
  const number = Number(`${sign}${text.slice(0, text.length - scale)}.${text.slice(text.length - scale)}0`);
  return Object.is(number, -0) ? 0 : number;
}

/** Units of 10^-scale of a decimal text that has no more places than that. */
export function toUnits(text: string, scale: number): bigint {
  const [whole = '', fraction = ''] = text.split('.');
  if (!/^-?\d+$/.test(whole) || !/^\d*$/.test(fraction) || fraction.length > scale) {
    throw new RangeError(`${text} is not a decimal of ${scale} places`);
  }
  return BigInt(whole + fraction.padEnd(scale, '0'));
}

/** `value` in units of 10^-from, as units of 10^-to, half to even. */
export function rescale(value: bigint, from: number, to: number): bigint {
  if (to >= from) return value * 10n ** BigInt(to - from);
  const unit = 10n ** BigInt(from - to);
  const floor = value / unit - (value % unit < 0n ? 1n : 0n);
  const twice = (value - floor * unit) * 2n;
  return twice > unit || (twice === unit && floor % 2n !== 0n) ? floor + 1n : floor;
}

export const sum = (values: Iterable<bigint>): bigint => {
  let total = 0n;
  for (const value of values) total += value;
  return total;
};

/** Unix ms as the service prints times. */
export const iso = (ms: number): string => new Date(Math.floor(ms)).toISOString();
export const isoUs = (us: number): string => iso(Math.floor(us / 1000));
