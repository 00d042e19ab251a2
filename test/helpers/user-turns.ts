import { sql } from 'drizzle-orm';
import { vi } from 'vitest';
import { lockUser } from '../../src/accounts/users.ts';
import type { Database } from '../../src/stores/postgres/client.ts';

/** Number of transactions of this database that wait for the lock of a user. */
async function waiting(db: Database): Promise<number> {
  const [row] = await db.select({ locks: sql<number>`count(*)::int` }).from(sql`pg_locks`)
    .where(sql`locktype = 'advisory' AND NOT granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`);
  return row?.locks ?? 0;
}

/** Runs changes of one user so that each has passed its checks before the first takes effect; they take effect in this order. */
export async function inTurns<T>(db: Database, userId: string, changes: readonly (() => Promise<T>)[]): Promise<T[]> {
  const running: Promise<T>[] = [];
  await db.transaction(async (tx) => {
    await lockUser(tx, userId);
    for (const change of changes) {
      running.push(change());
      await vi.waitFor(
        async () => {
          if ((await waiting(db)) < running.length) throw new Error(`change ${running.length} does not wait`);
        },
        { timeout: 20_000, interval: 10 },
      );
    }
  });
  return Promise.all(running);
}
