import { midpoint, ONE_PRICE, parsePrice, parseSize, type Price, type Size } from '../core/decimal.ts';
import type { BookChange, BookLevel, BookSide } from '../core/model.ts';

/** A changed level as it is stored and announced: prices and sizes are decimal texts. */
type StoredChange = readonly [side: BookChange['side'], price: string, size: string];

/** Throws RangeError on anything that is not a decimal. */
export const readChanges = (changes: readonly StoredChange[]): BookChange[] =>
  changes.map(([side, price, size]) => ({ side, price: parsePrice(price), size: parseSize(size) }));

const isBetter = (side: BookChange['side'], a: Price, b: Price): boolean => (side === 'bid' ? a > b : a < b);

/** Applies changes to a book in place. Returns those that had an effect. */
export function applyChanges(book: BookSide, changes: readonly BookChange[]): BookChange[] {
  return changes.filter(({ side, price, size }) => {
    const levels = side === 'bid' ? book.bids : book.asks;
    let [low, high] = [0, levels.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isBetter(side, (levels[middle] as BookLevel).price, price)) low = middle + 1;
      else high = middle;
    }
    const found = levels[low];
    if (found?.price !== price) {
      if (size > 0n) levels.splice(low, 0, { price, size });
      return size > 0n;
    }
    if (found.size === size) return false;
    if (size > 0n) levels[low] = { price, size };
    else levels.splice(low, 1);
    return true;
  });
}

/** The changes that lead from one book to another. */
export function bookChanges(from: BookSide, to: BookSide): BookChange[] {
  return [...sideChanges('bid', from.bids, to.bids), ...sideChanges('ask', from.asks, to.asks)];
}

function sideChanges(side: BookChange['side'], from: readonly BookLevel[], to: readonly BookLevel[]): BookChange[] {
  const before = new Map<Price, Size>(from.map(({ price, size }) => [price, size]));
  const changes: BookChange[] = [];
  for (const { price, size } of to) {
    if (before.get(price) !== size) changes.push({ side, price, size });
    before.delete(price);
  }
  for (const price of before.keys()) changes.push({ side, price, size: 0n });
  return changes;
}

export const copyBook = (book: BookSide): BookSide => ({ ...book, bids: [...book.bids], asks: [...book.asks] });

const CENT: Price = ONE_PRICE / 100n;

/** Midpoint of the best bid and the best ask; null when a side is empty, and while they are crossed. */
export const middleOf = ({ bids, asks }: BookSide): Price | null =>
  midpoint(bids[0]?.price ?? null, asks[0]?.price ?? null);

/** Total size at most this many cents from a price. */
export function sizeWithin(levels: readonly BookLevel[], middle: Price, cents: number): Size {
  const most = CENT * BigInt(cents);
  let sum = 0n;
  for (const { price, size } of levels) {
    const away = price < middle ? middle - price : price - middle;
    if (away <= most) sum += size;
  }
  return sum;
}
