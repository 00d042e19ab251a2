import type { BlockList } from 'node:net';
import { and, asc, count, eq, gt, inArray, isNull, or, sql } from 'drizzle-orm';
import type { FastifyBaseLogger } from 'fastify';
import type { Clock } from '../core/time.ts';
import { clientNetwork } from '../core/client-address.ts';
import { ApiError } from '../core/errors.ts';
import { addressList, isAddressListed } from './allowed-addresses.ts';
import { hashKey, isWellFormedKey, keyPrefix, newApiKey } from './api-key-format.ts';
import type { KeyCaller, SessionCaller } from './caller.ts';
import { Cache } from '../core/cache.ts';
import { SingleFlight } from '../core/single-flight.ts';
import type { Database, Postgres } from '../stores/postgres/client.ts';
import { apiKeys, users } from './tables.ts';
import { UncertainLookups } from './uncertain-lookups.ts';
import { holdSession } from './sessions.ts';
import { lockUser } from './users.ts';
import type { Scope } from '../core/model.ts';

/** PostgreSQL's channel of the ids of changed keys and users (sql/postgres/functions/announce_account.sql). */
const CHANNEL = 'accounts';
/** How long a looked-up key is trusted. Changes arrive at once; this bounds the effect of a message that is lost. */
const LIFE_MS = 30_000;
/** The same while messages may be missed: a stream checks every 300 ms and ends within a second. */
const UNHEARD_LIFE_MS = 400;
const FLUSH_MS = 5_000;
const MAX_CACHED = 20_000;
const MAX_KEYS_PER_USER = 100;
const NEW_KEY = 'Create another key at POST /v1/api/auth/api-keys.';
/** An operator's DEMO_API_KEY may have any form, up to here. */
const MAX_KEY_CHARS = 200;

interface KeyTerms {
  scopes: Scope[];
  /** null = never. */
  expiresAt: Date | null;
  /** Addresses and CIDR blocks; [] = any. */
  allowedAddresses: string[];
}

interface Entry {
  caller: KeyCaller | null;
  expiresAt: Date | null;
  addresses: BlockList | null;
  loadedAt: number;
  /** Number of messages received before the look-up began. */
  asOf: number;
}

interface ApiKeysOptions {
  postgres: Pick<Postgres, 'forOrders' | 'hear'>;
  log: FastifyBaseLogger;
  /** The operator's DEMO_API_KEY, accepted without a valid checksum. */
  demoKey: string | undefined;
  clock: Clock;
}

export type ApiKeys = ReturnType<typeof openApiKeys>;

interface Lookups {
  db: Database;
  now: () => number;
  demoKey: string | undefined;
  cache: Cache<string, Entry>;
  loading: SingleFlight<string>;
  /** Last use of each key, until it is written. */
  used: Map<string, number>;
  uncertain: UncertainLookups;
  changes: Changes;
}

/** API keys of users: created, listed, revoked, and resolved from memory after the first look-up. */
export function openApiKeys({ postgres, log, demoKey, clock }: ApiKeysOptions) {
  const { db } = postgres.forOrders;
  const { now } = clock;
  const changes = followChanges(postgres, clock);
  const lookups: Lookups = {
    db,
    now,
    demoKey,
    cache: new Cache({ limit: MAX_CACHED }),
    loading: new SingleFlight(),
    used: new Map(),
    uncertain: new UncertainLookups(clock),
    changes,
  };
  const flush = (): Promise<void> => writeUses(db, log, lookups.used);
  const stop = clock.every(FLUSH_MS, flush);

  return {
    /**
     * The caller of a key, null if there is none; without a promise after a recent look-up. Rejects an expired key, and an
     * address that the key does not allow. Look-ups of unknown keys are charged to `ip`.
     */
    find: (key: string, ip: string) => findCaller(lookups, key, ip),

    /** Creates a key while the caller's session lives; only this result holds its text. */
    async create({ userId, sessionId }: SessionCaller, name: string, terms: KeyTerms) {
      return db.transaction(async (tx) => {
        await lockUser(tx, userId);
        await holdSession(tx, sessionId);
        await refuseTooMany(tx, userId, new Date(now()));
        return insertKey(tx, userId, name, terms);
      });
    },

    list: (userId: string) =>
      db.select().from(apiKeys).where(eq(apiKeys.userId, userId)).orderBy(asc(apiKeys.createdAt), asc(apiKeys.id)),

    /** Revokes a key of this user in every process; false if the user has no such key. May be repeated. */
    async revoke(userId: string, id: string): Promise<boolean> {
      const revoked = await revokeKeys(db, userId, id);
      changes.note(revoked);
      return revoked.length > 0;
    },

    /** Looks these keys, or the keys of these users, up again. Other processes hear of the change from PostgreSQL. */
    forget: (ids: readonly string[]) => changes.note(ids),

    async close(): Promise<void> {
      stop();
      await changes.close();
      await flush();
    },
  };
}

type Changes = ReturnType<typeof followChanges>;

/** Follows messages about changed keys and users, and decides which look-ups they invalidate. */
function followChanges(postgres: Pick<Postgres, 'hear'>, clock: Clock) {
  /** Changed key and user ids with the number of the message, which invalidates earlier look-ups. */
  const changed = new Cache<string, number>({ limit: MAX_CACHED });
  let messages = 0;
  const note = (ids: readonly string[]): void => ids.forEach((id) => changed.set(id, (messages += 1)));
  const heard = postgres.hear(CHANNEL, (id) => note([id]), clock);

  return {
    note,
    close: heard.close,
    /** Number of messages so far. */
    messages: () => messages,
    isFresh({ caller, loadedAt, asOf }: Entry): boolean {
      const age = clock.now() - loadedAt;
      if (caller === null) return age < LIFE_MS;
      const someChanged = asOf < messages;
      if (someChanged && Math.max(changed.get(caller.keyId) ?? 0, changed.get(caller.userId) ?? 0) > asOf) return false;
      const since = heard.since();
      return since === null || loadedAt <= since ? age < UNHEARD_LIFE_MS : age < LIFE_MS;
    },
  };
}

function findCaller(lookups: Lookups, key: string, ip: string): KeyCaller | null | Promise<KeyCaller | null> {
  const { cache, loading, demoKey, changes, uncertain } = lookups;
  if (key.length > MAX_KEY_CHARS) return null;
  const hash = hashKey(key);
  const entry = cache.get(hash);
  if (entry && changes.isFresh(entry)) return admit(lookups, entry, ip);
  if (key !== demoKey && !isWellFormedKey(key)) return null;
  // A key that existed is not a guess: it is looked up again, however many guesses came from this address.
  const lookUp = (): Promise<Entry> => load(lookups, hash);
  const read = entry?.caller ? lookUp : () => uncertain.run(clientNetwork(ip), lookUp);
  return loading.run(hash, read).then((loaded) => admit(lookups, loaded, ip));
}

async function load({ db, now, cache, changes }: Lookups, hash: string): Promise<Entry> {
  const begun = { asOf: changes.messages(), loadedAt: now() };
  const row = await storedKey(db, hash);
  const { expiresAt = null, allowedAddresses = [], ...person } = row ?? {};
  const caller = row ? { kind: 'key' as const, ...(person as Omit<KeyCaller, 'kind'>) } : null;
  const entry = { caller, expiresAt, addresses: addressList(allowedAddresses), ...begun };
  cache.set(hash, entry);
  return entry;
}

async function storedKey(db: Database, hash: string) {
  const [row] = await db
    .select({
      keyId: apiKeys.id,
      userId: users.id,
      tier: users.tier,
      requestsPerMinute: users.requestsPerMinute,
      scopes: apiKeys.scopes,
      expiresAt: apiKeys.expiresAt,
      allowedAddresses: apiKeys.allowedAddresses,
    })
    .from(apiKeys)
    .innerJoin(users, eq(users.id, apiKeys.userId))
    .where(and(eq(apiKeys.hash, hash), isNull(apiKeys.revokedAt)));
  return row;
}

/** The caller, if the key may be used now and from this address; a rejected call does not count as a use. */
function admit({ now, used }: Lookups, { caller, expiresAt, addresses }: Entry, ip: string): KeyCaller | null {
  if (!caller) return null;
  if (expiresAt !== null && expiresAt.getTime() <= now()) {
    throw new ApiError(401, 'The API key has expired', { resolution: NEW_KEY });
  }
  if (!isAddressListed(addresses, ip)) {
    throw new ApiError(403, 'The API key is not allowed from this address', {
      resolution: `Call from one of its allowed_addresses. ${NEW_KEY}`,
    });
  }
  used.set(caller.keyId, now());
  return caller;
}

async function writeUses(db: Database, log: FastifyBaseLogger, used: Map<string, number>): Promise<void> {
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
    .catch((error: unknown) => log.warn({ err: error }, 'Failed to write last_used_at'));
}

async function refuseTooMany(db: Database, userId: string, at: Date): Promise<void> {
  const [held] = await db
    .select({ live: count() })
    .from(apiKeys)
    .where(and(eq(apiKeys.userId, userId), isLive(at)));
  if (held && held.live >= MAX_KEYS_PER_USER) {
    throw new ApiError(409, `At most ${MAX_KEYS_PER_USER} active keys`, { resolution: 'Revoke a key first.' });
  }
}

const isLive = (at: Date) => and(isNull(apiKeys.revokedAt), or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, at)));

/** Creates a key; only the result holds its text. */
export async function insertKey(db: Database, userId: string, name: string, terms: KeyTerms) {
  const key = newApiKey();
  const row = { userId, name, prefix: keyPrefix(key), hash: hashKey(key), ...terms };
  const [made] = await db.insert(apiKeys).values(row).returning();
  if (!made) throw new Error('INSERT … RETURNING returned no row');
  return { ...made, key };
}

/** Revokes one key of a user, or all; returns their ids. */
export async function revokeKeys(db: Database, userId: string, id?: string): Promise<string[]> {
  const rows = await db
    .update(apiKeys)
    .set({ revokedAt: sql`coalesce(${apiKeys.revokedAt}, now())` })
    .where(and(eq(apiKeys.userId, userId), id === undefined ? undefined : eq(apiKeys.id, id)))
    .returning({ id: apiKeys.id });
  return rows.map((row) => row.id);
}
