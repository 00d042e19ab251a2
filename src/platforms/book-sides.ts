import {
  complement,
  divideHalfEven,
  midpoint,
  ONE_PRICE,
  parseSize,
  type Price,
  type Size,
  type Usd,
} from '../core/decimal.ts';
import type { BookLevel, BookSide, JsonObject } from '../core/model.ts';

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

/** USD of collateral in resting orders: bid × size + (1 − ask) × size of every level. */
function collateralIn({ bids, asks }: BookSide): Usd {
  const resting = [...bids, ...mirrorLevels(asks)].reduce((sum, { price, size }) => sum + price * size, 0n);
  return divideHalfEven(resting, ONE_PRICE);
}

/** USD of collateral on the best level of each side. */
export const bestLevelLiquidity = (bid: BookLevel | undefined, ask: BookLevel | undefined): Usd =>
  collateralIn({ bids: bid ? [bid] : [], asks: ask ? [ask] : [] });

/** What rests in a book, as it was read. */
export interface RestingFigures {
  /** USD of collateral on the best levels, and on all. */
  bestLevel: Usd;
  wholeBook: Usd;
  bid: Price | null;
  ask: Price | null;
  /** As the platform states it, else the middle of the best levels of at least the given size; null without both. */
  adjustedMidpoint: Price | null;
}

/** The size of the smallest level that earns rewards, and so counts for the adjusted midpoint; 0 if the market states none. */
export function rewardsMinSize(market: { metadata: JsonObject } | undefined): Size {
  const { rewards_min_size: size } = market?.metadata ?? {};
  return typeof size === 'number' ? parseSize(size) : 0n;
}

/** The figures of a book of the first outcome, in order; smaller levels than `minSize` do not count for its adjusted midpoint. */
export function restingFigures({ bids, asks, adjustedMidpoint: stated }: BookSide, minSize: Size): RestingFigures {
  const large = ({ size }: BookLevel): boolean => size >= minSize;
  const [bid, ask] = [bids.find(large), asks.find(large)];
  return {
    bestLevel: bestLevelLiquidity(bids[0], asks[0]),
    wholeBook: collateralIn({ bids, asks }),
    bid: bids[0]?.price ?? null,
    ask: asks[0]?.price ?? null,
    adjustedMidpoint: stated ?? midpoint(bid?.price ?? null, ask?.price ?? null),
  };
}
