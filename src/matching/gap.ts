import { divideHalfEven, ONE_PRICE, type Price, type Size, type Usd } from '../core/decimal.ts';

/** A price and the contracts that are offered at it. */
interface Level {
  price: Price;
  size: Size;
}

/** Price × size, unrounded. */
type Money = bigint;

/** The asks of one outcome, best first, and the fee of a fill: money added to its cost, and contracts kept back; null if unknown. */
export interface Offer {
  asks: readonly Level[];
  feeOf: (price: Price, size: Size) => { paid: Money; kept: Size } | null;
}

/** How far both books are walked: to a number of contracts of each outcome, or to an amount that is spent at most. */
export type Reach = { size: Size } | { amount: Usd };

/** One leg: what the contracts that one gets cost, and the fee. */
interface Leg {
  cost: Usd;
  fee: Usd;
}

/** Two outcomes, exactly one of which pays 1 USD, bought together. */
export interface Gap {
  /** Contracts of each outcome after fees. */
  size: Size;
  /** Whether the reach was met; false where a book ended before. */
  isWhole: boolean;
  legs: readonly [Leg, Leg];
  /** What is spent until the markets are settled: costs and fees. */
  locked: Usd;
  /** What the contracts pay less what is locked; below zero where it loses. */
  edge: Usd;
}

/** Money of the contracts that one gets, and of fees. */
interface Spent {
  cost: Money;
  fee: Money;
}

/** A level that is taken whole, as one fill: what one gets of it, and what all levels before it bring and cost. */
interface Rung extends Spent {
  level: Level;
  got: Size;
  before: Size;
}

/** An offer level by level; null where a fee is unknown. */
function rungsOf({ asks, feeOf }: Offer): { rungs: Rung[]; depth: Size } | null {
  const rungs: Rung[] = [];
  let [depth, cost, fee]: [Size, Money, Money] = [0n, 0n, 0n];
  for (const level of asks) {
    const charged = feeOf(level.price, level.size);
    if (!charged) return null;
    const got = level.size - charged.kept;
    rungs.push({ level, got, before: depth, cost, fee });
    depth += got;
    cost += level.price * got;
    fee += level.price * charged.kept + charged.paid;
  }
  return { rungs, depth };
}

/** What a size costs: whole levels, and as much of the last one as brings the rest after its fee. */
function spentOn(rungs: readonly Rung[], feeOf: Offer['feeOf'], size: Size): Spent {
  const last = rungs.findLast(({ before }) => before < size);
  if (!last) return { cost: 0n, fee: 0n };
  const { level, before, cost, fee } = last;
  const rest = size - before;
  let { paid, kept } = { paid: 0n, kept: 0n };
  // What is kept back has to be bought too: the least number of contracts that leaves the rest.
  for (let bought = 0n; bought !== rest + kept;) {
    bought = rest + kept;
    ({ paid, kept } = feeOf(level.price, bought) ?? { paid: 0n, kept: 0n });
  }
  return { cost: cost + level.price * rest, fee: fee + level.price * kept + paid };
}

/** What both outcomes cost together, walked to the reach; null where a book offers nothing, or a fee is unknown. */
export function gapOf(one: Offer, other: Offer, reach: Reach): Gap | null {
  const [a, b] = [rungsOf(one), rungsOf(other)];
  if (!a || !b) return null;
  const depth = a.depth < b.depth ? a.depth : b.depth;
  const spent = (size: Size): readonly [Spent, Spent] => [
    spentOn(a.rungs, one.feeOf, size),
    spentOn(b.rungs, other.feeOf, size),
  ];
  const total = (size: Size): Money => spent(size).reduce((sum, { cost, fee }) => sum + cost + fee, 0n);
  const fits = (size: Size): boolean =>
    'size' in reach ? size <= reach.size : total(size) <= reach.amount * ONE_PRICE;
  const size = largest(depth, fits);
  if (size === 0n) return null;
  const isWhole = 'size' in reach ? size === reach.size : size < depth || total(size) === reach.amount * ONE_PRICE;
  const [legA, legB] = spent(size);
  const legs = [rounded(legA), rounded(legB)] as const;
  const locked = legs[0].cost + legs[0].fee + legs[1].cost + legs[1].fee;
  // USD and contracts have one scale: the payout of a size is that number.
  return { size, isWhole, legs, locked, edge: size - locked };
}

/** The largest size up to `most` that fits; what a smaller size costs is never more. */
function largest(most: Size, fits: (size: Size) => boolean): Size {
  let [low, high] = [0n, most];
  while (low < high) {
    const middle = (low + high + 1n) / 2n;
    if (fits(middle)) low = middle;
    else high = middle - 1n;
  }
  return low;
}

/** Cost and fee, each rounded once, half to even. */
const rounded = ({ cost, fee }: Spent): Leg => ({
  cost: divideHalfEven(cost, ONE_PRICE),
  fee: divideHalfEven(fee, ONE_PRICE),
});
