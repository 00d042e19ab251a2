/** How long a value is cached, in milliseconds: a number, or a function that is called once the value is loaded. */
export type Lasting = number | (() => number);

/** State shared by processes: through Redis if REDIS_URL is set, else within the single process. */
export interface Shared {
  /** Whether Redis answers and every message arrives; always true without Redis. */
  healthy(): boolean;
  /**
   * The cached value, or the result of `load`; concurrent callers of one key share one load, which must have its own time limit. `hit`:
   * whether the value came from the cache. Values are stored as JSON text, strings as they are. While Redis is unavailable the
   * cache is local to the process; it never fails.
   */
  cached<T>(key: string, ttlMs: Lasting, load: () => Promise<T>): Promise<{ value: T; hit: boolean }>;
  localCache: LocalCache;
  /** Takes or renews a lease for `ttlMs`, one holder per process; null if another process holds it or Redis does not answer. */
  lease(name: string, ttlMs: number): Promise<Lease | null>;
  /** Takes `cost` from a shared budget. Returns the ms to wait (0 = now); null, and nothing taken, if that is over `maxWaitMs`. */
  takeBudget(budget: BudgetRule, cost: number, maxWaitMs: number): Promise<number | null>;
  /** Takes one of `limit` slots for at most `ttlMs`; null if all are taken. */
  slot(name: string, limit: number, ttlMs: number): Promise<Slot | null>;
  /**
   * Adds members to a set shared by all processes, or renews them, for `ttlMs`. false, with nothing added, if the set would exceed `limit`;
   * true without Redis, because each process counts its own as well.
   */
  claim(set: string, members: readonly string[], limit: number, ttlMs: number): Promise<boolean>;
  unclaim(set: string, members: readonly string[]): Promise<void>;
  /** Sends to every process, including this one immediately; a process without a connection to Redis misses the message. */
  publish(channel: string, message: string): Promise<void>;
  subscribe(channel: string, listener: (message: string) => void): Promise<void>;
  close(): Promise<void>;
}

/** Values of this process only, read synchronously and without a copy. */
export interface LocalCache {
  /** The value is shared: readers must not change it. */
  get<T extends object>(key: string): T | undefined;
  /** `bytes`: size of the value. */
  set(key: string, value: object, ttlMs: number, bytes: number): void;
}

/** A process says at this interval what its clients follow; after three intervals without a message nobody follows it. */
export const FOLLOWED_EVERY_MS = 10_000;
export const FOLLOWED_MS = 3 * FOLLOWED_EVERY_MS;

/** Time allowed for an insert and its wait for others of the table; with less left on the lease nothing is written. */
export const INSERT_MARGIN_MS = 4000;

export interface Lease {
  name: string;
  /** Extends the lease; false if it was lost, and nothing may be written under it any more. */
  renew(ttlMs: number): Promise<boolean>;
  /** Milliseconds for which the lease is certainly held. */
  remainingMs(): number;
  release(): Promise<void>;
}

/** Throws unless the lease lasts for an insert. */
export function requireTime(lease: Lease): void {
  if (lease.remainingMs() < INSERT_MARGIN_MS)
    throw new Error(`lease ${lease.name} is about to end; nothing was written`);
}

export interface Slot {
  release(): Promise<void>;
}

/** A continuously refilled bucket: at most `capacity` tokens, refilled by `refillPerSecond`. */
export interface BudgetRule {
  name: string;
  capacity: number;
  refillPerSecond: number;
}
