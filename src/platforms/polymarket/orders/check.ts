import { ONE_PRICE, parseSize, priceText, sizeText, usdText, type Price, type Size } from '../../../core/decimal.ts';
import type { BookWalk, OrderTerms } from '../../order-contract.ts';
import { refusedBy } from '../../refusal-rules.ts';
import { POLYMARKET_CHECKS } from './advice.ts';
import type { StoredMarket } from '../../contract.ts';
import { evenGrid, nearestPrices, type PriceGrid } from '../../price-grid.ts';
import { HUNDREDTH, LEAST_SPENT, budgetOf, down, spends, storedTick, up, walkOf } from './amounts.ts';
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
  // If the event names another outcome, this market covers fewer outcomes. Shares that a wallet holds may still be sold.
  if (terms.side === 'buy' && market.metadata['neg_risk_other'] === true) {
    throw refusedBy(POLYMARKET_CHECKS.placeholder, 'market_id: metadata.neg_risk_other is true');
  }
  const grid = polymarketGrid(market, terms.outcomeIndex, tickSize);
  // The bound of a market order is on the grid of a book newer than the stored step.
  if (type === 'limit' && !grid.has(price)) {
    const fault = `price: ${priceText(price)} is no multiple of ${priceText(tickSize ?? storedTick(market))}`;
    throw refusedBy(POLYMARKET_CHECKS.price, fault, nearestPrices(grid, price));
  }
  checkChoices(terms);
  if (terms.amount === null) checkSize(market, terms);
  checkExpiration(terms, nowMs);
  if (spends(terms)) checkSpent(terms);
}

function checkChoices({ postOnly, timeInForce, selfTradePrevention }: OrderTerms): void {
  if (selfTradePrevention !== null) {
    throw refusedBy(POLYMARKET_CHECKS.selfTrade, `self_trade_prevention: ${selfTradePrevention}`);
  }
  if (postOnly && timeInForce !== 'gtc' && timeInForce !== 'gtd') {
    throw refusedBy(POLYMARKET_CHECKS.postOnly, `post_only: true with time_in_force ${timeInForce}`);
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
    const fault = `size: ${sizeText(size)} has more than two decimals`;
    throw refusedBy(POLYMARKET_CHECKS.size, fault, nearestHundredths(size));
  }
  const { min_order_size: stored } = market.metadata;
  const least = typeof stored === 'number' ? parseSize(stored) : 0n;
  if ((timeInForce === 'gtc' || timeInForce === 'gtd') && size < least) {
    const fault = `size: ${sizeText(size)} is below the market's minimum of ${sizeText(least)}`;
    throw refusedBy(POLYMARKET_CHECKS.tooSmallToRest, fault, `${sizeText(least)} or more`);
  }
}

/** What a purchase that fills at once spends. */
function checkSpent(terms: OrderTerms): void {
  const { amount, size, timeInForce } = terms;
  const walk = walkOf(terms);
  if (walk.size === 0n || (timeInForce === 'fok' && walk.size < size)) {
    const fault = `size: ${sizeText(walk.size)} of ${sizeText(size)} is offered at ${priceText(terms.price)} or less`;
    throw refusedBy(POLYMARKET_CHECKS.notOffered, fault);
  }
  if (amount !== null && amount % HUNDREDTH !== 0n) {
    const fault = `amount: ${usdText(amount)} has more than two decimals`;
    throw refusedBy(POLYMARKET_CHECKS.amount, fault, nearestHundredths(amount));
  }
  if (amount === null && timeInForce === 'fok') checkCents(size, walk);
  if (budgetOf(terms) >= LEAST_SPENT) return;
  const enough = up((LEAST_SPENT * walk.size + walk.cost - 1n) / walk.cost, HUNDREDTH);
  const least = amount === null ? `a size of ${sizeText(enough)}` : `an amount of ${usdText(LEAST_SPENT)}`;
  const asked = amount === null ? `size: ${sizeText(size)} costs` : 'amount:';
  throw refusedBy(POLYMARKET_CHECKS.tooSmall, `${asked} ${usdText(amount ?? walk.cost)} pUSD`, `use ${least} or more`);
}

/** A fok spends whole cents or nothing. If the cost is rounded up to a cent, the book must offer the shares that the rest of it buys. */
function checkCents(size: Size, { cost, worst, spare }: BookWalk): void {
  const beyond = up(cost, HUNDREDTH) - cost;
  if ((spare * worst) / ONE_PRICE >= beyond) return;
  const over = cost - down(cost, HUNDREDTH);
  const smaller = size - up((over * ONE_PRICE + worst - 1n) / worst, HUNDREDTH);
  const fault = `size: ${sizeText(size)} costs ${usdText(cost)} pUSD, and the book offers nothing more at ${priceText(worst)}`;
  throw refusedBy(POLYMARKET_CHECKS.cents, fault, smaller > 0n ? sizeText(smaller) : '');
}

/** The sent expiration, which includes the margin, must be three minutes ahead. */
const LEAST_LIFE_MS = 180_000 - EXPIRATION_MARGIN_S * 1000;

function checkExpiration({ expirationMs }: OrderTerms, nowMs: number): void {
  if (expirationMs === null || expirationMs - nowMs >= LEAST_LIFE_MS) return;
  const seconds = Math.max(0, Math.floor((expirationMs - nowMs) / 1000));
  throw refusedBy(
    POLYMARKET_CHECKS.expiration,
    `expiration: ${new Date(expirationMs).toISOString()} is ${seconds} s ahead`,
  );
}
