import { NO_ASK, NO_BID } from './units.ts';

/** `bid` buys YES; `ask` sells YES, which is the same as buying NO. */
export type BookSide = 'bid' | 'ask';

/** Something that waits in the book for a taker. */
export interface Resting {
  trader: number;
  /** What is left, in 0.01 contracts. */
  count: number;
  /** Set on an account's order: called for each fill with the trade's position in the tape. */
  filled?(count: number, price: number, position: number): void;
}

interface Level {
  price: number;
  /** First come, first served. */
  orders: Resting[];
}

/** Both sides in YES prices, best level last. */
export class Book {
  readonly #levels: Record<BookSide, Level[]> = { bid: [], ask: [] };

  /** Best price; NO_BID or NO_ASK when the side is empty. */
  best(side: BookSide): number {
    return this.#levels[side].at(-1)?.price ?? (side === 'bid' ? NO_BID : NO_ASK);
  }

  bestSize(side: BookSide): number {
    return sizeOf(this.#levels[side].at(-1));
  }

  depth(side: BookSide): number {
    return this.#levels[side].length;
  }

  /** Price and size of each level, best last. */
  levels(side: BookSide): { price: number; size: number }[] {
    return this.#levels[side].map((level) => ({ price: level.price, size: sizeOf(level) }));
  }

  add(side: BookSide, price: number, order: Resting): void {
    const levels = this.#levels[side];
    let at = levels.length;
    while (at > 0 && better((levels[at - 1] as Level).price, price, side)) at -= 1;
    const level = levels[at - 1];
    if (level?.price === price) level.orders.push(order);
    else levels.splice(at, 0, { price, orders: [order] });
  }

  /** Takes an order out; false when it is not there. */
  remove(side: BookSide, order: Resting): boolean {
    const levels = this.#levels[side];
    for (const [at, level] of levels.entries()) {
      const place = level.orders.indexOf(order);
      if (place < 0) continue;
      level.orders.splice(place, 1);
      if (level.orders.length === 0) levels.splice(at, 1);
      return true;
    }
    return false;
  }

  /** The order next in line on a side. */
  first(side: BookSide): { price: number; order: Resting } | null {
    const level = this.#levels[side].at(-1);
    const order = level?.orders[0];
    return level && order ? { price: level.price, order } : null;
  }

  /** Every waiting order, best price and oldest first. */
  *orders(side: BookSide): Generator<{ price: number; order: Resting }> {
    for (const level of this.#levels[side].toReversed()) {
      for (const order of level.orders) yield { price: level.price, order };
    }
  }
}

/** Whether `price` is strictly better than `than` for a side: higher for bids, lower for asks. */
export const better = (price: number, than: number, side: BookSide): boolean =>
  side === 'bid' ? price > than : price < than;

export const otherSide = (side: BookSide): BookSide => (side === 'bid' ? 'ask' : 'bid');

const sizeOf = (level: Level | undefined): number =>
  level ? level.orders.reduce((sum, order) => sum + order.count, 0) : 0;
