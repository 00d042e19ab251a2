import { and, count, desc, eq, lt } from 'drizzle-orm';
import type { Database } from '../stores/postgres/client.ts';
import { accountEvents } from './tables.ts';

/** Position in the list of events: after the event of this id; `total` is from the first page. */
interface EventPosition {
  id: number;
  total: number;
}

/** A page of an account's events, newest first; `next` is the id to continue after, null on the last page. */
export async function listEvents(db: Database, userId: string, position: EventPosition | null, limit: number) {
  const ofUser = eq(accountEvents.userId, userId);
  const [counted] = position ? [] : await db.select({ total: count() }).from(accountEvents).where(ofUser);
  const rows = await db
    .select()
    .from(accountEvents)
    .where(and(ofUser, position ? lt(accountEvents.id, position.id) : undefined))
    .orderBy(desc(accountEvents.id))
    .limit(limit + 1);
  const page = rows.slice(0, limit);
  return {
    rows: page,
    total: position?.total ?? counted?.total ?? 0,
    next: rows.length > limit ? (page.at(-1)?.id ?? null) : null,
  };
}
