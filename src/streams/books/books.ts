import type { FastifyBaseLogger } from 'fastify';
import type { Clock } from '../../core/time.ts';
import { type AnnouncedBook, listenToBooks } from '../../books/announcer.ts';
import { applyChanges, copyBook, readChanges } from '../../books/book.ts';
import { MOST_STREAMED, StreamedBooks, wantBooks } from '../../books/wanted.ts';
import { ApiError } from '../../core/errors.ts';
import { marketName } from '../../core/market-key.ts';
import type { BookSide, Platform } from '../../core/model.ts';
import type { StoredMarket } from '../../platforms/contract.ts';
import type { ClickHouse } from '../../stores/clickhouse/client.ts';
import { FOLLOWED_EVERY_MS, type Shared } from '../../stores/shared/shared.ts';
import { type BookLoss, type BookMessage, newestBook, readUpdates, updatesBehind } from './stored-books.ts';
import { Watchers } from '../watchers.ts';
import { LATE_ROW_MS, storeClock } from '../../stores/clickhouse/store-clock.ts';

/** Interval of the check for stored messages to read, while a client streams books. */
const LOOK_MS = 500;
/** Read interval without signs of missed announcements: another process may have failed to send some. */
const READ_ALL_MS = 5000;
/** After possibly missed announcements, every check reads for this long: rows become stored and visible some time after arrival. */
const UNSURE_MS = 4000;
/** A message that does not arrive for longer counts as missing. */
const MISSING_MS = 5000;
/** Messages held while their book is loaded; the store has the others. */
const MOST_EARLY = 1000;

/** A period in which a book was unknown. */
export interface BookGap {
  platform: Platform;
  market_id: string;
  from: string;
  to: string;
  reason: string;
}

/** State of a followed book. */
export interface FollowedBook {
  market: StoredMarket;
  key: string;
  /** null before its first record, and in a gap. Replaced on each change; streams of the same market share the object. */
  book: BookSide | null;
  exchangeAt: string | null;
  receivedAt: string;
}
type Listener = (followed: FollowedBook, gap: BookGap | null) => void;

interface Followed extends FollowedBook {
  sequence: number;
  missingSinceMs: number | null;
  /** Since when and why the book is unknown; null while it is known, and before the first. */
  lost: Pick<BookLoss, 'from' | 'reason'> | null;
  /** Start of the current recorded period, ISO-8601: gaps before it are over. */
  beganAt: string;
  isLoading: boolean;
  /** Announced while the book was loading. */
  early: AnnouncedBook[];
  /** Every check reads it until then, the clock's elapsed(). */
  unsureUntilMs: number;
  listeners: Set<Listener>;
}

export interface BookFollowerDeps {
  clickhouse: ClickHouse;
  shared: Pick<Shared, 'publish' | 'healthy'>;
  log: FastifyBaseLogger;
  clock: Clock;
}

/** Follows the recorded books that clients stream, once for all streams of this process. */
export class BookFollower {
  readonly clock: Clock;
  readonly #deps: BookFollowerDeps;
  readonly #followed = new Map<string, Followed>();
  /** Keys of the followed markets by platform and reference. */
  readonly #keys = new Map<string, string>();
  /** Every message that was visible at this time is known; Unix ms by the store's clock, null before the first read. */
  #sinceMs: number | null = null;
  #readAllAtMs = -Infinity;
  #unsureUntilMs = -Infinity;
  #wantedMs = -Infinity;
  /** The books that clients of any process stream. */
  readonly #streamed: StreamedBooks;
  /** One for each watch of a book. */
  readonly #watchers: Watchers<object>;

  constructor(deps: BookFollowerDeps) {
    this.#deps = deps;
    this.clock = deps.clock;
    this.#streamed = new StreamedBooks(deps.clock);
    this.#watchers = new Watchers({ clock: deps.clock, everyMs: LOOK_MS, look: () => this.#look() });
  }

  /** Receives announcements of processes that record books. */
  async listen(shared: Pick<Shared, 'subscribe'>): Promise<void> {
    await this.#streamed.listen(shared);
    await listenToBooks(shared, (messages) => {
      for (const message of messages) this.#take(message);
    });
  }

  #take(message: AnnouncedBook): void {
    const followed = this.#followed.get(this.#keys.get(marketName(message)) ?? '');
    if (!followed) return;
    if (followed.isLoading) {
      if (followed.early.length < MOST_EARLY) followed.early.push(message);
    } else if (message.gap) {
      // A book that was loaded since may begin after it.
      if (message.sequence >= followed.sequence) this.#lose(followed, { ...message.gap, to: message.received_at });
    } else this.#apply(followed, message);
  }

  /** 429 if more books of a platform would be streamed than are kept. */
  allow(platform: Platform, refs: readonly string[]): void {
    if (this.#streamed.hasRoom(platform, refs)) return;
    throw new ApiError(429, 'Too many streamed books', {
      resolution: 'Try again later, or name markets whose books are streamed already.',
      errorText: `${MOST_STREAMED} books of ${platform} in the streams of all users`,
      retryAfter: 30,
    });
  }

  /** Calls back with the book once it is known and after each change, until the returned function is called. */
  watch(market: StoredMarket, key: string, listener: Listener): () => void {
    const followed = this.#followed.get(key) ?? this.#follow(market, key);
    followed.listeners.add(listener);
    if (followed.book) listener(followed, null);
    const stop = this.#watchers.add({}, () => {
      this.#sinceMs = null;
      this.#readAllAtMs = -Infinity;
    });
    return () => {
      followed.listeners.delete(listener);
      // A second call must leave a later watch running.
      if (followed.listeners.size === 0 && this.#followed.get(key) === followed) {
        this.#followed.delete(key);
        this.#keys.delete(marketName(market));
      }
      stop();
    };
  }

  close(): void {
    this.#watchers.close();
  }

  #follow(market: StoredMarket, key: string): Followed {
    const followed: Followed = {
      market,
      key,
      book: null,
      exchangeAt: null,
      receivedAt: '',
      sequence: 0,
      missingSinceMs: null,
      lost: null,
      beganAt: '',
      isLoading: false,
      early: [],
      unsureUntilMs: this.clock.elapsed() + UNSURE_MS,
      listeners: new Set(),
    };
    this.#followed.set(key, followed);
    this.#keys.set(marketName(market), key);
    // Asks for the recording of this market; one message for all markets of this event-loop turn.
    this.#wantedMs = -Infinity;
    setImmediate(() => void this.#watchers.look());
    void this.#load(followed);
    return followed;
  }

  /** Loads the newest recorded book, and the messages after it. */
  async #load(followed: Followed): Promise<void> {
    if (followed.isLoading) return;
    followed.isLoading = true;
    const { clickhouse, log } = this.#deps;
    try {
      const stored = await newestBook(clickhouse, followed.market, this.clock.now());
      if (!stored || stored.sequence < followed.sequence) return;
      // The book that was lost.
      if (followed.lost && stored.receivedAt <= followed.lost.from) return;
      const isBehindOne = followed.book !== null || followed.lost !== null;
      const gap = isBehindOne ? gapBefore(followed, stored.receivedAt, 'messages are missing') : null;
      const { book, sequence, exchangeAt, receivedAt } = stored;
      const beganAt = stored.begins ? receivedAt : '';
      Object.assign(followed, { book, sequence, exchangeAt, receivedAt, beganAt, missingSinceMs: null, lost: null });
      const { messages, losses } = await updatesBehind(clickhouse, followed.key, stored);
      for (const [, message] of messages) this.#apply(followed, message, false);
      for (const listener of followed.listeners) listener(followed, gap);
      for (const [, loss] of losses) this.#loseStored(followed, loss);
    } catch (error) {
      log.warn({ err: error }, 'Failed to read an order book');
    } finally {
      followed.isLoading = false;
      for (const message of followed.early.splice(0)) this.#take(message);
    }
  }

  async #look(): Promise<void> {
    try {
      await this.#want();
      await this.#readDue();
      for (const followed of this.#followed.values()) {
        const { missingSinceMs: sinceMs } = followed;
        if (sinceMs !== null && this.clock.elapsed() - sinceMs > MISSING_MS) void this.#load(followed);
      }
    } catch (error) {
      this.#deps.log.warn({ err: error }, 'Failed to read order books');
    }
  }

  /** Reads stored messages of books with possibly missed announcements, and occasionally of every book. */
  async #readDue(): Promise<void> {
    const { clickhouse, shared } = this.#deps;
    const now = this.clock.elapsed();
    if (!shared.healthy()) this.#unsureUntilMs = now + UNSURE_MS;
    const isAllDue = now < this.#unsureUntilMs || now - this.#readAllAtMs >= READ_ALL_MS;
    const followed = [...this.#followed.values()];
    const due = followed.filter(
      ({ isLoading, missingSinceMs, unsureUntilMs }) =>
        !isLoading && (isAllDue || missingSinceMs !== null || now < unsureUntilMs),
    );
    if (due.length === 0) return;
    const nowMs = isAllDue || this.#sinceMs === null ? await storeClock(clickhouse) : this.#sinceMs;
    const { messages, losses } = await readUpdates(clickhouse, due, (this.#sinceMs ?? nowMs) - LATE_ROW_MS);
    if (due.length === followed.length && isAllDue) {
      this.#sinceMs = nowMs;
      this.#readAllAtMs = now;
    }
    for (const [key, message] of messages) {
      const found = this.#followed.get(key);
      if (!found || found.isLoading || !this.#apply(found, message)) continue;
      // It was not announced, so others may be missing too.
      found.unsureUntilMs = this.clock.elapsed() + UNSURE_MS;
    }
    for (const [key, loss] of losses) {
      const found = this.#followed.get(key);
      if (found && !found.isLoading) this.#loseStored(found, loss);
    }
  }

  async #want(): Promise<void> {
    // Not by the wall clock, which may be set back.
    if (this.clock.elapsed() - this.#wantedMs < FOLLOWED_EVERY_MS) return;
    this.#wantedMs = this.clock.elapsed();
    const followed = Array.from(this.#followed.values(), ({ market: { platform, ref } }): [Platform, string] => [
      platform,
      ref,
    ]);
    await wantBooks(this.#deps.shared, followed);
  }

  /** A stored gap: ignored if it ended before the book began, or before its last message. */
  #loseStored(followed: Followed, loss: BookLoss): void {
    if (loss.to > followed.beganAt && loss.to >= followed.receivedAt) this.#lose(followed, loss);
  }

  /** Removes the book until the platform sends it again, and sends the gap to readers. */
  #lose(followed: Followed, { from, to, reason }: BookLoss): void {
    if (!followed.book) return;
    followed.book = null;
    followed.lost = { from, reason };
    const gap = gapBefore(followed, to, reason);
    for (const listener of followed.listeners) listener(followed, gap);
  }

  /** Applies a message. false if it is known already, or if messages before it are missing. */
  #apply(followed: Followed, row: BookMessage, isNews = true): boolean {
    if (row.sequence <= followed.sequence) return false;
    // Changes can be visible before the book that they follow: they wait for it.
    if (!row.begins && (!followed.book || row.sequence !== followed.sequence + 1)) {
      followed.missingSinceMs ??= this.clock.elapsed();
      return false;
    }
    const isBehindOne = row.begins && followed.receivedAt !== '';
    followed.lost ??= row.ends_gap ?? null;
    const gap = isBehindOne ? gapBefore(followed, row.received_at, 'the recording was interrupted') : null;
    followed.lost = null;
    const empty: BookSide = { bids: [], asks: [] };
    const book = row.begins || !followed.book ? empty : copyBook(followed.book);
    applyChanges(book, readChanges(row.levels));
    followed.book = book;
    if (row.begins) followed.beganAt = row.received_at;
    followed.sequence = row.sequence;
    followed.exchangeAt = row.exchange_at;
    followed.receivedAt = row.received_at;
    followed.missingSinceMs = null;
    if (isNews) for (const listener of followed.listeners) listener(followed, gap);
    return true;
  }
}

/** The gap before a new book: as it is known, else since the last message and for this reason. */
function gapBefore({ market, receivedAt, lost }: Followed, to: string, otherwise: string): BookGap {
  const { from, reason } = lost ?? { from: receivedAt, reason: otherwise };
  return { platform: market.platform, market_id: market.platformId, from, to, reason };
}
