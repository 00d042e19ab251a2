import type { Book } from './book.ts';
import type { Account } from './account.ts';
import { buildExchange, type BuildOptions } from './build.ts';
import { castEvent, COIN_LIFE_MS } from './catalogue.ts';
import { OrderDesk } from './desk.ts';
import type { Exchange, ExchangeStatus } from './exchange.ts';
import { KINDS, type KindName } from './kinds.ts';
import { advance, closeMarket, determine, finalize } from './lifecycle.ts';
import { bookOf, crowdTrade, openBook, syncQuote, take } from './matching.ts';
import type { MarketStatus, SimMarket } from './market.ts';
import { addMember, trueOrder, type Member, type MemberOptions, type TrueOrder } from './members.ts';
import type { SeriesSpec } from './series.ts';
import { createdFields } from './stream/frames.ts';
import * as truth from './truth.ts';
import { countText, DAY_MS, MINUTE_MS, ONE_DOLLAR, usdText } from './units.ts';
import { scaledInteger } from '../lib/index.ts';

/** A new market is born when the crowd trades and this much time has passed. */
const BIRTH_MS = 30_000;

/** The exchange as a test sees it: what is true, and levers to make things happen. */
export class KalshiWorld {
  readonly exchange: Exchange;
  /** Orders of members; its `settings` say how the platform lags. */
  readonly desk: OrderDesk;
  #lastBirthMs: number;
  #demo: Member | null = null;

  constructor(options: BuildOptions) {
    this.exchange = buildExchange(options);
    this.desk = new OrderDesk(this.exchange);
    this.#lastBirthMs = this.exchange.nowMs;
  }

  /** Every market that is kept, archived and vanished ones included, oldest first. */
  get markets(): truth.TrueMarket[] {
    advance(this.exchange);
    return this.exchange.markets.map((market) => truth.trueMarket(this.exchange, market));
  }

  market(ticker: string): truth.TrueMarket {
    advance(this.exchange);
    return truth.trueMarket(this.exchange, this.#market(ticker));
  }

  get events(): truth.TrueEvent[] {
    return this.exchange.events.map(truth.trueEvent);
  }

  get series(): truth.TrueSeries[] {
    return truth.trueSeries(this.exchange);
  }

  /** Every trade that is kept, historical ones included, oldest first. Built anew at each call. */
  get trades(): truth.TrueTrade[] {
    return Array.from(this.exchange.tape.rows.kept(), (position) => truth.trueTrade(this.exchange, position));
  }

  /** Trades of one market that are kept, oldest first. */
  tradesOf(ticker: string): truth.TrueTrade[] {
    const { course, prints } = this.#market(ticker);
    return Array.from(course.kept(), (at) => truth.trueTrade(this.exchange, prints.at(at)));
  }

  /** Every change of a market's best quotes that is kept, oldest first. */
  quotesOf(ticker: string): truth.TrueQuote[] {
    return truth.trueQuotes(this.#market(ticker));
  }

  /** The live book in YES prices (0.0001 dollars) and 0.01 contracts. */
  bookOf(ticker: string): Book {
    return bookOf(this.exchange, this.#market(ticker));
  }

  /** Nicknames by what the social endpoints say of them. */
  nicknames(visibility: 'public' | 'hidden'): string[] {
    return this.exchange.traders.filter((one) => one.visibility === visibility).map((one) => one.nickname);
  }

  /** A member with a key and cash; it may trade at once. */
  addAccount(options: MemberOptions = {}): Member {
    return addMember(this.desk, options);
  }

  /** A member with a public nickname that has traded and holds positions; made when it is first asked for. */
  get demoAccount(): Member {
    if (this.#demo) return this.#demo;
    this.#demo = this.addAccount({ nickname: 'demo.trader', balance: '10000' });
    const open = this.exchange.markets.filter((market) => market.status === 'active' && market.lastPrice > 0);
    for (const [at, market] of open.slice(0, 6).entries()) {
      const side = at % 2 === 0 ? 'bid' : 'ask';
      const first = bookOf(this.exchange, market).first(side === 'bid' ? 'ask' : 'bid');
      if (first) this.desk.take(this.#account(this.#demo), market, side, first.price, 500 + 125 * at);
    }
    return this.#demo;
  }

  /** A member's orders, oldest first. */
  ordersOf(member: Member): TrueOrder[] {
    advance(this.exchange);
    return [...this.#account(member).orders.values()].map((order) => trueOrder(this.desk, order));
  }

  /** A member's net contracts in a market; negative is NO. */
  positionOf(member: Member, ticker: string): string {
    return countText(this.#account(member).positions.get(this.#market(ticker))?.net ?? 0);
  }

  /** A member's cash on the first shard in dollars, what waiting orders need included. */
  cashOf(member: Member): string {
    return usdText(this.#account(member).cash.get(0) ?? 0n);
  }

  /** Makes exactly `count` prints happen among the open markets, and a market be born now and then; none while trading is paused. */
  trade(count: number): void {
    advance(this.exchange);
    if (this.exchange.nowMs - this.#lastBirthMs >= BIRTH_MS) this.#bringForth();
    const open = this.exchange.markets.filter((market) => market.status === 'active');
    if (open.length === 0 || !this.exchange.status.tradingActive) return;
    for (let left = count; left > 0;) {
      const random = this.exchange.rng.next();
      const market = open[Math.floor(open.length * random * random)] as SimMarket;
      left -= crowdTrade(this.exchange, market, left);
    }
  }

  /**
   * One print of the crowd at exactly this YES price: crowd orders that stand in its way leave the book first.
   * `yesPrice` dollars on the market's grid, `count` contracts. Throws when a member's order stands in the way.
   */
  tradeOn(ticker: string, print: { takerSide: 'yes' | 'no'; yesPrice: string; count: string }): truth.TrueTrade {
    const { exchange } = this;
    const market = this.#market(ticker);
    const price = exact(print.yesPrice, 4);
    const count = exact(print.count, 2);
    if (!market.spec.grid.has(price)) throw new RangeError(`${print.yesPrice} is not on the grid of ${ticker}`);
    const side = print.takerSide === 'yes' ? 'bid' : 'ask';
    const book = bookOf(exchange, market);
    for (const resting of ['bid', 'ask'] as const) {
      const inTheWay = [...book.orders(resting)].filter((one) =>
        resting === 'ask' ? one.price <= price : one.price >= price,
      );
      if (inTheWay.some(({ order }) => order.filled))
        throw new Error(`a member's order stands in the way on ${ticker}`);
      for (const { order } of inTheWay) book.remove(resting, order);
    }
    book.add(side === 'bid' ? 'ask' : 'bid', price, { trader: 0, count });
    syncQuote(exchange, market, exchange.stampUs());
    const [fill] = take(exchange, market, { side, limit: price, count, trader: 1 });
    if (!fill) throw new Error(`no trade on ${ticker}`);
    return truth.trueTrade(exchange, fill.position);
  }

  /** A taker of the crowd meets whatever waits in the book up to a YES price; returns its trades. */
  takeOn(ticker: string, order: { takerSide: 'yes' | 'no'; yesPrice: string; count: string }): truth.TrueTrade[] {
    const market = this.#market(ticker);
    const side = order.takerSide === 'yes' ? 'bid' : 'ask';
    const fills = take(this.exchange, market, {
      side,
      limit: exact(order.yesPrice, 4),
      count: exact(order.count, 2),
      trader: 1,
      onOwn: (own) => {
        bookOf(this.exchange, market).remove(side === 'bid' ? 'ask' : 'bid', own);
        return 'removed';
      },
    });
    return fills.map(({ position }) => truth.trueTrade(this.exchange, position));
  }

  /** Brings an event of a kind into the world, open from now; returns its first market's ticker. */
  createMarket(kind: KindName, options: { lifeMs?: number } = {}): string {
    const { exchange } = this;
    const openMs = exchange.nowMs;
    const { series: choices } = KINDS[kind];
    const series = choices[exchange.born.events % choices.length] as SeriesSpec;
    const lifeMs = options.lifeMs ?? (kind === 'coin' ? COIN_LIFE_MS : 7 * DAY_MS);
    const closeMs = Math.ceil((openMs + lifeMs) / MINUTE_MS) * MINUTE_MS;
    const legs = kind === 'combo' ? exchange.legs('active') : [];
    const made = castEvent({ kind, series, openMs, closeMs, legs }, exchange.rng, exchange.eventByTicker);
    const event = exchange.addEvent(made);
    for (const market of event.markets) {
      market.status = 'active';
      market.updatedUs = exchange.stampUs();
      openBook(exchange, market);
      exchange.onAnnounce({ market, event_type: 'created', fields: createdFields(market) });
    }
    this.#lastBirthMs = openMs;
    return (event.markets[0] as SimMarket).ticker;
  }

  /** A market that passes: it is forgotten in the end. */
  #bringForth(): void {
    this.exchange.passing.push(this.#market(this.createMarket('coin')));
  }

  /** Ends trading now. */
  close(ticker: string): void {
    closeMarket(this.exchange, this.#market(ticker), this.exchange.nowMs);
  }

  /** Moves close_time into the future again. */
  reopen(ticker: string, closeMs: number): void {
    const market = this.#market(ticker);
    if (market.status !== 'closed') throw new Error(`${ticker} is ${market.status}, not closed`);
    market.closeMs = closeMs;
    this.#setStatus(market, 'active');
    const fields = { close_ts: Math.floor(closeMs / 1000) };
    this.exchange.onAnnounce({ market, event_type: 'close_date_updated', fields });
    openBook(this.exchange, market);
    this.exchange.onAnnounce({ market, event_type: 'activated', fields: { is_deactivated: false } });
  }

  /** Suspends trading of one market; its quotes stay. */
  pause(ticker: string): void {
    const market = this.#market(ticker);
    this.#setStatus(market, 'inactive');
    this.exchange.onAnnounce({ market, event_type: 'deactivated', fields: { is_deactivated: true } });
    this.desk.pause(market);
  }

  resume(ticker: string): void {
    const market = this.#market(ticker);
    this.#setStatus(market, 'active');
    this.exchange.onAnnounce({ market, event_type: 'activated', fields: { is_deactivated: false } });
  }

  /** Gives a market another name, as recurring ones get theirs when they open. */
  rename(ticker: string, name: string): void {
    const market = this.#market(ticker);
    market.spec.fixed['yes_sub_title'] = name;
    market.updatedUs = this.exchange.stampUs();
    this.exchange.onAnnounce({ market, event_type: 'metadata_updated', fields: { yes_sub_title: name } });
  }

  /** A result is contested or changed after all; the clock settles the market later as planned. */
  contest(ticker: string, status: 'disputed' | 'amended'): void {
    this.#setStatus(this.#market(ticker), status);
  }

  /** Closes, determines and pays out now. `value` = payout of one YES in dollars, needed for a scalar result. */
  settle(ticker: string, result: 'yes' | 'no' | 'scalar', value?: string): void {
    const market = this.#market(ticker);
    const payout = result === 'yes' ? ONE_DOLLAR : result === 'no' ? 0 : exact(value ?? '', 4);
    if (market.status === 'active' || market.status === 'inactive') this.close(ticker);
    determine(this.exchange, market, result, payout, this.exchange.nowMs);
    finalize(this.exchange, market, this.exchange.nowMs);
    this.exchange.nextChangeMs = 0;
  }

  /** Moves all four cutoffs of the historical tier, Unix ms. */
  moveCutoff(ms: number): void {
    Object.assign(this.exchange.cutoff, {
      marketSettledMs: ms,
      tradesCreatedMs: ms,
      ordersUpdatedMs: ms,
      positionsMs: ms,
    });
  }

  /** Trading pause, exchange pause, or `down` (503 everywhere). */
  setExchange(status: Partial<ExchangeStatus>): void {
    Object.assign(this.exchange.status, status);
    if (!this.exchange.status.tradingActive) this.desk.pause();
  }

  #account(member: Member): Account {
    const account = this.desk.accounts.find((one) => one.userId === member.userId);
    if (!account) throw new Error(`no account ${member.userId} in this world`);
    return account;
  }

  #market(ticker: string): SimMarket {
    const market = this.exchange.marketByTicker.get(ticker);
    if (!market) throw new Error(`no market ${ticker} in this world`);
    return market;
  }

  #setStatus(market: SimMarket, status: MarketStatus): void {
    market.status = status;
    market.updatedUs = this.exchange.stampUs();
    this.exchange.nextChangeMs = 0;
  }
}

function exact(text: string, scale: number): number {
  const value = scaledInteger(text, scale);
  if (value === null || value < 0n) throw new RangeError(`not a decimal of ${scale} places: ${text}`);
  return Number(value);
}
