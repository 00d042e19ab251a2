import type { Market } from './answers.ts';
import { decimals, rounded } from './exact.ts';

/** The price of the first outcome, 0 to 1; null if unknown. */
export const firstPrice = ({ current_prices: prices, outcomes: [first] }: Market): number | null =>
  prices[first?.id ?? '']?.price ?? null;

type Shown = number | null | undefined;

/** The direction of a move between two prices shown one after the other; '' if either is unknown. */
export const moveOf = (before: Shown, now: Shown): '' | 'up' | 'down' =>
  typeof before !== 'number' || typeof now !== 'number' || before === now ? '' : now > before ? 'up' : 'down';

/** Payout of one contract or share in USD, by outcome id; empty before the market settles. */
export const payoutsOf = ({ metadata }: Pick<Market, 'metadata'>): Record<string, number> =>
  (metadata['payouts'] ?? {}) as Record<string, number>;

/** Decimals of a market's prices: those of its tick size, from 2 to 4. */
export function priceDigits({ metadata }: Pick<Market, 'metadata'>): number {
  const tick = metadata['tick_size'];
  return Math.min(4, Math.max(2, typeof tick === 'number' ? decimals(tick) : 2));
}

/** Prices are shown with at most this many decimals; the title has all of them. */
const SHOWN_DECIMALS = 4;

/** Decimals that a value has within the first four, at least two. */
export const shownDecimals = (size: number): number => Math.max(2, decimals(Number(rounded(size, SHOWN_DECIMALS))));

/** Decimals of a price: `digits`, so that columns line up, else 2 to 4; also 2 to 4 if it would round to 0 or 1. */
export function priceDigitsOf(size: number, digits?: number): number {
  const isRound = (places: number): boolean =>
    Number.isInteger(Number(rounded(size, places))) && !Number.isInteger(size);
  const own = shownDecimals(size);
  if (digits !== undefined && !isRound(digits)) return digits;
  return isRound(own) ? SHOWN_DECIMALS : own;
}
