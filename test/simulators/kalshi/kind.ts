import type { Rng } from '../lib/index.ts';
import type { FeeType, SeriesSpec } from './series.ts';
import { ONE_DOLLAR } from './units.ts';

/** How a market ends; `value` is the payout of one YES, 0.0001 dollars. */
export interface Outcome {
  result: 'yes' | 'no' | 'scalar';
  value: number;
}

/** A market of an event as its kind words it. */
export interface MarketDraft {
  suffix: string;
  title: string;
  yes: string;
  no: string;
  outcome: Outcome;
  expirationValue: string;
  /** Strike and other optional keys, in wire form. */
  fixed: Record<string, unknown>;
}

interface EventDraft {
  /** What follows the series in the event's ticker. */
  code: string;
  title: string;
  subTitle: string;
  mutuallyExclusive: boolean;
  /** Where the event overrides its series. */
  feeType?: FeeType;
  feeMultiplier?: number;
  /** Optional event keys, in wire form. */
  fixed: Record<string, unknown>;
  markets: MarketDraft[];
}

/** A market that a combo can build on. */
export interface Leg {
  eventTicker: string;
  ticker: string;
  name: string;
  wins: boolean;
}

interface KindInput {
  rng: Rng;
  series: SeriesSpec;
  closeMs: number;
  legs: readonly Leg[];
}

/** A sort of event: which series it belongs to, how many markets it has and how it is worded. */
export interface Kind {
  series: readonly SeriesSpec[];
  size: number;
  settlementTimerSeconds: number;
  build(input: KindInput): EventDraft;
}

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];

/** "26NOV21" */
export function dayCode(ms: number): string {
  const date = new Date(ms);
  return `${String(date.getUTCFullYear()).slice(2)}${MONTHS[date.getUTCMonth()]}${String(date.getUTCDate()).padStart(2, '0')}`;
}

/** A market that pays one side whole. */
export const binary = (wins: boolean): Outcome =>
  wins ? { result: 'yes', value: ONE_DOLLAR } : { result: 'no', value: 0 };
/** "2026-11-21" */
export const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
