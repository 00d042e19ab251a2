import { ONE_PRICE, type Size, parsePrice, priceText, sizeText } from '../../../core/decimal.ts';
import type { TimeInForce } from '../../../core/order-model.ts';
import type { OrderTerms } from '../../order-contract.ts';
import { refusedBy } from '../../refusal-rules.ts';
import type { StoredMarket } from '../../contract.ts';
import { evenGrid, nearestPrices } from '../../price-grid.ts';
import { limitless } from '../manifest.ts';
import { LIMITLESS_CHECKS } from './advice.ts';

/** The same tick on every market. */
export const PRICE_GRID = evenGrid(parsePrice('0.001'));
/** Price × size must be whole base units of USDC: with this tick, sizes are multiples of 0.001 shares. */
export const SMALLEST_SIZE: Size = limitless.smallestSize;

/** What an order gives and gets, in base units: signed, so that it never trades at a worse price. */
export interface OrderAmounts {
  orderType: 'GTC' | 'FAK';
  makerAmount: bigint;
  takerAmount: bigint;
}

/** Throws 422 for a market without an order book. */
export function checkTradable(market: StoredMarket, outcomeIndex: number): void {
  const { trade_type: tradeType, collateral } = market.metadata;
  const token = market.outcomes[outcomeIndex]?.tokenId ?? '';
  if (tradeType !== 'amm' && /^\d{1,78}$/.test(token) && (collateral ?? 'USDC') === 'USDC') return;
  throw refusedBy(LIMITLESS_CHECKS.noBook);
}

/** The terms in Limitless's form; throws 422 for what it would reject or cannot express. */
export function orderAmounts({ side, price, size, timeInForce }: OrderTerms): OrderAmounts {
  const orderType = orderTypeOf(timeInForce);
  if (!PRICE_GRID.has(price)) {
    throw refusedBy(LIMITLESS_CHECKS.price, `price: ${priceText(price)}`, nearestPrices(PRICE_GRID, price));
  }
  if (size <= 0n || size % SMALLEST_SIZE !== 0n) {
    throw refusedBy(LIMITLESS_CHECKS.size, `size: ${sizeText(size)}`, nearestSizes(size));
  }
  const collateral = (price * size) / ONE_PRICE;
  const [makerAmount, takerAmount] = side === 'buy' ? [collateral, size] : [size, collateral];
  if (makerAmount > Number.MAX_SAFE_INTEGER || takerAmount > Number.MAX_SAFE_INTEGER) {
    throw refusedBy(LIMITLESS_CHECKS.tooLarge, `size: ${sizeText(size)}`);
  }
  return { orderType, makerAmount, takerAmount };
}

/**
 * A fill-or-kill order of Limitless states only what it gives: USDC, or shares. It takes any price that the book has when it arrives,
 * so neither a price nor a number of shares can be kept. It is refused.
 */
function orderTypeOf(timeInForce: TimeInForce): OrderAmounts['orderType'] {
  switch (timeInForce) {
    case 'gtc':
      return 'GTC';
    case 'ioc':
      return 'FAK';
    case 'gtd':
      throw refusedBy(LIMITLESS_CHECKS.gtd);
    case 'fok':
      throw refusedBy(LIMITLESS_CHECKS.fok);
  }
}

function nearestSizes(size: Size): string {
  const below = size > 0n ? (size / SMALLEST_SIZE) * SMALLEST_SIZE : 0n;
  return [below, below + SMALLEST_SIZE]
    .filter((one) => one > 0n)
    .map(sizeText)
    .join(' or ');
}
