import { createHash } from 'node:crypto';
import type { OutcomeIndex, SimWallet, WireSide } from './model.ts';
import { ONE, priceText, sizeText } from './units.ts';

/** Which side of the one book: bids buy the first outcome (or sell the second), asks the reverse. */
export type BookSide = 'bid' | 'ask';

/** An order at rest. `price` is in terms of the first outcome, whatever token it names. */
export interface RestingOrder {
  wallet: SimWallet;
  at: BookSide;
  price: bigint;
  left: bigint;
  /** The client's order behind it; null = the house, which picks its token when it is filled. */
  own: { id: string; outcome: OutcomeIndex; side: WireSide } | null;
}

/** Part of a resting order that a taker would get. */
export interface Match {
  order: RestingOrder;
  price: bigint;
  size: bigint;
}

export interface Level {
  price: bigint;
  size: bigint;
}

export const bookSideOf = (outcome: OutcomeIndex, side: WireSide): BookSide =>
  (outcome === 0) === (side === 'BUY') ? 'bid' : 'ask';

/** The order book of one market. Both tokens share it: BUY of one at p is SELL of the other at 1 − p. */
export class Book {
  /** Unix ms of the last change. */
  updatedMs: number;
  private bids: RestingOrder[] = [];
  private asks: RestingOrder[] = [];

  constructor(nowMs: number) {
    this.updatedMs = nowMs;
  }

  /** Best first; within a price the oldest first. */
  side(at: BookSide): readonly RestingOrder[] {
    return at === 'bid' ? this.bids : this.asks;
  }

  best(at: BookSide): bigint | null {
    return this.side(at)[0]?.price ?? null;
  }

  /** Midpoint of the first outcome; an empty side counts as 0 or 1. */
  mid(): bigint {
    return ((this.best('bid') ?? 0n) + (this.best('ask') ?? ONE)) / 2n;
  }

  rest(order: RestingOrder): void {
    const orders = order.at === 'bid' ? this.bids : this.asks;
    const behind = orders.findIndex((one) => isBetter(order, one));
    orders.splice(behind === -1 ? orders.length : behind, 0, order);
  }

  /** What a taker on the other side would meet up to a limit price, best first, without changing anything. */
  *reach(at: BookSide, limit: bigint): Generator<RestingOrder> {
    for (const order of this.side(at)) {
      if (at === 'ask' ? order.price > limit : order.price < limit) return;
      yield order;
    }
  }

  take(matches: readonly Match[]): void {
    for (const match of matches) match.order.left -= match.size;
    this.remove((order) => order.left === 0n);
  }

  remove(unwanted: (order: RestingOrder) => boolean): void {
    this.bids = this.bids.filter((order) => !unwanted(order));
    this.asks = this.asks.filter((order) => !unwanted(order));
  }

  /** Sizes summed by price, best first, in terms of the given outcome's token. */
  levels(at: BookSide, outcome: OutcomeIndex = 0): Level[] {
    const from = outcome === 0 ? at : at === 'bid' ? 'ask' : 'bid';
    const levels: Level[] = [];
    for (const order of this.side(from)) {
      const last = levels.at(-1);
      const price = outcome === 0 ? order.price : ONE - order.price;
      if (last?.price === price) last.size += order.left;
      else levels.push({ price, size: order.left });
    }
    return levels;
  }
}

const isBetter = (a: RestingOrder, b: RestingOrder): boolean =>
  a.at === 'bid' ? a.price > b.price : a.price < b.price;

/** GET /book, key by key in the order the hash is computed over. */
export interface WireBook {
  market: string;
  asset_id: string;
  timestamp: string;
  hash: string;
  bids: { price: string; size: string }[];
  asks: { price: string; size: string }[];
  min_order_size: string;
  tick_size: string;
  neg_risk: boolean;
  last_trade_price: string;
  /** Of Protocol V2 only. */
  version?: 'v2';
}

/** The platform's book hash: SHA-1 of the compact JSON with an empty hash. */
export function bookHash(book: WireBook): string {
  return createHash('sha1')
    .update(JSON.stringify({ ...book, hash: '' }))
    .digest('hex');
}

/** Levels as on the wire: the best one LAST on both sides. */
export const wireLevels = (levels: readonly Level[]): { price: string; size: string }[] =>
  levels.toReversed().map((level) => ({ price: priceText(level.price), size: sizeText(level.size) }));
