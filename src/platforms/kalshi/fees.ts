import { complement, divideHalfEven, ONE_PRICE, parsePrice, type Price, type Size } from '../../core/decimal.ts';
import type { JsonObject, Side } from '../../core/model.ts';
import { feeDecimal, feeFacts, type FeePrices, type FillFee, type TakerFees, UNKNOWN_FEES } from '../fees.ts';

const TAKER_RATE = parsePrice('0.07');
/** 0.0001 USD. */
const STEP = 10n ** 6n;
/** 0.0001 USD as price × size. */
const MONEY_STEP = 10n ** 12n;

const ceil = (value: bigint, step: bigint): bigint => ((value + step - 1n) / step) * step;

/** 0.07 × the market's multiplier; null where it does not charge by this formula, or states no multiplier. */
function takerRate(metadata: JsonObject): Price | null {
  const fee = feeFacts(metadata);
  const multiplier = feeDecimal(fee['multiplier']);
  const isQuadratic = fee['type'] === undefined || String(fee['type']).startsWith('quadratic');
  return multiplier === null || !isQuadratic ? null : divideHalfEven(TAKER_RATE * multiplier, ONE_PRICE);
}

/** 0.07 × multiplier × p(1 − p), rounded up to 0.0001 USD; 0 while Kalshi waives the market's fees. */
export function kalshiFees(metadata: JsonObject, { buyAt, nowMs }: FeePrices): TakerFees {
  const { fee_waived_until: end } = metadata;
  if (typeof end === 'string' && Date.parse(end) > nowMs) return { ...UNKNOWN_FEES, rate: 0n, perContract: 0n };
  const rate = takerRate(metadata);
  if (rate === null || buyAt === null) return { ...UNKNOWN_FEES, rate };
  const exact = rate * buyAt * complement(buyAt);
  return { ...UNKNOWN_FEES, rate, perContract: ceil(exact, ONE_PRICE * ONE_PRICE * STEP) / (ONE_PRICE * ONE_PRICE) };
}

/**
 * Rate × size × p(1 − p), rounded up to 0.0001 USD; then cost and fee together, because a balance changes by such steps. A waiver does not
 * count: it may end before the fill.
 */
export function kalshiFillFee(metadata: JsonObject, price: Price, size: Size, side: Side): FillFee | null {
  const rate = takerRate(metadata);
  if (rate === null) return null;
  const unit = ONE_PRICE * ONE_PRICE;
  const trading = ceil(rate * size * price * complement(price), unit * MONEY_STEP) / unit;
  // A sale is the purchase of the other outcome.
  const cost = (side === 'buy' ? price : complement(price)) * size;
  return { paid: ceil(cost + trading, MONEY_STEP) - cost, kept: 0n };
}
