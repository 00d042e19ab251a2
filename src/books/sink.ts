import type { BookChange, BookSide, Platform } from '../core/model.ts';

/**
 * Takes books of first outcomes from the feeds that receive them. Times are ISO-8601; `exchangeAt` is null if the platform
 * gives none. Calls never throw or wait; calls for one market are processed in order.
 */
export interface BookSink {
  /** A whole book as received. A market begins with one, and gets a new one after each gap. */
  snapshot(platform: Platform, ref: string, book: BookSide, exchangeAt: string | null, receivedAt: string): void;
  /** Levels changed since the previous call. false if the market has no book of a feed, or lost it: it needs a snapshot. */
  change(
    platform: Platform,
    ref: string,
    changes: readonly BookChange[],
    exchangeAt: string | null,
    receivedAt: string,
  ): boolean;
  /** Messages of this period are missing: the book is unknown until its next snapshot. */
  gap(platform: Platform, ref: string, from: string, to: string, reason: string): void;
  /** Markets whose books are wanted now, most wanted first: what to subscribe to. Polled repeatedly. */
  wanted(platform: Platform): readonly string[];
}
