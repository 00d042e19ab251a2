import { notionalUsd, ONE_PRICE, PRICE_SCALE, SIZE_SCALE, USD_SCALE, type Usd } from '../../core/decimal.ts';
import type { StoredMarket } from '../../platforms/contract.ts';
import type { OrderTerms } from '../../platforms/order-contract.ts';
import { MANIFESTS } from '../../platforms/manifests.ts';

/**
 * The result of an order that fills at its worst price, as one fill of a taker. A better price makes cost and fee together better, unless
 * the platform spends a budget: then it buys more, and the fee of more can be higher.
 */
export interface WorstCase {
  /** Price × size, or the amount that the platform itself spends: spent by a purchase, received by a sale. */
  usd: Usd;
  /** USD, added to what is spent or taken from what is received. A fee in contracts counts at the price. null if unknown. */
  fee: Usd | null;
}

const MONEY_PER_USD = 10n ** BigInt(PRICE_SCALE + SIZE_SCALE - USD_SCALE);

/** `budget`: the most that the platform spends, if the order states it, also on offers that come later; null if a size is sent. */
export function worstCase(
  { platform, metadata }: StoredMarket,
  { side, price, size }: Pick<OrderTerms, 'side' | 'price' | 'size'>,
  budget: Usd | null,
): WorstCase {
  const asked = notionalUsd(price, size);
  const filled = budget !== null && budget > asked ? (budget * ONE_PRICE + price - 1n) / price : size;
  const fee = MANIFESTS[platform].fillFee(metadata, price, filled, side);
  const money = fee && fee.paid + fee.kept * price;
  return {
    usd: budget ?? asked,
    // Rounded up: a fee stated too low would be no worst case.
    fee: money === null ? null : (money + MONEY_PER_USD - 1n) / MONEY_PER_USD,
  };
}
