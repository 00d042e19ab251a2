import { eq, sql } from 'drizzle-orm';
import { parseUsd, usdText, type Usd } from '../core/decimal.ts';
import type { Database } from '../stores/postgres/client.ts';
import { defaultClientSettings, defaultClientUsers } from './tables.ts';

/** What the operator allows through the default clients; maxOrder null = no limit. */
export interface DefaultClientLimits {
  tradingEnabled: boolean;
  /** USD that one order can cost. */
  maxOrder: Usd | null;
}

export async function grantDefaultClients(db: Database, userId: string): Promise<void> {
  await db.insert(defaultClientUsers).values({ userId }).onConflictDoNothing();
}

/** Ends new orders; orders already placed stay the user's to list, read and cancel. */
export async function revokeDefaultClients(db: Database, userId: string): Promise<void> {
  await db.delete(defaultClientUsers).where(eq(defaultClientUsers.userId, userId));
}

/**
 * Reads the operator's rules with statements that are prepared once: every order through a default client asks for
 * them.
 */
export function defaultClientRules(db: Database) {
  const ofUser = db
    .select()
    .from(defaultClientUsers)
    .where(eq(defaultClientUsers.userId, sql.placeholder('userId')))
    .prepare('');
  const settings = db.select().from(defaultClientSettings).prepare('');
  return {
    isGranted: async (userId: string): Promise<boolean> => (await ofUser.execute({ userId })).length > 0,

    async limits(): Promise<DefaultClientLimits> {
      const [row] = await settings.execute();
      if (!row) throw new Error('default_client_settings has no row');
      const { tradingEnabled, maxOrderNotional: most } = row;
      return { tradingEnabled, maxOrder: most === null ? null : parseUsd(most) };
    },
  };
}

/** Changes what is given; in force for the next order of every process. */
export async function changeDefaultClients(db: Database, change: Partial<DefaultClientLimits>): Promise<void> {
  const { tradingEnabled, maxOrder } = change;
  await db.update(defaultClientSettings).set({
    ...(tradingEnabled === undefined ? {} : { tradingEnabled }),
    ...(maxOrder === undefined ? {} : { maxOrderNotional: maxOrder === null ? null : usdText(maxOrder) }),
  });
}
