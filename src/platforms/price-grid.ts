import { ONE_PRICE, complement, parsePrice, priceText, type Price } from '../core/decimal.ts';
import type { JsonObject } from '../core/model.ts';

/** Valid prices are start, start + step, … end. */
export interface PriceRange {
  start: Price;
  end: Price;
  step: Price;
}

/** The prices that a platform accepts for one outcome, between 0 and 1, both excluded. */
export interface PriceGrid {
  has(price: Price): boolean;
  /** The highest valid price up to `price`; null if there is none. */
  atMost(price: Price): Price | null;
  /** The lowest valid price from `price` on; null if there is none. */
  atLeast(price: Price): Price | null;
}

/** A grid of ranges that touch or overlap at their ends. */
export function priceGrid(ranges: readonly PriceRange[]): PriceGrid {
  const below = (price: Price, { start, end, step }: PriceRange): Price => {
    const top = price < end ? price : end;
    return top < start ? -1n : start + ((top - start) / step) * step;
  };
  const atMost = (price: Price): Price | null => {
    const most = price < ONE_PRICE ? price : ONE_PRICE - 1n;
    const best = ranges.reduce((found, range) => (below(most, range) > found ? below(most, range) : found), 0n);
    return best > 0n ? best : null;
  };
  const atLeast = (price: Price): Price | null => {
    const least = price > 0n ? price : 1n;
    let best = ONE_PRICE;
    for (const { start, end, step } of ranges) {
      const next = least <= start ? start : start + ((least - start + step - 1n) / step) * step;
      if (next <= end && next > 0n && next < best) best = next;
    }
    return best < ONE_PRICE ? best : null;
  };
  return { has: (price) => price > 0n && price < ONE_PRICE && atMost(price) === price, atMost, atLeast };
}

/** A single step: step, 2 × step … 1 − step. */
export const evenGrid = (step: Price): PriceGrid => priceGrid([{ start: 0n, end: ONE_PRICE, step }]);

const turned = (price: Price | null): Price | null => (price === null ? null : complement(price));

/** The grid of the other outcome of a binary market: a price p is valid where 1 − p is. */
export function mirrorGrid(grid: PriceGrid): PriceGrid {
  return {
    has: (price) => grid.has(complement(price)),
    atMost: (price) => turned(grid.atLeast(complement(price))),
    atLeast: (price) => turned(grid.atMost(complement(price))),
  };
}

/** The prices of a grid above `floor`. */
export const gridAbove = (grid: PriceGrid, floor: Price): PriceGrid => ({
  has: (price) => price > floor && grid.has(price),
  atMost(price) {
    const best = grid.atMost(price);
    return best !== null && best > floor ? best : null;
  },
  atLeast: (price) => grid.atLeast(price > floor ? price : floor + 1n),
});

/** "0.57 or 0.58": the valid prices around an invalid one. */
export function nearestPrices(grid: PriceGrid, price: Price): string {
  const around = new Set([grid.atMost(price), grid.atLeast(price)]);
  return [...around].flatMap((one) => (one === null ? [] : priceText(one))).join(' or ');
}

/** A price from a market's metadata, where numbers are shortest decimals; null if invalid. */
export function metadataPrice(facts: JsonObject, name: string): Price | null {
  const value = facts[name];
  return typeof value === 'number' && value > 0 ? parsePrice(value) : null;
}
