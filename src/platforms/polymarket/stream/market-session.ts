import type { Clock } from '../../../core/time.ts';
import { complement, type Price } from '../../../core/decimal.ts';
import { bookSide } from '../../book-sides.ts';
import type { StoredMarket } from '../../contract.ts';
import { BadFrame, type Emit, type SocketSession } from '../../sockets/contract.ts';
import { jsonOf, parseFrame } from '../../sockets/frame.ts';
import { SETTLED_MS, Step } from './step.ts';
import { TokenBook } from './token-book.ts';
import { bestFrame, bookFrame, change, changeFrame, lastTradeFrame, lifecycleFrame, namedFrame } from './wire.ts';

/** A book that has not come this long after its subscription is requested again. */
const FIRST_BOOK_MS = 15_000;
/** Wait before a requested book is requested once more; it grows with each request. */
const FIRST_ASK_MS = 5000;
const LAST_ASK_MS = 300_000;

/** Events after which a market is read again; the stored tick size decides which limit prices are accepted. */
const MARKET_CHANGES = new Set(['new_market', 'market_resolved', 'tick_size_change']);

interface Token {
  ref: string;
  isFirst: boolean;
}
/** State of one market: the book of its first token, and its newest trade in that token's terms. */
interface Followed {
  token: string;
  book: TokenBook;
  last: Price | undefined;
  /** Changes of the book that are not emitted yet. */
  step: Step | null;
  /** When the book was last requested again, and the wait after that, ms; null before. */
  asked: { at: number; waitMs: number } | null;
}

/** The tokens of a market's outcomes; [] if one is unknown, as in an unknown version of the protocol: it has no book. */
function tokensOf({ outcomes }: StoredMarket): string[] {
  const tokens = outcomes.map(({ tokenId }) => tokenId);
  return tokens.includes('') ? [] : tokens;
}

/** Books, trades and tick sizes of chosen tokens, and listings and resolutions of the whole platform. */
export class MarketSession implements SocketSession {
  readonly #send: (text: string) => void;
  #markets: readonly StoredMarket[];
  #tokens = new Map<string, Token>();
  readonly #clock: Clock;
  #followed = new Map<string, Followed>();
  /** References of the markets with a step that is not emitted yet. */
  readonly #open = new Set<string>();
  readonly #lost = new Set<string>();
  /** References of the markets whose first book has not come, and since when it is awaited. */
  readonly #unseen = new Map<string, number>();
  #isOpen = false;
  /** Whether anything was subscribed: the first message differs from later ones. */
  #isSubscribed = false;
  #failure: string | null = null;

  constructor(markets: readonly StoredMarket[], send: (text: string) => void, clock: Clock) {
    this.#send = send;
    this.#clock = clock;
    this.#markets = markets;
  }

  start(): void {
    this.#isOpen = true;
    this.#remember(this.#markets);
    const assets = [...this.#tokens.keys()];
    if (assets.length > 0) this.#subscribe(assets);
  }

  #subscribe(assets: string[]): void {
    this.#isSubscribed = true;
    // Without initial_dump some books do not arrive before their first change.
    const wanted = { type: 'market', custom_feature_enabled: true, initial_dump: true, level: 2 };
    this.#send(JSON.stringify({ assets_ids: assets, ...wanted }));
  }

  setMarkets(markets: readonly StoredMarket[]): void {
    const before = new Set(this.#tokens.keys());
    this.#markets = markets;
    this.#remember(markets);
    const added = [...this.#tokens.keys()].filter((token) => !before.has(token));
    const gone = [...before].filter((token) => !this.#tokens.has(token));
    if (added.length > 0 && !this.#isSubscribed && this.#isOpen) this.#subscribe(added);
    else if (added.length > 0) this.#change('subscribe', added);
    if (gone.length > 0) this.#change('unsubscribe', gone);
  }

  take(frame: string, emit: Emit): boolean {
    const text = frame.trim();
    if (text === '' || text === 'PONG') return false;
    if (!/^[{[]/.test(text)) throw new BadFrame(`unexpected text: ${text.slice(0, 60)}`);
    const body = jsonOf(text);
    const items = Array.isArray(body) ? (body as unknown[]) : [body];
    let bad: unknown;
    let isData = false;
    for (const item of items) {
      // An invalid one does not affect the others.
      try {
        isData = this.#takeOne(item, emit) || isData;
      } catch (error) {
        bad = error;
      }
    }
    if (bad !== undefined) throw bad;
    return isData;
  }

  doubt(ref: string): void {
    const followed = this.#followed.get(ref);
    if (!followed?.book.isWhole) return;
    followed.book.isWhole = false;
    followed.step = null;
    this.#lost.add(ref);
    this.#askAgain([ref]);
  }

  failure(): string | null {
    return this.#failure;
  }

  settle(emit: Emit): number | null {
    for (const ref of this.#open) {
      const followed = this.#followed.get(ref);
      if (followed?.step?.isOver(followed.book)) this.#endStep(ref, followed, emit);
      else if (!followed?.step) this.#open.delete(ref);
    }
    for (const [ref, since] of this.#unseen) {
      if (this.#clock.elapsed() - since < FIRST_BOOK_MS) continue;
      this.#unseen.delete(ref);
      this.#lost.add(ref);
    }
    this.#askAgain(this.#lost);
    if (this.#open.size > 0) return SETTLED_MS;
    return this.#lost.size + this.#unseen.size > 0 ? FIRST_ASK_MS : null;
  }

  /** Whether it is about a subscribed token: changes of any market go on while books are frozen. */
  #takeOne(item: unknown, emit: Emit): boolean {
    const type = typeof item === 'object' && item !== null && 'event_type' in item ? item.event_type : undefined;
    if (type === 'book') this.#whole(item, emit);
    else if (type === 'price_change') this.#changed(item, emit);
    else if (type === 'best_bid_ask') {
      const { asset_id: asset, timestamp, best_bid: bid, best_ask: ask } = parseFrame(bestFrame, item, 'best_bid_ask');
      this.#onFirst(asset, timestamp, emit, ({ book }) => book.state(bid, ask));
    } else if (type === 'last_trade_price') this.#traded(item, emit);
    else if (typeof type === 'string' && MARKET_CHANGES.has(type)) {
      const { id, tickSize } = parseFrame(lifecycleFrame, item, type);
      emit({ kind: 'market', id, ...(tickSize === null ? {} : { tickSize }) });
      return false;
    } else if (typeof type !== 'string') throw new BadFrame('a frame without event_type');
    else throw new BadFrame(`unknown event_type ${type.slice(0, 60)}`);
    return true;
  }

  #whole(item: unknown, emit: Emit): void {
    const frame = this.#readable(() => parseFrame(bookFrame, item, 'book'), [item], emit);
    this.#onFirst(frame.asset_id, frame.timestamp, emit, (followed, ref) => {
      const { book } = followed;
      book.replace(frame);
      // It ends a step too.
      followed.step = null;
      this.#lost.delete(ref);
      this.#unseen.delete(ref);
      if (!book.agrees({})) return this.#lose(ref, followed, emit);
      emit({ kind: 'book', ref, book: bookSide(frame.bids, frame.asks), exchangeAtMs: frame.timestamp });
    });
  }

  #changed(item: unknown, emit: Emit): void {
    const frame = this.#readable(() => parseFrame(changeFrame, item, 'price_change'), [item], emit);
    let bad: unknown;
    for (const raw of frame.price_changes) {
      // An invalid one does not affect those of the other token.
      try {
        const one = this.#readable(() => parseFrame(change, raw, 'price_change'), [raw, item], emit);
        this.#onFirst(one.asset_id, frame.timestamp, emit, (followed, ref) => {
          if (followed.step && followed.step.hash !== one.hash) this.#endStep(ref, followed, emit);
          followed.book.change(one);
          if (!followed.book.isWhole) return;
          followed.step ??= new Step(one.hash, this.#clock);
          followed.step.add(one, frame.timestamp);
          this.#open.add(ref);
        });
      } catch (error) {
        bad = error;
      }
    }
    if (bad !== undefined) throw bad;
  }

  /** Reads what changes a book. If that fails, the book is unknown: the first of `frames` with a name shows whose it is. */
  #readable<T>(read: () => T, frames: readonly unknown[], emit: Emit): T {
    try {
      return read();
    } catch (error) {
      this.#unreadable(frames, emit);
      throw error;
    }
  }

  #unreadable(frames: readonly unknown[], emit: Emit): void {
    const named = frames.map((frame) => namedFrame.parse(frame)).find(({ asset_id, market }) => asset_id ?? market);
    if (!named) {
      this.#failure = 'a frame could not be read';
      return;
    }
    const { asset_id: asset, market } = named;
    const token = asset === undefined ? undefined : this.#tokens.get(asset);
    const ref = asset === undefined ? market : token?.isFirst ? token.ref : undefined;
    const followed = ref === undefined ? undefined : this.#followed.get(ref);
    if (ref !== undefined && followed) this.#lose(ref, followed, emit);
  }

  /** Emits what a step changed. A book that does not match its end lacks changes. */
  #endStep(ref: string, followed: Followed, emit: Emit): void {
    const { step, book } = followed;
    followed.step = null;
    this.#open.delete(ref);
    if (!step || !book.isWhole) return;
    const { changes, exchangeAtMs } = step;
    if (step.leadsTo(book)) emit({ kind: 'book_change', ref, changes, exchangeAtMs });
    else this.#lose(ref, followed, emit);
  }

  #lose(ref: string, followed: Followed, emit: Emit): void {
    if (followed.book.isWhole) emit({ kind: 'book_lost', ref, reason: 'changes were lost' });
    followed.book.isWhole = false;
    this.#lost.add(ref);
    this.#askAgain([ref]);
  }

  /** Books are sent only on subscription. */
  #askAgain(refs: Iterable<string>): void {
    const now = this.#clock.elapsed();
    const tokens: string[] = [];
    for (const ref of refs) {
      const followed = this.#followed.get(ref);
      if (!followed) this.#lost.delete(ref);
      if (!followed || (followed.asked && now - followed.asked.at < followed.asked.waitMs)) continue;
      const { token, asked } = followed;
      const isSoon = asked !== null && now - asked.at < LAST_ASK_MS;
      followed.asked = { at: now, waitMs: isSoon ? Math.min(asked.waitMs * 2, LAST_ASK_MS / 2) : FIRST_ASK_MS };
      tokens.push(token);
    }
    if (tokens.length === 0) return;
    this.#change('unsubscribe', tokens);
    this.#change('subscribe', tokens);
  }

  #traded(item: unknown, emit: Emit): void {
    const { market, asset_id: asset, price, timestamp } = parseFrame(lastTradeFrame, item, 'last_trade_price');
    emit({ kind: 'trade', ref: market });
    const token = this.#tokens.get(asset);
    const followed = token && this.#followed.get(token.ref);
    if (!token || !followed) return;
    followed.last = token.isFirst ? price : complement(price);
    this.#quote(token.ref, followed, timestamp, emit);
  }

  /** The second token mirrors the first: one of them is enough. */
  #onFirst(asset: string, timestamp: number, emit: Emit, work: (followed: Followed, ref: string) => void): void {
    const token = this.#tokens.get(asset);
    const followed = token?.isFirst ? this.#followed.get(token.ref) : undefined;
    if (!token || !followed) return;
    work(followed, token.ref);
    this.#quote(token.ref, followed, timestamp, emit);
  }

  #quote(ref: string, { book, last }: Followed, exchangeAtMs: number, emit: Emit): void {
    // null would be an empty side.
    if (!book.isQuoted) return;
    const known = last === undefined ? {} : { price: last };
    emit({ kind: 'quote', quote: { ref, ...book.best(), ...known, exchangeAtMs } });
  }

  #change(operation: 'subscribe' | 'unsubscribe', assets: string[]): void {
    const books = operation === 'subscribe' ? { initial_dump: true } : {};
    this.#send(JSON.stringify({ assets_ids: assets, operation, custom_feature_enabled: true, ...books }));
  }

  #remember(markets: readonly StoredMarket[]): void {
    const before = this.#followed;
    this.#tokens = new Map();
    this.#followed = new Map();
    for (const market of markets) {
      const { ref } = market;
      const tokens = tokensOf(market);
      const [first] = tokens;
      if (first === undefined) continue;
      for (const [index, token] of tokens.entries()) this.#tokens.set(token, { ref, isFirst: index === 0 });
      const fresh = { token: first, book: new TokenBook(), last: undefined, step: null, asked: null };
      this.#followed.set(ref, before.get(ref) ?? fresh);
      if (!before.has(ref)) this.#unseen.set(ref, this.#clock.elapsed());
    }
  }
}
