import { complement, divideHalfEven, ONE_PRICE, parsePrice, type Price } from '../decimal.ts';
import type { JsonObject, Platform } from '../schemas.ts';

/** What trading costs a taker, as the platform publishes it; null is unknown. */
export interface TakerFees {
  /** The platform's own rate, as a fraction. */
  rate: Price | null;
  /** USD on one contract of the first outcome bought at `buyAt`. */
  perContract: Price | null;
  withdrawal: Price | null;
}

interface FeePrices {
  /** Price of the first outcome now. */
  price: Price | null;
  /** What one contract of it costs: the ask, else the price. */
  buyAt: Price | null;
}

const UNKNOWN: TakerFees = { rate: null, perContract: null, withdrawal: null };
const KALSHI_TAKER_RATE = parsePrice('0.07');
const KALSHI_STEP = 10n ** 6n;
const POLYMARKET_STEP = 10n ** 5n;
/** Pools charge the same at every price. */
const LIMITLESS_POOL_RATE = parsePrice('0.004');
/** Rates of buying at a price, as published; between two of them the rate is read off the line. */
const LIMITLESS_BUY_RATES: readonly (readonly [Price, Price])[] = (
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

/** Taker fees of a market, from its `metadata` as stored. */
export function takerFees(platform: Platform, metadata: JsonObject, prices: FeePrices): TakerFees {
  const fee = (metadata['fee'] ?? {}) as JsonObject;
  if (platform === 'kalshi') return kalshiFees(fee, prices);
  if (platform === 'polymarket') return polymarketFees(fee, prices);
  return limitlessFees(fee, metadata['trade_type'] === 'amm', prices);
}

const decimal = (value: unknown): Price | null => (typeof value === 'number' ? parsePrice(value) : null);

/** 0.07 × multiplier × p(1 − p), rounded up to 0.0001 USD. */
function kalshiFees(fee: JsonObject, { buyAt }: FeePrices): TakerFees {
  const multiplier = decimal(fee['multiplier']);
  const isQuadratic = fee['type'] === undefined || String(fee['type']).startsWith('quadratic');
  if (multiplier === null || !isQuadratic) return UNKNOWN;
  const rate = divideHalfEven(KALSHI_TAKER_RATE * multiplier, ONE_PRICE);
  if (buyAt === null) return { ...UNKNOWN, rate };
  const exact = rate * buyAt * complement(buyAt);
  const step = ONE_PRICE * ONE_PRICE * KALSHI_STEP;
  return { ...UNKNOWN, rate, perContract: ((exact + step - 1n) / step) * KALSHI_STEP };
}

/** rate × (p(1 − p))^exponent, to five decimals, at least the smallest of them. */
function polymarketFees(fee: JsonObject, { buyAt }: FeePrices): TakerFees {
  const withdrawal = 0n;
  if (fee['enabled'] !== true) return { rate: 0n, perContract: 0n, withdrawal };
  const [rate, exponent] = [decimal(fee['rate']), fee['exponent']];
  if (rate === null || typeof exponent !== 'number' || !Number.isInteger(exponent) || exponent < 0) {
    return { rate, perContract: null, withdrawal };
  }
  if (buyAt === null) return { rate, perContract: null, withdrawal };
  const power = BigInt(exponent);
  const exact = rate * (buyAt * complement(buyAt)) ** power;
  const rounded = divideHalfEven(exact, (ONE_PRICE * ONE_PRICE) ** power * POLYMARKET_STEP) * POLYMARKET_STEP;
  return { rate, perContract: rate > 0n && rounded === 0n ? POLYMARKET_STEP : rounded, withdrawal };
}

/** The published rate of buying at the price, taken in contracts. */
function limitlessFees(fee: JsonObject, isPool: boolean, { price, buyAt }: FeePrices): TakerFees {
  if (fee['enabled'] === false) return { ...UNKNOWN, rate: 0n, perContract: 0n };
  const rate = isPool ? LIMITLESS_POOL_RATE : price === null ? null : limitlessBuyRate(price);
  if (rate === null || buyAt === null) return { ...UNKNOWN, rate };
  return { ...UNKNOWN, rate, perContract: divideHalfEven(rate * buyAt, ONE_PRICE) };
}

function limitlessBuyRate(price: Price): Price {
  const above = LIMITLESS_BUY_RATES.findIndex(([at]) => at >= price);
  const [high, highRate] = LIMITLESS_BUY_RATES.at(above) ?? [0n, 0n];
  const [low, lowRate] = LIMITLESS_BUY_RATES[above - 1] ?? [high, highRate];
  if (above <= 0 || high === low) return highRate;
  return lowRate + divideHalfEven((highRate - lowRate) * (price - low), high - low);
}
