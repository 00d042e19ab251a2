import { and, asc, count, eq, inArray, isNull, sql } from 'drizzle-orm';
import type { FastifyBaseLogger } from 'fastify';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { z } from 'zod';
import type { KeyCaller } from './auth.ts';
import { BoundedMap } from './bounded-map.ts';
import { ApiError } from './errors.ts';
import { hashKey, isWellFormedKey, keyPrefix, newApiKey } from './key-format.ts';
import type { Database } from './postgres.ts';
import { LIMITS, tooMany } from './rate-limit.ts';
import type { Shared } from './redis.ts';
import { apiKeys, users } from './tables.ts';

const CHANNEL = 'accounts';
/** How long a looked-up key is believed: revocations are told at once, so this only bounds what a lost message can cost. */
const LIFE_MS = 30_000;
/** The same while revocations in other processes may not reach this one. */
const UNSURE_LIFE_MS = 1_000;
const FLUSH_MS = 5_000;
const MAX_CACHED = 20_000;
const MAX_KEYS_PER_USER = 100;

interface Entry {
  caller: KeyCaller | null;
  loadedAt: number;
}

export interface ApiKeysOptions {
  db: Database;
  shared: Shared;
  log: FastifyBaseLogger;
  /** true when every revocation reaches this process through `shared` as long as that is healthy. */
  told: boolean;
  /** A key that is believed well-formed whatever its checksum: the operator's DEMO_API_KEY. */
  demoKey: string | undefined;
  now: () => number;
}

export type ApiKeys = Awaited<ReturnType<typeof openApiKeys>>;

/** Keys of users: made, listed, revoked, and looked up without a database round trip once seen. */
export async function openApiKeys({ db, shared, log, told, demoKey, now }: ApiKeysOptions) {
  const cache = new BoundedMap<string, Entry>(MAX_CACHED);
  const loading = new Map<string, Promise<KeyCaller | null>>();
  const used = new Map<string, Date>();
  const unknown = new RateLimiterMemory({ points: LIMITS.address, duration: 60 });
  let epoch = 0;

  const forget = z.object({ key: z.string().optional(), user: z.string().optional() });
  await shared.subscribe(CHANNEL, (message) => {
    const { key, user } = forget.parse(JSON.parse(message));
    epoch += 1;
    cache.deleteWhere(({ caller }) => caller !== null && (caller.keyId === key || caller.userId === user));
  });

  async function load(hash: string, address: string): Promise<KeyCaller | null> {
    const started = epoch;
    const [row] = await db
      .select({ keyId: apiKeys.id, userId: users.id, tier: users.tier })
      .from(apiKeys)
      .innerJoin(users, eq(users.id, apiKeys.userId))
      .where(and(eq(apiKeys.hash, hash), isNull(apiKeys.revokedAt)));
    const caller: KeyCaller | null = row ? { kind: 'key', ...row } : null;
    // Something was revoked meanwhile: what was read may be older than that, so it is not kept.
    if (started === epoch) cache.set(hash, { caller, loadedAt: now() });
    if (caller) await unknown.reward(address);
    return caller;
  }

  async function flush(): Promise<void> {
    if (used.size === 0) return;
    const batch = [...used];
    used.clear();
    const ids = batch.map(([id]) => id);
    const times = batch.map(([, at]) => at.toISOString());
    await db
      .update(apiKeys)
      .set({ lastUsedAt: sql`greatest(${apiKeys.lastUsedAt}, seen.at)` })
      .from(sql`unnest(${sql.param(ids)}::uuid[], ${sql.param(times)}::timestamptz[]) AS seen(id, at)`)
      .where(and(inArray(apiKeys.id, ids), sql`${apiKeys.id} = seen.id`))
      .catch((error: unknown) => log.warn({ err: error }, 'last_used_at was not written'));
  }
  const timer = setInterval(() => void flush(), FLUSH_MS).unref();

  return {
    /** The caller of a key, null when there is none. `address` pays for look-ups of keys that do not exist. */
    async find(key: string, address: string): Promise<KeyCaller | null> {
      if (key !== demoKey && !isWellFormedKey(key)) return null;
      const hash = hashKey(key);
      const life = told && shared.healthy() ? LIFE_MS : UNSURE_LIFE_MS;
      const entry = cache.get(hash);
      let caller = entry?.caller ?? null;
      if (!entry || now() - entry.loadedAt >= (entry.caller ? life : LIFE_MS)) {
        let flight = loading.get(hash);
        if (!flight) {
          await pay(unknown, address);
          flight = load(hash, address).finally(() => loading.delete(hash));
          loading.set(hash, flight);
        }
        caller = await flight;
      }
      if (caller) used.set(caller.keyId, new Date(now()));
      return caller;
    },

    /** Makes a key; its text is in this answer only. */
    async create(userId: string, name: string) {
      const [held] = await db
        .select({ live: count() })
        .from(apiKeys)
        .where(and(eq(apiKeys.userId, userId), isNull(apiKeys.revokedAt)));
      if (held && held.live >= MAX_KEYS_PER_USER) {
        throw new ApiError(409, `At most ${MAX_KEYS_PER_USER} live keys`, { resolution: 'Revoke a key first.' });
      }
      const key = newApiKey();
      const row = { userId, name, prefix: keyPrefix(key), hash: hashKey(key) };
      const [made] = await db.insert(apiKeys).values(row).returning();
      if (!made) throw new Error('INSERT … RETURNING gave no row');
      return { ...made, key };
    },

    list: (userId: string) =>
      db.select().from(apiKeys).where(eq(apiKeys.userId, userId)).orderBy(asc(apiKeys.createdAt), asc(apiKeys.id)),

    /** Revokes a key of this user in every process; false when the user has no such key. Repeating it is no error. */
    async revoke(userId: string, id: string): Promise<boolean> {
      const rows = await db
        .update(apiKeys)
        .set({ revokedAt: sql`coalesce(${apiKeys.revokedAt}, now())` })
        .where(and(eq(apiKeys.id, id), eq(apiKeys.userId, userId)))
        .returning({ id: apiKeys.id });
      if (rows.length === 0) return false;
      await shared.publish(CHANNEL, JSON.stringify({ key: id }));
      return true;
    },

    async close(): Promise<void> {
      clearInterval(timer);
      await flush();
    },
  };
}

/** Makes every process look up the keys of a user afresh: after a change of tier. */
export const forgetUser = (shared: Shared, userId: string): Promise<void> =>
  shared.publish(CHANNEL, JSON.stringify({ user: userId }));

/** Takes one look-up from an address; a look-up that finds a key is given back. */
async function pay(unknown: RateLimiterMemory, address: string): Promise<void> {
  try {
    await unknown.consume(address);
  } catch (error) {
    if (!(error instanceof RateLimiterRes)) throw error;
    throw tooMany(
      { limit: LIMITS.address, remaining: 0, allowed: false, resetMs: error.msBeforeNext },
      'with unknown keys from one address',
    );
  }
}
