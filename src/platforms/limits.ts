import type { BudgetRule } from '../redis.ts';
import type { Platform } from '../schemas.ts';

/** Tokens a Kalshi call costs unless the platform lists another price (GET order and cancel: 2). */
export const KALSHI_CALL_COST = 10;

/** Calls a second without a key. Kalshi publishes no anonymous limit; this is our own caution, a quarter of Basic. */
export const KALSHI_ANONYMOUS_PER_SECOND = 5;

/** What one limit group allows; `live` and `background` (polling, backfill) are the same bucket or two that never meet. */
export interface LimitGroup {
  /** Tokens of one call unless the request names its own cost. */
  cost: number;
  live: BudgetRule;
  background: BudgetRule;
  /** Calls in flight at once, per process and bucket. */
  concurrency: number;
  /** Calls in flight at once over all processes; null = not counted. */
  slots: number | null;
  /** How late after its grant a call may still leave; a later one takes a new grant. */
  lateMs: number;
  /** The platform's own rule: at most `requests` in any `seconds` (null where it is not a sliding window). */
  window: { requests: number; seconds: number } | null;
}

type Bucket = [capacity: number, refillPerSecond: number];

const rule = (name: string, [capacity, refillPerSecond]: Bucket): BudgetRule => ({ name, capacity, refillPerSecond });
const unlimited = { concurrency: 16, slots: null, lateMs: 500 };

/** Two buckets that together stay half a second of refill below Kalshi's own, for calls that bunch up on the way. */
const kalshi = (name: string, live: Bucket, background: Bucket | null): LimitGroup => {
  const liveRule = rule(`${name}/live`, live);
  return {
    ...unlimited,
    cost: KALSHI_CALL_COST,
    live: liveRule,
    background: background ? rule(`${name}/background`, background) : liveRule,
    window: null,
  };
};

/** Buckets inside a window of 10 s: capacity + 10 × refill of both stays below `requests`, however calls are spread. */
const polymarket = (name: string, requests: number, live: Bucket, background: Bucket | null): LimitGroup => {
  const liveRule = rule(`${name}/live`, live);
  return {
    ...unlimited,
    cost: 1,
    live: liveRule,
    background: background ? rule(`${name}/background`, background) : liveRule,
    window: { requests, seconds: 10 },
  };
};

/** 2 in flight and 300 ms between arrivals: granted 350 ms apart and at most 15 ms late, which leaves 35 ms to the network. */
const limitlessBucket = rule('limitless:all', [1, 1 / 0.35]);

/**
 * Every limit group. Sizes are the platforms' documented limits (Kalshi Basic tier: read 200/s up to 600, write 100/s
 * up to 100; Polymarket per address and 10 s; Limitless per token) with room left for the network's jitter.
 */
const groups = {
  /** Signed reads: 10 a second for callers, 10 for sweeps and backfill. */
  'kalshi:read': kalshi('kalshi:read', [250, 100], [250, 100]),
  /** Reads without a key. */
  'kalshi:anonymous': kalshi('kalshi:anonymous', [50, KALSHI_ANONYMOUS_PER_SECOND * KALSHI_CALL_COST], null),
  'kalshi:write': kalshi('kalshi:write', [50, 100], null),
  /** The undocumented social service: no published limit, so slow. */
  'kalshi:social': kalshi('kalshi:social', [50, 20], null),
  'polymarket:gamma/markets': polymarket('polymarket:gamma/markets', 300, [20, 5], [10, 20]),
  'polymarket:gamma/events': polymarket('polymarket:gamma/events', 500, [20, 10], [20, 20]),
  /** Tags, series, comments, search: sized for the tightest, 200. */
  'polymarket:gamma/other': polymarket('polymarket:gamma/other', 200, [20, 10], [10, 5]),
  /** /book, /price, /midpoint. */
  'polymarket:clob/book': polymarket('polymarket:clob/book', 1500, [100, 50], [50, 25]),
  /** /books, /prices, /midpoints. */
  'polymarket:clob/books': polymarket('polymarket:clob/books', 500, [30, 15], [25, 25]),
  'polymarket:clob/prices-history': polymarket('polymarket:clob/prices-history', 1000, [60, 30], [50, 50]),
  /** Everything else of the CLOB: sized for /tick-size, 200. */
  'polymarket:clob/other': polymarket('polymarket:clob/other', 200, [20, 10], [10, 5]),
  /** POST /order: the address may send 5,000, one signer of the lowest tier 40 a second (burst 60). */
  'polymarket:clob/order': polymarket('polymarket:clob/order', 5000, [20, 38], null),
  /** DELETE /order: one signer of the lowest tier may send 80 a second (burst 120). */
  'polymarket:clob/cancel': polymarket('polymarket:clob/cancel', 5000, [40, 75], null),
  /** Private reads under /data (orders, trades). */
  'polymarket:clob/ledger': polymarket('polymarket:clob/ledger', 500, [40, 20], [20, 10]),
  /** /balance-allowance and its update: sized for the update, 50. */
  'polymarket:clob/balance': polymarket('polymarket:clob/balance', 50, [15, 3], null),
  'polymarket:clob/auth': polymarket('polymarket:clob/auth', 100, [20, 7], null),
  'polymarket:data/trades': polymarket('polymarket:data/trades', 200, [20, 5], [10, 10]),
  /** /positions and /closed-positions, 150 each. */
  'polymarket:data/positions': polymarket('polymarket:data/positions', 150, [20, 8], [5, 2]),
  /** Everything else of the v1 data service, within the 1,000 of all its routes. */
  'polymarket:data/other': polymarket('polymarket:data/other', 200, [20, 10], [10, 5]),
  'polymarket:data-v2/trades': polymarket('polymarket:data-v2/trades', 300, [20, 8], [15, 15]),
  'polymarket:data-v2/prices-history': polymarket('polymarket:data-v2/prices-history', 200, [15, 4], [12, 12]),
  /** Everything else of the v2 data service: sized for /v2/status, 100. */
  'polymarket:data-v2/other': polymarket('polymarket:data-v2/other', 100, [15, 5], [5, 2]),
  'limitless:all': {
    cost: 1,
    live: limitlessBucket,
    background: limitlessBucket,
    concurrency: 2,
    slots: 2,
    lateMs: 15,
    window: null,
  },
} satisfies Record<`${Platform}:${string}`, LimitGroup>;

/** Name of a limit group: the platform, then what the platform counts together. */
export type LimitGroupName = keyof typeof groups;

export const LIMIT_GROUPS: Readonly<Record<LimitGroupName, LimitGroup>> = groups;

const budgets = new Set(Object.values(LIMIT_GROUPS).flatMap(({ live, background }) => [live.name, background.name]));

/** The budget's name without the account it may be kept for: one of few. */
export function budgetKind(name: string): string {
  if (budgets.has(name)) return name;
  for (const budget of budgets) if (name.startsWith(`${budget}/`)) return `${budget}/account`;
  return 'other';
}

export const isLimitGroup = (name: string): name is LimitGroupName => Object.hasOwn(LIMIT_GROUPS, name);
