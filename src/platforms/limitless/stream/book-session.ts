import type { Clock } from '../../../core/time.ts';
import type { BookLevel, BookSide } from '../../../core/model.ts';
import { bookSide } from '../../book-sides.ts';
import type { StoredMarket } from '../../contract.ts';
import { isPool } from '../../market-fields.ts';
import { BadFrame, type Emit, type SocketQuote } from '../../sockets/contract.ts';
import { parseFrame } from '../../sockets/frame.ts';
import { NamespaceSession } from './session.ts';
import { bookName, type BookUpdate, bookUpdate, systemMessage } from './wire.ts';

/** Events of market rooms that have another source, or are not used. */
const UNUSED = new Set([
  'oraclePriceData',
  'newPriceData',
  'marketCreated',
  'marketResolved',
  'live_sports_update',
  'live_esports_update',
]);

/** Minimum time between two subscriptions of a connection. */
const SUBSCRIBE_GAP_MS = 500;

/** The newest book of a market; `isDoubted`: it is wrong, and the same version is taken again. */
type Held = Pick<BookUpdate, 'version' | 'timestamp'> & { book: BookSide; isDoubted: boolean };

/** Books of chosen markets, complete in each frame. A best level that shrank may have been traded or cancelled. */
export class BookSession extends NamespaceSession {
  #markets = new Set<string>();
  /** Requested markets that were not acknowledged: resolved or renamed. */
  readonly #unknown = new Set<string>();
  /** The sets that were subscribed to and not acknowledged, oldest first. */
  #asked: readonly string[][] = [];
  readonly #held = new Map<string, Held>();
  #isDue = false;
  /** When the last subscription was sent, by the clock's elapsed(). */
  #subscribedAt = -Infinity;

  constructor(markets: readonly StoredMarket[], send: (text: string) => void, clock: Clock) {
    super(send, clock);
    this.setMarkets(markets);
  }

  setMarkets(markets: readonly StoredMarket[]): void {
    this.#markets = new Set(markets.flatMap(({ ref, metadata }) => (isPool(metadata) ? [] : ref)));
    for (const ref of this.#held.keys()) if (!this.#markets.has(ref)) this.#held.delete(ref);
    this.#isDue = true;
  }

  /** Each subscription is answered with whole books. */
  doubt(ref: string): void {
    if (this.#lose(ref)) this.#isDue = true;
  }

  /** Subscribes for all changes since the last subscription. */
  settle(): number | null {
    if (!this.#isDue) return null;
    const waitMs = this.#subscribedAt + SUBSCRIBE_GAP_MS - this.clock.elapsed();
    if (waitMs > 0) return waitMs;
    this.subscribe();
    return null;
  }

  protected override subscribe(): boolean {
    this.#isDue = false;
    this.#subscribedAt = this.clock.elapsed();
    return super.subscribe();
  }

  /** Always the whole set, because it replaces the previous one. */
  protected subscription() {
    const marketSlugs = [...this.#markets].filter((ref) => !this.#unknown.has(ref));
    if (marketSlugs.length === 0) return null;
    this.#asked = [...this.#asked, marketSlugs];
    return { name: 'subscribe_market_prices', payload: { marketSlugs } };
  }

  protected event(name: string, payload: unknown, emit: Emit): boolean {
    if (name === 'orderbookUpdate') this.#book(this.#read(payload, emit), emit);
    else if (name === 'system') {
      const { markets } = parseFrame(systemMessage, payload, name);
      if (!markets) return false;
      this.#acknowledged(new Set(markets), emit);
    } else if (UNUSED.has(name)) return false;
    else throw new BadFrame(`unknown event ${name.slice(0, 60)}`);
    return true;
  }

  /** Nothing is left to subscribe to: no reason to reconnect. */
  protected override refused(text: string, emit: Emit): boolean {
    if (!/all requested markets are resolved/i.test(text)) return false;
    this.#acknowledged(new Set(), emit);
    return true;
  }

  #acknowledged(markets: ReadonlySet<string>, emit: Emit): void {
    this.answered();
    for (const ref of markets) this.#unknown.delete(ref);
    for (const ref of this.#askedWith(markets)) {
      if (markets.has(ref) || !this.#markets.has(ref) || this.#unknown.has(ref)) continue;
      this.#unknown.add(ref);
      emit({ kind: 'market', id: ref });
    }
  }

  /** The oldest set that these markets may answer, else the newest: a set that was asked for later has an answer of its own. */
  #askedWith(markets: ReadonlySet<string>): readonly string[] {
    const sets = this.#asked;
    const place = sets.findIndex((set) => [...markets].every((ref) => set.includes(ref)));
    this.#asked = place === -1 ? [] : sets.slice(place + 1);
    return sets.at(place) ?? [];
  }

  /** If a book cannot be read, the one before it is outdated: the book is unknown until the market's next frame. */
  #read(payload: unknown, emit: Emit): BookUpdate {
    try {
      return parseFrame(bookUpdate, payload, 'orderbookUpdate');
    } catch (error) {
      const ref = bookName.safeParse(payload).data?.marketSlug;
      if (ref !== undefined && this.#lose(ref)) {
        emit({ kind: 'book_lost', ref, reason: 'a frame could not be read', sinceFrame: true });
      }
      throw error;
    }
  }

  /** Whether the market had a book that was not doubted before. */
  #lose(ref: string): boolean {
    const held = this.#held.get(ref);
    if (!held || held.isDoubted) return false;
    held.isDoubted = true;
    return true;
  }

  #book({ marketSlug: ref, orderbook, version, timestamp }: BookUpdate, emit: Emit): void {
    const held = this.#held.get(ref);
    // Frames of the previous set may still arrive.
    if (!this.#markets.has(ref) || (held && !isNewer({ version, timestamp }, held))) return;
    const { bids, asks, adjustedMidpoint } = orderbook;
    const book = { ...bookSide(bids, asks), adjustedMidpoint };
    this.#held.set(ref, { version, timestamp, book, isDoubted: false });
    emit({ kind: 'book', ref, book, exchangeAtMs: timestamp });
    emit({ kind: 'quote', quote: quoteOf(ref, book, timestamp) });
    if (held && hasShrunk(held.book, book)) emit({ kind: 'trade', ref });
  }
}

/** Versions restart after a failure of the platform: then the time decides. The copy from the database is always older. */
function isNewer(next: Pick<BookUpdate, 'version' | 'timestamp'>, held: Held): boolean {
  if (next.version === held.version) return held.isDoubted;
  if (next.version === 0) return false;
  return held.version === 0 || next.version > held.version || next.timestamp > held.timestamp;
}

const bestOf = ({ bids: [bid], asks: [ask] }: BookSide) => ({ bid, ask });

const isSmaller = (before: BookLevel, after: BookLevel): boolean =>
  after.price === before.price && after.size < before.size;

/** Whether a best level disappeared or shrank. */
function hasShrunk(before: BookSide, after: BookSide): boolean {
  const [old, now] = [bestOf(before), bestOf(after)];
  if (old.bid && (!now.bid || now.bid.price < old.bid.price || isSmaller(old.bid, now.bid))) return true;
  return old.ask !== undefined && (!now.ask || now.ask.price > old.ask.price || isSmaller(old.ask, now.ask));
}

/** Without a price: no frame has the last trade. */
function quoteOf(ref: string, book: BookSide, exchangeAtMs: number): SocketQuote {
  const { bid, ask } = bestOf(book);
  return {
    ref,
    bid: bid?.price ?? null,
    ask: ask?.price ?? null,
    bidSize: bid?.size ?? null,
    askSize: ask?.size ?? null,
    exchangeAtMs,
  };
}
