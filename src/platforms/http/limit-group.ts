import { createHash } from 'node:crypto';
import type { BudgetRule } from '../../stores/shared/shared.ts';

/** The limits of one group; `live` and `background` (polling, backfill) use one bucket, or two independent ones. */
export interface LimitGroup {
  /** Tokens of one call, unless the request sets its own cost. */
  cost: number;
  live: BudgetRule;
  background: BudgetRule;
  /** Budget for reads of all callers from a bucket that polling needs too; null if polling has its own bucket or none. */
  callers: BudgetRule | null;
  /** Calls in flight, per process and bucket. */
  concurrency: number;
  /** Calls in flight over all processes; null = not counted. */
  slots: number | null;
  /** How late after its grant a call may still be sent; a later one takes a new grant. */
  lateMs: number;
  /** Half rate for this long after a 429 (unless the host stalls), for platforms that ban clients who do not slow down; null = no. */
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

/** A group with one bucket for callers and one for polling; without the second, both share the first. `cost`: tokens per call. */
export const twoBuckets = (name: string, cost: number, live: Bucket, background: Bucket | null): LimitGroup => {
  const liveRule = rule(`${name}/live`, live);
  return {
    ...unlimited,
    cost,
    live: liveRule,
    background: background ? rule(`${name}/background`, background) : liveRule,
  };
};

/** The share of a budget that one user may take in the long run; a burst may take all of it. */
const USER_SHARE = 0.5;

/** Names the account of a credential. It includes the secret: who knows only the id gets another name and cannot slow others down. */
export const accountName = (...credential: string[]): string =>
  createHash('sha256').update(JSON.stringify(credential)).digest('base64url');

/** The budget of one account. */
export const ofAccount = (budget: BudgetRule, account: string): BudgetRule => ({
  ...budget,
  name: `${budget.name}/account/${account}`,
});

/** One user's part of a shared budget. */
export const ofUser = (budget: BudgetRule, user: string): BudgetRule => ({
  name: `${budget.name}/user/${user}`,
  capacity: budget.capacity,
  refillPerSecond: budget.refillPerSecond * USER_SHARE,
});
