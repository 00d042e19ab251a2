import { complement, divideHalfEven, ONE_PRICE, parsePrice } from '../../core/decimal.ts';
import type { JsonObject } from '../../core/model.ts';
import { feeDecimal, feeFacts, type FeePrices, type TakerFees, UNKNOWN_FEES } from '../fees.ts';

const TAKER_RATE = parsePrice('0.07');
/** 0.0001 USD. */
const STEP = 10n ** 6n;

/** 0.07 × multiplier × p(1 − p), rounded up to 0.0001 USD. */
export function kalshiFees(metadata: JsonObject, { buyAt }: FeePrices): TakerFees {
  const fee = feeFacts(metadata);
  const multiplier = feeDecimal(fee['multiplier']);
  const isQuadratic = fee['type'] === undefined || String(fee['type']).startsWith('quadratic');
  if (multiplier === null || !isQuadratic) return UNKNOWN_FEES;
  const rate = divideHalfEven(TAKER_RATE * multiplier, ONE_PRICE);
  if (buyAt === null) return { ...UNKNOWN_FEES, rate };
  const exact = rate * buyAt * complement(buyAt);
  const step = ONE_PRICE * ONE_PRICE * STEP;
  return { ...UNKNOWN_FEES, rate, perContract: ((exact + step - 1n) / step) * STEP };
}
