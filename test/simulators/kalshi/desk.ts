import { scaledInteger } from '../lib/index.ts';
import { Account, ownPrice, type AccountOrder, type SelfTradePrevention, type TimeInForce } from './account.ts';
import { better, otherSide, type BookSide, type Resting } from './book.ts';
import { WireError } from './call.ts';
import type { Exchange } from './exchange.ts';
import { tradeFee } from './fees.ts';
import { bookOf, syncQuote, take } from './matching.ts';
import type { SimMarket } from './market.ts';
import type { UpdateReason } from './stream/own-frames.ts';
import { cost } from './units.ts';

/** A new order after its form was checked; counts and prices as in units.ts. */
export interface NewOrder {
  ticker: string;
  side: BookSide;
  price: number;
  count: number;
  timeInForce: TimeInForce;
  selfTradePrevention: SelfTradePrevention;
  clientOrderId: string | null;
  expirationMs: number | null;
  postOnly: boolean;
  reduceOnly: boolean;
  cancelOnPause: boolean;
  orderGroupId: string | null;
  subaccount: number;
  exchangeIndex: number | null;
}

/** What an order without frills states beside its price and size. */
export const PLAIN = {
  selfTradePrevention: 'taker_at_cross',
  clientOrderId: null,
  expirationMs: null,
  postOnly: false,
  reduceOnly: false,
  cancelOnPause: false,
  orderGroupId: null,
  subaccount: 0,
  exchangeIndex: null,
} as const satisfies Partial<NewOrder>;

/** How the platform lags and what nobody has recorded; a test sets what it needs. */
export interface DeskSettings {
  /** Fills show in reads only this long after the reply that announced them. */
  fillDelayMs: number;
  /** GET by id is 404 this long after the 201. */
  orderDelayMs: number;
  /** A cancel is 404 this long after the 201, although the order works. */
  cancelDelayMs: number;
  /** An expired order leaves the book at once but says `resting` for this long. */
  expirySweepMs: number;
  /** A fill_or_kill that cannot be filled: 201 with 0/0, or a 409 with a code of its own. */
  fillOrKill: 'empty' | 'refused';
}

export const invalidOrder = (details: string): WireError =>
  new WireError(400, 'invalid_order', 'invalid order', details);
const marketInactive = (): WireError => new WireError(400, 'MARKET_INACTIVE', 'market is not active');
const tradingPaused = (): WireError => new WireError(409, 'trading_is_paused', 'trading is paused');
export const orderNotFound = (): WireError => new WireError(404, 'not_found', 'not found');

/** What YES has been paid of its value already, in 0.0001 dollars: its orders are above it, those of NO below its complement. */
const floorOf = ({ spec: { fixed } }: SimMarket): number =>
  fixed.settlement_bounds_type === 'floor' ? Number(scaledInteger(String(fixed.settlement_floor_dollars), 4)) : 0;

/** Takes orders, keeps them, and lets them meet the book. */
export class OrderDesk {
  readonly exchange: Exchange;
  readonly accounts: Account[] = [];
  readonly settings: DeskSettings = {
    fillDelayMs: 0,
    orderDelayMs: 0,
    cancelDelayMs: 0,
    expirySweepMs: 0,
    fillOrKill: 'empty',
  };

  constructor(exchange: Exchange) {
    this.exchange = exchange;
    exchange.onTick = () => this.#expire();
    exchange.onClose = (market) => this.#cancelWhere((order) => order.market === market, 'CloseCancel');
    exchange.onSettle = (market) => this.#settle(market);
  }

  /** Places an order; what does not rest is over when this returns. */
  place(account: Account, input: NewOrder): AccountOrder {
    const { exchange } = this;
    const market = this.#tradable(input.ticker);
    if (input.exchangeIndex !== null && input.exchangeIndex !== market.spec.exchangeIndex) {
      throw new WireError(400, 'invalid_parameters', 'invalid parameters', 'exchange_index');
    }
    if (!market.spec.grid.has(input.price)) throw invalidOrder('invalid price');
    if (input.price <= floorOf(market)) throw invalidOrder('price is not above the settlement floor');
    if (input.clientOrderId !== null && account.clientOrderIds.has(input.clientOrderId)) {
      throw new WireError(409, 'order_already_exists', 'order already exists');
    }
    if (input.postOnly && this.#crosses(market, input.side, input.price)) throw invalidOrder('post only cross');
    const count = input.reduceOnly ? account.closing(market, input.side, input.count) : input.count;
    this.#checkFunds(account, market, input.side, input.price, count);
    const fills = this.#fillable(account, market, input, count) >= count;
    if (input.timeInForce === 'fill_or_kill' && !fills && this.settings.fillOrKill === 'refused') {
      throw new WireError(409, 'fill_or_kill_insufficient_resting_volume', 'fill or kill insufficient resting volume');
    }
    const nowUs = exchange.stampUs();
    const order: AccountOrder = {
      account,
      orderId: exchange.rng.uuid(),
      clientOrderId: input.clientOrderId ?? exchange.rng.uuid(),
      market,
      side: input.side,
      price: input.price,
      timeInForce: input.timeInForce,
      selfTradePrevention: input.selfTradePrevention,
      cancelOnPause: input.cancelOnPause,
      orderGroupId: input.orderGroupId,
      subaccount: input.subaccount,
      initialCount: input.count,
      fillCount: 0,
      remainingCount: count,
      takerCost: 0n,
      makerCost: 0n,
      takerFees: 0n,
      makerFees: 0n,
      status: 'resting',
      createdUs: nowUs,
      updatedUs: nowUs,
      expirationMs: input.expirationMs,
      resting: null,
      fills: [],
    };
    account.add(order);
    const wanted = input.timeInForce === 'fill_or_kill' && !fills ? 0 : count;
    this.#work(order, wanted);
    exchange.onOrder(order, order.fillCount > 0 ? 'Trade' : undefined);
    return order;
  }

  /** An immediate_or_cancel order without frills. */
  take(account: Account, market: SimMarket, side: BookSide, limit: number, count: number): AccountOrder {
    return this.place(account, {
      ...PLAIN,
      ticker: market.ticker,
      side,
      price: limit,
      count,
      timeInForce: 'immediate_or_cancel',
    });
  }

  /** Takes what is left of an order out of the book; returns how much that was. */
  cancel(order: AccountOrder): number {
    this.#checkOpen(order);
    const { cancelDelayMs } = this.settings;
    if (cancelDelayMs > 0 && order.createdUs / 1000 + cancelDelayMs > this.exchange.nowMs) throw orderNotFound();
    const left = order.remainingCount;
    this.#cancel(order);
    return left;
  }

  /** New price and size; `count` is what was filled plus what shall wait. A better place in the queue is lost. */
  amend(order: AccountOrder, change: { price: number; count: number; expirationMs?: number | null }): void {
    this.#tradable(order.market.ticker);
    this.#checkOpen(order);
    if (!order.market.spec.grid.has(change.price)) throw invalidOrder('invalid price');
    const left = change.count - order.fillCount;
    if (left <= 0) throw new WireError(400, 'invalid_order_size', 'invalid order size');
    const resting = order.resting as Resting;
    if (change.price !== order.price || left > resting.count) {
      this.#checkFunds(order.account, order.market, order.side, change.price, left, order);
    }
    const keepsPlace = change.price === order.price && left <= resting.count;
    if (change.expirationMs !== undefined) order.expirationMs = change.expirationMs;
    order.updatedUs = this.exchange.stampUs();
    order.initialCount = change.count;
    if (keepsPlace) {
      resting.count = left;
      order.remainingCount = left;
    } else {
      this.#leaveBook(order);
      order.price = change.price;
      this.#work(order, left);
    }
    this.exchange.onOrder(order, 'Amend');
  }

  /** Lowers what waits by or to a count; reaching zero cancels. Returns what is left. */
  decrease(order: AccountOrder, to: (left: number) => number): number {
    this.#checkOpen(order);
    const resting = order.resting as Resting;
    const left = Math.max(to(resting.count), 0);
    if (left > resting.count) throw new WireError(400, 'invalid_order_size', 'invalid order size');
    resting.count = left;
    order.remainingCount = left;
    order.updatedUs = this.exchange.stampUs();
    if (left === 0) this.#cancel(order);
    else this.exchange.onOrder(order, 'Decrease');
    return left;
  }

  /** Trading stopped: orders that asked for it leave. */
  pause(market?: SimMarket): void {
    this.#cancelWhere((order) => order.cancelOnPause && (market === undefined || order.market === market));
  }

  /** An order by its id; 404 for another account's. */
  find(account: Account, orderId: string): AccountOrder {
    const order = account.orders.get(orderId);
    if (!order) throw orderNotFound();
    return order;
  }

  #tradable(ticker: string): SimMarket {
    const { exchange } = this;
    const market = exchange.marketByTicker.get(ticker);
    if (!market || market.vanished || exchange.isArchived(market)) throw orderNotFound();
    if (!exchange.status.tradingActive || market.status === 'inactive') throw tradingPaused();
    if (market.status !== 'active') throw marketInactive();
    return market;
  }

  #checkOpen(order: AccountOrder): void {
    const { status } = order.market;
    if (status !== 'active' && status !== 'inactive') throw marketInactive();
    if (!order.resting) throw orderNotFound();
  }

  #crosses(market: SimMarket, side: BookSide, price: number): boolean {
    const first = bookOf(this.exchange, market).first(otherSide(side));
    return first !== null && !better(price, first.price, otherSide(side));
  }

  /** Only the market's own shard can pay for what an order opens. */
  #checkFunds(
    account: Account,
    market: SimMarket,
    side: BookSide,
    price: number,
    count: number,
    replaced?: AccountOrder,
  ): void {
    const opening = count - account.closing(market, side, count);
    if (opening === 0) return;
    const event = this.exchange.eventOf(market).spec;
    const needed =
      cost(ownPrice(side, price), opening) + tradeFee(event, market, { price, count: opening, isTaker: true });
    if (account.available(market.spec.exchangeIndex, replaced) < needed) {
      throw new WireError(400, 'available_balance_too_low', 'available balance too low');
    }
  }

  /** How much the book has for an order; one that meets an own order is not held to fill_or_kill. */
  #fillable(account: Account, market: SimMarket, input: NewOrder, count: number): number {
    let found = 0;
    for (const { price, order } of bookOf(this.exchange, market).orders(otherSide(input.side))) {
      if (found >= count || better(input.price, price, otherSide(input.side))) break;
      if (order.trader === account.trader) return count;
      found += order.count;
    }
    return found;
  }

  /** Takes from the book, then waits in it or ends. */
  #work(order: AccountOrder, wanted: number): void {
    const { exchange } = this;
    const { account, market, side } = order;
    const before = order.fillCount;
    let stopped = false;
    const fills = take(exchange, market, {
      side,
      limit: order.price,
      count: wanted,
      trader: account.trader,
      onOwn: (own) => {
        stopped = order.selfTradePrevention === 'taker_at_cross';
        if (!stopped) this.#cancelWhere((one) => one.resting === own, 'SelfTradeCancel');
        return stopped ? 'stop' : 'removed';
      },
    });
    for (const fill of fills) account.book(exchange, order, { ...fill, isTaker: true });
    const left = wanted - (order.fillCount - before);
    order.remainingCount = left;
    if (left > 0 && order.timeInForce === 'good_till_canceled' && !stopped) {
      order.resting = { trader: account.trader, count: left, filled: (...fill) => this.#filled(order, ...fill) };
      bookOf(exchange, market).add(side, order.price, order.resting);
      syncQuote(exchange, market, exchange.stampUs());
    } else {
      account.finish(order, order.fillCount === order.initialCount ? 'executed' : 'canceled');
    }
  }

  /** A taker met a waiting order. */
  #filled(order: AccountOrder, count: number, price: number, position: number): void {
    order.account.book(this.exchange, order, { count, price, position, isTaker: false });
    order.remainingCount -= count;
    if (order.remainingCount === 0) {
      order.resting = null;
      order.account.finish(order, 'executed');
    }
    this.exchange.onOrder(order, 'Trade');
  }

  #leaveBook(order: AccountOrder): void {
    const { resting, market } = order;
    order.resting = null;
    if (resting && market.book?.remove(order.side, resting)) {
      syncQuote(this.exchange, market, this.exchange.stampUs());
    }
  }

  #cancel(order: AccountOrder, reason?: UpdateReason): void {
    this.#leaveBook(order);
    order.updatedUs = this.exchange.stampUs();
    order.account.finish(order, 'canceled');
    this.exchange.onOrder(order, reason);
  }

  #cancelWhere(test: (order: AccountOrder) => boolean, reason?: UpdateReason): void {
    for (const { working } of this.accounts) {
      for (const order of working) if (test(order)) this.#cancel(order, reason);
    }
  }

  #expire(): void {
    const now = this.exchange.nowMs;
    for (const { working } of this.accounts) {
      for (const order of working) {
        if (order.expirationMs === null || now < order.expirationMs) continue;
        this.#leaveBook(order);
        if (now >= order.expirationMs + this.settings.expirySweepMs) this.#cancel(order, 'ExpiryCancel');
      }
    }
  }

  #settle(market: SimMarket): void {
    for (const account of this.accounts) account.settle(market, market.value ?? 0, market.settledUs ?? 0);
  }
}
