import type { Thinned } from './rows.ts';

/**
 * What a world that runs on and on keeps. The past it begins with stays whole. Of the trades made since then it keeps the newest; what
 * a platform states of a forgotten trade (volume, positions, last price) is kept as a sum. A market that the world itself brings forth,
 * one of a recurring series, is forgotten after its end, once none of its trades is kept.
 */
/** More than four hours of the demo: bars of markets that traded in the last three hours are read again. */
export const KEPT_TRADES = 30_000;
export const KEPT_AFTER_END_MS = 3_600_000;
/** A market's state is kept for each ten minutes of forgotten trades, a day and more: its figures of 24 hours are made of it. */
export const keptStates = (minute: number): Thinned => ({ every: 10 * minute, most: 160 });

/** A queue whose front is taken off in constant time. */
export class Queue<T> {
  #items: T[] = [];
  #gone = 0;

  get length(): number {
    return this.#items.length - this.#gone;
  }

  get first(): T | undefined {
    return this.#items[this.#gone];
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    const item = this.first;
    if (this.length === 0) return undefined;
    this.#gone += 1;
    if (this.#gone > this.length) {
      this.#items = this.#items.slice(this.#gone);
      this.#gone = 0;
    }
    return item;
  }
}
