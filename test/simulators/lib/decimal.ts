/** Decimal text of a scaled integer with exactly `decimals` digits after the point: fixedText(8100n, 4, 4) = "0.8100". */
export function fixedText(value: bigint, scale: number, decimals: number): string {
  const negative = value < 0n;
  let magnitude = negative ? -value : value;
  if (decimals > scale) magnitude *= 10n ** BigInt(decimals - scale);
  else if (decimals < scale) {
    const unit = 10n ** BigInt(scale - decimals);
    if (magnitude % unit !== 0n)
      throw new RangeError(`fixedText: ${value}e-${scale} has more than ${decimals} decimals`);
    magnitude /= unit;
  }
  const digits = magnitude.toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const text = decimals === 0 ? whole : `${whole}.${digits.slice(digits.length - decimals)}`;
  return negative && magnitude !== 0n ? `-${text}` : text;
}

/** Shortest decimal text of a scaled integer: trimmedText(8100n, 4) = "0.81". */
export function trimmedText(value: bigint, scale: number): string {
  const text = fixedText(value, scale, scale);
  return scale === 0 ? text : text.replace(/\.?0+$/, '');
}

/** Scaled integer of a plain decimal text with at most `scale` decimals; null for anything else. */
export function scaledInteger(text: string, scale: number): bigint | null {
  const match = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text);
  const fraction = match?.[3] ?? '';
  if (!match || fraction.length > scale || text.length > 40) return null;
  const magnitude = BigInt((match[2] ?? '0') + fraction.padEnd(scale, '0'));
  return match[1] === '-' ? -magnitude : magnitude;
}

/** numerator / denominator (positive), rounded up. */
export const divideCeil = (numerator: bigint, denominator: bigint): bigint =>
  numerator > 0n ? (numerator + denominator - 1n) / denominator : numerator / denominator;

/** numerator / denominator (positive), a half rounded up. */
export const divideHalfUp = (numerator: bigint, denominator: bigint): bigint => {
  const floor = numerator / denominator - (numerator < 0n && numerator % denominator !== 0n ? 1n : 0n);
  return (numerator - floor * denominator) * 2n >= denominator ? floor + 1n : floor;
};
