import type { FastifyBaseLogger } from 'fastify';

export type Log = Pick<FastifyBaseLogger, 'info' | 'warn'>;

/** What processes share: through Redis when REDIS_URL is set, else inside the one process. */
export interface Shared {
  /** true while the shared side answers and no message is missed; in-process always. */
  healthy(): boolean;
  /**
   * The cached value, or the one `load` makes; concurrent callers of one key wait for one load, which must end by itself.
   * `hit`: whether the value came from the cache. Values are kept as JSON text, strings as they are.
   * A lost Redis means a process-local cache, never an error.
   */
  cached<T>(key: string, ttlMs: number, load: () => Promise<T>): Promise<{ value: T; hit: boolean }>;
  localCache: LocalCache;
  /** Takes or renews a lease for `ttlMs`, one holder per process; null when another holds it or Redis does not answer. */
  lease(name: string, ttlMs: number): Promise<Lease | null>;
  /**
   * Takes `cost` from a budget shared by every process. Returns the milliseconds to wait before the call may go out
   * (0 = now); a wait longer than `maxWaitMs` takes nothing and returns null.
   */
  takeBudget(budget: BudgetRule, cost: number, maxWaitMs: number): Promise<number | null>;
  /** Takes one of `limit` places for at most `ttlMs`; null when all are taken. */
  slot(name: string, limit: number, ttlMs: number): Promise<Slot | null>;
  /**
   * Adds members to a set that all processes share, for `ttlMs`, or renews them. false, with nothing added, where it would have more
   * than `limit`; true without Redis: each process counts its own as well.
   */
  claim(set: string, members: readonly string[], limit: number, ttlMs: number): Promise<boolean>;
  unclaim(set: string, members: readonly string[]): Promise<void>;
  /** Sends to every process, this one included and at once; a process cut off from Redis misses the message. */
  publish(channel: string, message: string): Promise<void>;
  subscribe(channel: string, listener: (message: string) => void): Promise<void>;
  close(): Promise<void>;
}

/** Values of this process only, read without a wait or a copy. */
export interface LocalCache {
  /** The value is shared: its readers do not change it. */
  get<T extends object>(key: string): T | undefined;
  /** `bytes`: what the value weighs. */
  set(key: string, value: object, ttlMs: number, bytes: number): void;
}

export interface Lease {
  name: string;
  /** Extends the lease; false when it was lost, and nothing may be written under it any more. */
  renew(ttlMs: number): Promise<boolean>;
  /** Milliseconds for which the lease is certainly still ours. */
  remainingMs(): number;
  release(): Promise<void>;
}

export interface Slot {
  release(): Promise<void>;
}

/** A continuously refilled bucket: `capacity` tokens at most, `refillPerSecond` back. */
export interface BudgetRule {
  name: string;
  capacity: number;
  refillPerSecond: number;
}
