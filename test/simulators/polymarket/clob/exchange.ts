import { bookSideOf, type Match } from '../world/book.ts';
import type { SimMarket, SimTrade } from '../world/model.ts';
import { takerFee } from '../world/stats.ts';
import { formOf } from '../world/tape.ts';
import { ONE, SECOND, usdOf } from '../world/units.ts';
import type { PolymarketWorld } from '../world/world.ts';
import { Accounts, type SimAccount } from './accounts.ts';
import { ClobError } from './error.ts';
import { checkFunds, checkSpent, committed } from './funds.ts';
import { ApiKeys } from './keys.ts';
import { rests, spends, type OrderStatus, type SimOrder } from './order.ts';

/** normal; restarting (425); post-only and cancel-only (503 for what they exclude); disabled (503 for everything). */
export type ExchangeMode = 'normal' | 'restarting' | 'post-only' | 'cancel-only' | 'disabled';

/** A match that a client had a part in. */
export interface ClobTrade {
  id: string;
  /** null: a house taker. */
  takerOrder: SimOrder | null;
  trade: SimTrade;
  /** The client's order behind each fill; null where the house made it. */
  makerOrders: (SimOrder | null)[];
  matchedMs: number;
  /** What the match has added to the cash of clients, fees taken off. */
  moved: { account: SimAccount; usd: bigint }[];
  /** What a test says of its settlement; null: it goes well. Money and shares move back only with `fail`. */
  trouble: 'RETRYING' | 'FAILED' | null;
}

export interface Placed {
  status: 'live' | 'matched' | 'delayed';
  /** What the order gave and got so far: pUSD and shares for a BUY, the reverse for a SELL. */
  making: bigint;
  taking: bigint;
  tradeIds: string[];
}

interface Plan {
  matches: Match[];
  size: bigint;
  /** In the order's own token. */
  usd: bigint;
  /** Nothing is left of the order. */
  full: boolean;
}

/** The matching engine's client side: orders, balances, trades. The books themselves belong to the world. */
export class Exchange {
  readonly accounts: Accounts;
  readonly keys: ApiKeys;
  readonly trades: ClobTrade[] = [];
  /** The id each API key has to send next. */
  readonly heartbeats = new Map<string, string>();
  mode: ExchangeMode = 'normal';
  /** When the mode is said to end; for Retry-After. */
  modeUntilMs = 0;
  /** A failure with these words follows each order that the engine has taken, and is the answer to it; null: none. */
  failure: string | null = null;
  /** How many digits of a Protocol V2 condition the private side writes and understands: which, nobody has recorded. */
  conditionDigits: 62 | 64 = 64;
  /** Whether POST /books and its like know positions of Protocol V2: nobody has recorded that either. */
  listsKnowPositions = false;
  /** Whether rows of orders have their sizes in base units. */
  inBaseUnits = false;
  /** What GET /data/order answers for an order that is no longer open. */
  goneOrders: 'null' | 'not found' | 'row' = 'null';
  /** What the user channel tells: an order after each change, a match when it is made, and a match whose settlement has moved. */
  onOrder: (order: SimOrder, type: 'PLACEMENT' | 'UPDATE' | 'CANCELLATION') => void = () => {};
  onMatch: (match: ClobTrade) => void = () => {};
  onTrade: (match: ClobTrade) => void = () => {};
  private readonly world: PolymarketWorld;
  private readonly orders = new Map<string, SimOrder>();
  private taking: SimOrder | null = null;

  constructor(world: PolymarketWorld) {
    this.world = world;
    this.accounts = new Accounts(world);
    this.keys = new ApiKeys(world.ids);
  }

  /** A market as the private side names it. */
  conditionOf({ version, conditionId }: SimMarket): string {
    return version === 'v2' ? conditionId.slice(0, 2 + this.conditionDigits) : conditionId;
  }

  order(id: string): SimOrder | undefined {
    return this.orders.get(id.toLowerCase());
  }

  /** Every order of an account ever accepted, oldest first. */
  ordersOf(account: SimAccount): SimOrder[] {
    return [...this.orders.values()].filter((order) => order.account === account);
  }

  hasOrders(market: SimMarket): boolean {
    return [...this.orders.values()].some((order) => order.market === market);
  }

  openOrders(owner: string): SimOrder[] {
    return [...this.orders.values()].filter((order) => order.owner === owner && order.status === 'LIVE');
  }

  /** Accepts a checked order, matches what it can and rests or drops what is left. */
  place(order: SimOrder): Placed {
    if (this.orders.has(order.id)) throw new ClobError(400, `order ${order.id} is invalid. Duplicated.`);
    const crosses = this.isMarketable(order);
    if (order.postOnly && crosses) throw new ClobError(400, 'invalid post-only order: order crosses book');
    if (crosses || spends(order)) checkSpent(order);
    checkFunds(this.world, order, crosses);
    const { secondsDelay } = order.market;
    if (secondsDelay > 0 && crosses) {
      order.status = 'DELAYED';
      this.orders.set(order.id, order);
      this.world.at(this.world.now() + secondsDelay * SECOND, () => this.release(order));
      return { status: 'delayed', making: 0n, taking: 0n, tradeIds: [] };
    }
    return this.match(order);
  }

  /** Whether the order would match at once. */
  isMarketable(order: SimOrder): boolean {
    return this.plan(order).size > 0n;
  }

  cancel(order: SimOrder, status: OrderStatus = 'CANCELED'): void {
    order.status = status;
    const book = this.world.book(order.market);
    book?.remove(({ own }) => own?.id === order.id);
    if (book) book.updatedMs = this.world.now();
    this.onOrder(order, 'CANCELLATION');
  }

  /** World: resting orders of clients were hit, or a client's taker order was. */
  filled(trade: SimTrade, matches: readonly Match[]): void {
    const taker = this.taking;
    const makerOrders = matches.map(({ order }) => (order.own ? (this.order(order.own.id) ?? null) : null));
    if (!taker && makerOrders.every((order) => order === null)) return;
    const id = this.world.ids.uuid('trade', trade.index);
    const moved: ClobTrade['moved'] = [];
    const match: ClobTrade = {
      id,
      takerOrder: taker,
      trade,
      makerOrders,
      matchedMs: this.world.now(),
      moved,
      trouble: null,
    };
    this.trades.push(match);
    for (const [i, fill] of trade.fills.entries()) {
      const order = makerOrders[i];
      if (!order) continue;
      moved.push(this.note(order, id, fill.size, usdOf(fill.price, fill.size), 0n));
      if (order.matched === order.shares) order.status = 'MATCHED';
    }
    if (taker) {
      const cost = trade.fills.reduce(
        (sum, fill) => sum + usdOf(fill.outcome === trade.outcome ? fill.price : ONE - fill.price, fill.size),
        0n,
      );
      moved.push(this.note(taker, id, trade.size, cost, takerFee(trade.market.fee, trade.price, trade.size)));
    }
    for (const order of makerOrders) if (order) this.onOrder(order, 'UPDATE');
    this.onMatch(match);
    for (const order of [...makerOrders, taker]) if (order) this.sweep(order.account);
  }

  /** The settlement of a match fails for good: everybody has their money and shares again; what orders have matched stays reported. */
  fail(match: ClobTrade): void {
    match.trouble = 'FAILED';
    for (const { account, usd } of match.moved.splice(0)) account.cash -= usd;
    this.world.ledger.undo(match.trade);
    this.onTrade(match);
  }

  /** World: a market's book was emptied. */
  cleared(market: SimMarket, resolved: boolean): void {
    for (const order of this.orders.values()) {
      const open = order.status === 'LIVE' || order.status === 'DELAYED';
      if (open && order.market === market) this.cancel(order, resolved ? 'CANCELED_MARKET_RESOLVED' : 'INVALID');
    }
  }

  private note(order: SimOrder, tradeId: string, size: bigint, cost: bigint, fee: bigint): ClobTrade['moved'][number] {
    const { account } = order;
    const usd = (order.side === 'BUY' ? -cost : cost) - fee;
    order.matched += size;
    order.tradeIds.push(tradeId);
    account.cash += usd;
    return { account, usd };
  }

  /** Purchases that an account's money does not cover any more leave the books. */
  private sweep(account: SimAccount): void {
    for (const order of this.ordersOf(account)) {
      const resting = order.status === 'LIVE' && order.side === 'BUY' && order !== this.taking;
      if (resting && committed(this.world, account, order.market) > account.cash) this.cancel(order);
    }
  }

  /** A delayed order meets the book as it stands now; one that fills now or never may find nothing. */
  private release(order: SimOrder): void {
    if (order.status !== 'DELAYED') return;
    this.orders.delete(order.id);
    order.status = 'LIVE';
    try {
      this.match(order);
    } catch (error) {
      if (!(error instanceof ClobError)) throw error;
      order.status = 'CANCELED';
      order.reason = error.message;
      this.orders.set(order.id, order);
      this.onOrder(order, 'CANCELLATION');
    }
  }

  private match(order: SimOrder): Placed {
    const { matches, size, usd, full } = this.plan(order);
    if (order.type === 'FOK' && !full) {
      throw new ClobError(400, "order couldn't be fully filled. FOK orders are fully filled or killed.");
    }
    if (order.type === 'FAK' && size === 0n) {
      throw new ClobError(
        400,
        'no orders found to match with FAK order. FAK orders are partially filled or killed if no match is found.',
      );
    }
    this.orders.set(order.id, order);
    if (size > 0n) {
      this.taking = order;
      this.world.settle(order.market, order.account.wallet, formOf(order.outcome, order.side), matches);
      this.taking = null;
    }
    if (full) order.status = 'MATCHED';
    else if (rests(order)) this.rest(order);
    else order.status = 'CANCELED';
    this.onOrder(order, order.status === 'CANCELED' ? 'CANCELLATION' : size > 0n ? 'UPDATE' : 'PLACEMENT');
    const [making, taking] = order.side === 'BUY' ? [usd, size] : [size, usd];
    return { status: size > 0n ? 'matched' : 'live', making, taking, tradeIds: [...order.tradeIds] };
  }

  private rest(order: SimOrder): void {
    const book = this.world.book(order.market);
    if (!book) return;
    book.updatedMs = this.world.now();
    book.rest({
      wallet: order.account.wallet,
      at: bookSideOf(order.outcome, order.side),
      price: order.outcome === 0 ? order.price : ONE - order.price,
      left: order.shares - order.matched,
      own: { id: order.id, outcome: order.outcome, side: order.side },
    });
    // An order lives until a minute before the expiration it was signed with.
    if (order.type === 'GTD') {
      this.world.at((Number(order.expiration) - 60) * SECOND, () => {
        if (order.status === 'LIVE') this.cancel(order);
      });
    }
  }

  /** What the order would match right now, best price first, at the makers' prices. */
  private plan(order: SimOrder): Plan {
    const at = bookSideOf(order.outcome, order.side) === 'bid' ? 'ask' : 'bid';
    const limit = order.outcome === 0 ? order.price : ONE - order.price;
    const plan: Plan = { matches: [], size: 0n, usd: 0n, full: false };
    for (const maker of this.world.book(order.market)?.reach(at, limit) ?? []) {
      const price = order.outcome === 0 ? maker.price : ONE - maker.price;
      const wanted = spends(order) ? ((order.usd - plan.usd) * ONE) / price : order.shares - plan.size;
      const size = maker.left < wanted ? maker.left : wanted;
      plan.matches.push({ order: maker, price: maker.price, size });
      plan.size += size;
      plan.usd += usdOf(price, size);
      // A millionth of a dollar buys nothing.
      plan.full = spends(order) ? order.usd - plan.usd <= 1n : plan.size === order.shares;
      if (plan.full) break;
    }
    return plan;
  }
}
