import { Queue, type Rng } from '../lib/index.ts';
import type { Fill, Taker } from './book.ts';
import { makerAmountOf, printedPrice, tradeSize } from './history.ts';
import type { Ids } from './ids.ts';
import { inYesTerms, TICKS, type Account, type ClobMarket, type Outcome, type Side, type Trade } from './model.ts';

/** A half spread that leaves a market without quotes of the house. */
export const NOBODY_QUOTES = TICKS / 2;
/** Somebody always bids next to nothing, so that a sweep seldom empties a side. */
const FAR = 2;

/** The market's floor: the house quotes both sides, passers-by take, and every execution lands on the tape. */
export class Floor {
  private readonly rng: Rng;
  private readonly ids: Ids;
  private readonly now: () => number;
  private readonly keptTrades: number;
  private readonly house: readonly Account[];
  readonly crowd: readonly Account[];
  /** The market of each trade since the past was settled that is kept, oldest first. */
  private readonly traded = new Queue<ClobMarket>();

  constructor(deps: {
    rng: Rng;
    ids: Ids;
    now: () => number;
    house: readonly Account[];
    crowd: readonly Account[];
    keptTrades: number;
  }) {
    this.keptTrades = deps.keptTrades;
    this.rng = deps.rng;
    this.ids = deps.ids;
    this.now = deps.now;
    this.house = deps.house;
    this.crowd = deps.crowd;
  }

  /** Replaces the house's quotes by new ones around the fair price; they never cross anyone's order. */
  quote(market: ClobMarket): void {
    const { book, fairTick, halfSpread } = market;
    book.remove((order) => order.isHouse);
    if (halfSpread >= NOBODY_QUOTES) return;
    const topBid = Math.min(fairTick - halfSpread, (book.bestAsk ?? TICKS) - 1);
    const topAsk = Math.max(fairTick + halfSpread, (book.bestBid ?? 0) + 1);
    const depth = this.rng.int(3, 6);
    for (let i = 0, step = 0; i < depth; i++, step += this.rng.int(2, 14)) {
      this.rest(market, 0, 'BUY', topBid - step);
      // Half of the asks are somebody's wish to buy NO: the book shows them merged.
      if (this.rng.chance(0.5)) this.rest(market, 0, 'SELL', topAsk + step);
      else this.rest(market, 1, 'BUY', TICKS - topAsk - step);
    }
    if (topBid > FAR) this.rest(market, 0, 'BUY', FAR);
    if (topAsk < TICKS - FAR) this.rest(market, 0, 'SELL', TICKS - FAR);
    this.noteQuote(market);
  }

  /** Executes a taker's order against the book as far as it goes; null when nothing was met. */
  take(market: ClobMarket, taker: Taker, txHash?: string): { fills: Fill[]; trade: Trade } | null {
    const fills = market.book.preview(taker);
    return fills.length === 0 ? null : { fills, trade: this.execute(market, taker, fills, { txHash }) };
  }

  /** Takes what was previewed and prints it as one row of the tape. */
  execute(market: ClobMarket, taker: Taker, fills: Fill[], details: { txHash?: string; makerAmount?: bigint }): Trade {
    market.book.apply(fills);
    const size = fills.reduce((sum, fill) => sum + fill.size, 0n);
    const usd = fills.reduce((sum, fill) => sum + fill.usd, 0n);
    const trade: Trade = {
      at: this.now(),
      txHash: details.txHash ?? this.ids.txHash(),
      outcome: taker.outcome,
      side: taker.side,
      price: printedPrice(fills),
      size,
      usd,
      makerAmount: details.makerAmount ?? makerAmountOf(this.rng, taker.side, size, usd),
      account: taker.account,
    };
    this.keep(market, trade);
    market.volume += usd;
    for (const fill of fills) fill.maker.onFill?.(fill, trade);
    this.noteQuote(market);
    return trade;
  }

  /** Lets the market live a moment: the fair price moves, the house follows, takers come. Makes 1..`most` trades. */
  step(market: ClobMarket, most: number): number {
    const [low, high] = [market.halfSpread + 2, TICKS - market.halfSpread - 2];
    market.fairTick = Math.min(high, Math.max(low, market.fairTick + this.rng.int(-5, 5)));
    this.quote(market);
    const order = this.againstMember(market) ?? this.passerBy(market);
    const first = this.take(market, order);
    if (!first) throw new Error(`nothing to trade against in ${market.slug}`);
    if (most < 2 || this.rng.next() > 0.08) return 1;
    // The settler puts the next execution into the same transaction: the same order again, or somebody else's.
    const next = this.rng.chance(0.5) ? order : this.passerBy(market);
    return this.take(market, next, first.trade.txHash) ? 2 : 1;
  }

  noteQuote(market: ClobMarket): void {
    const { quotes, book } = market;
    const [bid, ask] = [book.bestBid ?? 0, book.bestAsk ?? TICKS];
    if (quotes.last(1, -1) !== bid || quotes.last(2, -1) !== ask) quotes.push(this.now(), bid, ask);
  }

  /** The oldest trade is forgotten for it, and the quotes that were over by then. */
  private keep(market: ClobMarket, trade: Trade): void {
    market.trades.push(trade);
    market.lastTrade = trade;
    this.traded.push(market);
    if (this.traded.length <= this.keptTrades) return;
    const { trades, settledTrades, quotes } = this.traded.shift() as ClobMarket;
    const [gone] = trades.splice(settledTrades, 1);
    const goneAt = gone?.at ?? 0;
    while (quotes.fresh > 1 && quotes.cell(quotes.firstFresh + 1, 0) <= goneAt) quotes.forget();
  }

  private rest(market: ClobMarket, outcome: Outcome, side: Side, tick: number): void {
    if (tick < 1 || tick >= TICKS) return;
    // Left-overs of orders by amount are not whole thousandths; small orders lie below the reward size.
    const remaining = this.rng.chance(0.1)
      ? BigInt(this.rng.int(3_000_001, 9_999_999_999))
      : BigInt(this.rng.pick([5, 25, 50, 100, 250, 400, 1000, 2200])) * 1_000_000n;
    market.book.add({
      id: this.ids.uuid(),
      account: this.rng.pick(this.house),
      outcome,
      side,
      tick,
      remaining,
      isHouse: true,
    });
  }

  /** Someone meets the order of a member whose price the fair price has reached. */
  private againstMember(market: ClobMarket): Taker | null {
    const bid = market.book.bids.find((level) => level.tick >= market.fairTick);
    const ask = market.book.asks.find((level) => level.tick <= market.fairTick);
    const level = bid ?? ask;
    const member = level?.orders.find((order) => !order.isHouse);
    if (!level || !member) return null;
    return {
      account: this.rng.pick(this.crowd),
      outcome: 0,
      side: bid ? 'SELL' : 'BUY',
      limitTick: level.tick,
      want: { shares: this.rng.chance(0.5) ? member.remaining : tradeSize(this.rng) },
    };
  }

  private passerBy(market: ClobMarket): Taker {
    const outcome: Outcome = this.rng.chance(0.65) ? 0 : 1;
    const side: Side = this.rng.chance(0.7) ? 'BUY' : 'SELL';
    const reach = market.halfSpread + 15;
    const fair = inYesTerms(outcome, market.fairTick);
    return {
      account: this.rng.pick(this.crowd),
      outcome,
      side,
      limitTick: side === 'BUY' ? fair + reach : fair - reach,
      want: { shares: tradeSize(this.rng) },
    };
  }
}

/** The last trade in YES terms, ×10^TRADE_PRICE_SCALE; null before the first. */
export function lastYesPrice(market: ClobMarket): bigint | null {
  const last = market.lastTrade;
  if (!last) return null;
  return last.outcome === 0 ? last.price : 1_000_000n - last.price;
}

/** Best bid + best ask in ticks, which is twice the midpoint; a side without a level of at least `minSize` counts as 0 or 1. */
export function twiceMid(market: ClobMarket, minSize = 0n): number {
  const bid = market.book.bids.find((level) => level.size >= minSize)?.tick ?? 0;
  const ask = market.book.asks.find((level) => level.size >= minSize)?.tick ?? TICKS;
  return bid + ask;
}
