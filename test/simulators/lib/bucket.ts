/** A token bucket of a platform's rate limit; refills with real time whatever the world's clock says. */
export interface Bucket {
  /** Takes `cost` tokens if they are there. */
  take(cost: number): boolean;
  /** Milliseconds until `cost` tokens are there; 0 when they are. */
  waitMs(cost: number): number;
}

/** Starts full. */
export function createBucket(options: {
  capacity: number;
  refillPerSecond: number;
  /** Monotonic milliseconds; for tests that move time by hand. */
  now?: () => number;
}): Bucket {
  const now = options.now ?? (() => performance.now());
  let tokens = options.capacity;
  let last = now();
  const refill = (): void => {
    const time = now();
    tokens = Math.min(options.capacity, tokens + ((time - last) * options.refillPerSecond) / 1000);
    last = time;
  };
  return {
    take(cost) {
      refill();
      if (tokens < cost) return false;
      tokens -= cost;
      return true;
    },
    waitMs(cost) {
      refill();
      return tokens >= cost ? 0 : Math.ceil(((cost - tokens) * 1000) / options.refillPerSecond);
    },
  };
}
