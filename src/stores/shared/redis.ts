import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { Clock } from '../../core/time.ts';
import type { BudgetRule, Lease, Shared } from './shared.ts';
import type { Log } from '../../core/log.ts';
import { cacheThrough, localTexts, type TextStore } from './cache.ts';
import { createLocalShared, leaseMargin } from './local.ts';
import { openChannels } from './redis-channels.ts';
import { type Ask, commandsOn, failureLog, openRedis } from './redis-connection.ts';
import { CLAIM, RELEASE_LEASE, RENEW_LEASE, TAKE_BUDGET, TAKE_LEASE, TAKE_SLOT } from './redis-scripts.ts';

/** Shared state in Redis. Without it nothing throws: this process falls back to its own, but gets no leases. It recovers by itself. */
export async function connectShared(url: string, log: Log, prefix: string, clock: Clock): Promise<Shared> {
  const redis = await openRedis(url);
  const me = randomUUID();
  const local = createLocalShared(log, clock);
  const commands = commandsOn(redis, log, clock, {
    onLoss: 'Redis is unavailable: caches and budgets are kept per process until it returns',
    onReturn: 'Redis is available again',
  });
  const { ask } = commands;
  const logFailure = failureLog(log, clock, 'Failed to subscribe to messages in Redis');
  const channels = openChannels(redis.duplicate(), prefix, clock, logFailure, (channel, text) => {
    const [sender, message] = [text.slice(0, me.length), text.slice(me.length)];
    if (sender !== me) void local.publish(channel, message);
  });

  return {
    healthy: () => commands.available() && channels.noneMissed(),

    localCache: local.localCache,
    cached: cacheThrough(cachedTexts(redis, ask, `${prefix}cache:`, clock)),

    async lease(name, ttlMs) {
      const key = `${prefix}lease:${name}`;
      const script = (text: string, ms: number) => ask(() => redis.eval(text, 1, key, me, Math.ceil(ms)));
      return takeLease(name, ttlMs, clock, script);
    },

    async takeBudget(budget, cost, maxWaitMs) {
      const wait = await ask(() => takeBudget(redis, `${prefix}budget:${budget.name}`, budget, cost, maxWaitMs));
      if (wait === undefined) return local.takeBudget(budget, cost, maxWaitMs);
      return wait === -1 ? null : wait;
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
      await channels.subscribe(channel);
    },

    async close() {
      commands.close();
      channels.close();
      await local.close();
    },
  };
}

/** Cached texts in Redis, or in this process while Redis is unavailable. */
function cachedTexts(redis: Redis, ask: Ask, prefix: string, clock: Clock): TextStore {
  const local = localTexts(clock);
  return {
    async get(key) {
      const text = await ask(() => redis.get(prefix + key));
      return text === undefined ? local.get(key) : (text ?? undefined);
    },
    async set(key, text, ttlMs) {
      if (ttlMs <= 0) return;
      const stored = await ask(() => redis.set(prefix + key, text, 'PX', Math.ceil(ttlMs)));
      if (stored === undefined) await local.set(key, text, ttlMs);
    },
  };
}

/** The wait in milliseconds, -1 if it would be longer than `maxWaitMs`. */
async function takeBudget(redis: Redis, key: string, budget: BudgetRule, cost: number, maxWaitMs: number) {
  const { capacity, refillPerSecond } = budget;
  const wait = await redis.eval(TAKE_BUDGET, 1, key, capacity, refillPerSecond, cost, Math.floor(maxWaitMs));
  return wait as number;
}

async function takeLease(
  name: string,
  ttlMs: number,
  clock: Clock,
  script: (text: string, ms: number) => Promise<unknown>,
): Promise<Lease | null> {
  let certainUntil = 0;
  /** The lease is counted from before the call, since the reply may be late. */
  const hold = async (text: string, ms: number): Promise<boolean> => {
    const asked = clock.elapsed();
    const held = (await script(text, ms)) === 1;
    certainUntil = held ? asked + ms - leaseMargin(ms) : 0;
    return held;
  };
  if (!(await hold(TAKE_LEASE, ttlMs))) return null;
  return {
    name,
    renew: (ms) => hold(RENEW_LEASE, ms),
    remainingMs: () => Math.max(0, certainUntil - clock.elapsed()),
    async release() {
      certainUntil = 0;
      await script(RELEASE_LEASE, 0);
    },
  };
}
