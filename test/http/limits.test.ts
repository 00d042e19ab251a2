import { setTimeout as sleep } from 'node:timers/promises';
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { setRequestLimit, setTier } from '../../src/accounts/users.ts';
import { loadConfig } from '../../src/core/config.ts';
import { MAX_WINDOWS } from '../../src/core/fixed-windows.ts';
import { openRateLimits } from '../../src/stores/shared/rate-limits.ts';
import { users } from '../../src/accounts/tables.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { registered } from '../helpers/browser.ts';
import { waitsInRealTime } from '../helpers/real-time.ts';
import { virtualClock } from '../helpers/virtual-clock.ts';

if (process.env['REDIS_URL']) waitsInRealTime('Redis goes by the time of the machine');

const HEALTH = '/v1/api/health';
/** A route that counts and that any caller may ask. */
const COUNTED = '/reset-password';
/** It stands still: a window ends when a test says so. */
const clock = virtualClock(Date.now());
/** Lets time pass: Redis, on which the store suites run this file, goes by the time of the machine. */
async function pass(ms: number): Promise<void> {
  if (process.env['REDIS_URL']) await sleep(ms);
  await clock.advance(ms);
}
let service: TestApp;
let networks = 0;
beforeAll(async () => {
  service = await startTestApp({ clock });
});
afterAll(() => service.close());

const get = (url: string, headers: Record<string, string>, remoteAddress = service.newAddress(), { app } = service) =>
  app.inject({ url, headers, remoteAddress });

/** How many of `count` requests at once were let through, and the answers. */
async function burst(count: number, ask: (index: number) => ReturnType<typeof get>) {
  const answers = await Promise.all(Array.from({ length: count }, (_, index) => ask(index)));
  return { answers, passed: answers.filter(({ statusCode }) => statusCode !== 429).length };
}

describe('a window', () => {
  test.each([
    ['free', 250],
    ['pro', 500],
  ] as const)('lets a %s user through %i times, over all of the user’s keys and addresses', async (tier, limit) => {
    const { key, userId } = await service.newKey(tier);
    const keys = [key, (await service.newKey(tier, userId)).key];
    const { answers, passed } = await burst(limit + 40, (i) => get(COUNTED, { 'x-api-key': keys[i % 2] ?? '' }));
    expect(passed).toBe(limit);
    expect(answers[0]?.headers['x-ratelimit-limit']).toBe(String(limit));
    const remaining = new Set(answers.map(({ headers }) => Number(headers['x-ratelimit-remaining'])));
    expect([...remaining].toSorted((a, b) => a - b)).toEqual(Array.from({ length: limit }, (_, i) => i));
  });

  test('lets all free accounts of one address through 1000 times together, and pro accounts beside them', async () => {
    const address = service.newAddress();
    const keys = await Promise.all(Array.from({ length: 5 }, async () => (await service.newKey()).key));
    const { answers, passed } = await burst(1100, (i) => get(COUNTED, { 'x-api-key': keys[i % 5] ?? '' }, address));
    expect(passed).toBe(1000);
    const refused = answers.find(({ statusCode }) => statusCode === 429);
    expect(refused?.json().error.error_text).toContain('from one address');
    expect(refused?.headers['retry-after']).toBeDefined();
    const pro = (await service.newKey('pro')).key;
    expect((await get(COUNTED, { 'x-api-key': pro }, address)).statusCode).toBe(200);
    expect((await get(COUNTED, { 'x-api-key': keys[0] ?? '' })).statusCode).toBe(200);
  });

  test('ends exactly when Retry-After says: the first request after it passes', async () => {
    const windowSeconds = 3;
    const hasty = await startTestApp({ rates: { windowSeconds }, postgres: service.postgres, clock });
    onTestFinished(() => hasty.close());
    const { key } = await service.newKey();
    const ask = () => get(COUNTED, { 'x-api-key': key }, hasty.newAddress(), hasty);
    const { answers } = await burst(251, ask);
    const refused = answers.find(({ statusCode }) => statusCode === 429);
    const retryAfter = Number(refused?.headers['retry-after']);
    expect(retryAfter).toBeGreaterThanOrEqual(1);
    expect(retryAfter).toBeLessThanOrEqual(windowSeconds);
    expect(refused?.json().error).toMatchObject({ status: 429, message: 'Rate limit exceeded' });
    expect((await ask()).statusCode).toBe(429);
    await pass(retryAfter * 1000);
    const answer = await ask();
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['x-ratelimit-remaining']).toBe('249');
  });

  test('is dropped before a flood of addresses fills the memory, the oldest first', async () => {
    const limits = await openRateLimits(undefined, service.app.log, { clock });
    onTestFinished(() => limits.close());
    const remaining = async (address: string) => (await limits.count('address', address)).remaining;
    const first = await remaining('first');
    for (let i = 1; i < MAX_WINDOWS; i++) await limits.count('address', `flood ${i}`);
    expect(await remaining('first')).toBe(first - 1);
    await remaining('one more');
    expect(await remaining('first')).toBe(first);
    expect(await remaining('one more')).toBe(first - 1);
  });

  test('is as long as the operator says, and is one for all keys and sessions of a user', async () => {
    const own = await startTestApp({
      env: { FREE_PER_MINUTE: '7', PRO_PER_MINUTE: '9' },
      postgres: service.postgres,
      clock,
    });
    onTestFinished(() => own.close());
    for (const [tier, limit] of [
      ['free', 7],
      ['pro', 9],
    ] as const) {
      const { key } = await service.newKey(tier);
      const { passed } = await burst(12, () => get(COUNTED, { 'x-api-key': key }, own.newAddress(), own));
      expect([tier, passed]).toEqual([tier, limit]);
    }
    const person = await registered(own);
    const { key } = (await person.post('/v1/api/auth/api-keys', { name: 'program' })).json() as { key: string };
    const { passed } = await burst(12, () => get(COUNTED, { 'x-api-key': key }, own.newAddress(), own));
    // Making the key was the first.
    expect(passed).toBe(6);
    expect((await person.get('/v1/api/auth/me')).statusCode).toBe(429);
  });

  test('of one user leaves others alone', async () => {
    const [busy, quiet] = [await service.newKey(), await service.newKey()];
    await burst(251, () => get(COUNTED, { 'x-api-key': busy.key }));
    expect((await get(COUNTED, { 'x-api-key': quiet.key })).statusCode).toBe(200);
  });

  test('of an address lets 60 requests without a caller through, with wrong keys or none', async () => {
    const address = service.newAddress();
    const { passed } = await burst(80, (i) => get(COUNTED, i % 2 ? { 'x-api-key': 'pk_wrong' } : {}, address));
    expect(passed).toBe(60);
    const { key } = await service.newKey();
    expect((await get(COUNTED, { 'x-api-key': key }, address)).statusCode).toBe(200);
  });

  test('of an IPv6 address is that of its /64 network', async () => {
    const [network, next] = [(networks += 1), (networks += 1)].map((n) => `2001:db8:1:${n.toString(16)}`);
    const { passed } = await burst(80, (i) => get(COUNTED, {}, `${network}::${i.toString(16)}`));
    expect(passed).toBe(60);
    expect((await get(COUNTED, {}, `${next}::1`)).statusCode).toBe(200);
  });
});

test('every kind of answer says limit, remaining and request id; Retry-After is on 429 and 503 only', async () => {
  const { key } = await service.newKey();
  const address = service.newAddress();
  const known = { 'x-api-key': key };
  const answers = [
    await get(HEALTH, {}),
    await get(HEALTH, known),
    await get('/v1/api/nowhere', known),
    await get('/v1/api/auth/me', {}),
    await get('/v1/api/auth/me', known),
    await get('/v1/%zz', {}),
    await service.app.inject({ method: 'POST', url: HEALTH, remoteAddress: service.newAddress() }),
    await service.app.inject({
      method: 'POST',
      url: '/v1/api/auth/login',
      payload: '{',
      headers: { 'content-type': 'application/json' },
      remoteAddress: address,
    }),
    await service.app.inject({
      method: 'POST',
      url: '/v1/api/auth/login',
      payload: 'x',
      headers: { 'content-type': 'text/plain' },
      remoteAddress: address,
    }),
    await service.app.inject({
      method: 'POST',
      url: '/v1/api/auth/login',
      payload: { a: 'x'.repeat(70_000) },
      remoteAddress: address,
    }),
    (await burst(61, () => get(COUNTED, {}, address))).answers.at(-1) ?? (await get(COUNTED, {})),
  ];
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 404, 401, 403, 400, 405, 400, 415, 413, 429]);
  for (const { headers, statusCode, body } of answers) {
    expect(Number(headers['x-ratelimit-limit'])).toBeGreaterThan(0);
    expect(headers['x-ratelimit-remaining']).toMatch(/^\d+$/);
    expect(headers['x-request-id']).toMatch(/^[\w-]{36}$/);
    expect('retry-after' in headers).toBe(statusCode === 429);
    if (statusCode >= 400)
      expect(Object.keys(JSON.parse(body).error)).toEqual(['status', 'message', 'resolution', 'error_text']);
  }
});

describe('/health and /metrics', () => {
  let watched: TestApp;
  beforeAll(async () => {
    const metrics = createMetrics();
    const watch = { metrics, scrape: () => metrics.registry.metrics() };
    watched = await startTestApp({ postgres: service.postgres, clock, watch });
  });
  afterAll(() => watched.close());

  test.each([HEALTH, '/metrics'])(
    '%s answers without end, counts for nobody and says what the caller has left',
    async (url) => {
      const { key } = await service.newKey();
      const known = { 'x-api-key': key };
      await get(COUNTED, known, '127.0.0.1', watched);
      const { answers, passed } = await burst(300, () => get(url, known, '127.0.0.1', watched));
      expect(passed).toBe(300);
      expect(answers.at(-1)?.statusCode).toBe(200);
      expect(answers.at(-1)?.headers).toMatchObject({ 'x-ratelimit-limit': '250', 'x-ratelimit-remaining': '249' });
      expect((await get(COUNTED, known, '127.0.0.1', watched)).headers['x-ratelimit-remaining']).toBe('248');
    },
  );

  test('/health still answers a caller whose limit is used up', async () => {
    const address = service.newAddress();
    expect((await burst(61, () => get(COUNTED, {}, address))).passed).toBe(60);
    const answer = await get(HEALTH, {}, address);
    expect([answer.statusCode, answer.headers['x-ratelimit-remaining']]).toEqual([200, '0']);
  });
});

/** Of six requests from one address, each forwarded for another, how many were counted together. */
async function counted(app: TestApp['app'], remoteAddress: string): Promise<number> {
  let remaining = 60;
  for (let i = 0; i < 6; i++) {
    const headers = { 'x-forwarded-for': `203.0.113.${i}` };
    const answer = await app.inject({ url: COUNTED, headers, remoteAddress });
    remaining = Number(answer.headers['x-ratelimit-remaining']);
  }
  return 60 - remaining;
}

test('X-Forwarded-For is believed from trusted proxies only', async () => {
  expect(await counted(service.app, service.newAddress())).toBe(6);
  const behind = await startTestApp({ env: { TRUST_PROXY: '10.9.0.0/16' }, postgres: service.postgres, clock });
  expect(await counted(behind.app, '10.9.1.1')).toBe(1);
  expect(await counted(behind.app, '10.8.1.1')).toBe(6);
  await behind.close();
});

test('an address is counted without the port that some proxies write behind it', async () => {
  const behind = await startTestApp({ env: { TRUST_PROXY: '10.9.0.0/16' }, postgres: service.postgres, clock });
  const left = async (forwarded: string): Promise<unknown> => {
    const headers = { 'x-forwarded-for': forwarded };
    const answer = await behind.app.inject({ url: COUNTED, headers, remoteAddress: '10.9.1.1' });
    return answer.headers['x-ratelimit-remaining'];
  };
  expect(await left('198.51.100.7:4001')).toBe('59');
  expect(await left('198.51.100.7:4002')).toBe('58');
  expect(await left('[2001:DB8:7::1]:4001')).toBe('59');
  expect(await left('2001:db8:7::2')).toBe('58');
  await behind.close();
});

test('a TRUST_PROXY that is no address stops the start, naming the rule and the value', () => {
  expect(() => loadConfig({ TRUST_PROXY: '10.0.0.0/8, my-proxy' })).toThrow(
    'TRUST_PROXY: must be addresses or CIDR blocks, received "10.0.0.0/8, my-proxy"',
  );
});

test('a changed tier holds from the next request on', async () => {
  const { key, userId } = await service.newKey();
  expect((await get(COUNTED, { 'x-api-key': key })).headers['x-ratelimit-limit']).toBe('250');
  const [user] = await service.postgres.db.select().from(users).where(eq(users.id, userId));
  await setTier(service.postgres.db, user?.email ?? '', 'pro');
  service.app.apiKeys.forget([userId]);
  const answer = await get(COUNTED, { 'x-api-key': key });
  expect(answer.headers).toMatchObject({ 'x-ratelimit-limit': '500', 'x-ratelimit-remaining': '498' });
});

test('a limit of a user’s own holds from the next request on, for keys and sessions, until it is taken back', async () => {
  const person = await registered(service);
  const { key } = (await person.post('/v1/api/auth/api-keys', { name: 'program' })).json() as { key: string };
  const { user } = (await person.get('/v1/api/auth/me')).json() as { user: { id: string } };
  const allowed = async (): Promise<unknown[]> => {
    const answers = [
      await get(COUNTED, { 'x-api-key': key }),
      await person.get('/v1/api/auth/me'),
      await person.get(HEALTH),
    ];
    return answers.map(({ headers }) => headers['x-ratelimit-limit']);
  };
  const set = async (perMinute: number | null): Promise<void> => {
    await setRequestLimit(service.postgres.db, user.id, perMinute);
    service.app.apiKeys.forget([user.id]);
  };
  expect(await allowed()).toEqual(['250', '250', '250']);
  await set(1200);
  expect(await allowed()).toEqual(['1200', '1200', '1200']);
  // More than the 1000 of all free accounts of one address.
  const address = service.newAddress();
  const { passed } = await burst(1210, () => get(COUNTED, { 'x-api-key': key }, address));
  expect(passed).toBe(1200 - 6);
  await set(3);
  expect((await get(COUNTED, { 'x-api-key': key })).statusCode).toBe(429);
  await set(null);
  expect(await allowed()).toEqual(['250', '250', '250']);
});
