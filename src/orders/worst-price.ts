import { ONE_PRICE, priceText, sizeText, type Price, type Size } from '../core/decimal.ts';
import { orderRefused } from '../platforms/failed-placement.ts';
import type { TimeInForce } from '../core/order-model.ts';
import type { BookWalk } from '../platforms/order-contract.ts';
import type { PriceGrid } from '../platforms/price-grid.ts';
import type { BookLevel, BookSide, Side } from '../core/model.ts';

/** A market order whose worst price is not set yet. */
export interface MarketOrder {
  side: Side;
  size: Size;
  timeInForce: TimeInForce;
  /** The caller's own worst price; null = none. */
  price: Price | null;
  /** Maximum distance from the best price; null = as far as the size requires. */
  maxSlippage: Price | null;
}

/**
 * The worst price of a market order by the current book: of the last level its size needs, or the best price plus (sell: minus)
 * `maxSlippage`; the caller's price if tighter; rounded inward to the grid. 422 if nothing is offered within it, or too little for a fok.
 */
export function boundMarketOrder(
  order: MarketOrder,
  book: BookSide,
  grid: PriceGrid,
): { price: Price; walk: BookWalk } {
  const buys = order.side === 'buy';
  const levels = buys ? book.asks : book.bids;
  const [best] = levels;
  if (!best)
    throw orderRefused(
      'No liquidity',
      `The order book has no ${buys ? 'asks' : 'bids'} for this outcome: use a limit order.`,
    );
  const tighter = (a: Price, b: Price): Price => (a < b === buys ? a : b);
  const reach =
    order.maxSlippage === null ? lastNeeded(levels, order.size) : best.price + order.maxSlippage * (buys ? 1n : -1n);
  const worst = order.price === null ? reach : tighter(reach, order.price);
  const price = buys ? grid.atMost(worst) : grid.atLeast(worst);
  const walk = price === null ? null : take(levelsWithin(order.side, book, price), order.size);
  if (price === null || walk === null || walk.size === 0n) {
    throw orderRefused(
      'No liquidity within the worst price',
      'Raise max_slippage, move price, or use a limit order.',
      `best price ${priceText(best.price)}, worst price ${priceText(worst)}`,
    );
  }
  requireAll(order, walk, price);
  return { price, walk };
}

/** What the book offers a limit order that fills at once. 422 if nothing is offered within its price, or too little for a fok. */
export function walkLimitOrder(
  order: Pick<MarketOrder, 'side' | 'size' | 'timeInForce'> & { price: Price },
  book: BookSide,
): BookWalk {
  const walk = take(levelsWithin(order.side, book, order.price), order.size);
  if (walk.size === 0n) {
    const [best] = order.side === 'buy' ? book.asks : book.bids;
    throw orderRefused(
      'Nothing is offered within the price',
      'Move price, or use time_in_force gtc to wait for it.',
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
  { timeInForce, size }: Pick<MarketOrder, 'timeInForce' | 'size'>,
  walk: BookWalk,
  price: Price,
): void {
  if (timeInForce !== 'fok' || walk.size >= size) return;
  throw orderRefused(
    'The book cannot fill all of it',
    'Use ioc, a smaller size, or a worse price.',
    `${sizeText(walk.size)} of ${sizeText(size)} within ${priceText(price)}`,
  );
}

/** Price of the level at which the size is reached; of the worst level if the book holds less. */
function lastNeeded(levels: readonly BookLevel[], size: Size): Price {
  let left = size;
  for (const level of levels) {
    left -= level.size;
    if (left <= 0n) return level.price;
  }
  return levels.at(-1)?.price ?? 0n;
}

function take(levels: readonly BookLevel[], size: Size): BookWalk {
  let taken = 0n;
  let cost = 0n;
  let worst = 0n;
  let spare = 0n;
  for (const level of levels) {
    if (taken === size) break;
    const part = level.size < size - taken ? level.size : size - taken;
    taken += part;
    cost += part * level.price;
    worst = level.price;
    spare = level.size - part;
  }
  return { size: taken, cost: (cost + ONE_PRICE - 1n) / ONE_PRICE, worst, spare };
}
