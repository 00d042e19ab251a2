import { divideHalfEven, ONE_PRICE, type Price, type Size, type Usd } from '../core/decimal.ts';

/** A price and the contracts that are offered at it. */
export interface Level {
  price: Price;
  size: Size;
}

/** What is offered of one outcome, best first, and the taker's fee of one contract at a price; null is an unknown fee. */
export interface Offer {
  asks: readonly Level[];
  feeAt: (price: Price) => Price | null;
}

/** How far both books are walked: to a number of contracts of each outcome, or to an amount that is spent at most. */
export type Reach = { size: Size } | { amount: Usd };

/** One leg: what its contracts cost, and the fee. */
export interface Leg {
  cost: Usd;
  fee: Usd;
}

/** Two outcomes, exactly one of which pays 1 USD, bought together. */
export interface Gap {
  size: Size;
  /** Whether the reach was met; false where a book ended before. */
  isWhole: boolean;
  legs: readonly [Leg, Leg];
  /** What is spent until the markets are settled: costs and fees. */
  locked: Usd;
  /** What the contracts pay less what is locked; below zero where it loses. */
  edge: Usd;
}

interface Step {
  size: Size;
  /** Of one contract of each outcome, fees included. */
  price: Price;
}

/** Both books level by level: each step takes what both offer at one pair of prices. null where a fee is unknown. */
function stepsOf(one: Offer, other: Offer): Step[] | null {
  const steps: Step[] = [];
  const left = [one.asks[0]?.size ?? 0n, other.asks[0]?.size ?? 0n] as [Size, Size];
  for (let i = 0, j = 0; i < one.asks.length && j < other.asks.length;) {
    const [a, b] = [one.asks[i], other.asks[j]];
    if (!a || !b) break;
    const [feeA, feeB] = [one.feeAt(a.price), other.feeAt(b.price)];
    if (feeA === null || feeB === null) return null;
    const size = left[0] < left[1] ? left[0] : left[1];
    if (size > 0n) steps.push({ size, price: a.price + feeA + b.price + feeB });
    left[0] -= size;
    left[1] -= size;
    if (left[0] === 0n) left[0] = one.asks[(i += 1)]?.size ?? 0n;
    if (left[1] === 0n) left[1] = other.asks[(j += 1)]?.size ?? 0n;
  }
  return steps;
}

/** The size that the reach allows; an amount buys whole millionths of a contract. */
function sizeOf(steps: readonly Step[], reach: Reach): { size: Size; isWhole: boolean } {
  let size = 0n;
  let money = 'amount' in reach ? reach.amount * ONE_PRICE : 0n;
  for (const step of steps) {
    const most = 'size' in reach ? reach.size - size : step.price === 0n ? step.size : money / step.price;
    if (most <= step.size) return { size: size + most, isWhole: true };
    size += step.size;
    money -= step.size * step.price;
  }
  return { size, isWhole: false };
}

/** Cost and fee of the first `size` contracts of an offer, each rounded once, half to even. */
function legOf({ asks, feeAt }: Offer, size: Size): Leg {
  let left = size;
  let [cost, fee] = [0n, 0n];
  for (const { price, size: offered } of asks) {
    if (left === 0n) break;
    const taken = left < offered ? left : offered;
    cost += price * taken;
    fee += (feeAt(price) ?? 0n) * taken;
    left -= taken;
  }
  return { cost: divideHalfEven(cost, ONE_PRICE), fee: divideHalfEven(fee, ONE_PRICE) };
}

/** What both outcomes cost together, walked to the reach; null where a book offers nothing, or a fee is unknown. */
export function gapOf(one: Offer, other: Offer, reach: Reach): Gap | null {
  const steps = stepsOf(one, other);
  if (!steps || steps.length === 0) return null;
  const { size, isWhole } = sizeOf(steps, reach);
  if (size === 0n) return null;
  const legs = [legOf(one, size), legOf(other, size)] as const;
  const locked = legs[0].cost + legs[0].fee + legs[1].cost + legs[1].fee;
  // USD and contracts have one scale: the payout of a size is that number.
  return { size, isWhole, legs, locked, edge: size - locked };
}
