import { eq } from 'drizzle-orm';
import { hashKey, keyPrefix } from './key-format.ts';
import type { Database } from './postgres.ts';
import { apiKeys, users } from './tables.ts';

export type User = typeof users.$inferSelect;

const DEMO_EMAIL = 'demo@localhost';

/** The user of DEMO_API_KEY, with that key and no password. */
export async function ensureDemoUser(db: Database, key: string): Promise<void> {
  await db.insert(users).values({ email: DEMO_EMAIL, name: 'Demo' }).onConflictDoNothing();
  const [user] = await db.select({ id: users.id }).from(users).where(eq(users.email, DEMO_EMAIL));
  if (!user) throw new Error('the demo user is gone');
  const row = { userId: user.id, name: 'demo', prefix: keyPrefix(key), hash: hashKey(key) };
  await db.insert(apiKeys).values(row).onConflictDoNothing();
}
