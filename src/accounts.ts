import { and, eq, sql } from 'drizzle-orm';
import { ApiError } from './errors.ts';
import { hashKey, keyPrefix } from './key-format.ts';
import { hashPassword, verifyPassword } from './passwords.ts';
import type { Database } from './postgres.ts';
import { accountEvents, apiKeys, credentials, identities, sessions, users, type Tier } from './tables.ts';

export type User = typeof users.$inferSelect;

/** What is kept of what people did: each event names the account, the address and, where it has one, its object. */
export type AccountEvent =
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
  | 'order_limits_changed';

export async function recordEvent(
  db: Database,
  event: AccountEvent,
  userId: string | null,
  address: string,
  detail: Record<string, string> = {},
): Promise<void> {
  await db.insert(accountEvents).values({ event, userId, address, detail });
}

/** A new account; 409 when the e-mail has one. `email` is trimmed and lower case. */
export async function createUser(db: Database, email: string, name: string, password: string | null): Promise<User> {
  const passwordHash = password === null ? null : await hashPassword(password);
  const [user] = await db.insert(users).values({ email, name, passwordHash }).onConflictDoNothing().returning();
  if (user) return user;
  throw new ApiError(409, 'E-mail already registered', { resolution: 'Log in at POST /v1/api/auth/login.' });
}

/** The account of an e-mail, and whether the password is its own: after the same work in every case. */
export async function checkPassword(
  db: Database,
  email: string,
  password: string,
): Promise<{ account: User | null; proven: boolean }> {
  const account = await findByEmail(db, email);
  return { account, proven: await verifyPassword(account?.passwordHash, password) };
}

export async function findByEmail(db: Database, email: string): Promise<User | null> {
  const [user] = await db.select().from(users).where(eq(users.email, email));
  return user ?? null;
}

export async function findUser(db: Database, id: string): Promise<User> {
  const [user] = await db.select().from(users).where(eq(users.id, id));
  if (user) return user;
  throw new ApiError(401, 'The account is gone', { resolution: 'Register again.' });
}

/** Replaces the password and ends every session. */
export async function changePassword(db: Database, userId: string, password: string): Promise<void> {
  const passwordHash = await hashPassword(password);
  await db.transaction(async (tx) => {
    await tx.update(users).set({ passwordHash }).where(eq(users.id, userId));
    await tx.delete(sessions).where(eq(sessions.userId, userId));
  });
}

/** null when no account has this e-mail. */
export async function setTier(db: Database, email: string, tier: Tier): Promise<User | null> {
  const [user] = await db.update(users).set({ tier }).where(eq(users.email, email)).returning();
  return user ?? null;
}

/** A person an identity provider vouches for; the e-mail is verified. */
export interface Identity {
  issuer: string;
  subject: string;
  email: string;
  name: string;
}

/**
 * The account of an identity: linked before, of the same e-mail, or new. Whoever registered that e-mail by password never
 * proved to own it, so at the first link its password, sessions, keys and credentials end, unless the caller is logged
 * in to that account. Returns the ids of keys that ended.
 */
export async function signInByIdentity(
  db: Database,
  { issuer, subject, email, name }: Identity,
  loggedInAs: string | null,
): Promise<{ user: User; revokedKeys: string[] }> {
  return db.transaction(async (tx) => {
    const [known] = await tx
      .select({ user: users })
      .from(identities)
      .innerJoin(users, eq(users.id, identities.userId))
      .where(and(eq(identities.issuer, issuer), eq(identities.subject, subject)));
    if (known) return { user: known.user, revokedKeys: [] };
    const [created] = await tx.insert(users).values({ email, name }).onConflictDoNothing().returning();
    const user = created ?? (await findByEmail(tx, email));
    if (!user) throw new Error('the account was deleted meanwhile');
    const link = { issuer, subject, userId: user.id };
    const [linked] = await tx.insert(identities).values(link).onConflictDoNothing().returning();
    // Not linked: another request of the same person just was.
    if (created || !linked || loggedInAs === user.id) return { user, revokedKeys: [] };
    await tx.update(users).set({ passwordHash: null }).where(eq(users.id, user.id));
    await tx.delete(sessions).where(eq(sessions.userId, user.id));
    await tx.delete(credentials).where(eq(credentials.userId, user.id));
    const revoked = await tx
      .update(apiKeys)
      .set({ revokedAt: sql`coalesce(${apiKeys.revokedAt}, now())` })
      .where(eq(apiKeys.userId, user.id))
      .returning({ id: apiKeys.id });
    return { user, revokedKeys: revoked.map(({ id }) => id) };
  });
}

const DEMO_EMAIL = 'demo@localhost';

/** The user of DEMO_API_KEY, with that key and no password. */
export async function ensureDemoUser(db: Database, key: string): Promise<void> {
  await db.insert(users).values({ email: DEMO_EMAIL, name: 'Demo' }).onConflictDoNothing();
  const user = await findByEmail(db, DEMO_EMAIL);
  if (!user) throw new Error('the demo user is gone');
  const row = { userId: user.id, name: 'demo', prefix: keyPrefix(key), hash: hashKey(key) };
  await db.insert(apiKeys).values(row).onConflictDoNothing();
}
