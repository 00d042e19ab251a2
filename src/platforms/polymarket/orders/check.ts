import { ONE_PRICE, parseSize, priceText, sizeText, usdText, type Price, type Size } from '../../../core/decimal.ts';
import type { ApiError } from '../../../core/errors.ts';
import { canRest } from '../../../core/order-model.ts';
import type { BookWalk, OrderTerms } from '../../order-contract.ts';
import { refusedBy } from '../../refusal-rules.ts';
import { POLYMARKET_CHECKS } from './advice.ts';
import type { StoredMarket } from '../../contract.ts';
import { evenGrid, nearestPrices, type PriceGrid } from '../../price-grid.ts';
import { HUNDREDTH, LEAST_SPENT, budgetOf, down, isTooSmallToFill, spends, storedTick, up, walkOf } from './amounts.ts';
import { EXPIRATION_MARGIN_S, sentExpiration } from './request.ts';

export const polymarketGrid = (market: StoredMarket, _outcomeIndex: number, tickSize: Price | null): PriceGrid =>
  evenGrid(tickSize ?? storedTick(market));

/** Rejects what Polymarket would reject or cannot express, on an exchange that can be signed for. */
export function checkPolymarketOrder(
  market: StoredMarket,
  terms: OrderTerms,
  { tickSize, nowMs }: { tickSize: Price | null; nowMs: number },
): void {
  const { price, size, type } = terms;
  // If Polymarket adds an outcome to the event, this market pays for fewer outcomes. A wallet may still sell its shares.
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
  else if (terms.walk !== null && isTooSmallToFill(terms))
    throw tooSmall(terms, { cost: (price * size) / ONE_PRICE, size, worst: price });
}

function checkChoices({ postOnly, timeInForce, selfTradePrevention }: OrderTerms): void {
  if (selfTradePrevention !== null) {
    throw refusedBy(POLYMARKET_CHECKS.selfTrade, `self_trade_prevention: ${selfTradePrevention}`);
  }
  if (postOnly && !canRest(timeInForce)) {
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
  if (canRest(timeInForce) && size < least) {
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
  if (amount === null && walk.size < size) {
    const fault = `size: ${sizeText(walk.size)} of ${sizeText(size)} is offered at ${priceText(terms.price)} or less, for ${usdText(walk.cost)} pUSD`;
    throw refusedBy(POLYMARKET_CHECKS.notOffered, `${fault}; a purchase that fills at once spends at least 1 pUSD`);
  }
  throw tooSmall(terms, walk);
}

/** 422 for a purchase that would spend too little at once. What it lacks is bought at the worst price of what it would spend, or above. */
function tooSmall({ amount, size }: OrderTerms, walk: Pick<BookWalk, 'cost' | 'size' | 'worst'>): ApiError {
  const { cost, worst } = walk;
  const enough = up(walk.size + ((LEAST_SPENT - cost) * ONE_PRICE + worst - 1n) / worst, HUNDREDTH);
  const least = amount === null ? `a size of ${sizeText(enough)}` : `an amount of ${usdText(LEAST_SPENT)}`;
  const asked = amount === null ? `size: ${sizeText(size)} costs` : 'amount:';
  return refusedBy(POLYMARKET_CHECKS.tooSmall, `${asked} ${usdText(amount ?? cost)} pUSD`, `use ${least} or more`);
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

/** The sent expiration must be three minutes ahead when the order arrives. */
const LEAST_AHEAD_S = 180;
/** An order may take this long to be signed and to arrive. */
const TRANSIT_S = 1;
/** An advised expiration is still accepted this long after the advice. */
const RETRY_S = 60;

function checkExpiration({ expirationMs }: OrderTerms, nowMs: number): void {
  if (expirationMs === null) return;
  const least = Math.ceil(nowMs / 1000) + LEAST_AHEAD_S + TRANSIT_S;
  if (sentExpiration(expirationMs) >= least) return;
  const seconds = Math.max(0, Math.floor((expirationMs - nowMs) / 1000));
  const advised = new Date((least - EXPIRATION_MARGIN_S + RETRY_S) * 1000).toISOString();
  const fault = `expiration: ${new Date(expirationMs).toISOString()} is ${seconds} s ahead`;
  throw refusedBy(POLYMARKET_CHECKS.expiration, fault, `for example ${advised}`);
}
