import { complement, divideHalfEven, ONE_PRICE, type Usd } from '../core/decimal.ts';
import type { BookLevel, BookSide } from '../core/model.ts';

function tidy(levels: readonly BookLevel[], best: 'highest' | 'lowest'): BookLevel[] {
  const sizes = new Map<bigint, bigint>();
  for (const { price, size } of levels) {
    if (size > 0n) sizes.set(price, (sizes.get(price) ?? 0n) + size);
  }
  const sign = best === 'lowest' ? 1 : -1;
  return Array.from(sizes, ([price, size]) => ({ price, size })).toSorted((a, b) => (a.price < b.price ? -sign : sign));
}

/** One outcome's book from levels in any order: best first, equal prices merged, empty levels dropped. */
export const bookSide = (bids: readonly BookLevel[], asks: readonly BookLevel[]): BookSide => ({
  bids: tidy(bids, 'highest'),
  asks: tidy(asks, 'lowest'),
});

/** Levels of one side as seen from the other outcome of a binary market: price 1 − p, same size. */
export const mirrorLevels = (levels: readonly BookLevel[]): BookLevel[] =>
  levels.map(({ price, size }) => ({ price: complement(price), size }));

/** The other outcome's book if both share one: its bids are our asks at 1 − p, its asks our bids. */
export const mirrorSide = ({ bids, asks }: BookSide): BookSide => ({
  bids: mirrorLevels(asks),
  asks: mirrorLevels(bids),
});

/** USD of collateral on the best level of each side: bid × size + (1 − ask) × size. */
export function bestLevelLiquidity(bid: BookLevel | undefined, ask: BookLevel | undefined): Usd {
  const bids = bid ? bid.price * bid.size : 0n;
  const asks = ask ? complement(ask.price) * ask.size : 0n;
  return divideHalfEven(bids + asks, ONE_PRICE);
}
