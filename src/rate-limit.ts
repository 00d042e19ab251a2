import { Redis } from 'ioredis';
import type { FastifyBaseLogger, FastifyReply } from 'fastify';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes, type RateLimiterAbstract } from 'rate-limiter-flexible';
import { ApiError } from './errors.ts';

/** Requests per fixed window of 60 seconds. */
export const LIMITS = { free: 250, pro: 500, address: 60, login: 10 } as const;
export type LimitClass = keyof typeof LIMITS;

export interface RateCount {
  limit: number;
  remaining: number;
  allowed: boolean;
  /** Until the window ends. */
  resetMs: number;
}

/** Counts requests in fixed windows, over all processes through Redis where there is one, per process otherwise. */
export interface RateLimits {
  /** Counts one request of `key` in one round trip; `free` and `pro` share one count per key. */
  count(limit: LimitClass, key: string): Promise<RateCount>;
  close(): Promise<void>;
}

export interface RateLimitOptions {
  /** Before every key in Redis. */
  prefix?: string;
  windowSeconds?: number;
}

/** With `redisUrl` undefined everything is counted in this process; a Redis that is lost is stood in for the same way, with a warning. */
export function openRateLimits(
  redisUrl: string | undefined,
  log: FastifyBaseLogger,
  { prefix = 'forecastle:', windowSeconds = 60 }: RateLimitOptions = {},
): RateLimits {
  const redis = redisUrl === undefined ? null : connect(redisUrl, log);
  const limiter = (counter: string, points: number): RateLimiterAbstract => {
    const options = { keyPrefix: `${prefix}rate:${counter}`, points, duration: windowSeconds };
    const local = new RateLimiterMemory(options);
    if (!redis) return local;
    return new RateLimiterRedis({
      ...options,
      storeClient: redis,
      insuranceLimiter: local,
      rejectIfRedisNotReady: true,
    });
  };
  // One counter for both tiers, so that a change of tier within a window keeps its count.
  const users = limiter('user', LIMITS.pro);
  const limiters: Record<LimitClass, RateLimiterAbstract> = {
    free: users,
    pro: users,
    address: limiter('address', LIMITS.address),
    login: limiter('login', LIMITS.login),
  };
  return {
    async count(name, key) {
      const limit = LIMITS[name];
      const result = await limiters[name].consume(key).catch((error: unknown) => {
        if (error instanceof RateLimiterRes) return error;
        throw error;
      });
      const allowed = result.consumedPoints <= limit;
      return { limit, remaining: Math.max(0, limit - result.consumedPoints), allowed, resetMs: result.msBeforeNext };
    },
    async close() {
      redis?.disconnect();
    },
  };
}

function connect(url: string, log: FastifyBaseLogger): Redis {
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 2000,
    commandTimeout: 500,
    retryStrategy: (attempt) => Math.min(attempt * 100, 1000),
  });
  let lost = false;
  redis.on('error', (error: Error) => {
    if (!lost) log.warn({ err: error }, 'Redis is lost: limits are held per process');
    lost = true;
  });
  redis.on('ready', () => {
    if (lost) log.info('Redis is back: limits are shared again');
    lost = false;
  });
  return redis;
}

export function setLimitHeaders(reply: FastifyReply, count: RateCount): void {
  reply.header('x-ratelimit-limit', count.limit).header('x-ratelimit-remaining', count.remaining);
}

/** 429 with the exact number of seconds after which the next request succeeds. */
export function tooMany(count: RateCount, whose: string): ApiError {
  const retryAfter = Math.max(1, Math.ceil(count.resetMs / 1000));
  return new ApiError(429, 'Rate limit exceeded', {
    resolution: `Wait ${retryAfter} s before the next request.`,
    errorText: `${count.limit} requests a minute ${whose}`,
    retryAfter,
  });
}
