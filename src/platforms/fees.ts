import { type Price, parsePrice, type Size } from '../core/decimal.ts';
import type { JsonObject } from '../core/model.ts';

/** A taker's trading costs, as published by the platform; null is unknown. */
export interface TakerFees {
  /** The platform's own rate, as a fraction. */
  rate: Price | null;
  /** USD on one contract of the first outcome bought at `buyAt`. */
  perContract: Price | null;
  withdrawal: Price | null;
}

/** Inputs of fees. */
export interface FeePrices {
  /** Current price of the first outcome. */
  price: Price | null;
  /** Cost of one contract of it: the ask, else the price. */
  buyAt: Price | null;
  nowMs: number;
}

/** Price × size, unrounded: USD ×10^16. */
type Money = bigint;

/** A taker's fee for one fill: `paid`, added to the cost of a purchase or taken from a sale, and `kept`, contracts taken from a purchase. */
export interface FillFee {
  paid: Money;
  kept: Size;
}

/** For markets without known fees. */
export const UNKNOWN_FEES: TakerFees = { rate: null, perContract: null, withdrawal: null };

/** A number of a market's metadata as a decimal; null for anything else. */
export const feeDecimal = (value: unknown): Price | null => (typeof value === 'number' ? parsePrice(value) : null);

/** The fee facts of a market's `metadata` as stored. */
export const feeFacts = (metadata: JsonObject): JsonObject => (metadata['fee'] ?? {}) as JsonObject;
