import { randomUUID } from 'node:crypto';
import { and, eq, gt, lt } from 'drizzle-orm';
import { z } from 'zod';
import type { SessionCaller } from './auth.ts';
import { RecentMap } from './platforms/recent-map.ts';
import type { Database } from './postgres.ts';
import { sessions, users } from './tables.ts';

export const SESSION_SECONDS = 7 * 86_400;
const MAX_ENDED = 10_000;

/** Signs and checks the cookie's text: @fastify/jwt. */
export interface TokenSigner {
  sign(payload: { sub: string; sid: string }): string;
  verify(token: string): unknown;
}

const Claims = z.object({ sub: z.uuid(), sid: z.uuid() });

export type Sessions = ReturnType<typeof createSessions>;

/** Sessions live on the server; the cookie is a signed name of one. Ending the row ends the session, whatever the cookie says. */
export function createSessions(db: Database, signer: TokenSigner, now: () => number) {
  /** Sessions once found ended: they never begin again, so asking for them costs nothing. */
  const ended = new RecentMap<string, true>(MAX_ENDED);
  return {
    /** Starts a session and returns the cookie's text. */
    async start(userId: string): Promise<string> {
      const id = randomUUID();
      await db.delete(sessions).where(lt(sessions.expiresAt, new Date(now())));
      await db.insert(sessions).values({ id, userId, expiresAt: new Date(now() + SESSION_SECONDS * 1000) });
      return signer.sign({ sub: userId, sid: id });
    },

    /** Who the cookie belongs to; null when it is forged, expired or ended. */
    async find(token: string): Promise<SessionCaller | null> {
      const claims = Claims.safeParse(verified(signer, token));
      if (!claims.success) return null;
      const { sid, sub } = claims.data;
      if (ended.has(sid)) return null;
      const [row] = await db
        .select({ sessionId: sessions.id, userId: users.id, tier: users.tier })
        .from(sessions)
        .innerJoin(users, eq(users.id, sessions.userId))
        .where(and(eq(sessions.id, sid), eq(sessions.userId, sub), gt(sessions.expiresAt, new Date(now()))));
      if (row) return { kind: 'session', ...row };
      ended.set(sid, true);
      return null;
    },

    end: (sessionId: string) => db.delete(sessions).where(eq(sessions.id, sessionId)),

    endAll: (userId: string) => db.delete(sessions).where(eq(sessions.userId, userId)),
  };
}

function verified(signer: TokenSigner, token: string): unknown {
  try {
    return signer.verify(token);
  } catch {
    return null;
  }
}
