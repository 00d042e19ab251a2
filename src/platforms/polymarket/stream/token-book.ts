import type { Price, Size } from '../../../core/decimal.ts';
import { quotedPrice } from '../../market-fields.ts';
import type { BookFrame, Change } from './wire.ts';

/** The best prices of one token, with their sizes if the book shows them. */
interface Best {
  bid: Price | null;
  ask: Price | null;
  bidSize: Size | null;
  askSize: Size | null;
}

const better = { bids: (a: Price, b: Price) => a > b, asks: (a: Price, b: Price) => a < b };

function bestOf(levels: ReadonlyMap<Price, Size>, side: 'bids' | 'asks'): Price | null {
  let best: Price | null = null;
  for (const price of levels.keys()) if (best === null || better[side](price, best)) best = price;
  return best;
}

/**
 * The levels of one token. Frames of an engine step describe its end: their best prices are used as stated, and a size only if the levels
 * agree with them.
 */
export class TokenBook {
  readonly #bids = new Map<Price, Size>();
  readonly #asks = new Map<Price, Size>();
  /** false before the first whole book: without it the best level is unknown. */
  isWhole = false;
  /** Whether its best prices are known: from a whole book, or as a frame stated them. */
  isQuoted = false;
  #bid: Price | null = null;
  #ask: Price | null = null;

  replace({ bids, asks }: BookFrame): void {
    this.isWhole = true;
    this.isQuoted = true;
    for (const [levels, given] of [
      [this.#bids, bids],
      [this.#asks, asks],
    ] as const) {
      levels.clear();
      for (const { price, size } of given) if (size > 0n) levels.set(price, size);
    }
    this.#bid = bestOf(this.#bids, 'bids');
    this.#ask = bestOf(this.#asks, 'asks');
  }

  change({ side, price, size, best_bid: bid, best_ask: ask }: Change): void {
    const levels = side === 'BUY' ? this.#bids : this.#asks;
    // A size is the new total of its level, not a difference.
    if (size > 0n) levels.set(price, size);
    else levels.delete(price);
    this.state(bid, ask);
  }

  /** Takes best prices as stated; undefined = not stated. */
  state(bid: Price | null | undefined, ask: Price | null | undefined): void {
    this.isQuoted = this.isWhole || (bid !== undefined && ask !== undefined);
    this.#bid = bid === undefined ? (this.isWhole ? bestOf(this.#bids, 'bids') : null) : quotedPrice(bid);
    this.#ask = ask === undefined ? (this.isWhole ? bestOf(this.#asks, 'asks') : null) : quotedPrice(ask);
  }

  /** Whether the levels match the stated best prices, if any, and are not crossed. */
  agrees(stated: Pick<Change, 'best_bid' | 'best_ask'>): boolean {
    const [bid, ask] = [bestOf(this.#bids, 'bids'), bestOf(this.#asks, 'asks')];
    if (bid !== null && ask !== null && bid >= ask) return false;
    return (
      (stated.best_bid === undefined || quotedPrice(stated.best_bid) === bid) &&
      (stated.best_ask === undefined || quotedPrice(stated.best_ask) === ask)
    );
  }

  best(): Best {
    const bidSize = this.#bid === null ? null : (this.#bids.get(this.#bid) ?? null);
    const askSize = this.#ask === null ? null : (this.#asks.get(this.#ask) ?? null);
    return { bid: quotedPrice(this.#bid), ask: quotedPrice(this.#ask), bidSize, askSize };
  }
}
