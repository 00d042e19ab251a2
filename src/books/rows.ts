import { priceText, sizeText } from '../core/decimal.ts';
import type { BookChange, BookLevel, BookSide, Platform } from '../core/model.ts';
import { isStorable } from '../platforms/parse-rows.ts';
import { middleOf, sizeWithin } from './book.ts';

/** Rows of recorded books, as the store takes them (JSONEachRow). */
export const CHANGE_COLUMNS =
  'book_changes (platform, ref, outcome, sequence, side, price, size, exchange_at, received_at, polled)';
export const BOOK_SNAPSHOT_COLUMNS =
  'book_snapshots (platform, ref, outcome, sequence, begins, bid_prices, bid_sizes, ask_prices, ask_sizes, exchange_at, received_at, polled)';
export const GAP_COLUMNS = 'book_gaps (platform, ref, from_at, to_at, reason)';
export const DEPTH_COLUMNS =
  'book_depth (platform, ref, minute, middle, bid_1c, ask_1c, bid_5c, ask_5c, bid_10c, ask_10c, version)';

/** Shared by all rows of one message. */
export interface MessageFacts {
  platform: Platform;
  ref: string;
  /** Id of the first outcome. */
  outcome: string;
  sequence: number;
  exchangeAt: string | null;
  receivedAt: string;
  polled: boolean;
}

const shared = ({ platform, ref, outcome, sequence, exchangeAt, receivedAt, polled }: MessageFacts) => ({
  platform,
  ref,
  outcome,
  sequence,
  exchange_at: exchangeAt,
  received_at: receivedAt,
  polled,
});

export const changeRow = (facts: MessageFacts, { side, price, size }: BookChange): object => ({
  ...shared(facts),
  side,
  price: priceText(price),
  size: sizeText(size),
});

const prices = (levels: readonly BookLevel[]): string[] => levels.map(({ price }) => priceText(price));
const sizes = (levels: readonly BookLevel[]): string[] => levels.map(({ size }) => sizeText(size));

export const bookSnapshotRow = (facts: MessageFacts, begins: boolean, { bids, asks }: BookSide): object => ({
  ...shared(facts),
  begins,
  bid_prices: prices(bids),
  bid_sizes: sizes(bids),
  ask_prices: prices(asks),
  ask_sizes: sizes(asks),
});

export const gapRow = (platform: Platform, ref: string, from: string, to: string, reason: string) => ({
  platform,
  ref,
  from_at: from,
  to_at: to,
  reason: reason.slice(0, 200).toWellFormed(),
});

export function depthRow({ platform, ref, receivedAt }: MessageFacts, book: BookSide): object {
  const middle = middleOf(book);
  const within = (levels: readonly BookLevel[], cents: number): string | null => {
    const size = middle === null ? null : sizeWithin(levels, middle, cents);
    // The store takes no larger number, and would refuse the whole batch.
    return size === null || !isStorable(size) ? null : sizeText(size);
  };
  return {
    platform,
    ref,
    minute: `${receivedAt.slice(0, 16)}:00Z`,
    middle: middle === null ? null : priceText(middle),
    bid_1c: within(book.bids, 1),
    ask_1c: within(book.asks, 1),
    bid_5c: within(book.bids, 5),
    ask_5c: within(book.asks, 5),
    bid_10c: within(book.bids, 10),
    ask_10c: within(book.asks, 10),
    version: receivedAt,
  };
}
