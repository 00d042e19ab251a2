import { ONE_PRICE, type Price, type Size, parsePrice, parseSize, priceText, sizeText } from '../../../core/decimal.ts';
import type { OrderTerms } from '../../order-contract.ts';
import { orderRefused } from '../../failed-placement.ts';
import type { StoredMarket } from '../../contract.ts';
import { evenGrid, nearestPrices } from '../../price-grid.ts';

/** The same tick on every market. */
export const PRICE_GRID = evenGrid(parsePrice('0.001'));
/** Price × size must be whole base units of USDC: with this tick, sizes are multiples of 0.001 shares. */
const SIZE_STEP: Size = parseSize('0.001');

export type LimitlessOrderType = 'GTC' | 'FAK' | 'FOK';

/** What an order gives and gets, in base units, and the price sent along with them. */
export interface OrderAmounts {
  orderType: LimitlessOrderType;
  makerAmount: bigint;
  takerAmount: bigint;
  /** null for FOK, which must not contain a price. */
  price: Price | null;
}

/** Throws 422 for a market without an order book. */
export function checkTradable(market: StoredMarket, outcomeIndex: number): void {
  const { trade_type: tradeType, collateral } = market.metadata;
  const token = market.outcomes[outcomeIndex]?.tokenId ?? '';
  if (tradeType !== 'amm' && /^\d{1,78}$/.test(token) && (collateral ?? 'USDC') === 'USDC') return;
  throw orderRefused('This Limitless market has no order book', 'Choose a market with an order book.');
}

/** The terms in Limitless's form; throws 422 for what it would reject or cannot express. */
export function orderAmounts(terms: OrderTerms): OrderAmounts {
  const orderType = orderTypeOf(terms);
  const { side, price, size } = terms;
  if (!PRICE_GRID.has(price)) {
    throw orderRefused(
      'Limitless accepts prices in steps of 0.001',
      `Nearest valid prices: ${nearestPrices(PRICE_GRID, price)}.`,
      `price: ${priceText(price)}`,
    );
  }
  if (size <= 0n || size % SIZE_STEP !== 0n) {
    throw orderRefused(
      'Limitless accepts sizes in steps of 0.001 shares',
      `Nearest valid sizes: ${nearestSizes(size)}.`,
      `size: ${sizeText(size)}`,
    );
  }
  const [makerAmount, takerAmount] = orderType === 'FOK' ? given(terms) : exchanged(side, price, size);
  if (makerAmount > Number.MAX_SAFE_INTEGER || takerAmount > Number.MAX_SAFE_INTEGER) {
    throw orderRefused('The order is too large for Limitless', 'Lower the size.', `size: ${sizeText(size)}`);
  }
  return { orderType, makerAmount, takerAmount, price: orderType === 'FOK' ? null : price };
}

function orderTypeOf({ type, timeInForce }: OrderTerms): LimitlessOrderType {
  if (timeInForce === 'gtc') return 'GTC';
  if (timeInForce === 'ioc') return 'FAK';
  if (timeInForce === 'gtd') {
    throw orderRefused('Limitless orders cannot expire (gtd)', 'Use gtc and cancel the order, or ioc.');
  }
  if (type === 'market') return 'FOK';
  throw orderRefused(
    'A limit order cannot be fok on Limitless: its fill-or-kill orders carry no price',
    'Use ioc, which keeps the limit, or type market.',
  );
}

const exchanged = (side: OrderTerms['side'], price: Price, size: Size): [maker: bigint, taker: bigint] => {
  const collateral = (price * size) / ONE_PRICE;
  return side === 'buy' ? [collateral, size] : [size, collateral];
};

/** Fill-or-kill orders state only what they give: the USDC that the walked book costs, or the shares. */
function given({ side, size, walk }: OrderTerms): [maker: bigint, taker: 1n] {
  if (walk === null || walk.size < size) {
    throw orderRefused(
      'The order book is too thin to fill the order at once',
      `Lower the size to ${sizeText(walk?.size ?? 0n)} or use ioc.`,
      `size: ${sizeText(size)}`,
    );
  }
  return [side === 'buy' ? walk.cost : size, 1n];
}

function nearestSizes(size: Size): string {
  const below = size > 0n ? (size / SIZE_STEP) * SIZE_STEP : 0n;
  return [below, below + SIZE_STEP]
    .filter((one) => one > 0n)
    .map(sizeText)
    .join(' or ');
}
