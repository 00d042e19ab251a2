import type { Fill, Resting } from './book.ts';
import { NO_TOTALS, type Totals } from './fees.ts';
import type { Intent } from './intake.ts';
import type { Trade } from './model.ts';

/** One maker met by a member's order, or one taker met by his resting order. */
export interface Match {
  id: string;
  at: number;
  size: bigint;
  /** Ticks in terms of the member's token. */
  tick: number;
  /** USDC base units on the member's side. */
  usd: bigint;
  /** The maker's order as it waited. */
  maker: Pick<Resting, 'id' | 'account' | 'outcome' | 'side' | 'tick'>;
}

/** The taking part of an order: one execution, one row of the tape. */
export interface Execution {
  trade: Trade;
  tradeEventId: string;
  txHash: string;
  at: number;
  feeBps: number;
}

/** DELAYED waits for its market's taker delay; LIVE rests in the book; UNMATCHED was killed; MATCHED is filled. */
export type OrderStatus = 'DELAYED' | 'LIVE' | 'MATCHED' | 'CANCELED' | 'UNMATCHED';

/** An order of a member, from its acceptance on. */
export interface MemberOrder {
  id: string;
  intent: Intent;
  createdAt: number;
  status: OrderStatus;
  /** Shares asked for; of a FOK buy, which names USDC, the shares it got: null until then. */
  size: bigint | null;
  /** Shares filled, as taker and as maker. */
  filled: bigint;
  /** USDC moved by those fills, before fees. */
  filledUsd: bigint;
  taking: Execution | null;
  /** After fees; of the taking part. */
  totals: Totals;
  makerMatches: Match[];
  /** The resting rest, while it rests. */
  resting: Resting | null;
  eligibleAt: number | null;
  reason: string | null;
  /** What a test says of the settlement; null: it goes well. Money and shares move back only with the desk's `fail`. */
  trouble: 'RETRYING' | 'FAILED' | null;
  /** Own resting orders that were taken away instead of being met. */
  stpMakerCancels: string[];
}

export function newOrder(id: string, intent: Intent, createdAt: number): MemberOrder {
  return {
    id,
    intent,
    createdAt,
    status: 'LIVE',
    size: 'shares' in intent.want ? intent.want.shares : null,
    filled: 0n,
    filledUsd: 0n,
    taking: null,
    totals: NO_TOTALS,
    makerMatches: [],
    resting: null,
    eligibleAt: null,
    reason: null,
    trouble: null,
    stpMakerCancels: [],
  };
}

export const isWorking = (order: MemberOrder): boolean => order.status === 'LIVE' || order.status === 'DELAYED';
export const remainingOf = (order: MemberOrder): bigint => (order.size === null ? 0n : order.size - order.filled);

/** What the order may still take out of the wallet: USDC for a buy, shares for a sell. */
export function lockedBy(order: MemberOrder): bigint {
  if (!isWorking(order)) return 0n;
  const { side, tick, signed } = order.intent;
  if (side === 'SELL') return order.size === null ? 0n : remainingOf(order);
  return tick === null ? signed.makerAmount : (remainingOf(order) * BigInt(tick)) / 1000n;
}

export const matchOf = (id: string, at: number, { maker, size, tick, usd }: Fill): Match => ({
  id,
  at,
  size,
  tick,
  usd,
  maker: { id: maker.id, account: maker.account, outcome: maker.outcome, side: maker.side, tick: maker.tick },
});
