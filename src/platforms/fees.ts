import { type Price, parsePrice } from '../core/decimal.ts';
import type { JsonObject } from '../core/model.ts';

/** What trading costs a taker, as the platform publishes it; null is unknown. */
export interface TakerFees {
  /** The platform's own rate, as a fraction. */
  rate: Price | null;
  /** USD on one contract of the first outcome bought at `buyAt`. */
  perContract: Price | null;
  withdrawal: Price | null;
}

/** What fees are computed from. */
export interface FeePrices {
  /** Price of the first outcome now. */
  price: Price | null;
  /** What one contract of it costs: the ask, else the price. */
  buyAt: Price | null;
}

/** No fee is known. */
export const UNKNOWN_FEES: TakerFees = { rate: null, perContract: null, withdrawal: null };

/** A number of a market's metadata as a decimal; null for anything else. */
export const feeDecimal = (value: unknown): Price | null => (typeof value === 'number' ? parsePrice(value) : null);

/** The fee facts of a market's `metadata` as stored. */
export const feeFacts = (metadata: JsonObject): JsonObject => (metadata['fee'] ?? {}) as JsonObject;
