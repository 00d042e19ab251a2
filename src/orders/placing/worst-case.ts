import {
  notionalUsd,
  PRICE_SCALE,
  type Price,
  SIZE_SCALE,
  type Size,
  USD_SCALE,
  type Usd,
} from '../../core/decimal.ts';
import type { StoredMarket } from '../../platforms/contract.ts';
import { MANIFESTS } from '../../platforms/manifests.ts';

/** The result of an order that fills at its worst price, as one fill of a taker. No better price makes cost and fee together worse. */
export interface WorstCase {
  /** Price × size: spent by a purchase, received by a sale. */
  usd: Usd;
  /** On top of what is spent, out of what is received; contracts that the platform keeps count at the price. null if unknown. */
  fee: Usd | null;
}

const MONEY_PER_USD = 10n ** BigInt(PRICE_SCALE + SIZE_SCALE - USD_SCALE);

export function worstCase({ platform, metadata }: StoredMarket, price: Price, size: Size): WorstCase {
  const fee = MANIFESTS[platform].fillFee(metadata, price, size);
  const money = fee && fee.paid + fee.kept * price;
  // Rounded up: a fee stated too low would be no worst case.
  return { usd: notionalUsd(price, size), fee: money === null ? null : (money + MONEY_PER_USD - 1n) / MONEY_PER_USD };
}
