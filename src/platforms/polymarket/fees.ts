import { complement, divideHalfEven, ONE_PRICE } from '../../core/decimal.ts';
import type { JsonObject } from '../../core/model.ts';
import { feeDecimal, feeFacts, type FeePrices, type TakerFees } from '../fees.ts';

/** 0.00001 USD. */
const STEP = 10n ** 5n;

/** rate × (p(1 − p))^exponent, rounded to five decimals, at least 0.00001. */
export function polymarketFees(metadata: JsonObject, { buyAt }: FeePrices): TakerFees {
  const fee = feeFacts(metadata);
  const withdrawal = 0n;
  if (fee['enabled'] !== true) return { rate: 0n, perContract: 0n, withdrawal };
  const [rate, exponent] = [feeDecimal(fee['rate']), fee['exponent']];
  if (rate === null || typeof exponent !== 'number' || !Number.isInteger(exponent) || exponent < 0) {
    return { rate, perContract: null, withdrawal };
  }
  if (buyAt === null) return { rate, perContract: null, withdrawal };
  const power = BigInt(exponent);
  const exact = rate * (buyAt * complement(buyAt)) ** power;
  const rounded = divideHalfEven(exact, (ONE_PRICE * ONE_PRICE) ** power * STEP) * STEP;
  return { rate, perContract: rate > 0n && rounded === 0n ? STEP : rounded, withdrawal };
}
