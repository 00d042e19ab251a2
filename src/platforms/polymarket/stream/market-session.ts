import { complement, type Price } from '../../../core/decimal.ts';
import { bookSide } from '../../book-sides.ts';
import type { StoredMarket } from '../../contract.ts';
import { BadFrame, type SocketEvent, type SocketSession } from '../../sockets/contract.ts';
import { jsonOf, parseFrame } from '../../sockets/frame.ts';
import { TokenBook } from './token-book.ts';
import { bestFrame, bookFrame, change, changeFrame, lastTradeFrame, lifecycleFrame } from './wire.ts';

type Emit = (event: SocketEvent) => void;

interface Token {
  ref: string;
  isFirst: boolean;
}
/** What is known of one market: the book of its first token and its newest trade in that token's terms. */
interface Followed {
  book: TokenBook;
  last: Price | undefined;
}

const tokensOf = (market: StoredMarket): string[] => market.outcomes.map(({ tokenId }) => tokenId);

/** Books and trades of chosen tokens, and what is listed or resolved on the whole platform. */
export class MarketSession implements SocketSession {
  readonly #send: (text: string) => void;
  #markets: readonly StoredMarket[];
  #tokens = new Map<string, Token>();
  #followed = new Map<string, Followed>();

  constructor(markets: readonly StoredMarket[], send: (text: string) => void) {
    this.#send = send;
    this.#markets = markets;
  }

  start(): void {
    this.#remember(this.#markets);
    const assets = [...this.#tokens.keys()];
    // Without initial_dump some books never come before their first change.
    const wanted = { type: 'market', custom_feature_enabled: true, initial_dump: true, level: 2 };
    this.#send(JSON.stringify({ assets_ids: assets, ...wanted }));
  }

  setMarkets(markets: readonly StoredMarket[]): void {
    const before = new Set(this.#tokens.keys());
    this.#markets = markets;
    this.#remember(markets);
    const added = [...this.#tokens.keys()].filter((token) => !before.has(token));
    const gone = [...before].filter((token) => !this.#tokens.has(token));
    if (added.length > 0) this.#change('subscribe', added);
    if (gone.length > 0) this.#change('unsubscribe', gone);
  }

  take(frame: string, emit: Emit): boolean {
    const text = frame.trim();
    if (text === '' || text === 'PONG') return false;
    if (!/^[{[]/.test(text)) throw new BadFrame(`unexpected text: ${text.slice(0, 60)}`);
    const body = jsonOf(text);
    const items = Array.isArray(body) ? (body as unknown[]) : [body];
    let bad: unknown;
    for (const item of items) {
      // One that is bad does not take the others with it.
      try {
        this.#takeOne(item, emit);
      } catch (error) {
        bad = error;
      }
    }
    if (bad !== undefined) throw bad;
    return items.length > 0;
  }

  #takeOne(item: unknown, emit: Emit): void {
    const type = typeof item === 'object' && item !== null && 'event_type' in item ? item.event_type : undefined;
    if (type === 'book') {
      const frame = parseFrame(bookFrame, item, 'book');
      this.#onFirst(frame.asset_id, frame.timestamp, emit, ({ book }, ref) => {
        book.replace(frame);
        emit({ kind: 'book', ref, book: bookSide(frame.bids, frame.asks), exchangeAtMs: frame.timestamp });
      });
    } else if (type === 'price_change') {
      const { timestamp, price_changes: changes } = parseFrame(changeFrame, item, 'price_change');
      for (const raw of changes) {
        const one = parseFrame(change, raw, 'price_change');
        this.#onFirst(one.asset_id, timestamp, emit, ({ book }, ref) => {
          book.change(one);
          const { price, size } = one;
          const side = one.side === 'BUY' ? 'bid' : 'ask';
          emit({ kind: 'book_change', ref, changes: [{ side, price, size }], exchangeAtMs: timestamp });
        });
      }
    } else if (type === 'best_bid_ask') {
      const { asset_id: asset, timestamp, best_bid: bid, best_ask: ask } = parseFrame(bestFrame, item, 'best_bid_ask');
      this.#onFirst(asset, timestamp, emit, ({ book }) => book.state(bid, ask));
    } else if (type === 'last_trade_price') this.#traded(item, emit);
    else if (type === 'new_market' || type === 'market_resolved') {
      const { condition_id: condition, market } = parseFrame(lifecycleFrame, item, type);
      const id = condition ?? market;
      if (id !== undefined) emit({ kind: 'market', id });
    } else if (typeof type !== 'string') throw new BadFrame('a frame without event_type');
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
    const known = last === undefined ? {} : { price: last };
    emit({ kind: 'quote', quote: { ref, ...book.best(), ...known, exchangeAtMs } });
  }

  #change(operation: 'subscribe' | 'unsubscribe', assets: string[]): void {
    this.#send(JSON.stringify({ assets_ids: assets, operation, custom_feature_enabled: true }));
  }

  #remember(markets: readonly StoredMarket[]): void {
    const before = this.#followed;
    this.#tokens = new Map();
    this.#followed = new Map();
    for (const market of markets) {
      const { ref } = market;
      for (const [index, token] of tokensOf(market).entries()) this.#tokens.set(token, { ref, isFirst: index === 0 });
      this.#followed.set(ref, before.get(ref) ?? { book: new TokenBook(), last: undefined });
    }
  }
}
