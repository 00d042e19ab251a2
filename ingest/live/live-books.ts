import { applyChanges, copyBook } from '../../src/books/book.ts';
import type { BookSink } from '../../src/books/sink.ts';
import type { BookChange, BookSide, Platform } from '../../src/core/model.ts';
import type { SocketConnection } from '../../src/platforms/sockets/connection.ts';
import type { SocketEvent } from '../../src/platforms/sockets/contract.ts';

export type BookEvent = Extract<SocketEvent, { kind: 'book' | 'book_change' | 'book_lost' }>;
type Source = Pick<SocketConnection, 'openedAt' | 'frameMs' | 'knownToMs' | 'ended' | 'close'>;

/** A socket that sent something of the market within so long before a reading may be ahead of what was read. */
const STILL_MS = 5000;
/** A difference that is found again after so long is no delay of either. */
const AGAIN_MS = 10_000;
/** Books that differ for a reason of the platform's own cost one connection in so long. */
const CLOSE_EVERY_MS = 300_000;

interface Followed {
  source: Source;
  book: BookSide;
  exchangeAt: string | null;
  /** Unix ms of the receipt of its last event. */
  seenMs: number;
  /** When it was first found to differ from what was read, Unix ms; null while it does not. */
  differsFromMs: number | null;
}

const iso = (ms: number): string => new Date(ms).toISOString();

/**
 * Hands the books that sockets bring to where books are kept. While one connection replaces another both bring a market: the newer one
 * counts from its first whole book on.
 */
export class LiveBooks {
  readonly #platform: Platform;
  readonly #sink: BookSink;
  readonly #followed = new Map<string, Followed>();
  #closedMs = -Infinity;

  constructor(platform: Platform, sink: BookSink) {
    this.#platform = platform;
    this.#sink = sink;
  }

  take(event: BookEvent, source: Source): void {
    const followed = this.#followed.get(event.ref);
    if (event.kind === 'book') {
      if (!followed || followed.source.openedAt <= source.openedAt) this.#whole(event, source);
    } else if (followed?.source !== source) {
      return;
    } else if (event.kind === 'book_lost') {
      this.#followed.delete(event.ref);
      this.#sink.gap(this.#platform, event.ref, iso(followed.seenMs), iso(source.frameMs), event.reason);
    } else {
      followed.seenMs = source.frameMs;
      followed.differsFromMs = null;
      followed.exchangeAt = event.exchangeAtMs === null ? null : iso(event.exchangeAtMs);
      applyChanges(followed.book, event.changes);
      this.#changed(event.ref, followed, event.changes, followed.seenMs);
    }
  }

  /** A market's book now; null where no connection brings it. Not to be changed. */
  book(ref: string): BookSide | null {
    return this.#followed.get(ref)?.book ?? null;
  }

  /**
   * Compares best prices with those of a book that was asked for at `askedMs`, Unix ms. A connection that twice lacks what changed is
   * closed, so that another one takes its place.
   */
  compare(ref: string, { bids, asks }: BookSide, askedMs: number): void {
    const followed = this.#followed.get(ref);
    if (!followed) return;
    const { book } = followed;
    const isSame = book.bids[0]?.price === bids[0]?.price && book.asks[0]?.price === asks[0]?.price;
    if (isSame || askedMs - followed.seenMs < STILL_MS) {
      followed.differsFromMs = null;
      return;
    }
    followed.differsFromMs ??= askedMs;
    if (askedMs - followed.differsFromMs < AGAIN_MS || askedMs - this.#closedMs < CLOSE_EVERY_MS) return;
    this.#closedMs = askedMs;
    void followed.source.close('a book is not the one that is read');
  }

  /** Says of the wanted books that did not change that they were still seen, and begins those that became wanted. */
  refresh(): void {
    for (const ref of this.#sink.wanted(this.#platform)) {
      const followed = this.#followed.get(ref);
      if (followed) this.#changed(ref, followed, [], Math.max(followed.seenMs, followed.source.knownToMs));
    }
  }

  /** What a connection brought is not known any more, unless a newer one brings it. */
  ended(source: Source): void {
    for (const [ref, followed] of this.#followed) {
      if (followed.source !== source) continue;
      this.#followed.delete(ref);
      const { knownToMs, ended } = source;
      this.#sink.gap(this.#platform, ref, iso(knownToMs), iso(Math.max(knownToMs, Date.now())), `socket ${ended}`);
    }
  }

  /** Forgets the other markets: they are not subscribed any more. */
  keepOnly(refs: ReadonlyMap<string, unknown>): void {
    for (const ref of this.#followed.keys()) if (!refs.has(ref)) this.#followed.delete(ref);
  }

  #whole({ ref, book, exchangeAtMs }: Extract<BookEvent, { kind: 'book' }>, source: Source): void {
    const seenMs = source.frameMs;
    const exchangeAt = exchangeAtMs === null ? null : iso(exchangeAtMs);
    this.#followed.set(ref, { source, book: copyBook(book), exchangeAt, seenMs, differsFromMs: null });
    this.#sink.snapshot(this.#platform, ref, book, exchangeAt, iso(seenMs));
  }

  #changed(ref: string, { book, exchangeAt }: Followed, changes: readonly BookChange[], seenMs: number): void {
    const at = [exchangeAt, iso(seenMs)] as const;
    // It does not know the market yet, or no more.
    if (!this.#sink.change(this.#platform, ref, changes, ...at)) {
      this.#sink.snapshot(this.#platform, ref, book, ...at);
    }
  }
}
