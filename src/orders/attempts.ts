import { sql, type SQL } from 'drizzle-orm';
import type { Database } from '../stores/postgres/client.ts';
import { rowsOf, rowJson } from '../stores/postgres/json-row.ts';
import { orderAttempts, orders } from './tables.ts';
import { DAY_MS } from '../core/time.ts';

/** Audit record of one request to a platform about an order. */
export type Attempt = Omit<typeof orderAttempts.$inferInsert, 'id' | 'at'>;
const attemptJson = rowJson(orderAttempts);
const ATTEMPTED = sql.raw(attemptJson.names('id', 'at').join(', '));
/** The INSERT of an attempt, for use inside a larger statement. */
export const audit = (attempt: Attempt): SQL =>
  sql`INSERT INTO ${orderAttempts} (${ATTEMPTED}) SELECT ${ATTEMPTED} FROM jsonb_populate_record(NULL::order_attempts, ${attemptJson.value(cut(attempt))})`;

/** Truncates the platform's text to 500 characters; a surrogate pair cut in half could not be stored. */
export const cut = (attempt: Attempt): Attempt => ({ ...attempt, detail: attempt.detail.slice(0, 500).toWellFormed() });

/** Rows deleted per statement, so that orders can be placed between two statements. */
const BATCH = 5000;
/** Maximum attempts per user: beyond it the oldest are deleted regardless of age, so that attempts cannot fill the store. */
const MAX_PER_USER = 100_000;

/** Deletes attempts older than `days`, and the oldest of users over the maximum. Attempts of orders with an unknown result are kept. */
export async function dropOldAttempts(
  db: Database,
  days: number,
  now: number,
  maxPerUser: number = MAX_PER_USER,
): Promise<void> {
  await dropAll(db, sql`a.at < ${new Date(now - days * DAY_MS).toISOString()}::timestamptz`);
  const overLimit = await db.execute(
    sql`SELECT user_id FROM ${orderAttempts} GROUP BY user_id HAVING count(*) > ${maxPerUser}::int`,
  );
  for (const { user_id: user } of rowsOf(overLimit)) {
    const newestToGo = await db.execute(sql`SELECT at::text, id FROM ${orderAttempts} WHERE user_id = ${user}::uuid
      ORDER BY ${orderAttempts.at} DESC, id DESC OFFSET ${maxPerUser}::int LIMIT 1`);
    const [row] = rowsOf(newestToGo);
    if (row)
      await dropAll(
        db,
        sql`a.user_id = ${user}::uuid AND (a.at, a.id) <= (${row['at']}::timestamptz, ${row['id']}::bigint)`,
      );
  }
}

async function dropAll(db: Database, where: SQL): Promise<void> {
  for (;;) {
    const dropped = await db.execute(sql`DELETE FROM ${orderAttempts} WHERE id IN (
      SELECT a.id FROM ${orderAttempts} AS a
      WHERE ${where} AND NOT EXISTS (SELECT FROM ${orders} AS o WHERE o.id = a.row_id AND o.state IN ('sending', 'unknown'))
      ORDER BY a.at LIMIT ${BATCH}::int) RETURNING id`);
    if (rowsOf(dropped).length < BATCH) return;
  }
}
