import { BookFeed } from './books/book-feed.ts';
import type { BookFollower } from './books/books.ts';
import type { StreamFilter } from './filter.ts';
import { MatchGapFeed, type MatchGapFollower } from './match-gaps.ts';
import { type OrderFollower, sendOrders } from './orders.ts';
import type { EventSink } from './sink.ts';
import { QuoteFeed, type QuoteFollower } from './quotes.ts';

/** What this process follows for all its streams, beside the log. */
export interface Followers {
  quotes: QuoteFollower;
  books: BookFollower;
  matchGaps: MatchGapFollower;
  orders: OrderFollower;
}

/** The quotes, books, gaps of matches and orders that a subscription asks for. */
export class LiveFeeds {
  readonly #quotes: QuoteFeed;
  readonly #books: BookFeed;
  readonly #matchGaps: MatchGapFeed;
  readonly #stopOrders: () => void;

  constructor({ quotes, books, matchGaps, orders }: Followers, userId: string, filter: StreamFilter, sink: EventSink) {
    this.#stopOrders = sendOrders(orders, userId, filter, sink);
    this.#quotes = new QuoteFeed(quotes, filter, sink);
    this.#books = new BookFeed(books, filter, sink);
    this.#matchGaps = new MatchGapFeed(matchGaps, userId, filter, sink);
  }

  /** Quotes replaced before they were sent. */
  get dropped(): number {
    return this.#quotes.dropped;
  }

  close(): void {
    this.#quotes.close();
    this.#books.close();
    this.#matchGaps.close();
    this.#stopOrders();
  }
}
