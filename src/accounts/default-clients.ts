import { eq, sql } from 'drizzle-orm';
import { parseUsd, usdText, type Usd } from '../core/decimal.ts';
import type { Database } from '../stores/postgres/client.ts';
import { defaultClientSettings, defaultClientUsers } from './tables.ts';

/** The operator's limits on the default clients; maxOrder null = no limit. */
export interface DefaultClientLimits {
  tradingEnabled: boolean;
  /** Highest cost of one order. */
  maxOrder: Usd | null;
}

export async function grantDefaultClients(db: Database, userId: string): Promise<void> {
  await db.insert(defaultClientUsers).values({ userId }).onConflictDoNothing();
}

/** Stops new orders; the user can still list, read and cancel existing ones. */
export async function revokeDefaultClients(db: Database, userId: string): Promise<void> {
  await db.delete(defaultClientUsers).where(eq(defaultClientUsers.userId, userId));
}

/** The operator's rules, read with prepared statements: every order through a default client needs them. */
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

/** Changes the given limits, from the next order of every process on. */
export async function changeDefaultClients(db: Database, change: Partial<DefaultClientLimits>): Promise<void> {
  const { tradingEnabled, maxOrder } = change;
  await db.update(defaultClientSettings).set({
    ...(tradingEnabled === undefined ? {} : { tradingEnabled }),
    ...(maxOrder === undefined ? {} : { maxOrderNotional: maxOrder === null ? null : usdText(maxOrder) }),
  });
}
