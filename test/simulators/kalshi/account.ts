import type { KeyObject } from 'node:crypto';
import type { BookSide, Resting } from './book.ts';
import { roundingFee, tradeFee } from './fees.ts';
import type { Exchange } from './exchange.ts';
import type { SimMarket } from './market.ts';
import { cost, ONE_DOLLAR } from './units.ts';

export type TimeInForce = 'good_till_canceled' | 'immediate_or_cancel' | 'fill_or_kill';
export type SelfTradePrevention = 'taker_at_cross' | 'maker';

/** An order as the platform keeps it. Money in 0.000001 dollars, in terms of the outcome bought. */
export interface AccountOrder {
  account: Account;
  orderId: string;
  clientOrderId: string;
  market: SimMarket;
  side: BookSide;
  price: number;
  timeInForce: TimeInForce;
  selfTradePrevention: SelfTradePrevention;
  cancelOnPause: boolean;
  orderGroupId: string | null;
  /** 0: the main account. Cash and positions of subaccounts are not kept apart here. */
  subaccount: number;
  initialCount: number;
  fillCount: number;
  /** 0 once it is over, whatever was filled. */
  remainingCount: number;
  takerCost: bigint;
  makerCost: bigint;
  takerFees: bigint;
  makerFees: bigint;
  status: 'resting' | 'canceled' | 'executed';
  createdUs: number;
  updatedUs: number;
  expirationMs: number | null;
  /** Its place in the book while it waits there. */
  resting: Resting | null;
  fills: AccountFill[];
}

export interface AccountFill {
  order: AccountOrder;
  /** Place on the tape: the fill's id is the trade's. */
  position: number;
  timeUs: number;
  price: number;
  count: number;
  isTaker: boolean;
  cost: bigint;
  fee: bigint;
}

/** One account's net position in one market. */
export interface AccountPosition {
  market: SimMarket;
  /** 0.01 contracts, negative = NO; 0 once paid out. */
  net: number;
  /** What the open contracts cost. */
  exposure: bigint;
  traded: bigint;
  realized: bigint;
  fees: bigint;
  bought: Record<BookSide, { count: number; cost: bigint }>;
  updatedUs: number;
}

export interface Settlement {
  position: AccountPosition;
  /** Payout of the net position in 0.000001 dollars. */
  revenue: bigint;
  settledUs: number;
}

export interface ApiKey {
  id: string;
  publicKey: KeyObject;
  scopes: readonly string[];
  /** The only subaccount of the key, which may then not be named; null: any. */
  lockedTo: number | null;
}

/** Price of the outcome a side buys: a bid buys YES, an ask buys NO. */
export const ownPrice = (side: BookSide, yesPrice: number): number =>
  side === 'bid' ? yesPrice : ONE_DOLLAR - yesPrice;

/** A member with cash on each shard, orders, fills and positions. */
export class Account {
  readonly userId: string;
  /** Place among the exchange's traders. */
  readonly trader: number;
  readonly keys: ApiKey[] = [];
  /** By shard, 0.000001 dollars. */
  readonly cash = new Map<number, bigint>();
  /** By order id, oldest first. */
  readonly orders = new Map<string, AccountOrder>();
  readonly clientOrderIds = new Set<string>();
  /** Those that are not over. */
  readonly working = new Set<AccountOrder>();
  readonly fills: AccountFill[] = [];
  readonly positions = new Map<SimMarket, AccountPosition>();
  readonly settlements: Settlement[] = [];

  constructor(userId: string, trader: number) {
    this.userId = userId;
    this.trader = trader;
  }

  positionIn(market: SimMarket): AccountPosition {
    let position = this.positions.get(market);
    if (!position) {
      position = {
        market,
        net: 0,
        exposure: 0n,
        traded: 0n,
        realized: 0n,
        fees: 0n,
        bought: { bid: { count: 0, cost: 0n }, ask: { count: 0, cost: 0n } },
        updatedUs: 0,
      };
      this.positions.set(market, position);
    }
    return position;
  }

  /** How much of an order would close what is held; the rest opens and must be paid for. */
  closing(market: SimMarket, side: BookSide, count: number): number {
    const net = this.positions.get(market)?.net ?? 0;
    return Math.min(count, Math.max(side === 'bid' ? -net : net, 0));
  }

  /** Cash on a shard that no waiting order needs. */
  available(shard: number, except?: AccountOrder): bigint {
    let free = this.cash.get(shard) ?? 0n;
    for (const { market, side, price, resting } of this.working) {
      if (!resting || resting === except?.resting || market.spec.exchangeIndex !== shard) continue;
      free -= cost(ownPrice(side, price), resting.count - this.closing(market, side, resting.count));
    }
    return free;
  }

  add(order: AccountOrder): void {
    this.orders.set(order.orderId, order);
    this.clientOrderIds.add(order.clientOrderId);
    this.working.add(order);
  }

  finish(order: AccountOrder, status: 'canceled' | 'executed'): void {
    order.status = status;
    order.remainingCount = 0;
    this.working.delete(order);
  }

  /** Books one fill of an order: cash, fee, position. The order's own status is the desk's business. */
  book(
    exchange: Exchange,
    order: AccountOrder,
    trade: Pick<AccountFill, 'position' | 'price' | 'count' | 'isTaker'>,
  ): void {
    const { market, side } = order;
    const { price, count, isTaker } = trade;
    const position = this.positionIn(market);
    const closing = this.closing(market, side, count);
    const bought = ownPrice(side, price);
    const paid = cost(bought, count - closing);
    const received = cost(ONE_DOLLAR - bought, closing);
    const trading = tradeFee(exchange.eventOf(market).spec, market, trade);
    const fee = trading + roundingFee(received - paid - trading);

    const basis = closing === 0 ? 0n : (position.exposure * BigInt(closing)) / BigInt(Math.abs(position.net));
    position.exposure += paid - basis;
    position.realized += received - basis;
    position.net += side === 'bid' ? count : -count;
    position.traded += cost(bought, count);
    position.fees += fee;
    position.bought[side].count += count;
    position.bought[side].cost += cost(bought, count);
    position.updatedUs = exchange.tape.timeUs.at(trade.position);
    this.pay(market.spec.exchangeIndex, received - paid - fee);

    order.fillCount += count;
    order.updatedUs = position.updatedUs;
    if (isTaker) {
      order.takerCost += cost(bought, count);
      order.takerFees += fee;
    } else {
      order.makerCost += cost(bought, count);
      order.makerFees += fee;
    }
    const fill = { order, ...trade, timeUs: position.updatedUs, cost: cost(bought, count), fee };
    order.fills.push(fill);
    this.fills.push(fill);
    exchange.onFill(fill);
  }

  /** Pays out a market that has been settled. */
  settle(market: SimMarket, value: number, settledUs: number): void {
    const position = this.positions.get(market);
    if (!position) return;
    const revenue = cost(position.net > 0 ? value : ONE_DOLLAR - value, Math.abs(position.net));
    this.settlements.push({ position, revenue, settledUs });
    position.realized += revenue - position.exposure;
    position.exposure = 0n;
    position.net = 0;
    position.updatedUs = settledUs;
    this.pay(market.spec.exchangeIndex, revenue);
  }

  pay(shard: number, amount: bigint): void {
    this.cash.set(shard, (this.cash.get(shard) ?? 0n) + amount);
  }
}
