import type { FastifyBaseLogger } from 'fastify';
import { z } from 'zod';
import { type AnnouncedBook, listenToBooks } from '../books/announcer.ts';
import { applyChanges, copyBook, readBook, readChanges, type StoredLevel } from '../books/book.ts';
import { UNSEEN_MS } from '../books/platform-books.ts';
import { storeWanted, wantBooks, WANTED_EVERY_MS } from '../books/wanted.ts';
import { type BookSide, type Platform, PLATFORMS } from '../core/model.ts';
import type { StoredMarket } from '../platforms/contract.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import type { Shared } from '../stores/shared/shared.ts';

/** Stored messages are looked for this often while a client streams them: announcements are lost with Redis, and where processes share none. */
const LOOK_MS = 500;
/** Rows are visible a moment after their time. */
const OVERLAP_MS = 3000;
/** A message that does not come for longer is missing. */
const MISSING_MS = 5000;

const SnapshotRow = z.object({
  sequence: z.coerce.number(),
  bid_prices: z.array(z.string()),
  bid_sizes: z.array(z.string()),
  ask_prices: z.array(z.string()),
  ask_sizes: z.array(z.string()),
  exchange_at: z.string().nullable(),
  received_at: z.string(),
});
const UpdateRow = z.object({
  platform: z.enum(PLATFORMS),
  market_key: z.string(),
  sequence: z.coerce.number(),
  begins: z.boolean(),
  exchange_at: z.string().nullable(),
  received_at: z.string(),
  levels: z.array(z.tuple([z.enum(['bid', 'ask']), z.string(), z.string()])),
  written_ms: z.coerce.number(),
  gap_from: z.string().nullable(),
  /** Of a gap, '' of messages. */
  reason: z.string(),
});
type UpdateRow = z.output<typeof UpdateRow>;
/** A message of a book, announced or stored. */
type BookMessage = Omit<UpdateRow, 'platform' | 'written_ms' | 'gap_from' | 'reason'>;
const ClockRow = z.object({ now_ms: z.coerce.number() });
/** By how much the clocks of the machines that receive, store and serve may differ. */
const CLOCKS_MS = 60_000;

/** A stretch in which a book was not known. */
export interface BookGap {
  platform: Platform;
  market_id: string;
  from: string;
  to: string;
  reason: string;
}

/** A book as it is followed. */
export interface FollowedBook {
  market: StoredMarket;
  key: string;
  /** null before it is first recorded, and in a gap. Another object after each change, which streams of the same market share. */
  book: BookSide | null;
  exchangeAt: string | null;
  receivedAt: string;
}
type Listener = (followed: FollowedBook, gap: BookGap | null) => void;

interface Followed extends FollowedBook {
  sequence: number;
  missingSinceMs: number | null;
  /** When the stretch that it is in began, ISO-8601: gaps up to there are over. */
  beganAt: string;
  isLoading: boolean;
  listeners: Set<Listener>;
}

export interface BookFollowerDeps {
  clickhouse: ClickHouse;
  shared: Pick<Shared, 'publish'>;
  log: FastifyBaseLogger;
  /** Whether processes share nothing but the store, which then carries what is wanted. */
  sharesStoreAlone?: boolean;
}

/** Follows the recorded books that clients stream, once for all streams of this process. */
export class BookFollower {
  readonly #deps: BookFollowerDeps;
  readonly #followed = new Map<string, Followed>();
  /** Keys of the followed markets by platform and reference. */
  readonly #keys = new Map<string, string>();
  /** By the store's clock; null before it was asked. */
  #sinceMs: number | null = null;
  #wantedMs = -Infinity;
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;

  constructor(deps: BookFollowerDeps) {
    this.#deps = deps;
  }

  /** Takes what processes that record books announce. */
  listen(shared: Pick<Shared, 'subscribe'>): Promise<void> {
    return listenToBooks(shared, (messages) =>
      this.#apply(
        messages.flatMap((one) => this.#named(one)),
        true,
      ),
    );
  }

  #named(message: AnnouncedBook): BookMessage[] {
    const key = this.#keys.get(nameOf(message));
    return key === undefined ? [] : [{ ...message, market_key: key }];
  }

  /** Calls back with the book once it is known and whenever it has changed, until the returned function is called. */
  watch(market: StoredMarket, key: string, listener: Listener): () => void {
    const followed = this.#followed.get(key) ?? this.#follow(market, key);
    followed.listeners.add(listener);
    if (followed.book) listener(followed, null);
    if (!this.#timer) {
      this.#sinceMs = null;
      this.#timer = setInterval(() => void this.#look(), LOOK_MS).unref();
    }
    return () => {
      followed.listeners.delete(listener);
      // Called again, it ends no watch that began meanwhile.
      if (followed.listeners.size === 0 && this.#followed.get(key) === followed) {
        this.#followed.delete(key);
        this.#keys.delete(nameOf(market));
      }
      if (this.#followed.size === 0) this.close();
    };
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
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
      beganAt: '',
      isLoading: false,
      listeners: new Set(),
    };
    this.#followed.set(key, followed);
    this.#keys.set(nameOf(market), key);
    // A market that was not streamed before is recorded from now on.
    this.#wantedMs = -Infinity;
    void this.#load(followed);
    return followed;
  }

  /** The newest recorded book, and what followed it. */
  async #load(followed: Followed): Promise<void> {
    if (followed.isLoading) return;
    followed.isLoading = true;
    const { platform, ref } = followed.market;
    try {
      const now = Date.now();
      const span = { platform, ref, at_ms: now + CLOCKS_MS, after_ms: now - UNSEEN_MS - CLOCKS_MS };
      const [row] = await this.#deps.clickhouse.query('book_snapshot_at', SnapshotRow, span);
      if (!row || row.sequence < followed.sequence) return;
      const { bid_prices: bids, bid_sizes: bidSizes, ask_prices: asks, ask_sizes: askSizes } = row;
      const gap = followed.book ? gapOf(followed, row.received_at, 'messages are missing') : null;
      followed.book = readBook({ bids: levelsOf(bids, bidSizes), asks: levelsOf(asks, askSizes) });
      followed.sequence = row.sequence;
      followed.exchangeAt = row.exchange_at;
      followed.receivedAt = row.received_at;
      followed.missingSinceMs = null;
      followed.beganAt = '';
      const later = await this.#updates([followed.key], Date.parse(row.received_at) - CLOCKS_MS);
      this.#apply(messagesOf(later), false);
      for (const listener of followed.listeners) listener(followed, gap);
      this.#lose(later, true);
    } catch (error) {
      this.#deps.log.warn({ err: error }, 'Failed to read an order book');
    } finally {
      followed.isLoading = false;
    }
  }

  #updates(keys: readonly string[], sinceMs: number): Promise<UpdateRow[]> {
    return this.#deps.clickhouse.query('book_updates', UpdateRow, { keys: keys.map(BigInt), since_ms: sinceMs });
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      await this.#want();
      let sinceMs = this.#sinceMs ?? (await this.#deps.clickhouse.query('store_clock', ClockRow))[0]?.now_ms ?? 0;
      const rows = await this.#updates([...this.#followed.keys()], sinceMs - OVERLAP_MS);
      for (const { written_ms: writtenMs } of rows) sinceMs = Math.max(sinceMs, writtenMs);
      this.#sinceMs = sinceMs;
      this.#apply(messagesOf(rows), true);
      this.#lose(rows);
      for (const followed of this.#followed.values()) {
        const { missingSinceMs: sinceMs } = followed;
        if (sinceMs !== null && performance.now() - sinceMs > MISSING_MS) void this.#load(followed);
      }
    } catch (error) {
      this.#deps.log.warn({ err: error }, 'Failed to read order books');
    } finally {
      this.#isLooking = false;
    }
  }

  async #want(): Promise<void> {
    // Not by the system's clock, which may be set back.
    if (performance.now() - this.#wantedMs < WANTED_EVERY_MS) return;
    this.#wantedMs = performance.now();
    const wanted = Array.from(
      this.#followed.values(),
      ({ market }) => [market.platform, market.ref] as [Platform, string],
    );
    const { clickhouse, shared, sharesStoreAlone } = this.#deps;
    await wantBooks(shared, wanted);
    if (sharesStoreAlone) await storeWanted(clickhouse, wanted);
  }

  /** Books that were lost and have not come again: their readers learn it now, not once they are back. */
  #lose(rows: readonly UpdateRow[], isLoaded = false): void {
    for (const { market_key: key, gap_from: from, received_at: to, reason } of rows) {
      const followed = this.#followed.get(key);
      if (reason === '' || from === null || !followed?.book || followed.isLoading !== isLoaded) continue;
      if (to <= followed.beganAt || to < followed.receivedAt) continue;
      const gap = { ...gapOf(followed, to, reason), from };
      followed.book = null;
      for (const listener of followed.listeners) listener(followed, gap);
    }
  }

  #apply(rows: readonly BookMessage[], isAnnounced: boolean): void {
    for (const row of rows) {
      const followed = this.#followed.get(row.market_key);
      if (!followed || row.sequence <= followed.sequence || (isAnnounced && followed.isLoading)) continue;
      // Changes are visible before the book that they follow: they wait for it.
      if (!row.begins && (!followed.book || row.sequence !== followed.sequence + 1)) {
        followed.missingSinceMs ??= performance.now();
        continue;
      }
      const isBehindOne = row.begins && followed.receivedAt !== '';
      const gap = isBehindOne ? gapOf(followed, row.received_at, 'the recording was interrupted') : null;
      const changes = row.levels.map(([side, price, size]) => ({ side, price, size }));
      const empty: BookSide = { bids: [], asks: [] };
      const book = row.begins || !followed.book ? empty : copyBook(followed.book);
      applyChanges(book, readChanges(changes));
      followed.book = book;
      if (row.begins) followed.beganAt = row.received_at;
      followed.sequence = row.sequence;
      followed.exchangeAt = row.exchange_at;
      followed.receivedAt = row.received_at;
      followed.missingSinceMs = null;
      if (isAnnounced) for (const listener of followed.listeners) listener(followed, gap);
    }
  }
}

const messagesOf = (rows: readonly UpdateRow[]): UpdateRow[] => rows.filter(({ reason }) => reason === '');

const nameOf = ({ platform, ref }: Pick<StoredMarket, 'platform' | 'ref'>): string => `${platform}:${ref}`;

const levelsOf = (prices: readonly string[], sizes: readonly string[]): StoredLevel[] =>
  prices.map((price, index) => ({ price, size: sizes[index] ?? '0' }));

const gapOf = ({ market, receivedAt }: Followed, to: string, reason: string): BookGap => ({
  platform: market.platform,
  market_id: market.platformId,
  from: receivedAt,
  to,
  reason,
});
