/**
 * Money without floats: a decimal is a bigint scaled by a power of ten.
 * Prices carry 10 decimals (Polymarket prints size-weighted prices that long), sizes and USD amounts 6.
 */
export const PRICE_SCALE = 10;
export const SIZE_SCALE = 6;
export const USD_SCALE = 6;

/** A price of 0..1 USD per contract, ×10^10. */
export type Price = bigint;
/** A number of contracts or shares, ×10^6. */
export type Size = bigint;
/** An amount of USD (or of a USD stablecoin), ×10^6. */
export type Usd = bigint;

export const ONE_PRICE: Price = 10n ** BigInt(PRICE_SCALE);
/** 10^n, precomputed: exponentiation of bigints for every price would cost more than parsing it. */
const POWERS = Array.from({ length: 64 }, (_, n) => 10n ** BigInt(n));
const tenTo = (n: number): bigint => POWERS[n] ?? 10n ** BigInt(n);
const DECIMAL = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?$/;

/**
 * Parses a decimal text (or the shortest round-trip text of a JSON number) to an integer ×10^scale.
 * Digits beyond the scale are rounded half to even. Throws RangeError on anything that is not a decimal.
 */
export function parseDecimal(input: string | number, scale: number): bigint {
  const text = typeof input === 'number' ? String(input) : input.trim();
  const match = DECIMAL.exec(text);
  const whole = match?.[2] ?? '';
  const fraction = match?.[3] ?? '';
  if (!match || whole.length + fraction.length === 0 || text.length > 120) {
    throw new RangeError(`not a decimal: ${JSON.stringify(text.slice(0, 40))}`);
  }
  const shift = scale - fraction.length + Number(match[4] ?? 0);
  const digits = BigInt(whole + fraction);
  const magnitude = shift >= 0 ? digits * tenTo(shift) : divideHalfEven(digits, tenTo(-shift));
  return match[1] === '-' ? -magnitude : magnitude;
}

/** numerator / denominator, rounded half to even; the denominator is positive. */
export function divideHalfEven(numerator: bigint, denominator: bigint): bigint {
  const sign = numerator < 0n ? -1n : 1n;
  const magnitude = numerator * sign;
  const quotient = magnitude / denominator;
  const twice = (magnitude % denominator) * 2n;
  const up = twice > denominator || (twice === denominator && quotient % 2n === 1n);
  return sign * (up ? quotient + 1n : quotient);
}

/** The shortest decimal text of a scaled integer: no exponent, no trailing zeros, no "-0". */
export function decimalText(value: bigint, scale: number): string {
  const negative = value < 0n;
  const digits = (negative ? -value : value).toString().padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  const fraction = digits.slice(digits.length - scale).replace(/0+$/, '');
  return `${negative ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

/** The JSON number of a scaled integer; the one place where money becomes a double. */
export function decimalNumber(value: bigint, scale: number): number;
export function decimalNumber(value: bigint | null, scale: number): number | null;
export function decimalNumber(value: bigint | null, scale: number): number | null {
  return value === null ? null : Number(decimalText(value, scale));
}

export const parsePrice = (input: string | number): Price => parseDecimal(input, PRICE_SCALE);
export const parseSize = (input: string | number): Size => parseDecimal(input, SIZE_SCALE);
export const parseUsd = (input: string | number): Usd => parseDecimal(input, USD_SCALE);
export const priceText = (price: Price): string => decimalText(price, PRICE_SCALE);
export const sizeText = (size: Size): string => decimalText(size, SIZE_SCALE);
export const usdText = (usd: Usd): string => decimalText(usd, USD_SCALE);

/** 1 − price: what the other side of a binary market costs. */
export const complement = (price: Price): Price => ONE_PRICE - price;
/** ask − bid; null if one is unknown, or if they are crossed. */
export const spreadOf = (bid: Price | null, ask: Price | null): Price | null =>
  bid === null || ask === null || bid > ask ? null : ask - bid;
/** (bid + ask) / 2 at price scale; null if one is unknown, or if they are crossed. */
export const midpoint = (bid: Price | null, ask: Price | null): Price | null =>
  bid === null || ask === null || bid > ask ? null : divideHalfEven(bid + ask, 2n);
/** price × size in USD, half-even to 6 decimals. */
export const notionalUsd = (price: Price, size: Size): Usd => divideHalfEven(price * size, ONE_PRICE);

/** A number that the store sent as text; null if it sent none. */
export const numberOfText = (text: string | null | undefined): number | null => (text == null ? null : Number(text));
