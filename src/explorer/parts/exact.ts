/** Decimal places of the fixed-point numbers in which the API's values are added without floating-point error. */
const DIGITS = 12;
const SCALE = 10n ** BigInt(DIGITS);

function scaled(value: number): bigint {
  const text = plain(value);
  const [whole = '0', fraction = ''] = text.replace('-', '').split('.');
  const size = BigInt(whole) * SCALE + BigInt(fraction.slice(0, DIGITS).padEnd(DIGITS, '0'));
  return text.startsWith('-') ? -size : size;
}

function unscaled(value: bigint): number {
  const size = value < 0n ? -value : value;
  const fraction = String(size % SCALE).padStart(DIGITS, '0');
  return Number(`${value < 0n ? '-' : ''}${size / SCALE}.${fraction}`);
}

/** A number's shortest decimal text without an exponent, as in the JSON it came from. */
export function plain(value: number): string {
  const text = String(value);
  if (!text.includes('e')) return text;
  return value.toLocaleString('en-US', { useGrouping: false, maximumFractionDigits: 20 });
}

export const sum = (values: readonly number[]): number => unscaled(values.reduce((all, one) => all + scaled(one), 0n));
export const difference = (a: number, b: number): number => unscaled(scaled(a) - scaled(b));

/** A number's decimal text with `digits` places, at most 12; a half is rounded away from zero. */
export function rounded(value: number, digits: number): string {
  const unit = 10n ** BigInt(DIGITS - digits);
  const size = scaled(Math.abs(value)) + unit / 2n;
  const units = String(size / unit).padStart(digits + 1, '0');
  const sign = value < 0 && Number(units) > 0 ? '-' : '';
  return digits === 0 ? sign + units : `${sign}${units.slice(0, -digits)}.${units.slice(-digits)}`;
}

/** Number of decimal places. */
export const decimals = (value: number): number => plain(value).split('.')[1]?.length ?? 0;

/** Hundredths, exactly. */
export const points = (value: number): number => unscaled(scaled(value) * 100n);
