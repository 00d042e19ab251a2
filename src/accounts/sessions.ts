import { randomUUID } from 'node:crypto';
import { and, desc, eq, gt, inArray, lt, ne, sql } from 'drizzle-orm';
import { z } from 'zod';
import { Cache } from '../core/cache.ts';
import { ApiError } from '../core/errors.ts';
import type { Database } from '../stores/postgres/client.ts';
import type { SessionCaller } from './caller.ts';
import { sessions, users } from './tables.ts';

/** The account as it was read when its owner was recognized. */
type Recognized = Pick<typeof users.$inferSelect, 'id' | 'passwordHash'>;

export const SESSION_SECONDS = 7 * 86_400;
const MAX_ENDED = 10_000;
/** Per user; one more ends the oldest. */
const MAX_PER_USER = 100;
const LAST_USED_MS = 60_000;
const MAX_USER_AGENT = 300;

/** Signs and checks the text of a cookie: @fastify/jwt. */
export interface TokenSigner {
  sign(payload: Record<string, string>, options?: { expiresIn: number }): string;
  verify(token: string): unknown;
}

/** The payload of a signed text; null when it is forged or expired. */
export function verifiedClaims(signer: TokenSigner, token: string): unknown {
  try {
    return signer.verify(token);
  } catch {
    return null;
  }
}

const Claims = z.object({ sub: z.uuid(), sid: z.uuid() });

/** Where a session was started, so that its owner can recognize it. */
interface Origin {
  address: string;
  userAgent: string;
}

type SessionRecord = typeof sessions.$inferSelect;
export type Sessions = ReturnType<typeof createSessions>;

interface SessionContext {
  db: Database;
  signer: TokenSigner;
  now: () => number;
  /** Sessions found to have ended: they never restart, so they need no look-up. */
  ended: Cache<string, true>;
}

async function startSession(
  { db, signer, now }: SessionContext,
  { id: userId, passwordHash }: Recognized,
  { address, userAgent }: Origin,
): Promise<string | null> {
  const id = randomUUID();
  const at = new Date(now());
  await db.delete(sessions).where(lt(sessions.expiresAt, at));
  const isStarted = await db.transaction(async (tx) => {
    // A change of the password waits for the lock, then ends this session too.
    const isSame = sql`${users.passwordHash} IS NOT DISTINCT FROM ${passwordHash}`;
    const same = await tx
      .select({ id: users.id })
      .from(users)
      .where(and(eq(users.id, userId), isSame))
      .for('share');
    if (same.length === 0) return false;
    await tx.insert(sessions).values({
      id,
      userId,
      createdAt: at,
      authenticatedAt: at,
      expiresAt: new Date(now() + SESSION_SECONDS * 1000),
      address,
      userAgent: userAgent.toWellFormed().replaceAll('\0', '').slice(0, MAX_USER_AGENT),
    });
    return true;
  });
  if (!isStarted) return null;
  const surplus = db
    .select({ id: sessions.id })
    .from(sessions)
    .where(eq(sessions.userId, userId))
    .orderBy(desc(sessions.createdAt), desc(sessions.id))
    .offset(MAX_PER_USER);
  await db.delete(sessions).where(inArray(sessions.id, surplus));
  return signer.sign({ sub: userId, sid: id });
}

async function findSession({ db, signer, now, ended }: SessionContext, token: string): Promise<SessionCaller | null> {
  const claims = Claims.safeParse(verifiedClaims(signer, token));
  if (!claims.success) return null;
  const { sid, sub } = claims.data;
  if (ended.has(sid)) return null;
  const at = new Date(now());
  const [row] = await db
    .select({
      caller: {
        sessionId: sessions.id,
        userId: users.id,
        tier: users.tier,
        requestsPerMinute: users.requestsPerMinute,
      },
      authenticatedAt: sessions.authenticatedAt,
      lastUsedAt: sessions.lastUsedAt,
    })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(and(eq(sessions.id, sid), eq(sessions.userId, sub), gt(sessions.expiresAt, at)));
  if (!row) {
    ended.set(sid, true);
    return null;
  }
  if (at.getTime() - (row.lastUsedAt?.getTime() ?? 0) > LAST_USED_MS) {
    await db.update(sessions).set({ lastUsedAt: at }).where(eq(sessions.id, sid));
  }
  return { kind: 'session', ...row.caller, authenticatedAt: row.authenticatedAt };
}

/** Keeps a session from ending until the transaction ends; 401 if it has ended. */
export async function holdSession(tx: Database, sessionId: string): Promise<void> {
  const held = await tx.select({ id: sessions.id }).from(sessions).where(eq(sessions.id, sessionId)).for('share');
  if (held.length === 0) throw new ApiError(401, 'The session has ended', { resolution: 'Log in again.' });
}

/** Sessions are rows in the store; the cookie holds a signed id. Ending the row ends the session, even if the cookie is valid. */
export function createSessions(db: Database, signer: TokenSigner, now: () => number) {
  const context: SessionContext = { db, signer, now, ended: new Cache({ limit: MAX_ENDED }) };
  return {
    /** Starts a session and returns the cookie's text; null if the user's password is no longer the one given. */
    start: (user: Recognized, origin: Origin): Promise<string | null> => startSession(context, user, origin),

    /** The caller of the cookie; null if it is forged, expired or ended. */
    find: (token: string): Promise<SessionCaller | null> => findSession(context, token),

    /** The sessions of a user that have not expired, newest first. */
    list: (userId: string): Promise<SessionRecord[]> =>
      db
        .select()
        .from(sessions)
        .where(and(eq(sessions.userId, userId), gt(sessions.expiresAt, new Date(now()))))
        .orderBy(desc(sessions.createdAt), desc(sessions.id)),

    /** Records that the user of a session authenticated again. */
    async authenticated(sessionId: string): Promise<void> {
      await db
        .update(sessions)
        .set({ authenticatedAt: new Date(now()) })
        .where(eq(sessions.id, sessionId));
    },

    /** false when the user has no such session. */
    async end(userId: string, sessionId: string): Promise<boolean> {
      const gone = await db
        .delete(sessions)
        .where(and(eq(sessions.id, sessionId), eq(sessions.userId, userId)))
        .returning({ id: sessions.id });
      return gone.length > 0;
    },

    /** Ends every session of the user but this one; returns how many. */
    async endOthers(userId: string, sessionId: string): Promise<number> {
      const gone = await db
        .delete(sessions)
        .where(and(eq(sessions.userId, userId), ne(sessions.id, sessionId)))
        .returning({ id: sessions.id });
      return gone.length;
    },
  };
}
