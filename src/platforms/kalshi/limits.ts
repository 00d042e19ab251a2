import { type Bucket, type LimitGroup, rule, twoBuckets } from '../http/limit-group.ts';

/** Tokens per call unless the platform lists another cost (GET order and cancel: 2). */
export const CALL_COST = 10;
/** Read tokens a second of the Basic tier, for which the buckets below are made. */
export const BASIC_READ_REFILL = 200;
/** Tokens of each order that is placed, alone or in a batch. */
export const ORDER_COST = CALL_COST;
/** Tokens for writes that may be spent at once. */
const WRITE_CAPACITY = 50;
/** Most orders of one batch: its tokens are taken at once. */
export const ORDERS_AT_ONCE = WRITE_CAPACITY / ORDER_COST;

/** Calls per second without a key. Kalshi publishes no anonymous limit; this is our own cautious choice, a quarter of Basic. */
const ANONYMOUS_PER_SECOND = 5;

/** Two buckets that together stay half a second of refill below Kalshi's own, for calls that bunch up in the network. */
const group = (name: string, live: Bucket, background: Bucket | null): LimitGroup =>
  twoBuckets(name, CALL_COST, live, background);

/** Kalshi's limits, Basic tier: read 200/s up to 600, write 100/s up to 100, with a margin for network jitter. */
export const kalshiLimits = {
  /** Signed reads: 10 a second for callers, 10 for sweeps and backfill. */
  'kalshi:read': group('kalshi:read', [250, 100], [250, 100]),
  /** Reads without a key: half for polling; the other half serves callers after a burst of ten. */
  'kalshi:anonymous': {
    ...group('kalshi:anonymous', [50, ANONYMOUS_PER_SECOND * CALL_COST], null),
    callers: rule('kalshi:anonymous/callers', [100, (ANONYMOUS_PER_SECOND * CALL_COST) / 2]),
  },
  'kalshi:write': group('kalshi:write', [WRITE_CAPACITY, 100], null),
  /** The undocumented social service: no published limit, so slow. */
  'kalshi:social': group('kalshi:social', [50, 20], null),
};
