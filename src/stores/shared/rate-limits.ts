import { once } from 'node:events';
import type { FastifyReply } from 'fastify';
import type { Log } from '../../core/log.ts';
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { Clock } from '../../core/time.ts';
import { ApiError } from '../../core/errors.ts';
import { type Counted, FixedWindows, NOT_COUNTED } from '../../core/fixed-windows.ts';
import { commandsOn } from './redis-connection.ts';

/**
 * Maximum requests per fixed window of 60 seconds. `network` is for all free accounts of one address together, because anyone may create
 * several: this many, or FULL_ACCOUNTS times the limit of a free account if that is more. `file` is for pages and their scripts, about
 * ten per page, and for CORS preflights, for any caller.
 */
export const LIMITS = { address: 60, login: 10, network: 1000, file: 1000 } as const;
/** Requests a minute of one user, by tier: FREE_PER_MINUTE and PRO_PER_MINUTE. */
interface TierLimits {
  free: number;
  pro: number;
}
type LimitClass = keyof typeof LIMITS | keyof TierLimits;
/** This many free accounts of one address may use their whole limit at the same time. */
const FULL_ACCOUNTS = 4;

export interface RateCount {
  limit: number;
  remaining: number;
  allowed: boolean;
  /** Time until the window ends. */
  resetMs: number;
}

/** Counts requests in fixed windows: across all processes through Redis, or per process without it. */
export interface RateLimits {
  /** Counts one request of `key`, synchronously without Redis; `free` and `pro` share one count. `perMinute` replaces the limit. */
  count(limit: LimitClass, key: string, perMinute?: number | null): RateCount | Promise<RateCount>;
  /** The count of `key` without counting a request. */
  left(limit: LimitClass, key: string, perMinute?: number | null): RateCount | Promise<RateCount>;
  close(): Promise<void>;
}

export interface RateLimitOptions {
  tiers?: TierLimits;
  /** Prefix of every Redis key. */
  prefix?: string;
  windowSeconds?: number;
  clock: Clock;
}

/** Without `redisUrl` this process counts alone; the same happens, with a warning, while Redis is unavailable. */
export async function openRateLimits(
  redisUrl: string | undefined,
  log: Log,
  { tiers = { free: 250, pro: 500 }, prefix = 'forecastle:', windowSeconds = 60, clock }: RateLimitOptions,
): Promise<RateLimits> {
  const connection = redisUrl === undefined ? null : await connect(redisUrl, log, clock);
  const counter = (name: string, points: number): Counter => {
    const local = new FixedWindows(windowSeconds * 1000, clock);
    if (!connection) return local;
    const { redis, commands } = connection;
    const keyPrefix = `${prefix}rate:${name}`;
    const options = { keyPrefix, points, duration: windowSeconds, storeClient: redis, rejectIfRedisNotReady: true };
    const shared = new RateLimiterRedis(options);
    const asked = (command: () => Promise<Counted>, alone: () => Counted): Counted | Promise<Counted> =>
      commands.available() ? commands.ask(command).then((counted) => counted ?? alone()) : alone();
    return {
      count: (key) =>
        asked(
          () => consumed(shared, key),
          () => local.count(key),
        ),
      counted: (key) =>
        asked(
          () => shared.get(key).then(countedBy),
          () => local.counted(key),
        ),
    };
  };
  const most: Record<LimitClass, number> = {
    ...LIMITS,
    ...tiers,
    network: Math.max(LIMITS.network, FULL_ACCOUNTS * tiers.free),
  };
  // One counter for both tiers, so that a change of tier within a window keeps its count.
  const users = counter('user', Math.max(tiers.free, tiers.pro));
  const counters: Record<LimitClass, Counter> = {
    free: users,
    pro: users,
    address: counter('address', LIMITS.address),
    login: counter('login', LIMITS.login),
    network: counter('network', most.network),
    file: counter('file', LIMITS.file),
  };
  const counting =
    (how: keyof Counter) =>
    (name: LimitClass, key: string, perMinute?: number | null): RateCount | Promise<RateCount> => {
      const counted = counters[name][how](key);
      const allowed = perMinute ?? most[name];
      return counted instanceof Promise
        ? counted.then((late) => rateCount(allowed, late))
        : rateCount(allowed, counted);
    };
  return {
    count: counting('count'),
    left: counting('counted'),
    async close() {
      connection?.commands.close();
    },
  };
}

const CONNECT_MS = 2000;

interface Counter {
  /** Counts one request. */
  count(key: string): Counted | Promise<Counted>;
  /** What is counted so far. */
  counted(key: string): Counted | Promise<Counted>;
}

const rateCount = (limit: number, { requests, resetMs }: Counted): RateCount => ({
  limit,
  remaining: Math.max(0, limit - requests),
  allowed: requests <= limit,
  resetMs,
});

/** Counts one request in Redis; the limiter rejects with its result when the limit is exceeded. */
async function consumed(limiter: RateLimiterRedis, key: string): Promise<Counted> {
  const result = await limiter.consume(key).catch((reason: unknown) => {
    if (reason instanceof RateLimiterRes) return reason;
    throw reason;
  });
  return countedBy(result);
}

const countedBy = (result: RateLimiterRes | null): Counted =>
  result === null ? NOT_COUNTED : { requests: result.consumedPoints, resetMs: result.msBeforeNext };

/** Resolves when connected, or after CONNECT_MS, and goes on trying. */
async function connect(url: string, log: Log, clock: Clock) {
  const { Redis } = await import('ioredis');
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: CONNECT_MS,
    // Longer than a busy process takes to read a reply: a request whose reply counts as lost is counted again in this process.
    commandTimeout: 2000,
    retryStrategy: (attempt) => Math.min(attempt * 100, 1000),
  });
  const commands = commandsOn(redis, log, clock, {
    onLoss: 'Redis is unavailable: limits are counted per process',
    onReturn: 'Redis is available again: limits are shared',
  });
  await Promise.race([once(redis, 'ready'), clock.late(CONNECT_MS)]).catch(() => undefined);
  return { redis, commands };
}

/** Headers of every answer about its caller's limit. */
export const LIMIT_HEADERS = ['x-ratelimit-limit', 'x-ratelimit-remaining'] as const;

export function setLimitHeaders(reply: FastifyReply, count: RateCount): void {
  reply.header(LIMIT_HEADERS[0], count.limit).header(LIMIT_HEADERS[1], count.remaining);
}

/** 429 with the exact number of seconds until the next request succeeds. */
export function tooMany(count: RateCount, whose: string): ApiError {
  const retryAfter = Math.max(1, Math.ceil(count.resetMs / 1000));
  return new ApiError(429, 'Rate limit exceeded', {
    resolution: `Wait ${retryAfter} s before the next request.`,
    errorText: `${count.limit} requests a minute ${whose}`,
    retryAfter,
  });
}
