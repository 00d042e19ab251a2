import type { Rng } from '../../lib/index.ts';
import type { Catalog } from './catalog.ts';
import type { Ids } from './ids.ts';
import type { SimFee, SimMarket } from './model.ts';
import { HOUR, ONE } from './units.ts';

/** What scenes work with. */
export interface Stage {
  catalog: Catalog;
  ids: Ids;
  rng: Rng;
  nowMs: number;
}

export const fee = (rateBps: number, type: string): SimFee => ({ rateBps, exponent: 1, rebateBps: 2500, type });
export const CRYPTO_FEE = fee(700, 'crypto_fees');
export const SPORTS_FEE = fee(500, 'sports_fees');
export const GENERAL_FEE = fee(500, 'general_fees');
export const POLITICS_FEE = fee(400, 'politics_fees');

export const YES = [ONE, 0n];
export const NO = [0n, ONE];
export const SPLIT = [ONE / 2n, ONE / 2n];

/** Fields of a market that closed `hours` ago and paid out. */
export function settled(nowMs: number, hours: number, payouts: bigint[]): Partial<SimMarket> {
  const closedMs = nowMs - hours * HOUR;
  return { state: 'resolved', closedMs, resolvedMs: closedMs, payouts, uma: ['proposed', 'resolved'], endMs: closedMs };
}
