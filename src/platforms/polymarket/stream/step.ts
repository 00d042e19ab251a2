import type { Clock } from '../../../core/time.ts';
import type { BookChange } from '../../../core/model.ts';
import type { TokenBook } from './token-book.ts';
import type { Change } from './wire.ts';

/** A step has ended after this long without a further frame. */
export const SETTLED_MS = 10;
/** Missing frames of a step are lost by then. */
const LOST_MS = 100;

/**
 * What the engine changed at once in one book. It arrives as several frames with one hash, and the book may be crossed in between; each
 * frame states the best prices after the last one.
 */
export class Step {
  readonly hash: string;
  readonly #clock: Clock;
  exchangeAtMs = 0;
  readonly #levels = new Map<string, BookChange>();
  #lastAt = 0;
  #stated: Pick<Change, 'best_bid' | 'best_ask'> = {};

  constructor(hash: string, clock: Clock) {
    this.hash = hash;
    this.#clock = clock;
  }

  add(change: Change, exchangeAtMs: number): void {
    const { price, size } = change;
    const side = change.side === 'BUY' ? 'bid' : 'ask';
    this.#levels.set(`${side} ${price}`, { side, price, size });
    this.#stated = change;
    this.exchangeAtMs = exchangeAtMs;
    this.#lastAt = this.#clock.elapsed();
  }

  get changes(): BookChange[] {
    return [...this.#levels.values()];
  }

  /** Whether the book is the result of the step. */
  leadsTo(book: TokenBook): boolean {
    return book.agrees(this.#stated);
  }

  /** Whether no further frame is expected. */
  isOver(book: TokenBook): boolean {
    const now = this.#clock.elapsed();
    return now - this.#lastAt >= (this.leadsTo(book) ? SETTLED_MS : LOST_MS);
  }
}
