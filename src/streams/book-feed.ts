import type { BookSide } from '../core/model.ts';
import { isPool } from '../platforms/market-fields.ts';
import type { StoredMarket } from '../platforms/contract.ts';
import { bookText, type KnownBook } from './book-text.ts';
import type { BookFollower, BookGap, FollowedBook } from './books.ts';
import type { StreamFilter } from './filter.ts';

const RETRY_MS = 100;
/** Wanted books are polled every 5 s. */
const LATE_MS = 12_000;

/** A market that no longer trades, and a pool, have no book: the answer is an empty one, as over REST. */
const hasBook = ({ status, metadata }: StoredMarket): boolean =>
  status !== 'closed' && status !== 'settled' && !isPool(metadata);

/** Destination of one stream's books. */
export interface BookEventSink {
  isBehind(): boolean;
  /** Queues one event, sent with the next call of `flush` at the latest. */
  event(name: 'book' | 'book_change' | 'gap', data: string): void;
  flush(): void;
}

const isKnown = (followed: FollowedBook): followed is KnownBook => followed.book !== null;

interface Sent {
  sequence: number;
  /** The book that the reader has; null: it needs the whole book. */
  book: BookSide | null;
  gap: BookGap | null;
}

/**
 * The books of one subscription: each whole, then its changes. While the reader is behind, changes of a market are merged into the
 * difference between the reader's book and the current one.
 */
export class BookFeed {
  readonly #sink: BookEventSink;
  readonly #depth: number;
  readonly #sent = new Map<string, Sent>();
  readonly #waiting = new Map<string, FollowedBook>();
  readonly #unwatch: (() => void)[] = [];
  readonly #openedAt = new Date().toISOString();
  #isSending = false;
  #timer: NodeJS.Timeout | undefined;
  #late: NodeJS.Timeout | undefined;

  constructor(follower: BookFollower, { books }: StreamFilter, sink: BookEventSink) {
    this.#sink = sink;
    this.#depth = books?.depth ?? Infinity;
    const open = (books?.markets ?? []).filter(({ market, key }) => {
      this.#sent.set(key, { sequence: 0, book: null, gap: null });
      return hasBook(market);
    });
    for (const { market, key } of books?.markets ?? []) {
      if (hasBook(market)) continue;
      const receivedAt = new Date().toISOString();
      this.#take({ market, key, book: { bids: [], asks: [] }, exchangeAt: null, receivedAt }, null);
    }
    for (const { market, key } of open) {
      this.#unwatch.push(follower.watch(market, key, (followed, gap) => this.#take(followed, gap)));
    }
    if (open.length > 0) this.#late = setTimeout(() => this.#tellLate(open), LATE_MS).unref();
  }

  close(): void {
    for (const unwatch of this.#unwatch.splice(0)) unwatch();
    clearInterval(this.#timer);
    clearTimeout(this.#late);
    this.#waiting.clear();
  }

  /** Sends a gap for books that have not arrived, because silence would look like an empty book. */
  #tellLate(markets: readonly { market: StoredMarket; key: string }[]): void {
    for (const { market, key } of markets) {
      if (this.#sent.get(key)?.sequence !== 0) continue;
      const times = { from: this.#openedAt, to: new Date().toISOString() };
      const names = { platform: market.platform, market_id: market.platformId };
      this.#sink.event('gap', JSON.stringify({ ...names, ...times, reason: 'no book has been received yet' }));
    }
    this.#sink.flush();
  }

  #take(followed: FollowedBook, gap: BookGap | null): void {
    const sent = this.#sent.get(followed.key);
    // Sent again for a gap whose beginning was sent, because its end is now known.
    if (gap && sent && sent.sequence > 0) sent.gap = { ...gap, from: sent.gap?.from ?? gap.from };
    this.#waiting.set(followed.key, followed);
    // After the answer to the subscription, and once for changes that arrived together.
    if (this.#isSending) return;
    this.#isSending = true;
    setImmediate(() => this.#send());
  }

  #send(): void {
    this.#isSending = false;
    const sentAt = JSON.stringify(new Date());
    for (const [key, followed] of this.#waiting) {
      if (this.#sink.isBehind()) break;
      this.#waiting.delete(key);
      const sent = this.#sent.get(key);
      if (!sent) continue;
      if (sent.gap) {
        this.#sink.event('gap', JSON.stringify(sent.gap));
        sent.gap = null;
        sent.book = null;
      }
      if (isKnown(followed)) this.#sendBook(sent, followed, sentAt);
    }
    this.#sink.flush();
    if (this.#waiting.size > 0) this.#timer ??= setInterval(() => this.#send(), RETRY_MS).unref();
    else {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
  }

  #sendBook(sent: Sent, followed: KnownBook, sentAt: string): void {
    const text = bookText(followed, sent.book, this.#depth);
    sent.book = followed.book;
    if (text === null) return;
    sent.sequence += 1;
    this.#sink.event(text.event, `${text.head}${sent.sequence}${text.tail}${sentAt}}`);
  }
}
