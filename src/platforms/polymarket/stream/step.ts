import type { BookChange } from '../../../core/model.ts';
import type { TokenBook } from './token-book.ts';
import type { Change } from './wire.ts';

/** After so long without a further frame a step is over. */
export const SETTLED_MS = 10;
/** What is missing of a step by then was lost. */
const LOST_MS = 100;

/**
 * What the engine changed at once in one book. It comes as several frames under one hash, and between them the book may be crossed; each
 * of them states the best prices after the last.
 */
export class Step {
  readonly hash: string;
  exchangeAtMs = 0;
  readonly #levels = new Map<string, BookChange>();
  #lastAt = 0;
  #stated: Pick<Change, 'best_bid' | 'best_ask'> = {};

  constructor(hash: string) {
    this.hash = hash;
  }

  add(change: Change, exchangeAtMs: number): void {
    const { price, size } = change;
    const side = change.side === 'BUY' ? 'bid' : 'ask';
    this.#levels.set(`${side} ${price}`, { side, price, size });
    this.#stated = change;
    this.exchangeAtMs = exchangeAtMs;
    this.#lastAt = performance.now();
  }

  get changes(): BookChange[] {
    return [...this.#levels.values()];
  }

  /** Whether a book is what the step led to. */
  leadsTo(book: TokenBook): boolean {
    return book.agrees(this.#stated);
  }

  /** Whether no further frame of it is to be waited for. */
  isOver(book: TokenBook): boolean {
    const now = performance.now();
    return now - this.#lastAt >= (this.leadsTo(book) ? SETTLED_MS : LOST_MS);
  }
}
