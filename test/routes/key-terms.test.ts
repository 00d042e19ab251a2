import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/core/time.ts';
import { statusOfLateBody } from '../helpers/late-body.ts';
import { clockAt } from '../helpers/virtual-clock.ts';
import { apiKeys } from '../../src/accounts/tables.ts';
import { hashKey, keyPrefix, newApiKey } from '../../src/accounts/api-key-format.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { registered, type Browser } from '../helpers/browser.ts';

const KEYS = '/v1/api/auth/api-keys';
const SETTINGS = '/v1/api/auth/order-settings';
/** Asks for a key that reads, and answers without a platform: a parameter is missing. */
const READ = '/v1/api/orders';

let service: TestApp;
let ann: Browser;
let ahead = 0;
/** Time that passes beside that of the machine; it only grows. */
let passedMs = 0;
const passSecond = async () => (passedMs += 1000);
beforeAll(async () => {
  const clock = { ...clockAt(() => Date.now() + ahead), elapsed: () => systemClock.elapsed() + passedMs };
  service = await startTestApp({ env: { TRUST_PROXY: '10.9.0.0/16' }, clock });
  await service.app.listen({ host: '127.0.0.1', port: 0 });
  ann = await registered(service);
});
afterAll(() => service.close());

const make = async (terms: object = {}) => (await ann.post(KEYS, { name: 'k', ...terms })).json();

const call = (key: string, method: 'GET' | 'POST' | 'DELETE' | 'PATCH', url: string, payload?: object, from?: string) =>
  service.app.inject({
    method,
    url,
    headers: { 'x-api-key': key, ...(from === undefined ? {} : { 'x-forwarded-for': from }) },
    remoteAddress: from === undefined ? service.newAddress() : '10.9.1.1',
    ...(payload ? { payload } : {}),
  });

test('a new key may do what its user may, unless scopes narrow it', async () => {
  expect(await make()).toMatchObject({ scopes: ['read', 'trade'], expires_at: null, allowed_addresses: [] });
  expect(await make({ scopes: ['read'] })).toMatchObject({ scopes: ['read'] });
  expect(await make({ scopes: ['trade', 'read', 'read'] })).toMatchObject({ scopes: ['read', 'trade'] });
  const { api_keys: listed } = (await ann.get(KEYS)).json();
  expect(listed.map(({ scopes }: { scopes: string[] }) => scopes)).toEqual([
    ['read', 'trade'],
    ['read'],
    ['read', 'trade'],
  ]);
});

test('placing and cancelling need the scope trade, reading the scope read: 403 names what lacks', async () => {
  const { key: reads } = await make({ scopes: ['read'] });
  const { key: whole } = await make();
  const { key: trades } = await make({ scopes: ['trade'] });
  const writes = [
    ['POST', '/v1/api/orders'],
    ['POST', '/v1/api/orders/batch'],
    ['POST', '/v1/api/orders/cancel-all'],
    ['DELETE', '/v1/api/orders/x?platform=kalshi'],
  ] as const;
  for (const [method, url] of writes) {
    const refused = await call(reads, method, url, {});
    expect([url, refused.statusCode]).toEqual([url, 403]);
    expect(refused.json().error.message).toBe('The API key lacks the scope trade');
    for (const key of [trades, whole]) expect((await call(key, method, url, {})).statusCode).not.toBe(403);
  }
  expect((await call(reads, 'GET', READ)).statusCode).toBe(400);
  expect((await call(trades, 'GET', READ)).json().error.message).toBe('The API key lacks the scope read');
});

test('a key that an older release inserts reads alone', async () => {
  const { user } = (await ann.get('/v1/api/auth/me')).json();
  const key = newApiKey();
  const row = { userId: user.id, name: 'old', prefix: keyPrefix(key), hash: hashKey(key) };
  const [made] = await service.postgres.db.insert(apiKeys).values(row).returning();
  expect(made?.scopes).toEqual(['read']);
});

test('an expired key is refused with 401 from its second on, though it was just used', async () => {
  const { key, expires_at: end } = await make({ expires_at: Math.floor(Date.now() / 1000) + 60 });
  expect(Date.parse(end)).toBeGreaterThan(Date.now());
  expect((await call(key, 'GET', READ)).statusCode).toBe(400);
  ahead = 61_000;
  const refused = await call(key, 'GET', READ);
  ahead = 0;
  expect(refused.statusCode).toBe(401);
  expect(refused.json().error.message).toBe('The API key has expired');
});

test('a key that is revoked before the body of a request arrives is refused', async () => {
  const { key, id } = await make();
  for (const [method, url] of [
    ['POST', '/v1/api/orders'],
    ['POST', '/v1/api/orders/cancel-all'],
  ] as const) {
    const late = { method, url, headers: { 'x-api-key': key }, body: {} };
    expect(await statusOfLateBody(service.app, late, passSecond), 'the key is valid').toBe(400);
  }
  const order = { method: 'POST', url: '/v1/api/orders', headers: { 'x-api-key': key }, body: {} } as const;
  const revoke = async () => {
    expect((await ann.delete(`${KEYS}/${id}`)).statusCode).toBe(200);
    await passSecond();
  };
  expect(await statusOfLateBody(service.app, order, revoke)).toBe(401);
});

test('an end that is past is refused, as are a scope and an address that are none', async () => {
  const wrong = { expires_at: '2020-01-01T00:00:00Z', scopes: ['admin'], allowed_addresses: ['10.0.0.0/33', 'here'] };
  const answer = await ann.post(KEYS, { name: 'k', ...wrong });
  expect(answer.statusCode).toBe(400);
  const text: string = answer.json().error.error_text;
  for (const field of ['expires_at: a time in the future', 'scopes.0', 'allowed_addresses.0', 'allowed_addresses.1'])
    expect(text).toContain(field);
  expect((await ann.post(KEYS, { name: 'k', scopes: [] })).statusCode).toBe(400);
});

test('a key is refused with 403 from an address it does not allow, at the cost of that address', async () => {
  const { key, allowed_addresses: allowed } = await make({ allowed_addresses: ['203.0.113.0/24', '2001:db8::7'] });
  expect(allowed).toEqual(['203.0.113.0/24', '2001:db8::7']);
  for (const from of ['203.0.113.9', '203.0.113.9:4711', '::ffff:203.0.113.9', '2001:db8::7', '[2001:DB8::7]:443'])
    expect([from, (await call(key, 'GET', READ, undefined, from)).statusCode]).toEqual([from, 400]);
  for (const from of ['203.0.114.9', '2001:db8::8', '::ffff:198.51.100.1']) {
    const refused = await call(key, 'GET', READ, undefined, from);
    expect([from, refused.statusCode]).toEqual([from, 403]);
    expect(refused.headers['x-ratelimit-limit']).toBe('60');
  }
});

test('a key revokes no key, nor itself', async () => {
  const [first, second] = [await make(), await make()];
  for (const id of [first.id, second.id])
    expect((await call(first.key, 'DELETE', `${KEYS}/${id}`)).statusCode).toBe(403);
  const person = await ann.get(KEYS);
  const kept = person.json().api_keys.filter((one: { revoked_at: string | null }) => one.revoked_at === null);
  expect(kept.map(({ id }: { id: string }) => id)).toEqual(expect.arrayContaining([first.id, second.id]));
});

test('a key that trades switches trading off and nothing else; a session switches it on again', async () => {
  const { key: reads } = await make({ scopes: ['read'] });
  const { key } = await make({ scopes: ['read', 'trade'] });
  expect((await call(reads, 'PATCH', SETTINGS, { trading_enabled: false })).statusCode).toBe(403);
  for (const body of [{}, { trading_enabled: true }, { trading_enabled: false, max_day_notional: null }])
    expect((await call(key, 'PATCH', SETTINGS, body)).statusCode).toBe(403);
  expect((await call(key, 'PATCH', SETTINGS, { trading_enabled: false })).json().trading_enabled).toBe(false);
  expect((await ann.get(SETTINGS)).json().trading_enabled).toBe(false);
});

test('a login of over 15 minutes ago makes no key and stores no credential, until the password proves it', async () => {
  const person = await registered(service);
  ahead = 16 * 60_000;
  const stale = await person.post(KEYS, { name: 'k' });
  expect(stale.statusCode).toBe(403);
  expect(stale.json().error.resolution).toContain('current_password');
  const fields = { token_id: 't', secret: Buffer.alloc(32).toString('base64'), private_key: `0x${'1'.repeat(64)}` };
  const credential = { platform: 'limitless', label: 'l', fields };
  expect((await person.post('/v1/api/auth/credentials', credential)).statusCode).toBe(403);
  const wrong = await person.post(KEYS, { name: 'k', current_password: 'no such password' });
  expect(wrong.statusCode).toBe(400);
  const proven = await person.post(KEYS, { name: 'k', current_password: 'plum tree 42 on the hill' });
  expect(proven.statusCode).toBe(201);
  expect((await person.post('/v1/api/auth/credentials', credential)).statusCode, 'proven is proven').toBe(201);
  ahead = 0;
});

test('each order of a batch counts as a request, and the headers say what is left after all of them', async () => {
  const { key } = await service.newKey();
  const first = await call(key, 'GET', READ);
  const batch = await call(key, 'POST', '/v1/api/orders/batch', { orders: [{}, {}, {}] });
  expect(batch.statusCode).toBe(200);
  const [before, after] = [first, batch].map(({ headers }) => Number(headers['x-ratelimit-remaining']));
  expect(after).toBe(Number(before) - 3);
  expect((await call(key, 'GET', READ)).headers['x-ratelimit-remaining']).toBe(String(Number(after) - 1));
});
