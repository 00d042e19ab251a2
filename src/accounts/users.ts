import { and, eq, isNull, sql } from 'drizzle-orm';
import { systemClock } from '../core/time.ts';
import { ApiError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { SCOPES } from '../core/model.ts';
import { hashKey, keyPrefix } from './api-key-format.ts';
import { grantDefaultClients } from './default-clients.ts';
import { hashPassword } from './passwords.ts';
import { holdSession } from './sessions.ts';
import type { Database, Postgres } from '../stores/postgres/client.ts';
import {
  accountEvents,
  apiKeys,
  credentials,
  identities,
  passwordResets,
  sessions,
  users,
  type Tier,
} from './tables.ts';

export type User = typeof users.$inferSelect;

/** Security events of an account, stored with the address and, if any, the object. */
type AccountEvent =
  | 'registered'
  | 'logged_in'
  | 'login_failed'
  | 'logged_out'
  | 'password_changed'
  | 'identity_linked'
  | 'key_created'
  | 'key_revoked'
  | 'credential_stored'
  | 'credential_deleted'
  | 'tier_changed'
  | 'request_limit_changed'
  | 'order_limits_changed'
  | 'session_ended'
  | 'password_reset_requested'
  | 'password_reset'
  | 'default_clients_granted'
  | 'default_clients_revoked'
  | 'default_clients_changed'
  | 'match_verdict_changed';

export async function recordEvent(
  db: Database,
  event: AccountEvent,
  userId: string | null,
  address: string,
  detail: Record<string, string> = {},
): Promise<void> {
  await db.insert(accountEvents).values({ event, userId, address, detail });
}

/** Records the event of an effect that is stored. A failure is logged alone: the caller gets the answer of the effect. */
export async function noteEvent(
  { log, postgres }: { log: Pick<Log, 'error'>; postgres: Pick<Postgres, 'db'> },
  event: AccountEvent,
  userId: string | null,
  address: string,
  detail?: Record<string, string>,
): Promise<void> {
  await recordEvent(postgres.db, event, userId, address, detail).catch((error: unknown) =>
    log.error({ err: error, event, user: userId }, 'Failed to record an event of an account'),
  );
}

/** Creates an account; 409 if the e-mail, in lower case, has one. Without a password the operator has verified it. */
export async function createUser(db: Database, email: string, name: string, password: string | null): Promise<User> {
  const row =
    password === null
      ? { emailVerifiedAt: new Date(systemClock.now()) }
      : { passwordHash: await hashPassword(password) };
  const [user] = await db
    .insert(users)
    .values({ email, name, ...row })
    .onConflictDoNothing()
    .returning();
  if (user) return user;
  throw new ApiError(409, 'E-mail already registered', { resolution: 'Log in at POST /v1/api/auth/login.' });
}

export async function findByEmail(db: Database, email: string): Promise<User | null> {
  const [user] = await db.select().from(users).where(eq(users.email, email));
  return user ?? null;
}

export async function findUser(db: Database, id: string): Promise<User> {
  const [user] = await db.select().from(users).where(eq(users.id, id));
  if (user) return user;
  throw new ApiError(401, 'The account no longer exists', { resolution: 'Register again.' });
}

/** Until the transaction ends, no other changes the password, keys, credentials or reset links of the user. */
export async function lockUser(tx: Database, userId: string): Promise<void> {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(hashtextextended(${userId}, 0))`);
}

/**
 * Replaces the password of `user`, as read when its owner was proven, and ends every session and every pending reset link; the new hash.
 * 401 if the password has changed since, or if the session that asks for it has ended.
 */
export async function changePassword(
  db: Database,
  { id, passwordHash: proven, sessionId }: Pick<User, 'id' | 'passwordHash'> & { sessionId: string },
  password: string,
): Promise<string> {
  const passwordHash = await hashPassword(password);
  await db.transaction(async (tx) => {
    await lockUser(tx, id);
    await holdSession(tx, sessionId);
    if ((await findUser(tx, id)).passwordHash !== proven) throw passwordChanged();
    await setPasswordHash(tx, id, passwordHash);
  });
  return passwordHash;
}

export const passwordChanged = (): ApiError =>
  new ApiError(401, 'The password has just been changed', { resolution: 'Log in with the new password.' });

export async function setPasswordHash(db: Database, userId: string, passwordHash: string): Promise<void> {
  await db.update(users).set({ passwordHash }).where(eq(users.id, userId));
  await db.delete(sessions).where(eq(sessions.userId, userId));
  await db.delete(passwordResets).where(eq(passwordResets.userId, userId));
}

/** null when no account has this e-mail. */
export async function setTier(db: Database, email: string, tier: Tier): Promise<User | null> {
  const [user] = await db.update(users).set({ tier }).where(eq(users.email, email)).returning();
  return user ?? null;
}

/** The limit of one user in requests a minute; null = that of the tier. */
export async function setRequestLimit(db: Database, userId: string, requestsPerMinute: number | null): Promise<void> {
  await db.update(users).set({ requestsPerMinute }).where(eq(users.id, userId));
}

/** A user as reported by an identity provider; the e-mail is verified. */
export interface Identity {
  issuer: string;
  subject: string;
  email: string;
  name: string;
}

/**
 * The account of an identity: linked before, with the same e-mail, or new if `registrationOpen`. A registration by password
 * does not prove ownership of the e-mail. Such an account is linked only to a caller logged in to it if it owns keys or
 * credentials; otherwise its password and sessions end.
 */
export async function signInByIdentity(
  db: Database,
  { issuer, subject, email, name }: Identity,
  { loggedInAs, registrationOpen }: { loggedInAs: string | null; registrationOpen: boolean },
): Promise<User> {
  return db.transaction(async (tx) => {
    const [known] = await tx
      .select({ user: users })
      .from(identities)
      .innerJoin(users, eq(users.id, identities.userId))
      .where(and(eq(identities.issuer, issuer), eq(identities.subject, subject)));
    if (known) return known.user;
    const emailVerifiedAt = new Date(systemClock.now());
    const [created] = registrationOpen
      ? await tx.insert(users).values({ email, name, emailVerifiedAt }).onConflictDoNothing().returning()
      : [];
    const named = created ?? (await findByEmail(tx, email));
    if (!named && !registrationOpen) throw registrationClosed();
    if (!named) throw new Error('the account was deleted while it was linked');
    // A key or credential that is being made counts, or is refused because its session ends here.
    if (!created) await lockUser(tx, named.id);
    // A reset may have proven the e-mail before the lock was free.
    const user = created ?? (await findUser(tx, named.id));
    const isProven = created || loggedInAs === user.id || user.emailVerifiedAt !== null;
    if (!isProven && (await ownsAccess(tx, user.id))) throw notLinked();
    const link = { issuer, subject, userId: user.id };
    const [linked] = await tx.insert(identities).values(link).onConflictDoNothing().returning();
    // Not linked: a concurrent request of the same user has just linked it.
    if (created || !linked) return user;
    const [verified] = await tx
      .update(users)
      .set({ emailVerifiedAt, ...(isProven ? {} : { passwordHash: null }) })
      .where(eq(users.id, user.id))
      .returning();
    if (!isProven) await tx.delete(sessions).where(eq(sessions.userId, user.id));
    return verified ?? user;
  });
}

/** Whether a live key or a credential would remain usable by the person who created it. */
async function ownsAccess(db: Database, userId: string): Promise<boolean> {
  const live = and(eq(apiKeys.userId, userId), isNull(apiKeys.revokedAt));
  const [key] = await db.select({ id: apiKeys.id }).from(apiKeys).where(live).limit(1);
  const [stored] = await db
    .select({ id: credentials.id })
    .from(credentials)
    .where(eq(credentials.userId, userId))
    .limit(1);
  return key !== undefined || stored !== undefined;
}

const notLinked = (): ApiError =>
  new ApiError(409, 'An account with this e-mail already exists', {
    resolution:
      'Log in with the password, then sign in with the identity provider in the same browser: this links both and keeps all data. If the password is not yours, reset it at POST /v1/api/auth/password/reset.',
  });

/** 403 for anything that would create an account. */
export const registrationClosed = (): ApiError =>
  new ApiError(403, 'Registration is closed', { resolution: 'Ask the operator of this service for an account.' });

const DEMO_EMAIL = 'demo@localhost';

/** The user of DEMO_API_KEY, with that key and no password, who may use the default order clients. */
export async function ensureDemoUser(db: Database, key: string): Promise<void> {
  await db.insert(users).values({ email: DEMO_EMAIL, name: 'Demo' }).onConflictDoNothing();
  const user = await findByEmail(db, DEMO_EMAIL);
  if (!user) throw new Error('the demo user was deleted');
  const row = { userId: user.id, name: 'demo', prefix: keyPrefix(key), hash: hashKey(key), scopes: [...SCOPES] };
  await db.insert(apiKeys).values(row).onConflictDoNothing();
  await grantDefaultClients(db, user.id);
}
