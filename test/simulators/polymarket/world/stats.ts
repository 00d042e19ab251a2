import { divideHalfEven } from '../../../../src/core/decimal.ts';
import { isClosed, type SimEvent, type SimFee, type SimMarket } from './model.ts';
import { outcomeOf, sideOf } from './tape.ts';
import { DAY, ONE, usdOf } from './units.ts';
import type { PolymarketWorld } from './world.ts';

/** Numbers about a market as the platform's rows carry them, computed from the tape and the book at the world's present time. */

const [VOLUME, MID, LAST_PRICE, FORM] = [2, 3, 4, 5] as const;

/** The rolling windows of volume keys, by their name on the wire. */
export const WINDOWS = { '24hr': DAY, '1wk': 7 * DAY, '1mo': 30 * DAY, '1yr': 365 * DAY } as const;

/** Number behind the market's last trade up to a time, as `Rows.countUpTo`. */
const tradesUpTo = ({ trades }: SimMarket, atMs: number): number => trades.countUpTo(Math.floor(atMs / 1000));

/** Σ notional of the taker rows of the last `windowMs`. */
export function volumeOver(world: PolymarketWorld, market: SimMarket, windowMs: number): bigint {
  const before = tradesUpTo(market, world.now() - windowMs);
  return before === 0 ? market.volume : market.volume - BigInt(market.trades.cell(before - 1, VOLUME));
}

/** The first outcome's midpoint now; what it paid once resolved. */
export function currentPrice(world: PolymarketWorld, market: SimMarket): bigint {
  if (market.payouts) return market.payouts[0] ?? 0n;
  return world.book(market)?.mid() ?? midAt(market, world.now()) ?? market.openMid;
}

/** The first outcome's midpoint at a time; null before the market took orders. */
export function midAt(market: SimMarket, atMs: number): bigint | null {
  const trades = tradesUpTo(market, atMs);
  if (trades > 0) return BigInt(market.trades.cell(trades - 1, MID));
  return atMs >= (market.acceptingFromMs ?? market.createdMs) ? market.openMid : null;
}

/** Change of the midpoint over a window; null when the market is younger. */
export function changeOver(world: PolymarketWorld, market: SimMarket, windowMs: number): bigint | null {
  const endMs = market.closedMs ?? world.now();
  const before = midAt(market, endMs - windowMs);
  const after = isClosed(market) ? midAt(market, endMs) : currentPrice(world, market);
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
export function lastTrade(market: SimMarket): { price: bigint; firstPrice: bigint; side: 'BUY' | 'SELL' } | null {
  const { trades } = market;
  if (trades.length === 0) return null;
  const firstPrice = BigInt(trades.last(LAST_PRICE, 0));
  const form = trades.last(FORM, 0);
  return { firstPrice, price: outcomeOf(form) === 0 ? firstPrice : ONE - firstPrice, side: sideOf(form) };
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
