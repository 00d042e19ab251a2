import { divideCeil } from '../lib/index.ts';
import type { EventSpec } from './catalogue.ts';
import type { SimMarket } from './market.ts';
import { ONE_DOLLAR } from './units.ts';

/** Direct members are rounded to $0.0001. */
const TARGET = 100n;

/** Rate of a fee type in 0.0001: 7 % for takers, a share of it for makers where makers pay. */
const MAKER_RATE = { quadratic: 0n, quadratic_with_maker_fees: 175n, quadratic_with_combo_maker_fees: 350n } as const;
const TAKER_RATE = 700n;

/** Trade fee of one fill in 0.000001 dollars: rate × multiplier × C × P × (1 − P), rounded up to $0.0001. */
export function tradeFee(
  event: EventSpec,
  market: SimMarket,
  fill: { price: number; count: number; isTaker: boolean },
): bigint {
  if (market.spec.fixed.fee_waiver_expiration_time !== undefined) return 0n;
  const rate = fill.isTaker ? TAKER_RATE : MAKER_RATE[event.feeType];
  const multiplier = BigInt(Math.round(event.feeMultiplier * 1000));
  const { price, count } = fill;
  return (
    divideCeil(rate * multiplier * BigInt(count) * BigInt(price) * BigInt(ONE_DOLLAR - price), 10n ** 13n) * TARGET
  );
}

/** What is added so that the balance changes by a multiple of $0.0001, rounded down. */
export function roundingFee(balanceChange: bigint): bigint {
  const rest = balanceChange % TARGET;
  return rest < 0n ? rest + TARGET : rest;
}
