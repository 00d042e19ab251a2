import { complement, divideHalfEven, ONE_PRICE, parsePrice, type Price, type Size } from '../../core/decimal.ts';
import type { JsonObject, Side } from '../../core/model.ts';
import { feeFacts, type FeePrices, type FillFee, type TakerFees, UNKNOWN_FEES } from '../fees.ts';
import { isPool } from '../market-fields.ts';

/** Pools charge the same at every price. */
const POOL_RATE = parsePrice('0.004');
/** Published rates for buying at a price; rates in between are interpolated linearly. */
const BUY_RATES: readonly (readonly [Price, Price])[] = (
  [
    ['0.50', '0.03'],
    ['0.55', '0.0252'],
    ['0.60', '0.0213'],
    ['0.65', '0.018'],
    ['0.70', '0.0151'],
    ['0.75', '0.0126'],
    ['0.80', '0.0105'],
    ['0.85', '0.0085'],
    ['0.90', '0.0068'],
    ['0.95', '0.0053'],
    ['0.99', '0.0042'],
    ['0.999', '0.004'],
  ] as const
).map(([price, rate]) => [parsePrice(price), parsePrice(rate)] as const);

/** Published rates for selling at a price, or at its complement: the highest is in the middle. */
const SELL_RATES: readonly (readonly [Price, Price])[] = (
  [
    ['0.01', '0.0042'],
    ['0.1', '0.0078'],
    ['0.2', '0.0111'],
    ['0.3', '0.0132'],
    ['0.4', '0.0144'],
    ['0.5', '0.015'],
  ] as const
).map(([price, rate]) => [parsePrice(price), parsePrice(rate)] as const);

const isFree = (metadata: JsonObject): boolean => feeFacts(metadata)['enabled'] === false;

/** The published rate for buying at the price, charged in contracts. */
export function limitlessFees(metadata: JsonObject, { price, buyAt }: FeePrices): TakerFees {
  if (isFree(metadata)) return { ...UNKNOWN_FEES, rate: 0n, perContract: 0n };
  const rate = isPool(metadata) ? POOL_RATE : price === null ? null : buyRate(price);
  if (rate === null || buyAt === null) return { ...UNKNOWN_FEES, rate };
  return { ...UNKNOWN_FEES, rate, perContract: divideHalfEven(rate * buyAt, ONE_PRICE) };
}

/** Limitless charges whole basis points. Which way it rounds is not published: up counts. */
const BASIS_POINT = parsePrice('0.0001');
const inBasisPoints = (rate: Price): Price => ((rate + BASIS_POINT - 1n) / BASIS_POINT) * BASIS_POINT;

/** A purchase leaves a part of its contracts behind, in whole millionths; a sale a part of its USD. */
export function limitlessFillFee(metadata: JsonObject, price: Price, size: Size, side: Side): FillFee {
  const rate = (ofOrder: (price: Price) => Price): Price =>
    isFree(metadata) ? 0n : isPool(metadata) ? POOL_RATE : inBasisPoints(ofOrder(price));
  return side === 'buy'
    ? { paid: 0n, kept: (size * rate(buyRate)) / ONE_PRICE }
    : { paid: (price * size * rate(sellRate)) / ONE_PRICE, kept: 0n };
}

/** How rates run between the published prices is not published: the higher one counts. */
function sellRate(price: Price): Price {
  const other = complement(price);
  const near = price < other ? price : other;
  return SELL_RATES.find(([at]) => at >= near)?.[1] ?? 0n;
}

function buyRate(price: Price): Price {
  const above = BUY_RATES.findIndex(([at]) => at >= price);
  const [high, highRate] = BUY_RATES.at(above) ?? [0n, 0n];
  const [low, lowRate] = BUY_RATES[above - 1] ?? [high, highRate];
  if (above <= 0 || high === low) return highRate;
  return lowRate + divideHalfEven((highRate - lowRate) * (price - low), high - low);
}
