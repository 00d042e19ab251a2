import { divideCeil } from '../lib/index.ts';
import { bookSideOf, inYesTerms, TICKS, type Account, type Outcome, type Side, type Trade } from './model.ts';

/** An order that waits in the book. */
export interface Resting {
  id: string;
  account: Account;
  outcome: Outcome;
  side: Side;
  /** In terms of its own token. */
  tick: number;
  /** Base units. */
  remaining: bigint;
  /** Quotes of the house come and go with the market's fair price; anyone else's order stays until filled or cancelled. */
  isHouse: boolean;
  /** Called for a fill after the trade is on the tape. */
  onFill?(fill: Fill, trade: Trade): void;
  /** Called when the platform takes the order away: the market expired, closed or resolved. */
  onGone?(): void;
}

export interface Level {
  /** YES terms. */
  tick: number;
  size: bigint;
  orders: Resting[];
}

/** What a taker met at one resting order. */
export interface Fill {
  maker: Resting;
  size: bigint;
  /** In terms of the taker's token. */
  tick: number;
  /** USDC base units on the taker's side: a buyer's are rounded up, a seller's down. */
  usd: bigint;
}

export interface Taker {
  account: Account;
  outcome: Outcome;
  side: Side;
  /** Worst price accepted, in terms of the taker's token; null takes any. */
  limitTick: number | null;
  /** Shares wanted, or USDC to spend; one of the two bounds the order. */
  want: { shares: bigint } | { usd: bigint };
}

/**
 * One order book in YES terms. An order to buy NO at q waits as an ask at 1 - q, so that it can be matched
 * directly, by minting a pair (two buyers) or by merging one (two sellers).
 */
export class Book {
  readonly bids: Level[] = [];
  readonly asks: Level[] = [];
  /** Grows with every change. */
  revision = 0;

  get bestBid(): number | null {
    return this.bids[0]?.tick ?? null;
  }

  get bestAsk(): number | null {
    return this.asks[0]?.tick ?? null;
  }

  add(order: Resting): void {
    this.revision += 1;
    const side = bookSideOf(order.outcome, order.side);
    const levels = side === 'bid' ? this.bids : this.asks;
    const tick = inYesTerms(order.outcome, order.tick);
    let index = levels.findIndex((level) => (side === 'bid' ? level.tick <= tick : level.tick >= tick));
    if (index < 0) index = levels.length;
    const level = levels[index];
    if (level?.tick === tick) {
      level.orders.push(order);
      level.size += order.remaining;
    } else {
      levels.splice(index, 0, { tick, size: order.remaining, orders: [order] });
    }
  }

  /** Takes every order out that `unwanted` names and returns them. */
  remove(unwanted: (order: Resting) => boolean): Resting[] {
    const removed: Resting[] = [];
    this.revision += 1;
    for (const levels of [this.bids, this.asks]) {
      for (let i = levels.length - 1; i >= 0; i--) {
        const level = levels[i] as Level;
        const kept = level.orders.filter((order) => !unwanted(order));
        if (kept.length === level.orders.length) continue;
        removed.push(...level.orders.filter(unwanted));
        level.orders = kept;
        level.size = kept.reduce((sum, order) => sum + order.remaining, 0n);
        if (kept.length === 0) levels.splice(i, 1);
      }
    }
    return removed;
  }

  /** Whether an order at this price (its own token's terms) would meet the other side. */
  crosses(outcome: Outcome, side: Side, tick: number): boolean {
    const best = bookSideOf(outcome, side) === 'bid' ? this.bestAsk : this.bestBid;
    return best !== null && acceptable({ outcome, side, limitTick: tick }, best);
  }

  /** What `taker` would get, best price first and oldest order first; the book is left as it is. */
  preview(taker: Taker): Fill[] {
    const levels = bookSideOf(taker.outcome, taker.side) === 'bid' ? this.asks : this.bids;
    const fills: Fill[] = [];
    let shares = 'shares' in taker.want ? taker.want.shares : null;
    let usd = 'usd' in taker.want ? taker.want.usd : null;
    for (const level of levels) {
      if (!acceptable(taker, level.tick)) break;
      const tick = inYesTerms(taker.outcome, level.tick);
      for (const maker of level.orders) {
        const cap: bigint = shares ?? ((usd as bigint) * BigInt(TICKS)) / BigInt(tick);
        const size = cap < maker.remaining ? cap : maker.remaining;
        if (size <= 0n) return fills;
        const paid = usdOf(taker.side, size, tick);
        fills.push({ maker, size, tick, usd: paid });
        if (shares !== null) shares -= size;
        if (usd !== null) usd -= paid;
      }
    }
    return fills;
  }

  /** Removes what was previewed. */
  apply(fills: readonly Fill[]): void {
    this.revision += 1;
    for (const { maker, size } of fills) {
      const levels = bookSideOf(maker.outcome, maker.side) === 'bid' ? this.bids : this.asks;
      const tick = inYesTerms(maker.outcome, maker.tick);
      const index = levels.findIndex((level) => level.tick === tick);
      const level = levels[index] as Level;
      maker.remaining -= size;
      level.size -= size;
      if (maker.remaining === 0n) level.orders = level.orders.filter((order) => order !== maker);
      if (level.orders.length === 0) levels.splice(index, 1);
    }
  }
}

const acceptable = (taker: Pick<Taker, 'outcome' | 'side' | 'limitTick'>, yesTick: number): boolean => {
  if (taker.limitTick === null) return true;
  const tick = inYesTerms(taker.outcome, yesTick);
  return taker.side === 'BUY' ? tick <= taker.limitTick : tick >= taker.limitTick;
};

/** Price of `size` base units at `tick`, in USDC base units. */
export const usdOf = (side: Side, size: bigint, tick: number): bigint => {
  const thousandths = size * BigInt(tick);
  return side === 'BUY' ? divideCeil(thousandths, BigInt(TICKS)) : thousandths / BigInt(TICKS);
};
