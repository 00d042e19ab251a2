import { ONE_PRICE, parseSize, priceText, sizeText, usdText, type Price, type Size } from '../../../core/decimal.ts';
import type { BookWalk, OrderTerms } from '../../order-contract.ts';
import { orderRefused } from '../../failed-placement.ts';
import type { StoredMarket } from '../../contract.ts';
import { evenGrid, nearestPrices, type PriceGrid } from '../../price-grid.ts';
import { HUNDREDTH, LEAST_SPENT, down, spends, storedTick, up, walkOf } from './amounts.ts';
import { EXPIRATION_MARGIN_S } from './request.ts';

export const polymarketGrid = (market: StoredMarket, _outcomeIndex: number, tickSize: Price | null): PriceGrid =>
  evenGrid(tickSize ?? storedTick(market));

/** Rejects what Polymarket would reject or cannot express, on an exchange that can be signed for. */
export function checkPolymarketOrder(
  market: StoredMarket,
  terms: OrderTerms,
  { tickSize, nowMs }: { tickSize: Price | null; nowMs: number },
): void {
  const { price, type } = terms;
  const grid = polymarketGrid(market, terms.outcomeIndex, tickSize);
  // The bound of a market order is on the grid of a book newer than the stored step.
  if (type === 'limit' && !grid.has(price)) {
    throw orderRefused(
      'Polymarket would reject the price',
      `Use a price of the market's grid: ${nearestPrices(grid, price)}.`,
      `price: ${priceText(price)} is no multiple of ${priceText(tickSize ?? storedTick(market))}`,
    );
  }
  checkChoices(terms);
  if (terms.amount === null) checkSize(market, terms);
  checkExpiration(terms, nowMs);
  if (spends(terms)) checkSpent(terms);
}

function checkChoices({ postOnly, timeInForce, selfTradePrevention }: OrderTerms): void {
  if (selfTradePrevention !== null) {
    throw orderRefused(
      'Polymarket has no choice of self-trade prevention',
      'Leave self_trade_prevention out.',
      `self_trade_prevention: ${selfTradePrevention}`,
    );
  }
  if (postOnly && timeInForce !== 'gtc' && timeInForce !== 'gtd') {
    throw orderRefused(
      'Polymarket takes post_only for orders that rest',
      'Use time_in_force gtc or gtd, or leave post_only out.',
      `post_only: true with time_in_force ${timeInForce}`,
    );
  }
}

/** "1 or 1.01": the multiples of a hundredth around a size or an amount. */
const nearestHundredths = (value: bigint): string =>
  [down(value, HUNDREDTH), up(value, HUNDREDTH)]
    .filter((one) => one > 0n)
    .map(sizeText)
    .join(' or ');

function checkSize(market: StoredMarket, { size, timeInForce }: OrderTerms): void {
  if (size % HUNDREDTH !== 0n) {
    throw orderRefused(
      'Polymarket would reject the size',
      `Use at most two decimals: ${nearestHundredths(size)}.`,
      `size: ${sizeText(size)} has more than two decimals`,
    );
  }
  const { min_order_size: stored } = market.metadata;
  const least = typeof stored === 'number' ? parseSize(stored) : 0n;
  if ((timeInForce === 'gtc' || timeInForce === 'gtd') && size < least) {
    throw orderRefused(
      'The order is too small to rest on Polymarket',
      `Use a size of ${sizeText(least)} or more, or time_in_force ioc or fok.`,
      `size: ${sizeText(size)} is below the market's minimum of ${sizeText(least)}`,
    );
  }
}

/** What a purchase that fills at once spends. */
function checkSpent(terms: OrderTerms): void {
  const { amount, size, timeInForce } = terms;
  const walk = walkOf(terms);
  if (walk.size === 0n || (timeInForce === 'fok' && walk.size < size)) {
    throw orderRefused(
      'The book does not offer the size within the price',
      'Use a smaller size or a higher price, or time_in_force gtc to wait for it.',
      `size: ${sizeText(walk.size)} of ${sizeText(size)} is offered at ${priceText(terms.price)} or less`,
    );
  }
  if (amount !== null && amount % HUNDREDTH !== 0n) {
    throw orderRefused(
      'Polymarket would reject the amount',
      `Use at most two decimals: ${nearestHundredths(amount)}.`,
      `amount: ${usdText(amount)} has more than two decimals`,
    );
  }
  if (amount === null && timeInForce === 'fok') checkCents(size, walk);
  if ((amount ?? walk.cost) >= LEAST_SPENT) return;
  const enough = up((LEAST_SPENT * walk.size + walk.cost - 1n) / walk.cost, HUNDREDTH);
  const least = amount === null ? `a size of ${sizeText(enough)}` : `an amount of ${usdText(LEAST_SPENT)}`;
  throw orderRefused(
    'The order is too small for Polymarket',
    `A purchase that fills at once spends at least 1 pUSD: use ${least} or more.`,
    `${amount === null ? `size: ${sizeText(size)} costs` : 'amount:'} ${usdText(amount ?? walk.cost)} pUSD`,
  );
}

/** A fok spends all of its whole cents, or nothing: the book has to offer what the part of a cent buys beyond the size. */
function checkCents(size: Size, { cost, worst, spare }: BookWalk): void {
  const beyond = up(cost, HUNDREDTH) - cost;
  if ((spare * worst) / ONE_PRICE >= beyond) return;
  const over = cost - down(cost, HUNDREDTH);
  const smaller = size - up((over * ONE_PRICE + worst - 1n) / worst, HUNDREDTH);
  throw orderRefused(
    'Polymarket cannot spend the exact cost of the size',
    `A fok purchase spends whole cents: ${smaller > 0n ? `use a size of ${sizeText(smaller)}` : 'use another size'}, or time_in_force ioc.`,
    `size: ${sizeText(size)} costs ${usdText(cost)} pUSD, and the book offers nothing more at ${priceText(worst)}`,
  );
}

/** The sent expiration, which includes the margin, must be three minutes ahead. */
const LEAST_LIFE_MS = 180_000 - EXPIRATION_MARGIN_S * 1000;

function checkExpiration({ expirationMs }: OrderTerms, nowMs: number): void {
  if (expirationMs === null || expirationMs - nowMs >= LEAST_LIFE_MS) return;
  throw orderRefused(
    'Polymarket would reject the expiration',
    `Keep the order valid for ${LEAST_LIFE_MS / 1000} seconds or more, or use time_in_force gtc.`,
    `expiration: ${new Date(expirationMs).toISOString()} is ${Math.max(0, Math.floor((expirationMs - nowMs) / 1000))} s ahead`,
  );
}
