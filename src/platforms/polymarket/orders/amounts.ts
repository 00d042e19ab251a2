import {
  ONE_PRICE,
  SIZE_SCALE,
  decimalNumber,
  parsePrice,
  parseUsd,
  USD_SCALE,
  type Price,
  type Size,
  type Usd,
} from '../../../core/decimal.ts';
import { canRest } from '../../../core/order-model.ts';
import type { JsonObject } from '../../../core/model.ts';
import type { BookWalk, OrderTerms } from '../../order-contract.ts';
import type { StoredMarket } from '../../contract.ts';
import { metadataPrice } from '../../price-grid.ts';

/** Every price step, with the number of decimals that the pUSD side of an order may have. */
const TICKS: readonly [tick: Price, amountDecimals: number][] = [
  [parsePrice('0.1'), 3],
  [parsePrice('0.01'), 4],
  [parsePrice('0.005'), 5],
  [parsePrice('0.0025'), 6],
  [parsePrice('0.001'), 5],
  [parsePrice('0.0001'), 6],
];
const CENT = parsePrice('0.01');
/** The smallest step of shares, and of the pUSD that an ioc or fok purchase may spend, ×10^6. */
export const HUNDREDTH = 10_000n;
/** The least that a purchase may spend when it fills at once. */
export const LEAST_SPENT: Usd = parseUsd('1');

export const down = (value: bigint, step: bigint): bigint => (value / step) * step;
export const up = (value: bigint, step: bigint): bigint => down(value + step - 1n, step);

/** An ioc or fok purchase has no size on the wire: it is bounded by what it spends, so a better price buys more shares. */
export const spends = ({ side, timeInForce }: Pick<OrderTerms, 'side' | 'timeInForce'>): boolean =>
  side === 'buy' && (timeInForce === 'ioc' || timeInForce === 'fok');

/** A purchase that may rest, and that Polymarket refuses if it would trade at once. */
export const isTooSmallToFill = ({
  side,
  timeInForce,
  postOnly,
  price,
  size,
}: Pick<OrderTerms, 'side' | 'timeInForce' | 'postOnly' | 'price' | 'size'>): boolean =>
  side === 'buy' && canRest(timeInForce) && !postOnly && (price * size) / ONE_PRICE < LEAST_SPENT;

/** What the book offers an ioc or fok purchase. Throws if the caller has not read the book: the order would buy another size. */
export function walkOf({ walk }: Pick<OrderTerms, 'walk'>): BookWalk {
  if (walk === null) throw new Error('an ioc or fok purchase without a read of the book');
  return walk;
}

/** The budget of such an order: the caller's amount, else what the size costs in the book, rounded up to cents. */
export const budgetOf = (terms: Pick<OrderTerms, 'amount' | 'walk'>): Usd =>
  terms.amount ?? up(walkOf(terms).cost, HUNDREDTH);

/**
 * The price for which such an order is signed. A fok is signed for the last level that it needs: at a worse price its budget would buy
 * less than its size.
 */
const boundOf = (terms: OrderTerms): Price =>
  terms.timeInForce === 'fok' && terms.amount === null ? walkOf(terms).worst : terms.price;

/** The budget of a sent order; null if its size bounds it. */
export function budgetSent(terms: OrderTerms, wire: JsonObject): Usd | null {
  const { makerAmount } = (wire.order ?? {}) as JsonObject;
  return spends(terms) && typeof makerAmount === 'string' ? BigInt(makerAmount) : null;
}

/** pUSD and shares of an order as signed, ×10^6. For an ioc or fok purchase, shares are the minimum. */
export function orderAmounts(market: StoredMarket, terms: OrderTerms): { usd: Usd; shares: Size } {
  if (!spends(terms)) return { usd: (terms.price * terms.size) / ONE_PRICE, shares: terms.size };
  const usd = budgetOf(terms);
  const price = boundOf(terms);
  const step = 10n ** BigInt(SIZE_SCALE - amountDecimals(terms.tickSize ?? storedTick(market), price));
  return { usd, shares: down((usd * ONE_PRICE) / price, step) };
}

export const storedTick = (market: StoredMarket): Price => metadataPrice(market.metadata, 'tick_size') ?? CENT;

/** By the market's step; if that does not have the price, by the coarsest step that does. */
function amountDecimals(tick: Price, price: Price): number {
  const own = TICKS.find(([step]) => step === tick && price % step === 0n);
  return (own ?? TICKS.find(([step]) => price % step === 0n) ?? [tick, 4])[1];
}

/** What a purchase gives as signed, and the minimum it takes if a better price buys more. */
export function purchaseFacts(
  terms: OrderTerms,
  { makerAmount, takerAmount }: { makerAmount: string; takerAmount: string },
): JsonObject {
  if (terms.side === 'sell') return {};
  const least = spends(terms) ? { least_shares: decimalNumber(BigInt(takerAmount), SIZE_SCALE) } : {};
  return { collateral: decimalNumber(BigInt(makerAmount), USD_SCALE), ...least };
}
