import { hash, randomBytes } from 'node:crypto';
import { and, count, eq, gt, lt } from 'drizzle-orm';
import type { Database } from '../stores/postgres/client.ts';
import { revokeKeys } from './api-keys.ts';
import { hashPassword } from './passwords.ts';
import { passwordResets, users } from './tables.ts';
import { lockUser, setPasswordHash, type User } from './users.ts';
import { HOUR_MS, DAY_MS } from '../core/time.ts';

/** Lifetime of links: an hour in a mailbox; a day if the operator prints it to hand it over. */
const MAILED_MS = HOUR_MS;
export const PRINTED_MS = DAY_MS;
/** Links mailed to one account within MAILED_MS, so that nobody can flood a mailbox. */
const MAX_MAILED = 3;

const hashToken = (token: string): string => hash('sha256', token, 'base64url');

/** The page that uses a token; in the fragment (#), which servers and proxies never see. */
export const resetLink = (base: string, token: string): string =>
  `${base.replace(/\/+$/, '')}/reset-password#token=${token}`;

interface ResetRequest {
  userId: string;
  /** true: the link is mailed to the account's e-mail, so using it verifies the e-mail. */
  mailed: boolean;
  now: number;
}

/** Creates a one-time token that sets a password; null if the account was sent too many in the last hour. */
export async function issueReset(db: Database, { userId, mailed, now }: ResetRequest): Promise<string | null> {
  const ofUser = eq(passwordResets.userId, userId);
  const token = randomBytes(32).toString('base64url');
  const expiresAt = new Date(now + (mailed ? MAILED_MS : PRINTED_MS));
  return db.transaction(async (tx) => {
    // Parallel requests are counted one after another.
    await lockUser(tx, userId);
    await tx.delete(passwordResets).where(and(ofUser, lt(passwordResets.expiresAt, new Date(now))));
    const isMailed = and(ofUser, eq(passwordResets.mailed, true));
    const [held] = await tx.select({ links: count() }).from(passwordResets).where(isMailed);
    if (mailed && held && held.links >= MAX_MAILED) return null;
    const row = { hash: hashToken(token), userId, mailed, createdAt: new Date(now), expiresAt };
    await tx.insert(passwordResets).values(row);
    return token;
  });
}

/** The user whose password a token may set; null if the token was used, has expired or never existed. */
export async function userOfReset(db: Database, token: string, now: number): Promise<User | null> {
  const [row] = await db
    .select({ user: users })
    .from(passwordResets)
    .innerJoin(users, eq(users.id, passwordResets.userId))
    .where(and(eq(passwordResets.hash, hashToken(token)), gt(passwordResets.expiresAt, new Date(now))));
  return row?.user ?? null;
}

interface NewPassword {
  /** As `userOfReset` found. */
  userId: string;
  token: string;
  password: string;
  /** true: API keys are revoked too. */
  revokesKeys: boolean;
  now: number;
}

/** Redeems a token: sets the password and ends every session. Returns the revoked keys; null if the token is not valid. */
export async function redeemReset(
  db: Database,
  { userId, token, password, revokesKeys, now }: NewPassword,
): Promise<string[] | null> {
  const passwordHash = await hashPassword(password);
  return db.transaction(async (tx) => {
    await lockUser(tx, userId);
    // Of concurrent requests only the one that deletes the row continues.
    const [used] = await tx
      .delete(passwordResets)
      .where(and(eq(passwordResets.hash, hashToken(token)), gt(passwordResets.expiresAt, new Date(now))))
      .returning({ mailed: passwordResets.mailed });
    if (!used) return null;
    await setPasswordHash(tx, userId, passwordHash);
    if (used.mailed) {
      await tx
        .update(users)
        .set({ emailVerifiedAt: new Date(now) })
        .where(eq(users.id, userId));
    }
    return revokesKeys ? revokeKeys(tx, userId) : [];
  });
}
