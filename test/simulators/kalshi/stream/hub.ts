import type { IncomingMessage } from 'node:http';
import { json, repeat, type SimClient, type SimReply, type SimSocketRoute } from '../../lib/index.ts';
import type { SimClock } from '../../simulator.ts';
import type { Account, AccountOrder } from '../account.ts';
import { authenticate } from '../auth.ts';
import type { BookSide } from '../book.ts';
import { WireError } from '../call.ts';
import type { Announcement, Exchange } from '../exchange.ts';
import { advance } from '../lifecycle.ts';
import { bookOf } from '../matching.ts';
import type { SimMarket } from '../market.ts';
import { isQuoted } from '../truth.ts';
import { type Delta, deltaFrame, lifecycleFrame, snapshotFrame, tickerFrame, tradeFrame } from './frames.ts';
import { fillFrame, orderFrame } from './own-frames.ts';
import { StreamSession } from './session.ts';
import type { ChannelName, FrameFaults } from './subscription.ts';

export const STREAM_PATH = '/trade-api/ws/v2';
const TICK_MS = 1000;
/** After so many moves of books, the whole book of one is sent unasked. */
const MOVES_PER_WHOLE = 50;

export interface StreamOptions {
  exchange: Exchange;
  accounts: readonly Account[];
  /** Between two pings of the server; the platform's are 10 s apart. */
  pingMs: number;
  clock: SimClock;
}

type Levels = Map<number, number>;
type Shown = Record<BookSide, Levels>;

/** Code and details of a refused upgrade, by what is wrong with it. */
const REFUSALS: Record<string, [string, string?]> = {
  'missing authentication headers': ['token_authentication_failure'],
  'unknown key': ['authentication_error', 'NOT_FOUND'],
  'timestamp out of range': ['authentication_error', 'header_timestamp_expired'],
  'invalid signature': ['authentication_error', 'INCORRECT_API_KEY_SIGNATURE'],
};

/** The platform's socket: one address for every channel, open to holders of a key alone; nothing is sent twice or later. */
export class StreamHub implements SimSocketRoute {
  readonly faults: FrameFaults = { lose: 0, unknown: new Set(), forbidden: new Set(), limited: 0 };
  readonly #options: StreamOptions;
  readonly #exchange: Exchange;
  readonly #sessions = new Map<SimClient, StreamSession>();
  /** Whose key signed an upgrade. */
  readonly #admitted = new WeakMap<IncomingMessage, Account>();
  readonly #members = new WeakMap<StreamSession, Account>();
  /** The levels that subscribers know, by market. */
  readonly #shown = new Map<SimMarket, Shown>();
  /** Markets whose next ticker is due. */
  readonly #moved = new Set<SimMarket>();
  /** Prints of this step, sent behind the changes of their books. */
  #prints: number[] = [];
  /** Moves of books so far. */
  #moves = 0;
  readonly #stops: (() => void)[];

  constructor(options: StreamOptions) {
    const { exchange, pingMs, clock } = options;
    this.#options = options;
    this.#exchange = exchange;
    exchange.onPrint = (position) => this.#printed(position);
    exchange.onBook = (market, timeUs) => this.#bookMoved(market, timeUs);
    exchange.onAnnounce = (announced) => this.#announce(announced);
    exchange.onFill = (fill) => this.#tell(fill.order, 'fill', 'fill', fillFrame(exchange, fill));
    exchange.onOrder = (order, reason) => this.#tell(order, 'user_orders', 'user_order', orderFrame(order, reason));
    this.#stops = [repeat(clock, TICK_MS, () => this.#tick()), repeat(clock, pingMs, () => this.#ping())];
  }

  close(): void {
    for (const stop of this.#stops) stop();
  }

  /** Ends a subscription of every client, with an error, while their sockets stay open. */
  end(channel: ChannelName, code: 10 | 25): void {
    for (const session of this.#sessions.values()) session.end(channel, code);
  }

  admit(request: IncomingMessage): number | SimReply {
    const { exchange, accounts } = this.#options;
    if (exchange.status.down) return 503;
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    try {
      const signed = { method: 'GET', path: STREAM_PATH, headers };
      this.#admitted.set(request, authenticate(signed, accounts, 'read', exchange.nowMs));
      return 101;
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      const { details = '' } = (JSON.parse(error.body) as { error: { details?: string } }).error;
      const [code, more] = REFUSALS[details] ?? [details];
      const text = code.replaceAll('_', ' ');
      return json(401, { error: { code, message: text, ...(more === undefined ? {} : { details: more }) } });
    }
  }

  connected(client: SimClient, request: IncomingMessage): void {
    const session = new StreamSession(client, this.#exchange, this.faults);
    this.#sessions.set(client, session);
    const member = this.#admitted.get(request);
    if (member) this.#members.set(session, member);
  }

  message(client: SimClient, text: string): void {
    // What a book has become meanwhile is a change for those who know it, and part of the snapshot for others.
    for (const market of this.#shown.keys()) this.#sync(market, this.#exchange.stampUs());
    this.#sessions.get(client)?.take(text);
    for (const market of this.#exchange.markets) {
      if (!this.#shown.has(market) && this.#isWanted(market)) this.#shown.set(market, this.#levelsOf(market));
    }
  }

  closed(client: SimClient): void {
    this.#sessions.delete(client);
  }

  #send(channel: ChannelName, ticker: string, type: string, msg: unknown): void {
    for (const session of this.#sessions.values()) {
      const subscription = session.on(channel);
      if (subscription?.wants(ticker)) subscription.send(type, msg);
    }
  }

  /** Tells the owner of an order, and nobody else. */
  #tell({ account, market }: AccountOrder, channel: 'fill' | 'user_orders', type: string, msg: unknown): void {
    for (const session of this.#sessions.values()) {
      const subscription = this.#members.get(session) === account ? session.on(channel) : undefined;
      if (subscription?.wants(market.ticker)) subscription.send(type, msg);
    }
  }

  /** The change of the maker's level comes first, seldom the print itself; a negotiated one changes no level. */
  #printed(position: number): void {
    const { tape } = this.#exchange;
    const market = this.#exchange.marketOf(position);
    this.#moved.add(market);
    if (position % 20 === 0 || tape.block(position)) this.#sendTrade(position);
    else this.#prints.push(position);
    const shown = this.#shown.get(market);
    if (tape.block(position) || !shown) return;
    const side = tape.takerYes(position) ? 'ask' : 'bid';
    const change = -tape.count.at(position);
    this.#change(market, shown, { side, price: tape.yesPrice.at(position), change, timeUs: tape.timeUs.at(position) });
  }

  #sendTrade(position: number): void {
    const frame = tradeFrame(this.#exchange, position);
    this.#send('trade', String(frame.market_ticker), 'trade', frame);
  }

  #bookMoved(market: SimMarket, timeUs: number): void {
    this.#moved.add(market);
    this.#sync(market, timeUs);
    for (const position of this.#prints.splice(0)) this.#sendTrade(position);
    this.#moves += 1;
    if (this.#moves % MOVES_PER_WHOLE === 0 && this.#shown.has(market) && isQuoted(market))
      this.#sendWhole(market, false);
  }

  /** One frame for each level that is not what subscribers know. */
  #sync(market: SimMarket, timeUs: number): void {
    const shown = this.#shown.get(market);
    if (!shown || !isQuoted(market)) return;
    const now = this.#levelsOf(market);
    for (const side of ['bid', 'ask'] as const) {
      for (const price of new Set([...shown[side].keys(), ...now[side].keys()])) {
        const change = (now[side].get(price) ?? 0) - (shown[side].get(price) ?? 0);
        if (change !== 0) this.#change(market, shown, { side, price, change, timeUs });
      }
    }
  }

  #change(market: SimMarket, shown: Shown, delta: Delta): void {
    const size = (shown[delta.side].get(delta.price) ?? 0) + delta.change;
    if (size === 0) shown[delta.side].delete(delta.price);
    else shown[delta.side].set(delta.price, size);
    for (const session of this.#sessions.values()) {
      const books = session.on('orderbook_delta');
      if (books?.wants(market.ticker)) books.send('orderbook_delta', deltaFrame(market, delta, books.usesYesPrice));
    }
  }

  #levelsOf(market: SimMarket): Shown {
    const levels = (side: BookSide): Levels =>
      new Map(
        isQuoted(market)
          ? bookOf(this.#exchange, market)
              .levels(side)
              .map(({ price, size }) => [price, size])
          : [],
      );
    return { bid: levels('bid'), ask: levels('ask') };
  }

  #isWanted(market: SimMarket): boolean {
    return [...this.#sessions.values()].some((one) => one.on('orderbook_delta')?.wants(market.ticker));
  }

  #announce(announced: Announcement): void {
    const { market } = announced;
    this.#moved.add(market);
    const isCombo = this.#exchange.eventOf(market).spec.combo;
    const channel = isCombo ? 'multivariate_market_lifecycle' : 'market_lifecycle_v2';
    this.#send(channel, market.ticker, channel, lifecycleFrame(announced));
  }

  /** What the platform does once a second: tickers of all that moved, and the ends of books that are over. */
  #tick(): void {
    const exchange = this.#exchange;
    advance(exchange);
    for (const position of this.#prints.splice(0)) this.#sendTrade(position);
    for (const [market, shown] of this.#shown) {
      if (!exchange.marketAt(market.index) || !this.#isWanted(market)) this.#shown.delete(market);
      else if (isQuoted(market)) this.#sync(market, exchange.stampUs());
      else if (shown.bid.size + shown.ask.size > 0) this.#endBook(market, shown);
    }
    for (const market of this.#moved) {
      // The world's clock may have leapt beyond its end.
      if (!exchange.marketAt(market.index)) continue;
      this.#send('ticker', market.ticker, 'ticker', tickerFrame(exchange, market));
    }
    this.#moved.clear();
  }

  /** An empty book, unasked, and often a second time. */
  #endBook(market: SimMarket, shown: Shown): void {
    shown.bid.clear();
    shown.ask.clear();
    this.#moved.add(market);
    for (let times = 1 + (market.index % 2); times > 0; times -= 1) this.#sendWhole(market, true);
  }

  /** A whole book, unasked. */
  #sendWhole(market: SimMarket, isEmpty: boolean): void {
    for (const session of this.#sessions.values()) {
      const books = session.on('orderbook_delta');
      if (books?.wants(market.ticker)) {
        const frame = snapshotFrame(this.#exchange, market.ticker, books.usesYesPrice, isEmpty);
        books.send('orderbook_snapshot', frame);
      }
    }
  }

  /** Pings go on whatever became of the subscriptions. */
  #ping(): void {
    for (const { socket } of this.#sessions.keys()) if (socket.readyState === socket.OPEN) socket.ping('heartbeat');
  }
}
