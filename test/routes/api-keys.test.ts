import { createHash } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { clockAt } from '../helpers/virtual-clock.ts';
import { newApiKey } from '../../src/accounts/api-key-format.ts';
import { apiKeys } from '../../src/accounts/tables.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { registered } from '../helpers/browser.ts';

const KEYS = '/v1/api/auth/api-keys';
/** Any path works: a key is distinguished from an unknown one by whose count the answer shows. */
const ANY = '/v1/api/nowhere';

let service: TestApp;
beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());

async function isKnown(headers: Record<string, string>, remoteAddress = service.newAddress()): Promise<boolean> {
  const answer = await service.app.inject({ url: ANY, headers, remoteAddress });
  return answer.headers['x-ratelimit-limit'] !== '60';
}

test('a key is shown once, recognised by its prefix, and stored only as a SHA-256', async () => {
  const person = await registered(service);
  const answer = await person.post(KEYS, { name: 'laptop' });
  expect(answer.statusCode).toBe(201);
  const { id, key, prefix } = answer.json();
  expect(key).toMatch(/^pk_[\w-]{43}[\w-]{6}$/);
  expect(key.startsWith(prefix)).toBe(true);
  const list = await person.get(KEYS);
  expect(list.json().api_keys).toMatchObject([{ id, name: 'laptop', prefix, last_used_at: null, revoked_at: null }]);
  expect(list.body).not.toContain(key);
  const [row] = await service.postgres.db.select().from(apiKeys).where(eq(apiKeys.id, id));
  expect(row?.hash).toBe(createHash('sha256').update(key).digest('base64url'));
  expect(JSON.stringify(row)).not.toContain(key);
});

test('a key is accepted in X-API-Key and as a bearer token, in both when they agree, refused with 400 when they differ', async () => {
  const { key } = await service.newKey();
  const { key: other } = await service.newKey();
  expect(await isKnown({ 'x-api-key': key })).toBe(true);
  expect(await isKnown({ authorization: `Bearer ${key}` })).toBe(true);
  expect(await isKnown({ authorization: `bearer ${key}`, 'x-api-key': key })).toBe(true);
  expect(await isKnown({ authorization: `Basic ${key}` })).toBe(false);
  const both = { authorization: `Bearer ${key}`, 'x-api-key': other };
  const answer = await service.app.inject({ url: KEYS, headers: both, remoteAddress: service.newAddress() });
  expect(answer.statusCode).toBe(400);
  expect(answer.body).not.toContain(key);
});

test('a revoked key is refused at once and stays in the list with its end', async () => {
  const person = await registered(service);
  const { id, key } = (await person.post(KEYS, { name: 'short-lived' })).json();
  expect(await isKnown({ 'x-api-key': key })).toBe(true);
  const answer = await person.delete(`${KEYS}/${id}`);
  expect(answer.json()).toMatchObject({ id, revoked: true });
  expect(await isKnown({ 'x-api-key': key })).toBe(false);
  const again = await person.delete(`${KEYS}/${id}`);
  expect(again.statusCode).toBe(200);
  const [record] = (await person.get(KEYS)).json().api_keys;
  expect(Date.parse(record.revoked_at)).toBeGreaterThan(Date.now() - 60_000);
});

test("another user's key, an unknown id and no id at all are equally not found", async () => {
  const owner = await registered(service);
  const { id, key } = (await owner.post(KEYS, { name: 'mine' })).json();
  const stranger = await registered(service);
  for (const wrong of [id, '0b0e7c0e-9d3b-4a39-9d53-f9e5d8f6a001', 'not-an-id']) {
    expect((await stranger.delete(`${KEYS}/${wrong}`)).statusCode).toBe(404);
  }
  expect((await stranger.get(KEYS)).json().api_keys).toEqual([]);
  expect(await isKnown({ 'x-api-key': key })).toBe(true);
});

test('a session is needed: a key alone is 403, nothing is 401', async () => {
  const { key } = await service.newKey();
  for (const method of ['GET', 'POST'] as const) {
    const remoteAddress = service.newAddress();
    const byKey = await service.app.inject({ method, url: KEYS, headers: { 'x-api-key': key }, remoteAddress });
    expect(byKey.statusCode).toBe(403);
    expect((await service.app.inject({ method, url: KEYS, remoteAddress })).statusCode).toBe(401);
  }
});

test('a name is asked for', async () => {
  const person = await registered(service);
  const answer = await person.post(KEYS, {});
  expect(answer.statusCode).toBe(400);
  expect(answer.json().error.error_text).toBe('name: text of 1 to 100 characters, received nothing');
});

test('a user has at most a hundred live keys, also if the last are made in parallel', async () => {
  const person = await registered(service);
  const { id } = (await person.post(KEYS, { name: 'first' })).json();
  for (let i = 1; i < 97; i++) await person.post(KEYS, { name: `key ${i}` });
  const last = await Promise.all(Array.from({ length: 8 }, () => person.post(KEYS, { name: 'last' })));
  expect(last.map(({ statusCode }) => statusCode).toSorted()).toEqual([201, 201, 201, 409, 409, 409, 409, 409]);
  expect((await person.post(KEYS, { name: 'one more' })).statusCode).toBe(409);
  await person.delete(`${KEYS}/${id}`);
  expect((await person.post(KEYS, { name: 'one more' })).statusCode).toBe(201);
});

test('last_used_at is written without the request waiting for it', async () => {
  const person = await registered(service);
  const { key } = (await person.post(KEYS, { name: 'used' })).json();
  const before = Date.now();
  await isKnown({ 'x-api-key': key });
  await vi.waitFor(
    async () => {
      const [record] = (await person.get(KEYS)).json().api_keys;
      expect(Date.parse(record.last_used_at)).toBeGreaterThanOrEqual(before);
    },
    { timeout: 8000, interval: 500 },
  );
});

test('a known key costs the database nothing once seen; wrong ones cost it nothing, or sixty look-ups a minute at most', async () => {
  const select = vi.spyOn(service.postgres.forOrders.db, 'select');
  // Orders are looked after now and then, too.
  const lookUps = () => select.mock.calls.filter(([columns = {}]: [object?]) => 'keyId' in columns).length;
  const { key } = await service.newKey();
  await isKnown({ 'x-api-key': key });
  select.mockClear();
  await Promise.all(Array.from({ length: 100 }, () => isKnown({ 'x-api-key': key })));
  expect(lookUps()).toBe(0);

  const address = service.newAddress();
  const mistyped = `${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`;
  for (let i = 0; i < 300; i++) await isKnown({ 'x-api-key': mistyped }, address);
  expect(lookUps()).toBe(0);

  const beganMinute = Math.floor(Date.now() / 60_000);
  await Promise.all(Array.from({ length: 300 }, () => isKnown({ 'x-api-key': newApiKey() }, address)));
  // The limit counts by minutes of the clock, and one may have passed.
  expect(lookUps()).toBeLessThanOrEqual(60 * (Math.floor(Date.now() / 60_000) - beganMinute + 1));

  select.mockClear();
  const unknown = newApiKey();
  for (let i = 0; i < 50; i++) await isKnown({ 'x-api-key': unknown }, service.newAddress());
  expect(lookUps()).toBe(1);
  select.mockRestore();
});

test('a flood of wrong keys does not lock out the known keys of the same address', async () => {
  let lateMs = 0;
  const own = await startTestApp({ clock: clockAt(() => Date.now() + lateMs) });
  onTestFinished(() => own.close());
  const { key } = await own.newKey();
  const remoteAddress = own.newAddress();
  const limit = async (sent: string) =>
    (await own.app.inject({ url: ANY, headers: { 'x-api-key': sent }, remoteAddress })).headers['x-ratelimit-limit'];
  const known = await limit(key);
  for (let i = 0; i < 80; i++) await limit(newApiKey());
  expect(await limit(key)).toBe(known);
  // Later it has to be looked up again.
  lateMs = 31_000;
  expect([known, await limit(key)]).toEqual(['250', '250']);
});

test('valid keys are known from the first request, however many come from one address at once', async () => {
  const keys = await Promise.all(Array.from({ length: 100 }, async () => (await service.newKey()).key));
  const remoteAddress = service.newAddress();
  for (let i = 0; i < 58; i++) await isKnown({ 'x-api-key': newApiKey() }, remoteAddress);
  const known = await Promise.all(keys.map((key) => isKnown({ 'x-api-key': key }, remoteAddress)));
  expect(known.filter(Boolean)).toHaveLength(100);
});

test('DEMO_API_KEY is a live key from the start, whatever its checksum, also when several processes start at once', async () => {
  const { postgres } = service;
  const DEMO_API_KEY = `pk_${'d'.repeat(49)}`;
  const started = await Promise.all([1, 2].map(() => startTestApp({ env: { DEMO_API_KEY }, postgres })));
  for (const demo of started) {
    const answer = await demo.app.inject({ url: ANY, headers: { 'x-api-key': DEMO_API_KEY } });
    expect(answer.headers['x-ratelimit-limit']).toBe('250');
    await demo.close();
  }
  expect(await isKnown({ 'x-api-key': DEMO_API_KEY })).toBe(false);
});
