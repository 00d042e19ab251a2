import { ONE_PRICE, priceText, sizeText, usdText, type Price, type Size, type Usd } from '../../core/decimal.ts';
import { refused } from '../refusals.ts';
import { canRest, type TimeInForce } from '../../core/order-model.ts';
import type { BookWalk } from '../../platforms/order-contract.ts';
import type { PriceGrid } from '../../platforms/price-grid.ts';
import type { BookLevel, BookSide, Side } from '../../core/model.ts';

/** A market order whose worst price is not set yet. */
export interface MarketOrder extends Wanted {
  side: Side;
  timeInForce: TimeInForce;
  /** The caller's own worst price; null = none. */
  price: Price | null;
  /** Maximum distance from the best price; null = as far as the size or amount requires. */
  maxSlippage: Price | null;
  /** The platform's smallest step of a size: what an amount buys is rounded down to it. */
  smallestSize: Size;
  /** true: an amount is sent as a size that costs no more at the worst price. false: the platform itself spends the amount. */
  isSized: boolean;
}

/** How much of a book is wanted: a size, or what an amount of USD buys. */
interface Wanted {
  size: Size | null;
  amount: Usd | null;
}

/**
 * The worst price of a market order in the current book: the price of the last level that it needs, or best price + `maxSlippage` (sell:
 * −). The caller's price counts if it is stricter. The result is rounded to the grid, towards the best price. 422 if nothing is offered
 * within it, or too little for a fok.
 */
export function boundMarketOrder(
  order: MarketOrder,
  book: BookSide,
  grid: PriceGrid,
): { price: Price; size: Size; walk: BookWalk } {
  const buys = order.side === 'buy';
  const levels = buys ? book.asks : book.bids;
  const [best] = levels;
  if (!best) throw refused('emptyBook', `the order book has no ${buys ? 'asks' : 'bids'} for this outcome`);
  const tighter = (a: Price, b: Price): Price => (a < b === buys ? a : b);
  const { maxSlippage, price: given } = order;
  const slipped = maxSlippage === null ? null : best.price + maxSlippage * (buys ? 1n : -1n);
  const reach = slipped ?? neededPrice(levels, order);
  const worst = given === null ? reach : tighter(reach, given);
  const price = buys ? grid.atMost(worst) : grid.atLeast(worst);
  const walk = price === null ? null : take(levelsWithin(order.side, book, price), order);
  if (price === null || walk === null || walk.size === 0n) {
    throw refused('outOfReach', `best price ${priceText(best.price)}, worst price ${priceText(worst)}`);
  }
  if (order.size === null) {
    const limits = [slipped, given].filter((one) => one !== null);
    const allowed = levels.filter((level) => limits.every((limit) => level.price <= limit));
    return { price, ...spend(order, { walk, whole: take(allowed, order), levels }, price) };
  }
  requireAll({ ...order, size: order.size }, walk, price);
  return { price, size: order.size, walk };
}

/** Price of the last level that an order needs. If an amount is sent as a size: the price of the level at which it buys most. */
function neededPrice(levels: readonly BookLevel[], order: MarketOrder): Price {
  const { worst } = take(levels, order);
  if (order.amount === null || !order.isSized) return worst;
  let offered = 0n;
  let most = 0n;
  let needed = worst;
  for (const level of levels) {
    offered += level.size;
    const affordable = affordableSize(order.amount, level.price);
    const size = offered < affordable ? offered : affordable;
    if (size > most) [most, needed] = [size, level.price];
    // At worse prices it buys less.
    if (affordable <= most) break;
  }
  return needed;
}

const affordableSize = (amount: Usd, price: Price): Size => (amount * ONE_PRICE) / price;

/**
 * The size that an amount buys in `walk`, the book up to `price`, rounded down to the platform's smallest size. If it is sent as a size,
 * size × `price` is at most the amount. 422 if the size is 0, or if a fok cannot spend its amount in `whole`, the book within the
 * caller's limits.
 */
function spend(
  { amount, timeInForce, smallestSize, isSized }: MarketOrder,
  { walk, whole, levels }: { walk: BookWalk; whole: BookWalk; levels: readonly BookLevel[] },
  price: Price,
): { size: Size; walk: BookWalk } {
  const usd = amount ?? 0n;
  const wanted = usdText(usd);
  const affordable = affordableSize(usd, price);
  const most = isSized && affordable < walk.size ? affordable : walk.size;
  const size = most - (most % smallestSize);
  if (size === 0n) {
    throw refused('amountTooSmall', `amount: ${wanted} USD buys less than ${sizeText(smallestSize)}`);
  }
  // The book ended before the amount was spent.
  if (timeInForce === 'fok' && whole.spare === 0n && whole.cost < usd) {
    throw refused('notWhole', `${usdText(whole.cost)} of ${wanted} USD within ${priceText(price)}`);
  }
  return { size, walk: take(levels, { size, amount: null }) };
}

/** What the book offers a limit order; null if it can only rest. 422 if ioc or fok is offered nothing within its price, or too little. */
export function walkLimitOrder(
  order: Pick<MarketOrder, 'side' | 'timeInForce'> & { price: Price; size: Size },
  book: BookSide,
): BookWalk | null {
  const walk = take(levelsWithin(order.side, book, order.price), { size: order.size, amount: null });
  if (walk.size === 0n) {
    if (canRest(order.timeInForce)) return null;
    const [best] = order.side === 'buy' ? book.asks : book.bids;
    throw refused(
      'notOffered',
      best ? `best price ${priceText(best.price)}, price ${priceText(order.price)}` : 'the order book is empty',
    );
  }
  requireAll(order, walk, order.price);
  return walk;
}

function levelsWithin(side: Side, book: BookSide, price: Price): BookLevel[] {
  return side === 'buy'
    ? book.asks.filter((level) => level.price <= price)
    : book.bids.filter((level) => level.price >= price);
}

/** 422 for a fok order that the book cannot fill. */
function requireAll(
  { timeInForce, size }: { timeInForce: TimeInForce; size: Size },
  walk: BookWalk,
  price: Price,
): void {
  if (timeInForce !== 'fok' || walk.size >= size) return;
  throw refused('notWhole', `${sizeText(walk.size)} of ${sizeText(size)} within ${priceText(price)}`);
}

/** Levels best first, until the size or the amount is reached. */
function take(levels: readonly BookLevel[], { size, amount }: Wanted): BookWalk {
  let taken = 0n;
  let cost = 0n;
  let worst = 0n;
  let spare = 0n;
  for (const level of levels) {
    const left = size === null ? ((amount ?? 0n) * ONE_PRICE - cost) / level.price : size - taken;
    if (left <= 0n) break;
    const part = level.size < left ? level.size : left;
    taken += part;
    cost += part * level.price;
    worst = level.price;
    spare = level.size - part;
  }
  return { size: taken, cost: (cost + ONE_PRICE - 1n) / ONE_PRICE, worst, spare };
}
