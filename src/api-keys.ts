import { and, asc, count, eq, inArray, isNull, sql } from 'drizzle-orm';
import type { FastifyBaseLogger } from 'fastify';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { addressOf } from './address.ts';
import type { KeyCaller } from './auth.ts';
import { ApiError } from './errors.ts';
import { hashKey, isWellFormedKey, keyPrefix, newApiKey } from './key-format.ts';
import { RecentMap } from './platforms/recent-map.ts';
import type { Database } from './postgres.ts';
import { LIMITS, tooMany } from './rate-limit.ts';
import type { Shared } from './redis.ts';
import { apiKeys, users } from './tables.ts';

const CHANNEL = 'accounts';
/** How long a looked-up key is believed: revocations are told at once, so this only bounds what a lost message can cost. */
const LIFE_MS = 30_000;
/** The same while messages of other processes may not reach this one. */
const DEAF_LIFE_MS = 1_000;
const FLUSH_MS = 5_000;
const LISTEN_MS = 250;
const MAX_CACHED = 20_000;
const MAX_KEYS_PER_USER = 100;
/** An operator's DEMO_API_KEY may have any form, up to here. */
const MAX_KEY_CHARS = 200;

interface Entry {
  caller: KeyCaller | null;
  loadedAt: number;
  /** Number of messages heard before the look-up began. */
  asOf: number;
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
  const cache = new RecentMap<string, Entry>(MAX_CACHED);
  const loading = new Map<string, Promise<KeyCaller | null>>();
  const used = new Map<string, number>();
  const unknown = new RateLimiterMemory({ points: LIMITS.address, duration: 60 });
  /** Key and user ids that changed, by the place of the message that said so: what was read before it is void. */
  const changed = new RecentMap<string, number>(MAX_CACHED);
  let messages = 0;

  await shared.subscribe(CHANNEL, (id) => changed.set(id, (messages += 1)));

  /** When messages were last known to be missed. */
  let deafAt = -Infinity;
  const listen = (): boolean => {
    const hearing = told && shared.healthy();
    if (!hearing) deafAt = now();
    return hearing;
  };

  const isFresh = ({ caller, loadedAt, asOf }: Entry): boolean => {
    const age = now() - loadedAt;
    if (caller === null) return age < LIFE_MS;
    const someChanged = asOf < messages;
    if (someChanged && Math.max(changed.get(caller.keyId) ?? 0, changed.get(caller.userId) ?? 0) > asOf) return false;
    return listen() ? age < LIFE_MS && loadedAt > deafAt : age < DEAF_LIFE_MS;
  };

  async function load(hash: string, address: string): Promise<KeyCaller | null> {
    const begun = { asOf: messages, loadedAt: now() };
    await pay(unknown, address);
    let found = true;
    try {
      const [row] = await db
        .select({ keyId: apiKeys.id, userId: users.id, tier: users.tier })
        .from(apiKeys)
        .innerJoin(users, eq(users.id, apiKeys.userId))
        .where(and(eq(apiKeys.hash, hash), isNull(apiKeys.revokedAt)));
      const caller: KeyCaller | null = row ? { kind: 'key', ...row } : null;
      cache.set(hash, { caller, ...begun });
      found = caller !== null;
      return caller;
    } finally {
      if (found) await unknown.reward(address);
    }
  }

  const noteUse = (caller: KeyCaller | null): KeyCaller | null => {
    if (caller) used.set(caller.keyId, now());
    return caller;
  };

  async function flush(): Promise<void> {
    if (used.size === 0) return;
    const batch = [...used];
    used.clear();
    const ids = batch.map(([id]) => id);
    const times = batch.map(([, at]) => new Date(at).toISOString());
    await db
      .update(apiKeys)
      .set({ lastUsedAt: sql`greatest(${apiKeys.lastUsedAt}, seen.at)` })
      .from(sql`unnest(${sql.param(ids)}::uuid[], ${sql.param(times)}::timestamptz[]) AS seen(id, at)`)
      .where(and(inArray(apiKeys.id, ids), sql`${apiKeys.id} = seen.id`))
      .catch((error: unknown) => log.warn({ err: error }, 'last_used_at was not written'));
  }
  const timers = [setInterval(() => void flush(), FLUSH_MS).unref(), setInterval(listen, LISTEN_MS).unref()];

  return {
    /**
     * The caller of a key, null when there is none; at once where it was looked up lately. `ip` pays for look-ups of keys that
     * do not exist.
     */
    find(key: string, ip: string): KeyCaller | null | Promise<KeyCaller | null> {
      if (key.length > MAX_KEY_CHARS) return null;
      const hash = hashKey(key);
      const entry = cache.get(hash);
      if (entry && isFresh(entry)) return noteUse(entry.caller);
      if (key !== demoKey && !isWellFormedKey(key)) return null;
      const flight = loading.get(hash) ?? load(hash, addressOf(ip)).finally(() => loading.delete(hash));
      loading.set(hash, flight);
      return flight.then(noteUse);
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
      await forgetKeys(shared, [id]);
      return true;
    },

    async close(): Promise<void> {
      for (const timer of timers) clearInterval(timer);
      await flush();
    },
  };
}

/** Makes every process look up keys afresh: of a user whose tier changed, or by the keys' own ids. */
export async function forgetKeys(shared: Shared, ids: readonly string[]): Promise<void> {
  for (const id of ids) await shared.publish(CHANNEL, id);
}

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
