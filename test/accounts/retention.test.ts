import { randomUUID } from 'node:crypto';
import { eq, isNull, sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dropOldAccountRecords } from '../../src/accounts/retention.ts';
import { accountEvents, apiKeys, users } from '../../src/accounts/tables.ts';
import type { Database } from '../../src/stores/postgres/client.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';

const DAY_MS = 86_400_000;
const daysAgo = (days: number): Date => new Date(Date.now() - days * DAY_MS);

let service: TestApp;
let db: Database;
let userId: string;
beforeAll(async () => {
  service = await startTestApp();
  ({ db } = service.postgres);
  const [user] = await db.insert(users).values({ email: 'ann@example.com' }).returning();
  userId = user?.id ?? '';
});
afterAll(() => service.close());

const addKey = (row: { name: string; revokedAt?: Date; expiresAt?: Date }) =>
  db.insert(apiKeys).values({ userId, prefix: 'pk_', hash: randomUUID(), ...row });
const names = async () => (await db.select().from(apiKeys)).map(({ name }) => name).toSorted();

test('ended keys and events are kept for the days that the setting says, live keys for ever', async () => {
  await addKey({ name: 'live' });
  await addKey({ name: 'revoked long ago', revokedAt: daysAgo(401) });
  await addKey({ name: 'revoked lately', revokedAt: daysAgo(399) });
  await addKey({ name: 'expired long ago', expiresAt: daysAgo(401) });
  await db.insert(accountEvents).values([
    { userId, event: 'logged_in', at: daysAgo(401) },
    { userId, event: 'logged_out', at: daysAgo(399) },
  ]);
  await dropOldAccountRecords(db, 400, Date.now());
  expect(await names()).toEqual(['live', 'revoked lately']);
  const rows = await db.select().from(accountEvents);
  expect(rows.map(({ event }) => event)).toEqual(['logged_out']);
});

test('a flood is bounded by number: 100 revoked or expired keys and 10,000 events a user, 100,000 events without a user, the newest', async () => {
  await db.execute(sql`INSERT INTO api_keys (user_id, name, prefix, hash, revoked_at)
    SELECT ${userId}, 'flood', 'pk_', 'h' || n, now() - n * interval '1 hour' FROM generate_series(1, 150) AS n`);
  await db.execute(sql`INSERT INTO api_keys (user_id, name, prefix, hash, expires_at)
    SELECT ${userId}, 'brief', 'pk_', 'b' || n, now() - n * interval '1 hour' FROM generate_series(1, 150) AS n`);
  await addKey({ name: 'still valid', expiresAt: daysAgo(-1) });
  await db.execute(sql`INSERT INTO account_events (user_id, event)
    SELECT ${userId}, 'login_failed' FROM generate_series(1, 10050)`);
  await db.execute(sql`INSERT INTO account_events (event) SELECT 'login_failed' FROM generate_series(1, 100050)`);
  await db.insert(accountEvents).values([{ userId, event: 'logged_in' }]);
  await dropOldAccountRecords(db, 400, Date.now());
  const kept = await names();
  expect(['flood', 'brief'].map((each) => kept.filter((name) => name === each).length)).toEqual([50, 50]);
  expect(kept).toEqual(expect.arrayContaining(['live', 'still valid']));
  const mine = await db.select().from(accountEvents).where(eq(accountEvents.userId, userId));
  expect(mine).toHaveLength(10_000);
  expect(mine.some(({ event }) => event === 'logged_in')).toBe(true);
  expect(
    await db.select({ id: accountEvents.id }).from(accountEvents).where(isNull(accountEvents.userId)),
  ).toHaveLength(100_000);
});
