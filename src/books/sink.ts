import type { BookChange, BookSide, Platform } from '../core/model.ts';

/**
 * Takes the books of first outcomes from the feeds that receive them. Times are ISO-8601; `exchangeAt` is the platform's, null where it
 * gives none. Calls never throw and never wait; calls of one market are taken in their order.
 */
export interface BookSink {
  /** The whole book as it was received. A market begins with one, and has a new one after each gap. */
  snapshot(platform: Platform, ref: string, book: BookSide, exchangeAt: string | null, receivedAt: string): void;
  /** Levels that changed since the call before. false where the market has not begun, or its book was lost: it waits for a snapshot. */
  change(
    platform: Platform,
    ref: string,
    changes: readonly BookChange[],
    exchangeAt: string | null,
    receivedAt: string,
  ): boolean;
  /** What happened in this stretch is not known: the market's book is unknown until its next snapshot. */
  gap(platform: Platform, ref: string, from: string, to: string, reason: string): void;
  /** References of the markets whose books are wanted now, the most wanted first: what to subscribe to. Looked at again and again. */
  wanted(platform: Platform): readonly string[];
}
