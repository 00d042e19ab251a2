import type { Rows } from '../lib/index.ts';
import type { Book } from './book.ts';

/** 0 is YES (Up, the first outcome), 1 is NO. */
export type Outcome = 0 | 1;
export type Side = 'BUY' | 'SELL';

/** Base units in one USDC and in one share: 6 decimals. */
export const UNIT = 1_000_000n;
/** Prices of orders are whole ticks of 0.001 USDC, 1..999. */
export const TICKS = 1000;
/** Decimals of a printed trade price; a price averaged over several makers is rounded to them. */
export const TRADE_PRICE_SCALE = 6;

export type MarketStatus =
  'CREATED' | 'FUNDED' | 'FUNDED_FLAGGED' | 'LOCKED' | 'CLOSED' | 'RESOLVED' | 'DRAFT' | `MarketStatus.${string}`;

/** Somebody with a wallet. The platform prints the bare address for those without a public profile. */
export interface Account {
  id: number;
  /** EIP-55 checksummed. */
  address: `0x${string}`;
  username: string | null;
  displayName: string;
  isPublic: boolean;
}

/** One execution of one taker order, as /events prints it. */
export interface Trade {
  /** Unix milliseconds. */
  at: number;
  /** Not unique: one transaction may settle several executions. */
  txHash: string;
  /** The token traded; price is in its terms. */
  outcome: Outcome;
  /** The taker's side. */
  side: Side;
  /** ×10^TRADE_PRICE_SCALE. */
  price: bigint;
  /** Shares ×10^6 (`matchedSize`). */
  size: bigint;
  /** USDC ×10^6 that changed hands (`takerAmount`); a market's volume is the sum of these. */
  usd: bigint;
  /** Sometimes equal to usd, sometimes the whole order's amount: the trap of the same name on the wire. */
  makerAmount: bigint;
  account: Account;
}

/** A trade against an AMM pool; amounts in collateral and share base units. */
export interface AmmTrade {
  at: number;
  txHash: string;
  outcome: Outcome;
  side: Side;
  shares: bigint;
  collateral: bigint;
  /** YES price after the trade in hundredths of a percent. */
  yesAfter: number;
  account: Account;
}

export interface Collateral {
  address: `0x${string}`;
  decimals: number;
  symbol: string;
}

export interface Venue {
  exchange: `0x${string}`;
  adapter: `0x${string}` | null;
}

interface MarketBase {
  id: number;
  slug: string;
  title: string;
  description: string;
  conditionId: `0x${string}`;
  /** Decimal uint256, [YES, NO]. */
  tokens: [string, string];
  collateral: Collateral;
  automationType: 'manual' | 'lumy' | 'sports';
  status: MarketStatus;
  hidden: boolean;
  /** Unix milliseconds, all of them. */
  createdAt: number;
  updatedAt: number;
  startAt: number | null;
  expiresAt: number;
  categories: string[];
  tags: string[];
  /** Base units of the collateral. */
  volume: bigint;
  winningOutcome: Outcome | null;
  /** When the winner came to be known, Unix milliseconds; null before. */
  decidedAt: number | null;
  payoutNumerators: [number, number] | null;
  metadata: Record<string, unknown>;
}

export interface ClobMarket extends MarketBase {
  kind: 'clob';
  group: Group | null;
  /** Position among the siblings of a group; not dense. */
  orderInGroup: number;
  negRiskRequestId: `0x${string}` | null;
  venue: Venue;
  /** Eligibility for liquidity rewards, base units of shares; not a floor for orders. */
  rewardMinSize: bigint;
  /** In ticks. */
  rewardMaxSpread: number;
  dailyRewardUsd: number;
  takerDelayMs: number;
  chargesFees: boolean;
  series: Series | null;
  propertyDomain: string | null;
  book: Book;
  /** Those that are kept, oldest first; the first `settledTrades` stay. */
  trades: Trade[];
  settledTrades: number;
  /** The newest trade there ever was. */
  lastTrade: Trade | null;
  /** Oldest first, one entry per change of the best prices: when, and best bid and ask in YES ticks, 0 and 1000 where a side is empty. */
  quotes: Rows;
  /** What the house believes YES is worth, in ticks; its quotes surround it. */
  fairTick: number;
  /** Distance of the house's best quotes from fairTick, in ticks. */
  halfSpread: number;
  /** Chance of being picked for the next trade; 0 = nobody trades here by itself. */
  popularity: number;
}

export interface AmmMarket extends MarketBase {
  kind: 'amm';
  address: `0x${string}`;
  /** Rows of 2024 have `category` instead of `categories`. */
  isOldForm: boolean;
  /** YES price in hundredths of a percent. */
  yesPercent: number;
  liquidity: bigint;
  openInterest: bigint;
  trades: AmmTrade[];
}

export type Market = ClobMarket | AmmMarket;

/** Several markets under one question. A ladder group has no NegRisk id; its children are independent. */
export interface Group {
  id: number;
  slug: string;
  title: string;
  negRiskMarketId: `0x${string}` | null;
  venue: Venue;
  automationType: 'manual' | 'sports';
  createdAt: number;
  updatedAt: number;
  expiresAt: number;
  categories: string[];
  tags: string[];
  metadata: Record<string, unknown>;
  children: ClobMarket[];
}

/** A recurring "Up or Down" market: one slot after the other. */
export interface Series {
  stableSlug: string;
  symbol: string;
  title: string;
  slugPrefix: string;
  minutes: number;
  frequency: string;
  subFrequency: string;
  categories: string[];
}

export const bookSideOf = (outcome: Outcome, side: Side): 'bid' | 'ask' =>
  (outcome === 0) === (side === 'BUY') ? 'bid' : 'ask';
/** A tick of either token in terms of the other; its own inverse. */
export const inYesTerms = (outcome: Outcome, tick: number): number => (outcome === 0 ? tick : TICKS - tick);
export const other = (outcome: Outcome): Outcome => (outcome === 0 ? 1 : 0);
