import type { Fill, Resting, Taker } from './book.ts';
import { takerFeeBps, takerTotals } from './fees.ts';
import type { Floor } from './floor.ts';
import type { Ids } from './ids.ts';
import type { Intent } from './intake.ts';
import { isExpired, type Lifecycle } from './lifecycle.ts';
import { bookMove, type Profile } from './members.ts';
import type { ClobMarket, Trade } from './model.ts';
import { isWorking, lockedBy, matchOf, newOrder, remainingOf, type MemberOrder } from './orders.ts';
import type { OrderWatch, SettledPart } from './stream/order-events.ts';
import { refuse } from './wire.ts';

/** Takes members' orders, matches them, rests them and takes them back. */
export class Desk {
  private readonly ids: Ids;
  private readonly floor: Floor;
  private readonly lifecycle: Lifecycle;
  private readonly now: () => number;
  readonly orders = new Map<string, MemberOrder>();
  private readonly hashes = new Set<string>();
  private readonly byClientId = new Map<string, MemberOrder>();
  /** What takes back each execution, on both of its sides. */
  private readonly undo = new Map<Trade, (() => void)[]>();
  /** Orders the engine fails to cancel: the platform then answers 207 or 400 with UNKNOWN_ERROR. */
  readonly uncancellable = new Set<string>();
  /** Whether a cancel does not find an order that its market's taker delay still holds back. */
  hidesDelayed = false;
  /** What the socket listens to. */
  watch: OrderWatch = { engine: () => {}, matched: () => {}, failed: () => {} };

  constructor(deps: { ids: Ids; floor: Floor; lifecycle: Lifecycle; now: () => number }) {
    this.ids = deps.ids;
    this.floor = deps.floor;
    this.lifecycle = deps.lifecycle;
    this.now = deps.now;
  }

  ordersOf(profile: Profile): MemberOrder[] {
    return [...this.orders.values()].filter((order) => order.intent.profile === profile);
  }

  hasOrders(market: ClobMarket): boolean {
    return [...this.orders.values()].some(({ intent }) => intent.market === market);
  }

  byClientOrderId(profile: Profile, clientOrderId: string): MemberOrder | undefined {
    return this.byClientId.get(`${profile.id} ${clientOrderId}`);
  }

  /** Accepts the order or throws the platform's refusal; the order comes back executed, resting, delayed or killed. */
  place(intent: Intent): MemberOrder {
    const { profile, market, clientOrderId, hash, outcome, side, tick } = intent;
    if (clientOrderId !== null && this.byClientOrderId(profile, clientOrderId)) {
      throw refuse(409, `Order with clientOrderId ${clientOrderId} already exists`);
    }
    if (this.hashes.has(hash)) throw refuse(409, 'Order with the same hash already exists');
    this.checkWallet(intent);
    const crosses = tick === null || market.book.crosses(outcome, side, tick);
    if (intent.postOnly && crosses) throw refuse(400, 'Post-only order would match immediately');
    const order = newOrder(this.ids.uuid(), intent, this.now());
    this.orders.set(order.id, order);
    this.hashes.add(hash);
    if (clientOrderId !== null) this.byClientId.set(`${profile.id} ${clientOrderId}`, order);
    if (crosses && market.takerDelayMs > 0) this.delay(order, market.takerDelayMs);
    else this.run(order);
    return order;
  }

  /** Whether a cancel finds the order as one that works. */
  finds(order: MemberOrder): boolean {
    return isWorking(order) && !(this.hidesDelayed && order.status === 'DELAYED');
  }

  /** Takes a working order back; what was filled stays filled. */
  cancel(order: MemberOrder, reason?: 'STP_MAKER_CANCELLED'): void {
    this.end(order, 'CANCELED', null);
    this.watch.engine(order, { type: 'CANCELLATION', ...(reason ? { reason } : {}) });
    const { market } = order.intent;
    market.book.remove((resting) => resting.id === order.id);
    this.floor.noteQuote(market);
  }

  /** The settlement of the taking part fails for good: its members have their money and shares again. */
  fail(order: MemberOrder): void {
    order.trouble = 'FAILED';
    const { trade } = order.taking ?? {};
    for (const back of (trade && this.undo.get(trade)) ?? []) back();
    if (trade) this.undo.delete(trade);
    this.watch.failed(order);
  }

  private delay(order: MemberOrder, delayMs: number): void {
    order.status = 'DELAYED';
    order.eligibleAt = this.now() + delayMs;
    this.lifecycle.schedule(order.eligibleAt, () => {
      if (order.status !== 'DELAYED') return;
      const { market } = order.intent;
      if (market.status === 'FUNDED' && !isExpired(market, this.now())) this.run(order);
      else this.stop(order, 'MARKET_NOT_ACTIVE');
    });
  }

  private run(order: MemberOrder): void {
    const { market, orderType } = order.intent;
    const { fills, stopped } = this.meet(order);
    if (orderType === 'FOK' && !fillsWhole(order, fills)) return this.kill(order, 'FOK_NOT_FILLED');
    if (fills.length > 0) this.take(order, market, fills);
    if (remainingOf(order) === 0n) return this.complete(order);
    if (stopped) return this.stop(order, 'STP_TAKER_CANCELLED');
    if (orderType === 'GTC') return this.rest(order, market);
    if (fills.length === 0) return this.kill(order, 'FAK_NOT_FILLED');
    this.end(order, 'CANCELED', 'FAK_REMAINDER');
    this.watch.engine(order, { type: 'EXECUTION', status: 'PARTIALLY_FILLED' });
  }

  /** What the order meets; where that would be its owner's own order, the policy decides who gives way. */
  private meet(order: MemberOrder): { fills: Fill[]; stopped: boolean } {
    const { market, profile, stpPolicy } = order.intent;
    for (;;) {
      const fills = market.book.preview(takerOf(order));
      const first = fills.findIndex(({ maker }) => maker.account === profile);
      if (first < 0) return { fills, stopped: false };
      if (stpPolicy !== 'cancel_taker') {
        const { maker } = fills[first] as Fill;
        this.cancel(this.orders.get(maker.id) as MemberOrder, 'STP_MAKER_CANCELLED');
        order.stpMakerCancels.push(maker.id);
      }
      if (stpPolicy !== 'cancel_maker') return { fills: fills.slice(0, first), stopped: true };
    }
  }

  private take(order: MemberOrder, market: ClobMarket, fills: Fill[]): void {
    const { side, signed } = order.intent;
    const trade = this.floor.execute(market, takerOf(order), fills, { makerAmount: signed.makerAmount });
    const feeBps = market.chargesFees ? takerFeeBps(side, trade.size, trade.usd) : 0;
    order.size ??= trade.size;
    order.totals = takerTotals(side, trade.size, trade.usd, feeBps);
    order.taking = { trade, tradeEventId: this.ids.uuid(), txHash: trade.txHash, at: trade.at, feeBps };
    order.makerMatches = fills.map((fill) => matchOf(this.ids.uuid(), trade.at, fill));
    const { contractsGross, contractsNet, usdGross, usdNet } = order.totals;
    const [contracts, usd] = side === 'BUY' ? [contractsNet, usdGross] : [contractsGross, usdNet];
    this.record(order, trade.size, trade.usd, { contracts, usd }, trade);
    this.watch.matched(order, {
      size: trade.size,
      usd: trade.usd,
      tradeEventId: order.taking.tradeEventId,
      takerOrderId: order.id,
      takerAccount: order.intent.profile.address,
      txHash: trade.txHash,
    });
  }

  private rest(order: MemberOrder, market: ClobMarket): void {
    const { profile, outcome, side, tick } = order.intent;
    const resting: Resting = {
      id: order.id,
      account: profile,
      outcome,
      side,
      tick: tick as number,
      remaining: remainingOf(order),
      isHouse: false,
      onFill: (fill, trade) => this.fillResting(order, fill, trade),
      onGone: () => this.stop(order, 'MARKET_CLOSED'),
    };
    order.status = 'LIVE';
    order.resting = resting;
    market.book.add(resting);
    this.floor.noteQuote(market);
    this.watch.engine(order, { type: 'PLACEMENT' });
  }

  /** A maker pays no fee; when a pair is minted or merged he is on the other token and pays or gets the other part of a dollar. */
  private fillResting(order: MemberOrder, fill: Fill, trade: Trade): void {
    const usd = trade.outcome === order.intent.outcome ? fill.usd : fill.size - fill.usd;
    this.record(order, fill.size, usd, { contracts: fill.size, usd }, trade);
    this.watch.matched(order, this.partOf(fill, usd, trade));
    if (remainingOf(order) === 0n) this.complete(order);
    else this.watch.engine(order, { type: 'UPDATE' });
  }

  /** The maker's side of a match; a stranger's order has an id that nobody here knows. */
  private partOf({ size }: Fill, usd: bigint, { account, txHash }: Trade): SettledPart {
    return {
      size,
      usd,
      tradeEventId: this.ids.uuid(),
      takerOrderId: this.ids.uuid(),
      takerAccount: account.address,
      txHash,
    };
  }

  private complete(order: MemberOrder): void {
    this.end(order, 'MATCHED', null);
    this.watch.engine(order, { type: 'EXECUTION', status: 'FILLED' });
  }

  private stop(order: MemberOrder, reason: string): void {
    this.end(order, 'CANCELED', reason);
    this.watch.engine(order, { type: 'CANCELLATION' });
  }

  /** A fill-or-kill order that its market's delay held back ends without a word. */
  private kill(order: MemberOrder, reason: 'FOK_NOT_FILLED' | 'FAK_NOT_FILLED'): void {
    this.end(order, 'UNMATCHED', reason);
    if (order.eligibleAt === null || reason !== 'FOK_NOT_FILLED') {
      this.watch.engine(order, { type: 'EXECUTION', status: 'KILLED' });
    }
  }

  private record(
    order: MemberOrder,
    size: bigint,
    usd: bigint,
    moved: { contracts: bigint; usd: bigint },
    trade: Trade,
  ): void {
    const { profile, market, outcome, side, orderType } = order.intent;
    order.filled += size;
    order.filledUsd += usd;
    const back = bookMove(profile, market.tokens[outcome], side, moved.contracts, moved.usd);
    this.undo.set(trade, [...(this.undo.get(trade) ?? []), back]);
    profile.history.push({
      kind: 'trade',
      at: trade.at,
      market,
      outcome,
      strategy: `${orderType === 'GTC' ? 'Limit' : 'Market'} ${side === 'BUY' ? 'Buy' : 'Sell'}`,
      contracts: size,
      usd,
      txHash: trade.txHash,
      orderId: order.id,
      tradeEventId: order.taking?.tradeEventId ?? this.ids.uuid(),
    });
  }

  private end(order: MemberOrder, status: MemberOrder['status'], reason: string | null): void {
    order.status = status;
    order.reason = reason;
    order.resting = null;
  }

  /** Balance first, then what the exchange may take; both less what working orders already lock. */
  private checkWallet({ profile, market, side, outcome, signed }: Intent): void {
    const locked = this.ordersOf(profile).filter(
      (order) =>
        isWorking(order) &&
        order.intent.side === side &&
        (side === 'BUY' || (order.intent.market === market && order.intent.outcome === outcome)),
    );
    const needed = locked.reduce((sum, order) => sum + lockedBy(order), signed.makerAmount);
    const { exchange, adapter } = market.venue;
    if (side === 'BUY') {
      if (profile.usdc < needed) throw refuse(400, 'Insufficient collateral balance for this order.');
      if ((profile.usdcAllowances.get(exchange) ?? 0n) < needed) {
        throw refuse(400, 'Insufficient collateral allowance for this order.');
      }
      return;
    }
    if ((profile.holdings.get(market.tokens[outcome])?.balance ?? 0n) < needed) {
      throw refuse(400, 'Insufficient conditional token balance');
    }
    const operators = adapter === null ? [exchange] : [exchange, adapter];
    if (!operators.every((operator) => profile.tokenApprovals.has(operator))) {
      throw refuse(400, 'Insufficient conditional token allowance for this order.');
    }
  }
}

const takerOf = ({ intent }: MemberOrder): Taker => ({
  account: intent.profile,
  outcome: intent.outcome,
  side: intent.side,
  limitTick: intent.tick,
  want: intent.want,
});

function fillsWhole({ intent }: MemberOrder, fills: readonly Fill[]): boolean {
  const { want } = intent;
  if ('usd' in want) return fills.reduce((sum, fill) => sum + fill.usd, 0n) === want.usd;
  return fills.reduce((sum, fill) => sum + fill.size, 0n) === want.shares;
}
