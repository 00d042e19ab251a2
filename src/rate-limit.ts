import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
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
export async function openRateLimits(
  redisUrl: string | undefined,
  log: FastifyBaseLogger,
  { prefix = 'forecastle:', windowSeconds = 60 }: RateLimitOptions = {},
): Promise<RateLimits> {
  const redis = redisUrl === undefined ? null : await connect(redisUrl, log);
  /** false from a command without an answer to the next connection: meanwhile nobody waits on Redis. */
  let answering = true;
  redis?.on('ready', () => (answering = true));
  const limiter = (counter: string, points: number): Consume => {
    const options = { keyPrefix: `${prefix}rate:${counter}`, points, duration: windowSeconds };
    const local = new RateLimiterMemory(options);
    if (!redis) return (key) => consumed(local, key);
    const shared = new RateLimiterRedis({ ...options, storeClient: redis, rejectIfRedisNotReady: true });
    return (key) => {
      if (!answering) return consumed(local, key);
      return consumed(shared, key).catch((error: Error) => {
        if (answering && error.message === 'Command timed out') {
          answering = false;
          redis.disconnect(true);
        }
        return consumed(local, key);
      });
    };
  };
  // One counter for both tiers, so that a change of tier within a window keeps its count.
  const users = limiter('user', LIMITS.pro);
  const limiters: Record<LimitClass, Consume> = {
    free: users,
    pro: users,
    address: limiter('address', LIMITS.address),
    login: limiter('login', LIMITS.login),
  };
  return {
    async count(name, key) {
      const limit = LIMITS[name];
      const result = await limiters[name](key);
      const allowed = result.consumedPoints <= limit;
      return { limit, remaining: Math.max(0, limit - result.consumedPoints), allowed, resetMs: result.msBeforeNext };
    },
    async close() {
      redis?.disconnect();
    },
  };
}

const CONNECT_MS = 2000;

type Consume = (key: string) => Promise<RateLimiterRes>;

/** Counts one request; a limiter rejects with its result when the limit is passed. */
function consumed(limiter: RateLimiterAbstract, key: string): Promise<RateLimiterRes> {
  return limiter.consume(key).catch((result: unknown) => {
    if (result instanceof RateLimiterRes) return result;
    throw result;
  });
}

/** Resolves connected, or without a connection after a while: it then goes on trying. */
async function connect(url: string, log: FastifyBaseLogger): Promise<Redis> {
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: CONNECT_MS,
    // Longer than a busy process takes to read an answer: a reply counted as lost would be counted twice.
    commandTimeout: 2000,
    retryStrategy: (attempt) => Math.min(attempt * 100, 1000),
  });
  let lost = false;
  let reason = '';
  redis.on('error', (error: Error) => (reason = error.message));
  redis.on('close', () => {
    if (!lost && redis.status !== 'end') log.warn({ reason }, 'Redis is lost: limits are held per process');
    lost = true;
  });
  redis.on('ready', () => {
    if (lost) log.info('Redis is back: limits are shared again');
    lost = false;
  });
  await Promise.race([once(redis, 'ready'), sleep(CONNECT_MS, undefined, { ref: false })]).catch(() => undefined);
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
