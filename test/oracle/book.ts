import { toNumber } from './exact.ts';

interface Side {
  bids: { price: number; size: number }[];
  asks: { price: number; size: number }[];
  depth: number;
}

/** An order book as it is served, but for its market and time. */
export interface ServedBook {
  yes: Side;
  no: Side;
  metadata: { min_order_size: number | null; tick_size: number | null; neg_risk: boolean };
}

export interface WorldLevel {
  price: bigint;
  size: bigint;
}

/** Decimal places of the world's whole numbers. */
export interface Places {
  price: number;
  size: number;
}

/** One outcome's side: levels in any order, best first; empty ones left out. */
export function bookSide(bids: readonly WorldLevel[], asks: readonly WorldLevel[], places: Places): Side {
  const shown = (levels: readonly WorldLevel[], up: boolean) =>
    levels
      .filter(({ size }) => size > 0n)
      .toSorted((a, b) => (a.price < b.price === up ? -1 : 1))
      .map(({ price, size }) => ({ price: toNumber(price, places.price), size: toNumber(size, places.size) }));
  const depth = [...bids, ...asks].reduce((total, { size }) => total + size, 0n);
  return { bids: shown(bids, false), asks: shown(asks, true), depth: toNumber(depth, places.size) };
}

/** Both outcomes of one book: who bids p for Yes asks 1 − p for No. */
export function mirroredBook(bids: readonly WorldLevel[], asks: readonly WorldLevel[], places: Places) {
  const one = 10n ** BigInt(places.price);
  const flipped = (levels: readonly WorldLevel[]) => levels.map(({ price, size }) => ({ price: one - price, size }));
  return { yes: bookSide(bids, asks, places), no: bookSide(flipped(asks), flipped(bids), places) };
}
