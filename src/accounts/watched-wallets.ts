import { and, asc, eq, sql } from 'drizzle-orm';
import type { Database } from '../stores/postgres/client.ts';
import { watchedWallets } from './tables.ts';

/** Maximum wallets that a user watches: as many as a stream's filter takes. */
export const MOST_WATCHED = 100;

type Row = typeof watchedWallets.$inferSelect;

/** The wallets that a user watches, oldest first. */
export const listWatched = (db: Database, userId: string): Promise<Row[]> =>
  db
    .select()
    .from(watchedWallets)
    .where(eq(watchedWallets.userId, userId))
    .orderBy(asc(watchedWallets.createdAt), asc(watchedWallets.address))
    .limit(MOST_WATCHED);

/** Watches a wallet, once; false where the user watches MOST_WATCHED others. */
export async function watchWallet(db: Database, userId: string, address: string): Promise<boolean> {
  return db.transaction(async (tx) => {
    // One change of a user at a time, so that two together cannot exceed the maximum.
    await tx.execute(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`watched ${userId}`}, 0))`);
    const watched = await listWatched(tx, userId);
    if (watched.some((row) => row.address === address)) return true;
    if (watched.length >= MOST_WATCHED) return false;
    await tx.insert(watchedWallets).values({ userId, address });
    return true;
  });
}

export async function unwatchWallet(db: Database, userId: string, address: string): Promise<void> {
  await db.delete(watchedWallets).where(and(eq(watchedWallets.userId, userId), eq(watchedWallets.address, address)));
}
