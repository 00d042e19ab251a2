import {
  complement,
  divideHalfEven,
  ONE_PRICE,
  parseSize,
  PRICE_SCALE,
  USD_SCALE,
  type Price,
  type Size,
  type Usd,
} from '../../core/decimal.ts';
import type { JsonObject } from '../../core/model.ts';
import { feeDecimal, feeFacts, type FeePrices, type FillFee, type TakerFees } from '../fees.ts';

/** Fees are charged in steps of 0.00001 pUSD, ×10^6, and at least one. */
const FEE_STEP = 10n;
const MAX_EXPONENT = 8;
const ONE_SHARE = parseSize('1');
const PRICE_PER_USD = 10n ** BigInt(PRICE_SCALE - USD_SCALE);

/** A market's own rate and exponent; null for what it does not report. Without fees the rate is 0. */
function feeTerms(metadata: JsonObject): { rate: Price | null; exponent: number | null } {
  const { enabled, rate, exponent } = feeFacts(metadata);
  if (enabled === false) return { rate: 0n, exponent: 0 };
  const known = feeDecimal(rate);
  return {
    rate: enabled === true && known !== null && known >= 0n ? known : null,
    exponent: Number.isInteger(exponent) ? (exponent as number) : null,
  };
}

/**
 * What Polymarket charges a taker for `size` shares at `price`: size × rate × (p(1 − p))^exponent, in pUSD, rounded to five decimals, at
 * least 0.00001 unless it is exactly 0. It is charged on top of a purchase and taken from the proceeds of a sale. null if the market's
 * fee is unknown.
 */
export function takerFee(metadata: JsonObject, price: Price, size: Size): Usd | null {
  const { rate, exponent } = feeTerms(metadata);
  if (size === 0n || rate === 0n) return 0n;
  if (rate === null || exponent === null || exponent < 0 || exponent > MAX_EXPONENT) return null;
  const power = BigInt(exponent);
  const exact = size * rate * (price * complement(price)) ** power;
  const steps = divideHalfEven(exact, ONE_PRICE * (ONE_PRICE * ONE_PRICE) ** power * FEE_STEP);
  return (exact === 0n || steps > 0n ? steps : 1n) * FEE_STEP;
}

/** The fees of a market as quoted: those of one share of the first outcome at `buyAt`. */
export function polymarketFees(metadata: JsonObject, { buyAt }: FeePrices): TakerFees {
  const { rate } = feeTerms(metadata);
  const fee = buyAt === null && rate !== 0n ? null : takerFee(metadata, buyAt ?? 0n, ONE_SHARE);
  return { rate, perContract: fee === null ? null : fee * PRICE_PER_USD, withdrawal: 0n };
}

/** The fee of one fill, the same for both sides. */
export function polymarketFillFee(metadata: JsonObject, price: Price, size: Size): FillFee | null {
  const fee = takerFee(metadata, price, size);
  return fee === null ? null : { paid: fee * ONE_PRICE, kept: 0n };
}

/** The switch in a market's row. Old rows have neither the switch nor a schedule: they have no fees. A schedule without a readable switch may apply. */
export const feeSwitch = ({
  feesEnabled,
  feeSchedule,
}: {
  feesEnabled: boolean | null;
  feeSchedule: object;
}): JsonObject =>
  feesEnabled === null && Object.keys(feeSchedule).length > 0 ? {} : { enabled: feesEnabled === true };
