import { createHash } from 'node:crypto';
import type { BudgetRule } from '../../stores/shared/shared.ts';

/** What one limit group allows; `live` and `background` (polling, backfill) are the same bucket or two that never meet. */
export interface LimitGroup {
  /** Tokens of one call unless the request names its own cost. */
  cost: number;
  live: BudgetRule;
  background: BudgetRule;
  /** What the reads of all callers together may take of a bucket that polling needs too; null where polling has its own or none. */
  callers: BudgetRule | null;
  /** Calls in flight at once, per process and bucket. */
  concurrency: number;
  /** Calls in flight at once over all processes; null = not counted. */
  slots: number | null;
  /** How late after its grant a call may still leave; a later one takes a new grant. */
  lateMs: number;
  /** Half the pace for this long after a 429 (but of a standstill), where the platform bans who goes on as before; null = no. */
  slowAfterLimitMs: number | null;
}

export type Bucket = [capacity: number, refillPerSecond: number];

export const rule = (name: string, [capacity, refillPerSecond]: Bucket): BudgetRule => ({
  name,
  capacity,
  refillPerSecond,
});
/** Defaults of a group. */
const unlimited = { callers: null, concurrency: 16, slots: null, lateMs: 500, slowAfterLimitMs: null };

/** A group of one bucket for callers and one for polling; without the second, both use the first. `cost`: tokens of a call. */
export const twoBuckets = (name: string, cost: number, live: Bucket, background: Bucket | null): LimitGroup => {
  const liveRule = rule(`${name}/live`, live);
  return {
    ...unlimited,
    cost,
    live: liveRule,
    background: background ? rule(`${name}/background`, background) : liveRule,
  };
};

/** The part of a budget that one user may take in the long run; a burst may take all of it. */
const USER_SHARE = 0.5;

/** Names the account of a credential: who knows its id but not its secret gets another name, and does not slow others. */
export const accountName = (...credential: string[]): string =>
  createHash('sha256').update(JSON.stringify(credential)).digest('base64url');

/** A budget as it is kept for one account, by its name. */
export const ofAccount = (budget: BudgetRule, account: string): BudgetRule => ({
  ...budget,
  name: `${budget.name}/account/${account}`,
});

/** What one user may take of a budget that many share. */
export const ofUser = (budget: BudgetRule, user: string): BudgetRule => ({
  name: `${budget.name}/user/${user}`,
  capacity: budget.capacity,
  refillPerSecond: budget.refillPerSecond * USER_SHARE,
});
