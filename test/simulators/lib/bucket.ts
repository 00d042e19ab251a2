/** A token bucket of a platform's rate limit; refills with real time whatever the world's clock says. */
export interface Bucket {
  /** Takes `cost` tokens if they are there. */
  take(cost: number): boolean;
  /** Milliseconds until `cost` tokens are there; 0 when they are. */
  waitMs(cost: number): number;
}

/** Starts full. */
export function createBucket(options: { capacity: number; refillPerSecond: number }): Bucket {
  let tokens = options.capacity;
  let last = performance.now();
  const refill = (): void => {
    const time = performance.now();
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
