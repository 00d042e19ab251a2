import { Cache } from '../../core/cache.ts';
import type { Clock } from '../../core/time.ts';
import type { BudgetRule, Lease, Shared } from './shared.ts';
import type { Log } from '../../core/log.ts';
import { cacheThrough, localTexts, createLocalCache } from './cache.ts';

/** A lease counts as lost this much before its end, because the reply that granted it took time to arrive. */
export const leaseMargin = (ttlMs: number): number => Math.min(1000, ttlMs / 10);

/** Shared state of a single process: used without Redis, and as fallback while Redis is unavailable. */
export function createLocalShared(log: Log, clock: Clock): Shared {
  /** When each bucket is full again; a full one is absent. */
  const buckets = new Cache<string, number>({ limit: MAX_BUCKETS, now: clock.elapsed });
  const leases = new Map<string, number>();
  const slots = new Map<string, Set<{ expiresAt: number }>>();
  const listeners = new Map<string, Set<(message: string) => void>>();

  return {
    healthy: () => true,
    cached: cacheThrough(localTexts(clock)),
    localCache: createLocalCache(clock),

    async lease(name, ttlMs) {
      return localLease(leases, clock, name, ttlMs);
    },

    async takeBudget(budget, cost, maxWaitMs) {
      const now = clock.elapsed();
      const { waitMs, fullAt } = grant(budget, cost, now, buckets.get(budget.name) ?? now);
      if (waitMs > maxWaitMs) return null;
      buckets.set(budget.name, fullAt, { ttlMs: Math.ceil(fullAt - now) });
      return waitMs;
    },

    async slot(name, limit, ttlMs) {
      const now = clock.elapsed();
      const taken = slots.get(name) ?? new Set();
      slots.set(name, taken);
      for (const place of taken) if (place.expiresAt <= now) taken.delete(place);
      if (taken.size >= limit) return null;
      const place = { expiresAt: now + ttlMs };
      taken.add(place);
      return {
        async release() {
          taken.delete(place);
          if (taken.size === 0 && slots.get(name) === taken) slots.delete(name);
        },
      };
    },

    claim: async () => true,
    unclaim: async () => {},

    async publish(channel, message) {
      for (const listener of listeners.get(channel) ?? []) {
        try {
          listener(message);
        } catch (error) {
          log.warn({ err: error, channel }, 'A listener failed');
        }
      }
    },

    async subscribe(channel, listener) {
      const heard = listeners.get(channel) ?? new Set();
      listeners.set(channel, heard.add(listener));
    },

    async close() {
      listeners.clear();
    },
  };
}

/** Maximum buckets: there is one for each budget, also per account and per user. */
const MAX_BUCKETS = 10_000;

/** Rounding errors below this do not count: the wait is rounded up to whole milliseconds. */
const ROUNDING_MS = 0.001;

/**
 * A bucket is stored as the time at which it is full again (generic cell rate algorithm). A call moves that time by cost / refill, and may
 * be sent once it is at most capacity / refill ahead. Times in milliseconds.
 */
function grant(budget: BudgetRule, cost: number, now: number, fullAtBefore: number) {
  const perToken = 1000 / budget.refillPerSecond;
  const fullAt = Math.max(now, fullAtBefore) + cost * perToken;
  return { waitMs: Math.max(0, Math.ceil(fullAt - now - budget.capacity * perToken - ROUNDING_MS)), fullAt };
}

function localLease(leases: Map<string, number>, clock: Clock, name: string, ttlMs: number): Lease {
  const hold = (ms: number): number => {
    leases.set(name, clock.elapsed() + ms);
    return clock.elapsed() + ms - leaseMargin(ms);
  };
  let certainUntil = hold(ttlMs);
  return {
    name,
    async renew(ms) {
      const held = (leases.get(name) ?? 0) > clock.elapsed();
      certainUntil = held ? hold(ms) : 0;
      return held;
    },
    remainingMs: () => Math.max(0, certainUntil - clock.elapsed()),
    async release() {
      leases.delete(name);
      certainUntil = 0;
    },
  };
}
