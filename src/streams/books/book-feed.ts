import type { Clock, Stop } from '../../core/time.ts';
import type { BookSide } from '../../core/model.ts';
import { hasBook } from '../../platforms/market-fields.ts';
import type { StoredMarket } from '../../platforms/contract.ts';
import { bookText, type KnownBook } from './book-text.ts';
import type { BookFollower, BookGap, FollowedBook } from './books.ts';
import type { StreamFilter } from '../filter.ts';
import { Outbox } from '../outbox.ts';
import type { EventSink } from '../sink.ts';

/** A book that has not come after this time is reported as a gap. Wanted books are polled every 5 s. */
const LATE_MS = 12_000;

const isBookKnown = (followed: FollowedBook): followed is KnownBook => followed.book !== null;

interface Sent {
  sequence: number;
  /** The book that the reader has; null: it needs the whole book. */
  book: BookSide | null;
  gap: BookGap | null;
}

/** The books of one subscription: each whole, then its changes, which are merged while the reader is behind. */
export class BookFeed {
  readonly #sink: EventSink;
  readonly #depth: number;
  readonly #sent = new Map<string, Sent>();
  readonly #outbox: Outbox<FollowedBook>;
  readonly #unwatch: (() => void)[] = [];
  readonly #clock: Clock;
  readonly #openedAt: string;
  #isSending = false;
  #stopWaiting: Stop | undefined;

  constructor(follower: BookFollower, { books }: StreamFilter, sink: EventSink) {
    this.#sink = sink;
    this.#clock = follower.clock;
    this.#openedAt = this.#now();
    this.#outbox = new Outbox(sink, follower.clock, (key, followed, sentAt) => this.#send(key, followed, sentAt));
    this.#depth = books?.depth ?? Infinity;
    const open = (books?.markets ?? []).filter(({ market, key }) => {
      this.#sent.set(key, { sequence: 0, book: null, gap: null });
      return hasBook(market);
    });
    // A market without a book has an empty one, as over REST.
    for (const { market, key } of books?.markets ?? []) {
      if (hasBook(market)) continue;
      const receivedAt = this.#now();
      this.#take({ market, key, book: { bids: [], asks: [] }, exchangeAt: null, receivedAt }, null);
    }
    for (const { market, key } of open) {
      this.#unwatch.push(follower.watch(market, key, (followed, gap) => this.#take(followed, gap)));
    }
    if (open.length > 0) this.#stopWaiting = this.#clock.timeout(LATE_MS, () => this.#reportLate(open));
  }

  close(): void {
    for (const unwatch of this.#unwatch.splice(0)) unwatch();
    this.#stopWaiting?.();
    this.#outbox.close();
  }

  #now(): string {
    return new Date(this.#clock.now()).toISOString();
  }

  /** Sends a gap for books that have not arrived, because silence would look like an empty book. */
  #reportLate(markets: readonly { market: StoredMarket; key: string }[]): void {
    for (const { market, key } of markets) {
      if (this.#sent.get(key)?.sequence !== 0) continue;
      const times = { from: this.#openedAt, to: this.#now() };
      const names = { platform: market.platform, market_id: market.platformId };
      this.#sink.event('gap', JSON.stringify({ ...names, ...times, reason: 'no book has been received yet' }));
    }
    this.#sink.flush();
  }

  #take(followed: FollowedBook, gap: BookGap | null): void {
    const sent = this.#sent.get(followed.key);
    // Sent again for a gap whose beginning was sent, because its end is now known.
    if (gap && sent && sent.sequence > 0) sent.gap = { ...gap, from: sent.gap?.from ?? gap.from };
    this.#outbox.put(followed.key, followed);
    // After the answer to the subscription, and once for changes that arrived together.
    if (this.#isSending) return;
    this.#isSending = true;
    setImmediate(() => {
      this.#isSending = false;
      this.#outbox.send();
    });
  }

  #send(key: string, followed: FollowedBook, sentAt: string): void {
    const sent = this.#sent.get(key);
    if (!sent) return;
    if (sent.gap) {
      this.#sink.event('gap', JSON.stringify(sent.gap));
      sent.gap = null;
      sent.book = null;
    }
    if (isBookKnown(followed)) this.#sendBook(sent, followed, sentAt);
  }

  #sendBook(sent: Sent, followed: KnownBook, sentAt: string): void {
    const text = bookText(followed, sent.book, this.#depth);
    sent.book = followed.book;
    if (text === null) return;
    sent.sequence += 1;
    this.#sink.event(text.event, `${text.head}${sent.sequence}${text.tail}${sentAt}}`);
  }
}
