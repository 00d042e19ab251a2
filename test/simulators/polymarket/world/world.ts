import { createRng, KEPT_AFTER_END_MS, KEPT_TRADES, realClock, type Rng } from '../../lib/index.ts';
import type { SimClock, WorldOptions } from '../../simulator.ts';
import type { SimAccount, WalletSpec } from '../clob/accounts.ts';
import { Exchange } from '../clob/exchange.ts';
import type { SimOrder } from '../clob/order.ts';
import { carry, type Carried } from '../data/positions.ts';
import { Book, type Match } from './book.ts';
import { Catalog, type EventSpec, type MarketSpec } from './catalog.ts';
import { growHistory } from './history.ts';
import { atTick, createWallet, drawDirection, drawSize, participant, quote, stepQuotes, tickCount } from './house.ts';
import { createIds, type Ids } from './ids.ts';
import { addDemoWallet, castDemoUser, playDemoUser, type DemoWallet } from './demo.ts';
import { Ledger } from './ledger.ts';
import {
  hasBook,
  isClosed,
  type OutcomeIndex,
  type SimActivity,
  type SimCombo,
  type SimEvent,
  type SimFill,
  type SimMarket,
  type SimTrade,
  type SimWallet,
} from './model.ts';
import { addUpDown, stageScenes } from './scenes.ts';
import { formOf, outcomeOf, sideOf, type Form } from './tape.ts';
import { MINUTE, ONE, usdOf } from './units.ts';

/**
 * The platform's state: catalog, books, trades, holdings; everything the routes answer is computed from here.
 * A test reads the same objects to know what a service in front of it must answer.
 */
export class PolymarketWorld {
  readonly clock: SimClock;
  readonly ids: Ids;
  readonly catalog: Catalog;
  readonly ledger = new Ledger();
  /** Clients' accounts, API keys, orders and the modes of the matching engine. */
  readonly exchange: Exchange;
  readonly wallets: SimWallet[] = [];
  /** Everything but trades in wallets' histories, oldest first. */
  readonly activities: SimActivity[] = [];
  /** Bets on several markets, which are in no other list of positions. */
  readonly combos: SimCombo[] = [];
  /** A wallet with open and redeemable positions, trades as taker and maker, and a name the search finds. */
  readonly demoUser: SimWallet;
  /** A funded account whose key is known, for orders. */
  readonly demoWallet: DemoWallet;
  /** How late the Data API shows a new trade (plus up to `jitterMs`), and for how long v2 cannot name its outcome. */
  readonly indexer = { delayMs: 0, jitterMs: 0, labelMs: 20_000 };
  /** What happens in the world before each page of a list is read: pages shift. */
  readonly drift = { trades: 0, markets: 0 };
  /** Version 1 of the Data API, a status once it is off; the CDN of version 2; whether positions of dust are never shown. */
  readonly dataApi: { v1: 'on' | 'deprecated' | 404 | 410; cdn: boolean; hidesDust: boolean } = {
    v1: 404,
    cdn: true,
    hidesDust: false,
  };
  /** What wallets hold by the trades that are forgotten, and by what came before them. */
  readonly carried = new Map<SimWallet, Carried>();
  /** Called after each trade, after each change of a market's state, and when a market is forgotten. */
  readonly watchers = {
    trade: new Set<(trade: SimTrade) => void>(),
    state: new Set<(market: SimMarket) => void>(),
    forgotten: new Set<(market: SimMarket) => void>(),
    tick: new Set<(market: SimMarket, old: bigint) => void>(),
  };
  /** Data v1 refuses a larger offset. */
  tradesOffsetCap = 3000;
  private readonly keptTrades: number;
  private readonly house: readonly SimWallet[];
  private readonly rng: Rng;
  private readonly agenda: { atMs: number; run: (atMs: number) => void }[] = [];
  private transactions = 1_000_000_000;

  constructor(options: WorldOptions = {}) {
    const { seed = 1, markets = 60, tradesPerMarket = 40, historyDays = 30 } = options;
    this.clock = options.clock ?? realClock;
    this.keptTrades = options.keptTrades ?? KEPT_TRADES;
    this.ids = createIds(seed);
    const root = createRng(seed);
    this.rng = root.fork('live');
    const nowMs = this.clock.now();
    this.catalog = new Catalog({ ids: this.ids, rng: root.fork('catalog'), now: () => this.clock.now() });
    for (let i = 0; i < 40 + Math.floor(markets / 10); i++) {
      this.wallets.push(createWallet(this.ids, i, i === 0 ? 'tidewatcher' : undefined));
    }
    this.house = [...this.wallets];
    this.demoUser = this.wallet(0);
    this.exchange = new Exchange(this);
    stageScenes({ catalog: this.catalog, ids: this.ids, rng: root.fork('scenes'), nowMs }, markets);
    const demo = castDemoUser(this.markets);
    growHistory({
      markets: this.markets.filter((market) => hasBook(market) && market.state !== 'unopened' && !market.quiet),
      ledger: this.ledger,
      rng: root.fork('history'),
      nowMs,
      historyDays,
      tradesPerMarket,
      wallets: this.house.length,
      demo,
    });
    for (const market of this.markets) {
      if (isClosed(market)) this.freeze(market);
      this.schedule(market);
    }
    this.ledger.tape.settle();
    for (const { trades } of this.markets) trades.settle();
    playDemoUser(this, [...demo.keys()]);
    this.demoWallet = addDemoWallet(this, seed);
  }

  get markets(): readonly SimMarket[] {
    return this.catalog.markets;
  }

  get events(): readonly SimEvent[] {
    return this.catalog.events;
  }

  now(): number {
    return this.clock.now();
  }

  wallet(index: number): SimWallet {
    const wallet = this.wallets[index];
    if (!wallet) throw new RangeError(`no wallet ${index}`);
    return wallet;
  }

  /** Lets somebody place orders: funded with `cash`, shares come from trading or `giveShares`. */
  addWallet(spec: WalletSpec): SimAccount {
    return this.exchange.accounts.add(spec);
  }

  /** Every order of an account, oldest first. */
  ordersOf(account: SimAccount): SimOrder[] {
    return this.exchange.ordersOf(account);
  }

  /** Splits collateral into complete sets for a wallet: the same number of shares of both outcomes. */
  giveShares(wallet: SimWallet, market: SimMarket, size: bigint): void {
    this.act('SPLIT', wallet, market, [size, size], size);
  }

  newWallet(address: string, name: string): SimWallet {
    const wallet: SimWallet = { ...createWallet(this.ids, this.wallets.length, name), address: address.toLowerCase() };
    this.wallets.push(wallet);
    return wallet;
  }

  walletOf(address: string): SimWallet | undefined {
    return this.wallets.find((wallet) => wallet.address === address.toLowerCase());
  }

  /** The order book; null where the platform has none (closed, not open yet, never had one). */
  book(market: SimMarket): Book | null {
    if (!hasBook(market) || isClosed(market) || market.state === 'unopened') return null;
    if (!market.book) {
      market.book = new Book(market.updatedMs);
      quote(market.book, market, this.house, createRng(market.index).fork(market.conditionId), market.updatedMs);
    }
    return market.book;
  }

  /** One trade with its fills. */
  trade(index: number): SimTrade {
    const { wallet, form, market, transaction, ...row } = this.ledger.tape.row(index);
    const fills = this.ledger.tape.fills(index).map((fill): SimFill => ({
      wallet: this.wallet(fill.wallet),
      outcome: outcomeOf(fill.form),
      side: sideOf(fill.form),
      price: fill.price,
      size: fill.size,
    }));
    return {
      ...row,
      midAfter: BigInt(row.midAfter),
      index,
      fills,
      market: this.catalog.marketAt(market),
      wallet: this.wallet(wallet),
      outcome: outcomeOf(form),
      side: sideOf(form),
      transactionHash: this.ids.hex('tx', transaction),
    };
  }

  /** Every trade that is kept (of one market), oldest first. Taker rows are the trades, maker rows their fills. */
  trades(market?: SimMarket): SimTrade[] {
    const indices = market ? this.tradesOf(market) : [...this.ledger.tape.rows.kept()];
    return indices.map((index) => this.trade(index));
  }

  /** Indices in the tape of a market's trades that are kept, oldest first. */
  tradesOf({ trades }: SimMarket): number[] {
    return Array.from(trades.kept(), (at) => trades.cell(at, 1));
  }

  /** The first outcome's midpoint: `at` Unix ms it became `mid`, oldest first. */
  quoteHistory(market: SimMarket): { at: number; mid: bigint }[] {
    const { trades } = market;
    const start = { at: market.acceptingFromMs ?? market.createdMs, mid: market.openMid };
    const made = Array.from(trades.kept(), (at) => ({
      at: trades.cell(at, 0) * 1000,
      mid: BigInt(trades.cell(at, 3)),
    }));
    return [start, ...made];
  }

  createEvent(spec: EventSpec): SimEvent {
    return this.catalog.addEvent({ createdMs: this.now(), ...spec });
  }

  /** Lists a market, open for orders at once unless the fields say otherwise, in an event of its own or a given one. */
  createMarket(spec: MarketSpec, event = this.createEvent({ title: spec.question })): SimMarket {
    const nowMs = this.now();
    const market = this.catalog.addMarket(event, { createdMs: nowMs, acceptingFromMs: nowMs, ...spec });
    if (isClosed(market)) this.freeze(market);
    this.schedule(market);
    for (const watch of this.watchers.state) watch(market);
    return market;
  }

  /** Opens an unopened or paused market. */
  openMarket(market: SimMarket): void {
    if (market.state === 'unopened') market.acceptingFromMs = this.now();
    this.enter(market, 'open');
  }

  pauseMarket(market: SimMarket): void {
    this.enter(market, 'paused');
  }

  /** Trading ends and the book goes; `uma` is what the oracle is doing. */
  closeMarket(market: SimMarket, options: { uma?: string; atMs?: number } = {}): void {
    if (isClosed(market)) return;
    this.freeze(market);
    market.closedMs = options.atMs ?? this.now();
    if (options.uma) market.uma.push(options.uma);
    this.enter(market, 'closed');
    this.exchange.cleared(market, true);
    market.book = null;
  }

  /** Pays out: the index of the winner, 'split' for 50-50, or one price per outcome. */
  resolveMarket(market: SimMarket, result: number | 'split' | bigint[], options: { atMs?: number } = {}): void {
    this.closeMarket(market, options);
    const even = ONE / BigInt(market.outcomes.length);
    market.payouts =
      typeof result === 'object'
        ? result
        : market.outcomes.map((_, i) => (result === 'split' ? even : i === result ? ONE : 0n));
    market.resolvedMs = options.atMs ?? this.now();
    market.uma.push('resolved');
    this.enter(market, 'resolved');
  }

  /** Runs `run` when the clock has reached a time; checked before every request and trade. */
  at(atMs: number, run: (atMs: number) => void): void {
    const later = this.agenda.findIndex((one) => one.atMs > atMs);
    this.agenda.splice(later === -1 ? this.agenda.length : later, 0, { atMs, run });
  }

  advance(): void {
    while (this.agenda[0] && this.agenda[0].atMs <= this.now()) {
      const due = this.agenda.shift();
      due?.run(due.atMs);
    }
    const { passing } = this.catalog;
    for (let market = passing.first; market && this.isPast(market); market = passing.first) {
      passing.shift();
      this.forgetMarket(market);
    }
  }

  /** Makes `count` trades of the house with itself and with whatever rests in the books. */
  makeTrades(count: number): void {
    this.advance();
    const open = this.markets.filter((market) => market.state === 'open' && hasBook(market) && !market.quiet);
    for (let i = 0; i < count && open.length > 0; i++) {
      const market = open[Math.floor(open.length * this.rng.next() ** 1.5)] as SimMarket;
      this.makeTrade(market);
    }
  }

  /** One trade of the house in a market; `lifts` buys the first outcome (or sells the second). */
  makeTrade(
    market: SimMarket,
    lifts = drawDirection(market, this.rng),
    size = BigInt(drawSize(this.rng)),
  ): SimTrade | null {
    const book = this.book(market);
    if (!book) return null;
    const at = lifts ? 'ask' : 'bid';
    const best = book.best(at);
    if (best === null) return null;
    const taker = this.wallet(participant(market, this.house.length, this.rng.int(0, 11)));
    const limit = best + (lifts ? 3n : -3n) * market.tick;
    const matches: Match[] = [];
    let left = size;
    for (const order of book.reach(at, limit)) {
      if (left === 0n) break;
      if (order.wallet === taker) continue;
      const part = order.left < left ? order.left : left;
      matches.push({ order, price: order.price, size: part });
      left -= part;
    }
    if (matches.length === 0) return null;
    stepQuotes(market, this.rng, lifts);
    const form = this.ledger.houseForm(taker.index, market, lifts, Number(size - left));
    return this.settle(market, taker, form, matches, () => quote(book, market, this.house, this.rng, this.now()));
  }

  /** Executes a taker's matches: takes them from the book, lets the house quote anew, and prints the trade. */
  settle(market: SimMarket, taker: SimWallet, form: Form, matches: readonly Match[], requote?: () => void): SimTrade {
    const nowMs = this.now();
    const book = this.book(market);
    if (!book) throw new RangeError(`market ${market.id} has no book`);
    book.take(matches);
    book.updatedMs = nowMs;
    requote?.();
    const entry = {
      form,
      wallet: taker.index,
      timestamp: Math.floor(nowMs / 1000),
      transaction: ++this.transactions,
      midAfter: Number(book.mid()),
      visibleMs: nowMs + this.indexer.delayMs + this.rng.int(0, this.indexer.jitterMs),
    };
    const parts = matches.map(({ order, price, size }) => ({
      wallet: order.wallet.index,
      form: order.own && formOf(order.own.outcome, order.own.side),
      firstPrice: Number(price),
      size: Number(size),
    }));
    this.ledger.record(market, entry, parts);
    while (this.ledger.tape.rows.fresh > this.keptTrades) this.forgetTrade();
    const trade = this.trade(this.ledger.tape.count - 1);
    this.exchange.filled(trade, matches);
    for (const watch of this.watchers.trade) watch(trade);
    return trade;
  }

  /** Prices beyond 0.96 and 0.04 get a finer step. Orders that rest stay. */
  setTick(market: SimMarket, tick: bigint): void {
    const old = market.tick;
    market.bidTick = Number((BigInt(market.bidTick) * old) / tick);
    market.askTick = Number((BigInt(market.askTick) * old) / tick);
    market.tick = tick;
    for (const watch of this.watchers.tick) watch(market, old);
  }

  /** Adds to a wallet's history what is not a trade, and moves the shares. */
  act(
    type: SimActivity['type'],
    wallet: SimWallet,
    market: SimMarket | null,
    move: [bigint, bigint],
    usdc: bigint,
  ): void {
    const timestamp = Math.floor(this.now() / 1000);
    const transactionHash = this.ids.hex('activity', this.activities.length);
    this.activities.push({ timestamp, wallet, type, market, shares: move, usdc, transactionHash });
    if (!market) return;
    this.ledger.add(wallet.index, market, 0, Number(move[0]));
    this.ledger.add(wallet.index, market, 1, Number(move[1]));
    if (type !== 'REDEEM') market.sets += move[0];
  }

  /** Pays a wallet for what it holds of a resolved market. */
  redeem(wallet: SimWallet, market: SimMarket): void {
    const [first = 0n, second = 0n] = market.payouts ?? [];
    const held = [this.held(wallet, market, 0), this.held(wallet, market, 1)] as const;
    this.act('REDEEM', wallet, market, [-held[0], -held[1]], usdOf(first, held[0]) + usdOf(second, held[1]));
  }

  /** Shares of one outcome that a wallet holds. */
  held(wallet: SimWallet, market: SimMarket, outcome: OutcomeIndex): bigint {
    return BigInt(this.ledger.held(wallet.index, market, outcome));
  }

  private forgetTrade(): void {
    const { tape } = this.ledger;
    carry(this, tape.rows.firstFresh);
    this.ledger.forgetTrade(this.catalog.marketAt(tape.market(tape.rows.firstFresh)));
  }

  private isPast({ resolvedMs, trades }: SimMarket): boolean {
    return resolvedMs !== null && resolvedMs + KEPT_AFTER_END_MS < this.now() && trades.fresh === 0;
  }

  /** One that somebody beside the house trades stays. */
  private forgetMarket(market: SimMarket): void {
    const isOwn = (wallet: number): boolean => wallet === this.demoUser.index || wallet >= this.house.length;
    if ([...this.ledger.holders(market).keys()].some(isOwn) || this.exchange.hasOrders(market)) return;
    for (const { positions } of this.carried.values()) {
      for (const outcome of [0, 1]) positions.delete(`${market.index}:${outcome}`);
    }
    this.ledger.forgetMarket(market);
    this.catalog.forget(market);
    for (const watch of this.watchers.forgotten) watch(market);
  }

  private enter(market: SimMarket, state: SimMarket['state']): void {
    market.state = state;
    market.updatedMs = Math.max(market.updatedMs, this.now());
    for (const watch of this.watchers.state) watch(market);
  }

  private freeze(market: SimMarket): void {
    const ask = market.askTick < tickCount(market) ? atTick(market, market.askTick) : null;
    const house = { bid: market.bidTick > 0 ? atTick(market, market.bidTick) : null, ask };
    market.frozen = market.book ? { bid: market.book.best('bid'), ask: market.book.best('ask') } : house;
  }

  /** What the clock does to a market by itself. */
  private schedule(market: SimMarket): void {
    const { acceptingFromMs } = market;
    if (market.state === 'unopened' && acceptingFromMs !== null) {
      this.at(acceptingFromMs, () => market.state === 'unopened' && this.enter(market, 'open'));
    }
    if (market.gameStartMs !== null && !isClosed(market)) {
      this.at(market.gameStartMs, () => this.exchange.cleared(market, false));
    }
    if (!market.autoClose || market.state === 'resolved') return;
    const settleLater = (atMs: number): void => {
      const winner = BigInt(market.trades.last(3, Number(market.openMid)));
      this.at(atMs + MINUTE, (dueMs) => this.resolveMarket(market, winner >= ONE / 2n ? 0 : 1, { atMs: dueMs }));
    };
    if (market.state === 'closed') return settleLater(market.endMs);
    this.at(market.endMs, (atMs) => {
      this.closeMarket(market, { uma: 'proposed', atMs });
      settleLater(atMs);
      const nowMs = this.now();
      const next = addUpDown(this.catalog, Math.floor(nowMs / (5 * MINUTE)) * 5 * MINUTE, nowMs);
      this.catalog.passing.push(next);
      this.schedule(next);
    });
  }
}
