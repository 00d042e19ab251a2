import { randomUUID } from 'node:crypto';
import { Redis, ReplyError, type RedisOptions } from 'ioredis';
import { noStore } from '../../core/config-error.ts';
import type { Lease, Log, Shared } from './shared.ts';
import { cacheThrough, localTexts, createLocalCache } from './cache.ts';
import { createLocalShared, leaseMargin } from './local.ts';

const OPTIONS: RedisOptions = {
  lazyConnect: true,
  connectTimeout: 5000,
  commandTimeout: 1000,
  // A connection that only listens is silent for hours: what forgets silent ones on the way must not forget it.
  keepAlive: 30_000,
  // A command without a connection fails at once: its caller has a local answer.
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  autoResubscribe: false,
  maxRetriesPerRequest: 0,
  retryStrategy: (attempt) => Math.min(3000, 100 * 2 ** Math.min(attempt, 5)),
};

/** How long healthy() reports missed messages; it is polled now and then. */
const NOTICED_MS = 500;

/**
 * A token bucket as in local.ts, on Redis's own clock in microseconds: all processes spend one budget.
 * KEYS bucket; ARGV capacity, refill per second, cost, longest wait in ms. Returns the wait in ms, -1 = too long.
 */
const TAKE_BUDGET = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local perToken = 1000000 / ARGV[2]
local fullAt = math.max(now, tonumber(redis.call('GET', KEYS[1]) or now)) + ARGV[3] * perToken
local wait = math.max(0, math.ceil((fullAt - now - ARGV[1] * perToken - 1) / 1000))
if wait > tonumber(ARGV[4]) then return -1 end
redis.call('SET', KEYS[1], string.format('%.0f', fullAt), 'PX', math.ceil((fullAt - now) / 1000) + 1000)
return wait`;

/** KEYS lease; ARGV owner, ttl in ms. 1 = ours now. */
const TAKE_LEASE = `
local owner = redis.call('GET', KEYS[1])
if owner and owner ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`;

const RENEW_LEASE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`;

const RELEASE_LEASE = `
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1`;

/** KEYS slot set (member = holder, score = its end in ms); ARGV limit, ttl in ms, holder. 1 = taken. */
const TAKE_SLOT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[1]) then return 0 end
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1`;

/** KEYS set (score = a member's end in ms); ARGV limit, ttl in ms, members. 1 = all are in it. */
const CLAIM = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local more = 0
for i = 3, #ARGV do
  if not redis.call('ZSCORE', KEYS[1], ARGV[i]) then more = more + 1 end
end
if more > 0 and redis.call('ZCARD', KEYS[1]) + more > tonumber(ARGV[1]) then return 0 end
for i = 3, #ARGV do redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[i]) end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1`;

/**
 * Shared state in Redis. While Redis is away every call is answered by this process alone and nothing throws:
 * caches and budgets become local, leases are neither granted nor renewed. Redis coming back needs no restart.
 */
export async function connectShared(url: string, log: Log, prefix: string): Promise<Shared> {
  const redis = new Redis(url, OPTIONS);
  const subscriber = redis.duplicate();
  await connect(redis, url);

  const me = randomUUID();
  const local = createLocalShared(log);
  const texts = localTexts();
  const channels = new Set<string>();
  let closed = false;
  let lost = false;
  let refusalLoggedAt = -Infinity;

  const away = (error?: Error): void => {
    if (closed || lost) return;
    lost = true;
    log.warn(
      { reason: error?.message },
      'Redis is unavailable: caches and budgets are kept per process until it returns',
    );
  };
  let lastError: Error | undefined;
  redis.on('error', (error) => (lastError = error));
  redis.on('close', () => away(lastError));
  redis.on('ready', () => {
    if (lost) log.info('Redis is available again');
    lost = false;
  });

  /** The reply, or undefined when Redis cannot answer. */
  const ask = async <T>(command: () => Promise<T>): Promise<T | undefined> => {
    if (lost || redis.status !== 'ready') return undefined;
    try {
      return await command();
    } catch (error) {
      if (error instanceof ReplyError) {
        // Redis answers but refuses, e.g. out of memory: said once a minute.
        if (performance.now() - refusalLoggedAt < 60_000) return undefined;
        refusalLoggedAt = performance.now();
        // Its message only: the error object carries the command, with cached values and passwords.
        log.warn({ reason: (error as Error).message }, 'Redis refused a command');
      } else {
        // A connection that does not answer is replaced; until then no other call waits on it.
        if (!closed && !lost) redis.disconnect(true);
        away(error as Error);
      }
      return undefined;
    }
  };

  const hear = async (channel: string): Promise<void> => {
    if (subscriber.status === 'ready') await subscriber.subscribe(prefix + channel);
  };
  let hearing = false;
  let heard: NodeJS.Timeout | undefined;
  // It reconnects by itself; what was said meanwhile is lost.
  subscriber.on('error', ignore);
  subscriber.on('close', () => {
    hearing = false;
    clearTimeout(heard);
  });
  subscriber.on('ready', () => {
    Promise.all([...channels].map(hear)).then(() => {
      heard = setTimeout(() => (hearing = true), NOTICED_MS).unref();
    }, ignore);
  });
  subscriber.on('message', (channel, text) => {
    const [sender, message] = [text.slice(0, me.length), text.slice(me.length)];
    if (sender !== me) void local.publish(channel.slice(prefix.length), message);
  });

  return {
    healthy: () => !lost && redis.status === 'ready' && (hearing || channels.size === 0),

    localCache: createLocalCache(),
    cached: cacheThrough({
      async get(key) {
        const text = await ask(() => redis.get(`${prefix}cache:${key}`));
        return text === undefined ? texts.get(key) : (text ?? undefined);
      },
      async set(key, text, ttlMs) {
        if (ttlMs <= 0) return;
        const kept = await ask(() => redis.set(`${prefix}cache:${key}`, text, 'PX', Math.ceil(ttlMs)));
        if (kept === undefined) await texts.set(key, text, ttlMs);
      },
    }),

    async lease(name, ttlMs) {
      const key = `${prefix}lease:${name}`;
      const script = (text: string, ms: number) => ask(() => redis.eval(text, 1, key, me, Math.ceil(ms)));
      return takeLease(name, ttlMs, script);
    },

    async takeBudget(budget, cost, maxWaitMs) {
      const { name, capacity, refillPerSecond } = budget;
      const wait = await ask(() =>
        redis.eval(TAKE_BUDGET, 1, `${prefix}budget:${name}`, capacity, refillPerSecond, cost, Math.floor(maxWaitMs)),
      );
      if (wait === undefined) return local.takeBudget(budget, cost, maxWaitMs);
      return wait === -1 ? null : (wait as number);
    },

    async slot(name, limit, ttlMs) {
      const key = `${prefix}slot:${name}`;
      const holder = randomUUID();
      const taken = await ask(() => redis.eval(TAKE_SLOT, 1, key, limit, Math.ceil(ttlMs), holder));
      if (taken === undefined) return local.slot(name, limit, ttlMs);
      if (taken === 0) return null;
      return {
        async release() {
          await ask(() => redis.zrem(key, holder));
        },
      };
    },

    async claim(set, members, limit, ttlMs) {
      const key = `${prefix}set:${set}`;
      return (await ask(() => redis.eval(CLAIM, 1, key, limit, Math.ceil(ttlMs), ...members))) !== 0;
    },
    async unclaim(set, members) {
      await ask(() => redis.zrem(`${prefix}set:${set}`, ...members));
    },

    async publish(channel, message) {
      await local.publish(channel, message);
      await ask(() => redis.publish(prefix + channel, me + message));
    },

    async subscribe(channel, listener) {
      await local.subscribe(channel, listener);
      if (channels.has(channel)) return;
      channels.add(channel);
      if (subscriber.status === 'wait') await subscriber.connect().catch(ignore);
      await hear(channel).then(() => (hearing = subscriber.status === 'ready'), ignore);
    },

    async close() {
      closed = true;
      redis.disconnect();
      subscriber.disconnect();
      await local.close();
    },
  };
}

const ignore = (): void => {};

/** First connection: it must succeed. The address is shown, user and password are not. */
async function connect(redis: Redis, url: string): Promise<void> {
  let reason = '';
  const note = (error: Error & { code?: string }): void => {
    reason = error.message || (error.code ?? '');
  };
  redis.on('error', note);
  try {
    await redis.connect();
    // A database number that does not exist is reported as an event, and commands would go to database 0.
    await redis.ping();
    if (reason) throw new Error(reason);
  } catch (error) {
    redis.disconnect();
    throw noStore('REDIS_URL', 'Redis', url, reason ? new Error(reason) : (error as Error));
  } finally {
    redis.off('error', note);
  }
}

async function takeLease(
  name: string,
  ttlMs: number,
  script: (text: string, ms: number) => Promise<unknown>,
): Promise<Lease | null> {
  let certainUntil = 0;
  /** Asks Redis; the time counts from before the question, since the answer may be late. */
  const hold = async (text: string, ms: number): Promise<boolean> => {
    const asked = performance.now();
    const held = (await script(text, ms)) === 1;
    certainUntil = held ? asked + ms - leaseMargin(ms) : 0;
    return held;
  };
  if (!(await hold(TAKE_LEASE, ttlMs))) return null;
  return {
    name,
    renew: (ms) => hold(RENEW_LEASE, ms),
    remainingMs: () => Math.max(0, certainUntil - performance.now()),
    async release() {
      certainUntil = 0;
      await script(RELEASE_LEASE, 0);
    },
  };
}
