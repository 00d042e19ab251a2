import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { revokeKeys } from '../../src/accounts/api-keys.ts';
import { setRequestLimit } from '../../src/accounts/users.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { virtualClock } from '../helpers/virtual-clock.ts';

// Time stands still unless a test advances it: a key that was looked up stays known, except for what the service hears.
const clock = virtualClock(Date.now());
let service: TestApp;
beforeAll(async () => {
  service = await startTestApp({ clock });
});
afterAll(() => service.close());

const ask = async (key: string) =>
  service.app.inject({ url: '/v1/api/orders', headers: { 'x-api-key': key }, remoteAddress: service.newAddress() });
const status = async (key: string): Promise<number> => (await ask(key)).statusCode;
const limit = async (key: string): Promise<unknown> => (await ask(key)).headers['x-ratelimit-limit'];
/** Waits until the service hears changes: those of a key of which it knows the first look-up. */
async function hears(): Promise<void> {
  await expect
    .poll(async () => {
      const { key, userId } = await service.newKey();
      await clock.advance(1);
      await status(key);
      await revokeKeys(service.postgres.db, userId);
      await new Promise((resolve) => setTimeout(resolve, 20));
      return status(key);
    })
    .toBe(401);
}

test('a key that another process revokes is refused without a look-up of its own', async () => {
  await hears();
  const { key, userId } = await service.newKey();
  expect(await status(key)).not.toBe(401);
  await revokeKeys(service.postgres.db, userId);
  await expect.poll(() => status(key)).toBe(401);
});

test('a limit that another process sets holds for keys that are known', async () => {
  await hears();
  const { key, userId } = await service.newKey();
  expect(await limit(key)).toBe('250');
  await setRequestLimit(service.postgres.db, userId, 77);
  await expect.poll(() => limit(key)).toBe('77');
});

test('while its connection is lost a revoked key is refused after half a second, and at once when it is back', async () => {
  await hears();
  const { key, userId } = await service.newKey();
  expect(await status(key)).not.toBe(401);
  const ended: unknown = await service.postgres.db.execute(
    sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN %'`,
  );
  expect(ended).toMatchObject({ rows: [{}] });
  await revokeKeys(service.postgres.db, userId);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(await status(key)).not.toBe(401);
  await clock.advance(500);
  expect(await status(key)).toBe(401);
  await hears();
});
