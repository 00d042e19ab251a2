import { divideHalfEven } from '../../../../src/core/decimal.ts';
import { isClosed, type SimEvent, type SimFee, type SimMarket } from './model.ts';
import { DAY, ONE, usdOf } from './units.ts';
import type { PolymarketWorld } from './world.ts';

/** Numbers about a market as the platform's rows carry them, computed from the tape and the book at the world's present time. */

/** The rolling windows of volume keys, by their name on the wire. */
export const WINDOWS = { '24hr': DAY, '1wk': 7 * DAY, '1mo': 30 * DAY, '1yr': 365 * DAY } as const;

/** Position in market.trades of the first trade later than a time. */
function firstAfter(world: PolymarketWorld, market: SimMarket, atMs: number): number {
  const { tape } = world.ledger;
  let low = 0;
  let high = market.trades.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (tape.timestamp(market.trades[middle] as number) * 1000 <= atMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Σ notional of the taker rows of the last `windowMs`. */
export function volumeOver(world: PolymarketWorld, market: SimMarket, windowMs: number): bigint {
  const first = market.trades[firstAfter(world, market, world.now() - windowMs)];
  return first === undefined ? 0n : market.volume - BigInt(world.ledger.tape.volumeBefore(first));
}

/** The first outcome's midpoint now; what it paid once resolved. */
export function currentPrice(world: PolymarketWorld, market: SimMarket): bigint {
  if (market.payouts) return market.payouts[0] ?? 0n;
  return world.book(market)?.mid() ?? midAt(world, market, world.now()) ?? market.openMid;
}

/** The first outcome's midpoint at a time; null before the market took orders. */
export function midAt(world: PolymarketWorld, market: SimMarket, atMs: number): bigint | null {
  const last = market.trades[firstAfter(world, market, atMs) - 1];
  if (last !== undefined) return world.ledger.tape.midAfter(last);
  return atMs >= (market.acceptingFromMs ?? market.createdMs) ? market.openMid : null;
}

/** Change of the midpoint over a window; null when the market is younger. */
export function changeOver(world: PolymarketWorld, market: SimMarket, windowMs: number): bigint | null {
  const endMs = market.closedMs ?? world.now();
  const before = midAt(world, market, endMs - windowMs);
  const after = isClosed(market) ? midAt(world, market, endMs) : currentPrice(world, market);
  return before === null || after === null ? null : after - before;
}

/** Collateral at rest: Σ bid × size + Σ (1 − ask) × size over the whole book. */
export function liquidity(world: PolymarketWorld, market: SimMarket): bigint {
  const book = world.book(market);
  if (!book) return 0n;
  let sum = 0n;
  for (const order of book.side('bid')) sum += usdOf(order.price, order.left);
  for (const order of book.side('ask')) sum += usdOf(ONE - order.price, order.left);
  return sum;
}

/** The last match: its price in the token it was made in, and in terms of the first outcome. */
export function lastTrade(
  world: PolymarketWorld,
  market: SimMarket,
): { price: bigint; firstPrice: bigint; side: 'BUY' | 'SELL' } | null {
  const index = market.trades.at(-1);
  const trade = index === undefined ? null : world.trade(index);
  const fill = trade?.fills.at(-1);
  if (!trade || !fill) return null;
  const firstPrice = fill.outcome === 0 ? fill.price : ONE - fill.price;
  return { firstPrice, price: trade.outcome === 0 ? firstPrice : ONE - firstPrice, side: trade.side };
}

/** 1 / (1 + (mid − 0.5)²), ×10^10. */
export function competitive(mid: bigint): bigint {
  const distance = mid - ONE / 2n;
  return divideHalfEven(ONE * ONE * ONE, ONE * ONE + distance * distance);
}

export const isClosedEvent = (event: SimEvent): boolean => event.markets.length > 0 && event.markets.every(isClosed);

/** Taker fee in USD: shares × rate × (p(1−p))^exponent, to five decimals, at least 0.00001. */
export function takerFee(fee: SimFee | null, price: bigint, size: bigint): bigint {
  if (!fee || fee.rateBps === 0) return 0n;
  const exponent = BigInt(fee.exponent);
  const numerator = size * BigInt(fee.rateBps) * (price * (ONE - price)) ** exponent;
  const rounded = divideHalfEven(numerator, 10_000n * (ONE * ONE) ** exponent * 10n);
  return (rounded > 0n ? rounded : 1n) * 10n;
}
