import type { Price, Size } from '../../../core/decimal.ts';
import type { BookLevel } from '../../../core/model.ts';
import type { Clock } from '../../../core/time.ts';
import { bookSide } from '../../book-sides.ts';
import type { StoredMarket } from '../../contract.ts';
import { BadFrame, type Emit } from '../../sockets/contract.ts';
import { parseFrame } from '../../sockets/frame.ts';
import { ANSWER_MS, type Feed, type SendCommand } from './session.ts';
import { bookMsg, deltaMsg, type Frame, snapshotMsg } from './wire.ts';
import { partsOf } from '../../../core/parts.ts';

/** Markets per command. */
const CHUNK = 100;
/** Wait before repeating what the server rejected for its limits. */
const RETRY_MS = 30_000;

type Side = 'bid' | 'ask';
type Levels = Record<Side, Map<Price, Size>>;

/** NO levels arrive on the YES scale, as asks. */
const SIDES = { yes: 'bid', no: 'ask' } as const;

const mapOf = (levels: readonly BookLevel[]): Map<Price, Size> =>
  new Map(levels.map(({ price, size }) => [price, size]));

/** Whole books of chosen markets, then changes. All share one sequence: after missing frames every book is requested again. */
export class BookFeed implements Feed {
  readonly #clock: Clock;
  #wanted: Set<string>;
  /** Markets requested from the server. */
  #subscribed = new Set<string>();
  #isOpen = false;
  #isAsked = false;
  #sid: number | null = null;
  readonly #books = new Map<string, Levels>();
  /** Markets whose whole book was requested, and since when, by the clock's elapsed(). */
  readonly #awaited = new Map<string, number>();
  /** Markets that the server does not know (any more). */
  readonly #refused = new Set<string>();
  /** Markets to request again. */
  readonly #later = new Set<string>();
  #laterAt = 0;
  /** Whether books are awaited because frames were lost. */
  #isHealing = false;
  #failure: string | null = null;

  constructor(markets: readonly StoredMarket[], clock: Clock) {
    this.#clock = clock;
    this.#wanted = new Set(markets.map(({ ref }) => ref));
  }

  start(send: SendCommand): void {
    this.#isOpen = true;
    const tickers = this.#known();
    if (tickers.length === 0) return;
    this.#isAsked = true;
    this.#subscribed = new Set(tickers);
    for (const ticker of tickers) this.#awaited.set(ticker, this.#clock.elapsed());
    // Explicit, because the default scale of NO prices is going to change.
    const scale = { use_yes_price: true, skip_ticker_ack: true };
    send('subscribe', { channels: ['orderbook_delta'], market_tickers: tickers, ...scale });
  }

  setMarkets(markets: readonly StoredMarket[], send: SendCommand): void {
    this.#wanted = new Set(markets.map(({ ref }) => ref));
    for (const ticker of this.#refused) if (!this.#wanted.has(ticker)) this.#refused.delete(ticker);
    if (!this.#isOpen) return;
    if (!this.#isAsked) this.start(send);
    // The subscription cannot be changed before its number is known.
    else if (this.#sid !== null) this.#update(this.#sid, send);
  }

  subscribed(sid: number, send: SendCommand): void {
    this.#sid = sid;
    this.#update(sid, send);
  }

  lost(emit: Emit, send: SendCommand): string | null {
    if (this.#isHealing) return 'frames were lost again';
    for (const ref of this.#books.keys())
      emit({ kind: 'book_lost', ref, reason: 'frames were lost', sinceFrame: true });
    this.#books.clear();
    this.#ask(this.#subscribed, send);
    this.#isHealing = this.#awaited.size > 0;
    return null;
  }

  doubt(ref: string, send: SendCommand): void {
    if (this.#books.delete(ref)) this.#ask([ref], send);
  }

  refused(tickers: readonly string[], emit: Emit, send: SendCommand): void {
    const unknown = tickers.filter((ticker) => this.#wanted.has(ticker) && !this.#refused.has(ticker));
    for (const ticker of unknown) {
      this.#refused.add(ticker);
      this.#subscribed.delete(ticker);
      this.#awaited.delete(ticker);
      this.#forget(ticker, 'the platform does not know it', emit);
      emit({ kind: 'market', id: ticker });
    }
    if (unknown.length === 0 || this.#sid !== null) return;
    // The reply does not show whether the others were subscribed; those that were are not subscribed twice.
    this.#isAsked = false;
    this.start(send);
  }

  limited(): void {
    for (const ticker of this.#awaited.keys()) this.#later.add(ticker);
    this.#awaited.clear();
    this.#isHealing = false;
    this.#laterAt = this.#clock.elapsed() + RETRY_MS;
  }

  settle(send: SendCommand): number | null {
    if (this.#sid === null || this.#later.size === 0) return null;
    const waitMs = this.#laterAt - this.#clock.elapsed();
    if (waitMs > 0) return waitMs;
    const tickers = [...this.#later].filter((ticker) => this.#subscribed.has(ticker));
    this.#later.clear();
    // The reply does not name the rejected command, so both are repeated: for a market already held only the second returns a book.
    for (const market_tickers of partsOf(tickers, CHUNK)) {
      send('update_subscription', { sids: [this.#sid], action: 'add_markets', market_tickers });
    }
    this.#ask(tickers, send);
    return null;
  }

  failure(): string | null {
    if (this.#failure !== null) return this.#failure;
    const [askedAt] = this.#awaited.values();
    return askedAt !== undefined && this.#clock.elapsed() - askedAt > ANSWER_MS ? 'a book was not answered' : null;
  }

  take(frame: Frame, emit: Emit, send: SendCommand): boolean {
    const isWhole = frame.type === 'orderbook_snapshot';
    if (!isWhole && frame.type !== 'orderbook_delta') throw new BadFrame(`unknown type ${frame.type.slice(0, 60)}`);
    try {
      if (isWhole) this.#whole(frame, emit);
      else this.#change(frame, emit, send);
    } catch (error) {
      this.#unreadable(frame, isWhole, emit, send);
      throw error;
    }
    return true;
  }

  /** After an unreadable change the book is wrong. A snapshot would be unreadable too: it is requested with the next change. */
  #unreadable({ msg }: Frame, isWhole: boolean, emit: Emit, send: SendCommand): void {
    const ref = bookMsg.safeParse(msg).data?.market_ticker;
    const reason = 'a frame could not be read';
    if (ref === undefined) this.#failure = reason;
    else if (isWhole) {
      this.#awaited.delete(ref);
      this.#forget(ref, reason, emit, true);
    } else this.#doubt(ref, reason, emit, send, true);
  }

  #forget(ref: string, reason: string, emit: Emit, sinceFrame = false): void {
    if (this.#books.delete(ref)) emit({ kind: 'book_lost', ref, reason, sinceFrame });
  }

  #doubt(ref: string, reason: string, emit: Emit, send: SendCommand, sinceFrame = false): void {
    this.#forget(ref, reason, emit, sinceFrame);
    if (this.#wanted.has(ref) && !this.#awaited.has(ref) && !this.#later.has(ref)) this.#ask([ref], send);
  }

  /** It may come unrequested; without levels it is an empty book, such as that of an ended market. */
  #whole({ msg, sending_ts_ms: sentMs }: Frame, emit: Emit): void {
    const { market_ticker: ref, yes_dollars_fp: yes, no_dollars_fp: no } = parseFrame(snapshotMsg, msg, 'snapshot');
    this.#awaited.delete(ref);
    this.#later.delete(ref);
    if (this.#awaited.size === 0) this.#isHealing = false;
    if (!this.#wanted.has(ref)) return;
    const levels = (given: typeof yes): BookLevel[] => (given ?? []).map(([price, size]) => ({ price, size }));
    const book = bookSide(levels(yes), levels(no));
    this.#books.set(ref, { bid: mapOf(book.bids), ask: mapOf(book.asks) });
    emit({ kind: 'book', ref, book, exchangeAtMs: sentMs ?? null });
  }

  #change({ msg }: Frame, emit: Emit, send: SendCommand): void {
    const delta = parseFrame(deltaMsg, msg, 'delta');
    const { market_ticker: ref, price_dollars: price, ts_ms: exchangeAtMs } = delta;
    if (!this.#wanted.has(ref)) return;
    const side = SIDES[delta.side];
    const levels = this.#books.get(ref)?.[side];
    const size = (levels?.get(price) ?? 0n) + delta.delta_fp;
    if (!levels || size < 0n) return this.#doubt(ref, 'a level fell below 0', emit, send);
    if (size === 0n) levels.delete(price);
    else levels.set(price, size);
    emit({ kind: 'book_change', ref, changes: [{ side, price, size }], exchangeAtMs });
  }

  #update(sid: number, send: SendCommand): void {
    const known = this.#known();
    const added = known.filter((ticker) => !this.#subscribed.has(ticker));
    const gone = [...this.#subscribed].filter((ticker) => !this.#wanted.has(ticker));
    this.#subscribed = new Set(known);
    for (const ticker of gone) {
      this.#books.delete(ticker);
      this.#awaited.delete(ticker);
    }
    for (const ticker of added) this.#awaited.set(ticker, this.#clock.elapsed());
    for (const market_tickers of partsOf(added, CHUNK)) {
      send('update_subscription', { sids: [sid], action: 'add_markets', market_tickers });
    }
    for (const market_tickers of partsOf(gone, CHUNK)) {
      send('update_subscription', { sids: [sid], action: 'delete_markets', market_tickers });
    }
  }

  #known(): string[] {
    return [...this.#wanted].filter((ticker) => !this.#refused.has(ticker));
  }

  #ask(tickers: Iterable<string>, send: SendCommand): void {
    if (this.#sid === null) return;
    for (const market_tickers of partsOf(tickers, CHUNK)) {
      for (const ticker of market_tickers) this.#awaited.set(ticker, this.#clock.elapsed());
      send('update_subscription', { sids: [this.#sid], action: 'get_snapshot', market_tickers });
    }
  }
}
