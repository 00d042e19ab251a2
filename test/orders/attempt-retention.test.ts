import { randomUUID } from 'node:crypto';
import { eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { users } from '../../src/accounts/tables.ts';
import { dropOldAttempts } from '../../src/orders/attempts.ts';
import { orderAttempts, orders, type OrderState } from '../../src/orders/tables.ts';
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
});
afterAll(() => service.close());
beforeEach(async () => {
  const [user] = await db
    .insert(users)
    .values({ email: `${randomUUID()}@example.com` })
    .returning();
  userId = user?.id ?? '';
});

async function orderIn(state: OrderState, at = daysAgo(500)): Promise<string> {
  const id = randomUUID();
  const asked = { marketRef: 'KXA-1', marketId: 'KXA-1', outcome: 'yes', outcomeIndex: 0, size: '1', notional: '1' };
  await db.insert(orders).values({
    ...asked,
    id,
    userId,
    platform: 'kalshi',
    // There is no such credential.
    credentialId: 1,
    origin: 'service',
    side: 'buy',
    type: 'limit',
    timeInForce: 'gtc',
    clientOrderId: id,
    state,
    status: 'unknown',
    createdAt: at,
    updatedAt: at,
    askedAt: at,
  });
  return id;
}
const attempt = (detail: string, at: Date, rowId: string | null = null) =>
  db.insert(orderAttempts).values({
    at,
    userId,
    platform: 'kalshi',
    rowId,
    action: 'place',
    result: 'accepted',
    httpStatus: 201,
    detail,
    ms: 1,
    requestId: 'r',
  });
const left = async () =>
  (await db.select().from(orderAttempts).where(eq(orderAttempts.userId, userId)))
    .map(({ detail }) => detail)
    .toSorted();

const stateOf = async (id: string) => {
  const [order] = await db.select().from(orders).where(eq(orders.id, id));
  const rows = await db.select().from(orderAttempts).where(eq(orderAttempts.rowId, id));
  return { recheckAt: order?.recheckAt ?? null, attempts: rows.map(({ detail }) => detail) };
};
const recheck = async (id: string) => {
  const due = new Date();
  await db.update(orders).set({ recheckAt: due }).where(eq(orders.id, id));
  await vi.waitFor(async () => expect((await stateOf(id)).recheckAt).not.toEqual(due), 10_000);
};

test('a missing credential is recorded once for an order, which is read again for a day after its result is due', async () => {
  const recent = await orderIn('unknown', new Date(Date.now() - 3_600_000));
  const old = await orderIn('unknown', daysAgo(1.1));
  for (const id of [recent, old]) {
    await recheck(id);
    await recheck(id);
    expect((await stateOf(id)).attempts).toEqual(['the credential that placed it was deleted']);
  }
  expect((await stateOf(recent)).recheckAt?.getTime()).toBeGreaterThan(Date.now());
  expect((await stateOf(old)).recheckAt).toBeNull();
});

test('attempts are kept for the days that the setting says, those of an order whose result is unknown for as long as it is', async () => {
  await attempt('old dry run', daysAgo(401));
  await attempt('old', daysAgo(401), await orderIn('placed'));
  await attempt('old, unknown', daysAgo(401), await orderIn('unknown'));
  await attempt('old, sending', daysAgo(401), await orderIn('sending'));
  await attempt('late', daysAgo(399), await orderIn('rejected'));
  await dropOldAttempts(db, 400, Date.now());
  expect(await left()).toEqual(['late', 'old, sending', 'old, unknown']);
});

test('attempts are bounded by number for each user: the newest stay, more than one batch of others goes', async () => {
  await attempt('open', daysAgo(3), await orderIn('unknown'));
  await db.execute(sql`INSERT INTO order_attempts (at, user_id, platform, action, result, http_status, detail, ms, request_id)
    SELECT now() - n * interval '1 second', ${userId}, 'kalshi', 'dry_run', 'ok', 0, 'try ' || n, 1, 'r' FROM generate_series(1, 5400) AS n`);
  await dropOldAttempts(db, 400, Date.now(), 100);
  const rows = await left();
  expect(rows).toHaveLength(101);
  expect(rows).toContain('open');
  expect(rows).toContain('try 100');
});
