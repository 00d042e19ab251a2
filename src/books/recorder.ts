import type { FastifyBaseLogger } from 'fastify';
import PQueue from 'p-queue';
import { Cache } from '../core/cache.ts';
import type { Clock } from '../core/time.ts';
import type { BookChange, BookSide, OrderBook, Platform } from '../core/model.ts';
import type { StoredMarket } from '../platforms/contract.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import type { Lease } from '../stores/shared/shared.ts';
import { type AnnouncedBook, announcedBook } from './announcer.ts';
import { applyChanges, bookChanges, copyBook } from './book.ts';
import { openBookEpoch } from './epoch.ts';
import { changeRow, depthRow, gapRow, type MessageFacts, bookSnapshotRow } from './rows.ts';
import { BookWriter } from './writer.ts';

/** Interval of snapshots while a book is seen; a little less than the promised minute. */
const SNAPSHOT_MS = 55_000;
const SNAPSHOT_CHANGES = 1000;
/** A polled book that was not seen for longer has a gap. */
export const UNSEEN_MS = 600_000;
const EPOCH_SIZE = 2 ** 32;
/** Markets of which it is known when they were seen last. */
const REMEMBERED = 50_000;

interface BookRecorderDeps {
  clock: Clock;
  clickhouse: ClickHouse;
  log: FastifyBaseLogger;
  platform: Platform;
  /** Called with every message before it is stored. */
  announce: (message: AnnouncedBook) => void;
}

/** One recorded market. */
interface Kept {
  market: StoredMarket;
  /** null before the first one, and in a gap. */
  book: BookSide | null;
  /** Whether the book, or the last one, was polled: changes of a socket cannot be applied to it. */
  isPolled: boolean;
  sequence: number;
  /** When its last snapshot was taken, the clock's elapsed(), so that clock changes do not delay the next. */
  snapshotAt: number;
  changes: number;
  /** Since when and why the book is unknown; null while it is known. */
  gap: { from: string; reason: string } | null;
  /** When it was last polled, the clock's elapsed(); null for never. */
  polledAt: number | null;
  /** When a socket sent it, or when its poll was sent, the clock's elapsed(). */
  ofMs: number;
}

interface Seen {
  exchangeAt: string | null;
  receivedAt: string;
  polled: boolean;
}

/**
 * Keeps the books of a platform's wanted markets in memory and stores every change. Books come from polls and sockets; a poll in
 * flight never replaces newer data of a socket. Calls return at once, throw nothing, and need a lease to have an effect.
 * Times are ISO-8601; `exchangeAt` is null if the platform gives none.
 */
export class BookRecorder {
  readonly #deps: BookRecorderDeps;
  #lease: Lease | null = null;
  readonly #opens = new PQueue({ concurrency: 1 });
  #writer: BookWriter | null = null;
  /** When each market was last seen, by ref; the time since then is a gap. */
  readonly #seenAt = new Cache<string, string>({ limit: REMEMBERED });
  readonly #kept = new Map<string, Kept>();
  /** The largest sequence of markets that are no longer recorded: one that is recorded again continues after it. */
  #floor = 0;
  #refs: readonly string[] = [];

  constructor(deps: BookRecorderDeps) {
    this.#deps = deps;
  }

  /** Starts recording under a lease, with new books. Does nothing if they are already recorded under this lease. */
  open(lease: Lease): Promise<void> {
    return this.#opens.add(() => this.#open(lease));
  }

  async #open(lease: Lease): Promise<void> {
    if (this.#lease === lease) return;
    await this.close();
    const { clickhouse, platform } = this.#deps;
    const { epoch, seenAt } = await openBookEpoch(clickhouse, platform);
    this.#lease = lease;
    this.#floor = epoch * EPOCH_SIZE;
    this.#seenAt.clear();
    for (const [ref, at] of seenAt) this.#seenAt.set(ref, at);
    this.#writer = new BookWriter({ ...this.#deps, lease, onOverflow: (sinceMs) => this.#loseAll(sinceMs) });
  }

  /** Sets the markets to record, most wanted first. The books of others end: as empty where the market has `ended`, else with a gap. */
  want(markets: readonly StoredMarket[], ended: ReadonlySet<string> = new Set()): void {
    if (!this.#lease) return;
    const refs = new Set(markets.map(({ ref }) => ref));
    for (const [ref, kept] of this.#kept) if (!refs.has(ref)) this.#drop(kept, ended.has(ref));
    for (const market of markets) {
      const known = this.#kept.get(market.ref);
      if (known) known.market = market;
      else this.#kept.set(market.ref, this.#fresh(market));
    }
    this.#refs = [...refs];
  }

  /** Markets whose books are wanted now, most wanted first: what to subscribe to. */
  wanted(): readonly string[] {
    return this.#lease && this.#lease.remainingMs() > 0 ? this.#refs : [];
  }

  /** A market's current book, not to be modified; null if it is not known. */
  book(ref: string): BookSide | null {
    return this.#kept.get(ref)?.book ?? null;
  }

  /** When a market's book was last polled, the clock's elapsed(); null for never. */
  polledAt(ref: string): number | null {
    return this.#kept.get(ref)?.polledAt ?? null;
  }

  /** For how long this process has neither received nor confirmed a market's book, ms; 0 if it is not recorded. */
  unseenMs(ref: string): number {
    const kept = this.#kept.get(ref);
    return kept ? this.#deps.clock.elapsed() - Math.max(kept.ofMs, kept.polledAt ?? 0) : 0;
  }

  /** A book requested at `askedMs`, the clock's elapsed(). */
  polled(
    ref: string,
    { yes, exchangeAt }: Pick<OrderBook, 'yes' | 'exchangeAt'>,
    receivedAt: string,
    askedMs: number,
  ): void {
    const kept = this.#kept.get(ref);
    if (!kept) return;
    kept.polledAt = this.#deps.clock.elapsed();
    // The current book is newer: from a socket, or from a poll sent later and answered sooner.
    if (kept.ofMs >= askedMs) return;
    kept.ofMs = askedMs;
    this.#whole(kept, yes, { exchangeAt, receivedAt, polled: true });
  }

  /** A poll only compared the book with a socket's. */
  compared(ref: string): void {
    const kept = this.#kept.get(ref);
    if (kept) kept.polledAt = this.#deps.clock.elapsed();
  }

  /** A whole book as received. A market begins with one, and gets a new one after each gap. */
  snapshot(ref: string, book: BookSide, exchangeAt: string | null, receivedAt: string): void {
    const kept = this.#kept.get(ref);
    if (!kept) return;
    kept.ofMs = this.#deps.clock.elapsed();
    this.#whole(kept, book, { exchangeAt, receivedAt, polled: false });
  }

  /** Levels changed since the previous call. false if the market has no book of a socket, or lost it: it needs a snapshot. */
  change(ref: string, changes: readonly BookChange[], exchangeAt: string | null, receivedAt: string): boolean {
    const kept = this.#kept.get(ref);
    if (!kept?.book || kept.isPolled) return false;
    kept.ofMs = this.#deps.clock.elapsed();
    const seen = { exchangeAt, receivedAt, polled: false };
    this.#changed(kept, applyChanges(kept.book, changes), seen);
    this.#snapshotIfDue(kept, seen);
    return true;
  }

  /** Messages of this period are missing: the book is unknown until its next snapshot. */
  gap(ref: string, from: string, to: string, reason: string): void {
    const kept = this.#kept.get(ref);
    // A market without a first book has no gap.
    if (!kept || (!kept.book && !kept.gap)) return;
    const { announce, platform } = this.#deps;
    const wasKnown = kept.book !== null;
    kept.book = null;
    kept.gap ??= { from, reason };
    const row = gapRow(platform, ref, kept.gap.from, to, kept.gap.reason);
    this.#writer?.add('gaps', row);
    if (!wasKnown) return;
    const gap = { from: kept.gap.from, reason: row.reason };
    const { sequence } = kept;
    announce({ platform, ref, sequence, begins: false, exchange_at: null, received_at: to, levels: [], gap });
  }

  /** Stores buffered rows. */
  async flush(): Promise<void> {
    await this.#writer?.flush();
  }

  /** Stores buffered rows and forgets all books. */
  async close(): Promise<void> {
    const writer = this.#writer;
    this.#lease = null;
    this.#writer = null;
    this.#refs = [];
    this.#kept.clear();
    await writer?.close();
  }

  /** Ends a book, as empty or with a gap: readers must not take its last levels for resting orders. */
  #drop(kept: Kept, hasEnded: boolean): void {
    const { ref } = kept.market;
    const receivedAt = new Date(this.#deps.clock.now()).toISOString();
    if (hasEnded) this.#whole(kept, { bids: [], asks: [] }, { exchangeAt: null, receivedAt, polled: true });
    else this.gap(ref, receivedAt, receivedAt, 'no longer recorded');
    this.#floor = Math.max(this.#floor, kept.sequence);
    this.#kept.delete(ref);
  }

  #fresh(market: StoredMarket): Kept {
    const from = this.#seenAt.get(market.ref);
    const gap = from === undefined ? null : { from, reason: 'not recorded' };
    const none = { book: null, isPolled: false, snapshotAt: -Infinity, changes: 0, polledAt: null, ofMs: 0 };
    return { market, sequence: this.#floor, gap, ...none };
  }

  #whole(kept: Kept, book: BookSide, seen: Seen): void {
    const { ref } = kept.market;
    const seenAt = this.#seenAt.get(ref) ?? '';
    kept.isPolled = seen.polled;
    if (kept.book && Date.parse(seen.receivedAt) - Date.parse(seenAt) > UNSEEN_MS) {
      this.gap(ref, seenAt, seen.receivedAt, 'no book was received');
    }
    if (kept.book) {
      if (!this.#changed(kept, bookChanges(kept.book, book), seen)) return;
      kept.book = copyBook(book);
      this.#snapshotIfDue(kept, seen);
      return;
    }
    const ends_gap = kept.gap;
    if (ends_gap) {
      const { from, reason } = ends_gap;
      this.#writer?.add('gaps', gapRow(this.#deps.platform, ref, from, seen.receivedAt, reason));
      kept.gap = null;
    }
    kept.book = copyBook(book);
    kept.sequence += 1;
    if (!this.#snapshot(kept, seen, true)) return;
    const levels = bookChanges({ bids: [], asks: [] }, book);
    const message = announcedBook(this.#facts(kept, seen), true, levels);
    this.#deps.announce(ends_gap ? { ...message, ends_gap } : message);
  }

  /** false if rows were dropped: the book is unknown then, and its gap is announced. */
  #changed(kept: Kept, changes: readonly BookChange[], seen: Seen): boolean {
    this.#seenAt.set(kept.market.ref, seen.receivedAt);
    if (changes.length === 0) return true;
    kept.sequence += 1;
    kept.changes += changes.length;
    const facts = this.#facts(kept, seen);
    for (const change of changes) {
      this.#writer?.add('changes', changeRow(facts, change));
      if (!kept.book) return false;
    }
    this.#deps.announce(announcedBook(facts, false, changes));
    return true;
  }

  #snapshotIfDue(kept: Kept, seen: Seen): void {
    if (this.#deps.clock.elapsed() - kept.snapshotAt >= SNAPSHOT_MS || kept.changes >= SNAPSHOT_CHANGES)
      this.#snapshot(kept, seen, false);
  }

  /** false as #changed. */
  #snapshot(kept: Kept, seen: Seen, begins: boolean): boolean {
    const { book } = kept;
    if (!book) return false;
    kept.snapshotAt = this.#deps.clock.elapsed();
    kept.changes = 0;
    this.#seenAt.set(kept.market.ref, seen.receivedAt);
    const facts = this.#facts(kept, seen);
    this.#writer?.add('snapshots', bookSnapshotRow(facts, begins, book));
    this.#writer?.add('depth', depthRow(facts, book));
    return kept.book !== null;
  }

  #facts({ market, sequence }: Kept, seen: Seen): MessageFacts {
    const { platform } = this.#deps;
    return { platform, ref: market.ref, outcome: market.outcomes[0]?.id ?? '', sequence, ...seen };
  }

  /** Rows were dropped: the stored changes no longer lead to the current books. */
  #loseAll(sinceMs: number): void {
    this.#deps.log.error(
      { platform: this.#deps.platform },
      'Dropped buffered order-book rows: ClickHouse is not accepting inserts',
    );
    for (const [ref, kept] of this.#kept) {
      if (!kept.book) continue;
      const from = new Date(sinceMs).toISOString();
      this.gap(ref, from, this.#seenAt.get(ref) ?? from, 'the store accepted no rows');
    }
  }
}
