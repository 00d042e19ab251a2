import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { clockAt } from '../helpers/virtual-clock.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { migratedDatabase } from '../helpers/databases.ts';
import { browser, newEmail, PASSWORD } from '../helpers/browser.ts';
import { relayed, type Proxy } from '../helpers/proxy.ts';
import { waitsInRealTime } from '../helpers/real-time.ts';

waitsInRealTime('stores go away and come back under load');

const { DATABASE_URL = '', REDIS_URL = '' } = process.env;
const KEYS = '/v1/api/auth/api-keys';
const LOGIN = '/v1/api/auth/login';
/** Needs a session, so that a known key is 403, an unknown one 401 and an unanswered look-up 503. */
const byKey = async ({ app, newAddress }: TestApp, key: string) =>
  app.inject({ url: KEYS, headers: { 'x-api-key': key }, remoteAddress: newAddress() });

describe('Redis lost and found under load', () => {
  let proxy: Proxy;
  let service: TestApp;
  beforeAll(async () => {
    const relay = await relayed(REDIS_URL);
    proxy = relay.proxy;
    service = await startTestApp({ env: { REDIS_URL: relay.url } });
  });
  afterAll(async () => {
    await proxy.restore();
    await service.close();
    await proxy.close();
  });

  test.each(['cut', 'hang'] as const)(
    'when %s, no 5xx, limits hold in the process, and all is shared again after',
    async (way) => {
      const { key } = await service.newKey();
      const { key: slow } = await service.newKey();
      const statuses: number[] = [];
      const stop = new AbortController();
      onTestFinished(() => stop.abort());
      const load = async (): Promise<void> => {
        while (!stop.signal.aborted) {
          statuses.push((await byKey(service, slow)).statusCode);
          await sleep(20);
        }
      };
      const loads = Array.from({ length: 4 }, load);
      await sleep(200);
      if (way === 'cut') await proxy.cut();
      else proxy.hang();
      const burst = await Promise.all(Array.from({ length: 300 }, () => byKey(service, key)));
      const passed = burst.filter(({ statusCode }) => statusCode === 403);
      expect(passed).toHaveLength(250);
      expect(burst.filter(({ statusCode }) => statusCode === 429)).toHaveLength(50);
      await proxy.restore();
      await vi.waitFor(() => expect(service.shared.healthy()).toBe(true), { timeout: 8000 });
      await sleep(500);
      stop.abort();
      await Promise.all(loads);
      expect(statuses.filter((status) => status >= 500)).toEqual([]);
      expect(service.logged()).toContain('Redis is unavailable: limits are counted per process');
      expect(service.logged()).toContain('Redis is available again: limits are shared');
    },
  );
});

describe('PostgreSQL lost and found', () => {
  let proxy: Proxy;
  let service: TestApp;
  let drop: () => Promise<void>;
  let name = '';
  let ahead = 0;
  beforeAll(async () => {
    const database = await migratedDatabase();
    drop = database.drop;
    name = new URL(database.url).pathname.slice(1);
    const relay = await relayed(database.url);
    proxy = relay.proxy;
    service = await startTestApp({ databaseUrl: relay.url, clock: clockAt(() => Date.now() + ahead) });
  });
  afterEach(() => proxy.restore());
  afterAll(async () => {
    await service.close();
    await proxy.close();
    await drop();
  });
  const register = async () =>
    (await browser(service).post('/v1/api/auth/register', { email: newEmail(), password: PASSWORD })).statusCode;

  test('known keys go on for their short life, then 503 with Retry-After; all works again without a restart', async () => {
    const { key } = await service.newKey();
    const { key: unseen } = await service.newKey();
    expect((await byKey(service, key)).statusCode).toBe(403);
    await proxy.cut();
    expect((await byKey(service, key)).statusCode).toBe(403);
    const stranger = await byKey(service, unseen);
    expect(stranger.statusCode).toBe(503);
    expect(stranger.headers['retry-after']).toBe('5');
    expect(stranger.body).not.toMatch(/ECONN|select|127\.0\.0\.1/);
    ahead = 31_000;
    expect((await byKey(service, key)).statusCode).toBe(503);
    const login = await browser(service).post(LOGIN, { email: newEmail(), password: PASSWORD });
    expect(login.statusCode).toBe(503);
    expect((await service.app.inject('/v1/api/health')).json()).toMatchObject({ status: 'down' });
    await proxy.restore();
    await vi.waitFor(async () => expect((await byKey(service, key)).statusCode).toBe(403), { timeout: 5000 });
    expect((await service.app.inject('/v1/api/health')).json()).toMatchObject({ status: 'ok' });
    ahead = 0;
  });

  test('a PostgreSQL that accepts and never answers is 503 within seconds, not a request that hangs', async () => {
    const { key: unseen } = await service.newKey();
    proxy.hang();
    const started = performance.now();
    expect((await byKey(service, unseen)).statusCode).toBe(503);
    expect(performance.now() - started).toBeLessThan(9_000);
    await proxy.restore();
    await vi.waitFor(async () => expect((await byKey(service, unseen)).statusCode).toBe(403), { timeout: 10_000 });
  });

  test.each([
    ['lets nobody in', 'ALLOW_CONNECTIONS false', 'ALLOW_CONNECTIONS true'],
    ['takes no writes', 'SET default_transaction_read_only = on', 'RESET default_transaction_read_only'],
  ])('a PostgreSQL that %s is 503, and serves again after', async (_, refuse, allow) => {
    const admin = new pg.Client({ connectionString: DATABASE_URL });
    await admin.connect();
    onTestFinished(() => admin.end());
    const alter = async (change: string): Promise<void> => {
      await admin.query(`ALTER DATABASE ${name} ${change}`);
      await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
    };
    await alter(refuse);
    await vi.waitFor(async () => expect(await register()).toBe(503), { timeout: 3000 });
    expect(await register()).toBe(503);
    await alter(allow);
    await vi.waitFor(async () => expect(await register()).toBe(201), { timeout: 3000 });
  });
});
