import { type Clock, HOUR_MS } from '../../src/core/time.ts';
import { applyChanges, bookChanges, copyBook } from '../../src/books/book.ts';
import type { BookRecorder } from '../../src/books/recorder.ts';
import { Cache } from '../../src/core/cache.ts';
import type { BookChange, BookSide, OrderBook } from '../../src/core/model.ts';
import { isoFromEpoch } from '../../src/platforms/market-fields.ts';
import type { SocketConnection } from '../../src/platforms/sockets/connection.ts';
import type { SocketEvent } from '../../src/platforms/sockets/contract.ts';

export type BookEvent = Extract<SocketEvent, { kind: 'book' | 'book_change' | 'book_lost' }>;
/** Records books; lists those that are wanted. */
export type BookSink = Pick<BookRecorder, 'snapshot' | 'change' | 'gap' | 'wanted'>;
type Source = Pick<SocketConnection, 'openedAt' | 'frameMs' | 'knownToMs' | 'ended' | 'doubt'>;

/** A polled book may be older than the socket's if the last event of the socket came less than this before the poll. */
const STILL_MS = 5000;
/** A book that differs from the polled one again after a replacement is kept for this long before the next; doubled each time. */
const UNPROVEN_MS = 60_000;
const LONGEST_UNPROVEN_MS = HOUR_MS;
const REMEMBERED = 10_000;
interface Followed {
  source: Source;
  book: BookSide;
  exchangeAt: string | null;
  /** When its last event was received, Unix ms. */
  seenMs: number;
  /** When a polled book was last the same, Unix ms; 0 for never. */
  agreedMs: number;
  /** Whether the last polled book differed. */
  differs: boolean;
}

const iso = (ms: number): string => new Date(ms).toISOString();

/** Whether a time is before another; false if either is not known. */
const isBefore = (at: string | null, other: string | null): boolean =>
  at !== null && other !== null && Date.parse(at) < Date.parse(other);

/** Passes books from sockets to the sink. Of two connections that send a book, the newer one counts from its first whole book on. */
export class LiveBooks {
  readonly #sink: BookSink;
  readonly #clock: Clock;
  readonly #followed = new Map<string, Followed>();
  /** When each connection last sent a frame of a book, Unix ms: until then it has lost none of those that it numbers. */
  readonly #framesMs = new WeakMap<Source, number>();
  /** Replaced books that no poll has confirmed since. */
  readonly #unproven = new Cache<string, { waitMs: number; untilMs: number }>({ limit: REMEMBERED });

  constructor(sink: BookSink, clock: Clock) {
    this.#clock = clock;
    this.#sink = sink;
  }

  take(event: BookEvent, source: Source): void {
    const followed = this.#followed.get(event.ref);
    if (event.kind !== 'book_lost') this.#framesMs.set(source, source.frameMs);
    if (event.kind === 'book') {
      if (!followed || followed.source.openedAt <= source.openedAt) this.#whole(event, source);
    } else if (followed?.source !== source) {
      return;
    } else if (event.kind === 'book_lost') {
      this.#followed.delete(event.ref);
      const frameMs = event.sinceFrame ? (this.#framesMs.get(source) ?? 0) : 0;
      this.#sink.gap(event.ref, iso(Math.max(followed.seenMs, frameMs)), iso(source.frameMs), event.reason);
    } else {
      followed.seenMs = source.frameMs;
      followed.differs = false;
      followed.exchangeAt = isoFromEpoch(event.exchangeAtMs);
      applyChanges(followed.book, event.changes);
      this.#changed(event.ref, followed, event.changes, followed.seenMs);
    }
  }

  /** A market's current book, not to be modified; null if no connection sends it. */
  book(ref: string): BookSide | null {
    return this.#followed.get(ref)?.book ?? null;
  }

  /**
   * Compares a book with one polled at `askedMs`, Unix ms; a polled one that its platform dates before the last event is ignored. true: they
   * differ, and the book has to be polled once more. If they differ again, frames were lost: the book becomes unknown, and its connection
   * is asked for it. If the new book also differs from the next polled one, that shows no lost frames: the next replacement waits longer.
   */
  compare(ref: string, polled: Pick<OrderBook, 'yes' | 'exchangeAt'>, askedMs: number): boolean {
    const followed = this.#followed.get(ref);
    if (!followed || isBefore(polled.exchangeAt, followed.exchangeAt)) return false;
    const isSame = bookChanges(followed.book, polled.yes).length === 0;
    if (isSame) {
      followed.agreedMs = askedMs;
      this.#unproven.delete(ref);
    }
    const wasDifferent = followed.differs;
    followed.differs = !isSame && askedMs - followed.seenMs >= STILL_MS;
    if (!followed.differs) return false;
    const { untilMs, waitMs } = this.#unproven.get(ref) ?? { untilMs: -Infinity, waitMs: UNPROVEN_MS / 2 };
    if (askedMs < untilMs) return false;
    if (!wasDifferent) return true;
    const nextMs = Math.min(2 * waitMs, LONGEST_UNPROVEN_MS);
    this.#unproven.set(ref, { waitMs: nextMs, untilMs: askedMs + nextMs });
    this.#followed.delete(ref);
    const knownMs = Math.max(followed.seenMs, followed.agreedMs);
    this.#sink.gap(ref, iso(knownMs), iso(askedMs), 'the polled book differs');
    followed.source.doubt(ref);
    return false;
  }

  /** Confirms wanted books that did not change as current, and sends the snapshot of newly wanted ones. */
  refresh(): void {
    for (const ref of this.#sink.wanted()) {
      const followed = this.#followed.get(ref);
      if (followed) this.#changed(ref, followed, [], Math.max(followed.seenMs, followed.source.knownToMs));
    }
  }

  /** Drops the books of a connection that ended, except those that a newer one already sends. */
  ended(source: Source): void {
    for (const [ref, followed] of this.#followed) {
      if (followed.source !== source) continue;
      this.#followed.delete(ref);
      const { knownToMs, ended } = source;
      this.#sink.gap(ref, iso(knownToMs), iso(Math.max(knownToMs, this.#clock.now())), `socket ${ended}`);
    }
  }

  /** Drops the other markets, which are no longer subscribed. */
  keepOnly(refs: ReadonlySet<string>): void {
    for (const ref of this.#followed.keys()) if (!refs.has(ref)) this.#followed.delete(ref);
  }

  #whole({ ref, book, exchangeAtMs }: Extract<BookEvent, { kind: 'book' }>, source: Source): void {
    const seenMs = source.frameMs;
    const exchangeAt = isoFromEpoch(exchangeAtMs);
    this.#followed.set(ref, { source, book: copyBook(book), exchangeAt, seenMs, agreedMs: 0, differs: false });
    this.#sink.snapshot(ref, book, exchangeAt, iso(seenMs));
  }

  #changed(ref: string, { book, exchangeAt }: Followed, changes: readonly BookChange[], seenMs: number): void {
    const at = [exchangeAt, iso(seenMs)] as const;
    // The sink has no book of this market, has lost it, or has a polled one.
    if (!this.#sink.change(ref, changes, ...at)) {
      this.#sink.snapshot(ref, book, ...at);
    }
  }
}
