import type { Platform } from '../core/model.ts';

/** A price level, both as decimal text: USD per contract 0..1, and contracts or shares. */
export interface LevelText {
  price: string;
  size: string;
}

/** A level that changed; the size is what rests there now, '0' removes it. */
export interface LevelChange extends LevelText {
  side: 'bid' | 'ask';
}

/** The book of a market's first outcome; levels in any order. */
export interface BookText {
  bids: readonly LevelText[];
  asks: readonly LevelText[];
}

/**
 * Takes the books of first outcomes from whoever receives them. Times are ISO-8601; `exchangeAt` is the platform's, null where it
 * gives none. Calls never throw and never wait; calls of one market are taken in their order.
 */
export interface BookSink {
  /** The whole book as it was received. A market begins with one, and has a new one after each gap. */
  snapshot(platform: Platform, ref: string, book: BookText, exchangeAt: string | null, receivedAt: string): void;
  /** Levels that changed since the call before; ignored for a market that has not begun, or whose book was lost in a gap. */
  change(
    platform: Platform,
    ref: string,
    changes: readonly LevelChange[],
    exchangeAt: string | null,
    receivedAt: string,
  ): void;
  /** What happened in this stretch is not known: the market's book is unknown until its next snapshot. */
  gap(platform: Platform, ref: string, from: string, to: string, reason: string): void;
  /** References of the markets whose books are wanted now, the most wanted first: what to subscribe to. Looked at again and again. */
  wanted(platform: Platform): readonly string[];
}
