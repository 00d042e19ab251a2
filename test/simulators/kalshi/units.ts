import { fixedText } from '../lib/index.ts';

/**
 * Inside the simulator a price is an integer of 0.0001 dollars (0..10000), a count an integer of 0.01 contracts and
 * money a bigint of 0.000001 dollars: price × count is money exactly. Times are integers of Unix microseconds.
 */
export const ONE_DOLLAR = 10_000;
/** An empty bid prints as 0.0000 and an empty ask as 1.0000. */
export const NO_BID = 0;
export const NO_ASK = ONE_DOLLAR;

export const SECOND_US = 1_000_000;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;
export const MINUTE_US = MINUTE_MS * 1000;
export const DAY_US = DAY_MS * 1000;

const PRICE_TEXTS = Array.from({ length: ONE_DOLLAR + 1 }, (_, price) => fixedText(BigInt(price), 4, 4));

/** "0.8100" */
export function priceText(price: number): string {
  const text = PRICE_TEXTS[price];
  if (text === undefined) throw new RangeError(`price ${price} is outside 0..${ONE_DOLLAR}`);
  return text;
}

/** "14.18", "-3.00" */
export function countText(count: number): string {
  const magnitude = Math.abs(count);
  const cents = magnitude % 100;
  return `${count < 0 ? '-' : ''}${(magnitude - cents) / 100}.${cents < 10 ? '0' : ''}${cents}`;
}

/** Money with the six decimals of costs, exposures and fees: "0.013800". */
export const usdText = (usd: bigint): string => fixedText(usd, 6, 6);

/** price × count, exactly. */
export const cost = (price: number, count: number): bigint => BigInt(price) * BigInt(count);

const TWO_DIGITS = Array.from({ length: 60 }, (_, value) => String(value).padStart(2, '0'));
/** Date parts by day number: lists print thousands of times of a few days. */
const dayTexts = new Map<number, string>();

function dayText(day: number): string {
  let text = dayTexts.get(day);
  if (text === undefined) dayTexts.set(day, (text = new Date(day * DAY_MS).toISOString().slice(0, 10)));
  return text;
}

/** RFC 3339 in UTC with 0 to 6 fractional digits, trailing zeros trimmed, as the platform prints times. */
export function timeText(timeUs: number): string {
  const fraction = timeUs % SECOND_US;
  const seconds = (timeUs - fraction) / SECOND_US;
  const inDay = seconds % 86_400;
  const [h, m, s] = [Math.floor(inDay / 3600), Math.floor(inDay / 60) % 60, inDay % 60];
  const text = `${dayText((seconds - inDay) / 86_400)}T${TWO_DIGITS[h]}:${TWO_DIGITS[m]}:${TWO_DIGITS[s]}`;
  return fraction === 0 ? `${text}Z` : `${text}.${String(fraction).padStart(6, '0').replace(/0+$/, '')}Z`;
}
