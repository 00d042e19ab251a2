import { type ChildProcess, fork } from 'node:child_process';
import { randomInt, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/time.ts';
import { loadConfig } from '../../src/core/config.ts';
import { createLog } from '../../src/core/log.ts';
import { type ClickHouse, connect } from '../../src/stores/clickhouse/client.ts';
import { type EmbeddedClickHouse, startEmbeddedClickHouse } from '../../src/embedded/clickhouse/supervisor.ts';
import { openPostgres, type Postgres } from '../../src/stores/postgres/client.ts';
import { newApiKey } from '../../src/accounts/api-key-format.ts';
import { insertKey } from '../helpers/app.ts';
import { PASSWORD } from '../helpers/browser.ts';
import { freshDatabase } from '../helpers/databases.ts';
import { startProcessOfTest } from '../helpers/process-of-test.ts';
import { silent } from '../helpers/silent-log.ts';
import { rollupDifferences } from '../helpers/rollups.ts';
import { type KalshiWorld, startKalshi } from '../simulators/kalshi.ts';
import type { Simulator } from '../simulators/simulator.ts';
import { waitsInRealTime } from '../helpers/real-time.ts';

waitsInRealTime('several processes take leases and share budgets');

/** Needs servers that several processes can share; the embedded PostgreSQL and Redis belong to one process. */
const { DATABASE_URL = '', REDIS_URL = '' } = process.env;
/** For what the first process stores, and for leases of a killed one, which run out. */
const PATIENT = { timeout: 120_000, interval: 500 };

const KEYS = '/v1/api/auth/api-keys';

/** Two processes of the service on one PostgreSQL and one Redis. */
describe('two processes', () => {
  let children: ChildProcess[] = [];
  let [left, right]: string[] = [];
  let postgres: Postgres;
  let drop: () => Promise<void>;

  beforeAll(async () => {
    const database = await freshDatabase(DATABASE_URL);
    drop = database.drop;
    const env = { ...process.env, DATABASE: database.url, PREFIX: `test-${randomUUID()}:` };
    const program = new URL('../helpers/service-process.ts', import.meta.url);
    children = [0, 1].map(() => fork(program, { env, execArgv: ['--import', 'tsx'] }));
    const ports = await Promise.all(children.map((child) => once(child, 'message')));
    [left, right] = ports.map(([port]) => `http://127.0.0.1:${port}`);
    const config = loadConfig({ DATABASE_URL: database.url }, 'stores');
    postgres = await openPostgres(config, createLog({ LOG_LEVEL: 'silent' }));
  });
  afterAll(async () => {
    await postgres.close();
    await Promise.all(
      children.map(async (child) => {
        child.disconnect();
        await once(child, 'exit');
      }),
    );
    await drop();
  });

  test('let exactly 250 of 1,000 parallel requests of one user through, counted over two keys, the rest waiting for the same moment', async () => {
    const { userId, key } = await insertKey(postgres);
    const { key: second } = await insertKey(postgres, 'free', userId);
    const started = Date.now();
    const answers = await Promise.all(
      Array.from({ length: 1000 }, async (_, i) => {
        const answer = await fetch(`${i % 2 ? left : right}/reset-password`, {
          headers: { 'x-api-key': i % 4 > 1 ? key : second },
        });
        await answer.arrayBuffer();
        return { status: answer.status, retryAfter: Number(answer.headers.get('retry-after')), at: Date.now() };
      }),
    );
    const refused = answers.filter(({ status }) => status === 429);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(250);
    expect(refused).toHaveLength(750);
    for (const { retryAfter, at } of refused) {
      expect(retryAfter).toBeLessThanOrEqual(60);
      // Nobody is asked to come back before the window ends, a minute after its first request.
      expect(at + retryAfter * 1000).toBeGreaterThanOrEqual(started + 60_000);
    }
  });

  test('one refuses a key that was revoked in the other within a second, a hundred times out of a hundred', async () => {
    const delays: number[] = [];
    for (let person = 0; person < 5; person++) {
      const from = { 'x-forwarded-for': `198.51.100.${person}`, 'content-type': 'application/json' };
      const body = JSON.stringify({ email: `p${person}@example.com`, password: PASSWORD });
      const register = await fetch(`${left}/v1/api/auth/register`, { method: 'POST', headers: from, body });
      const cookie = register.headers
        .getSetCookie()
        .map((one) => one.split(';', 1)[0])
        .join('; ');
      for (let i = 0; i < 20; i++) {
        const made = await fetch(`${left}${KEYS}`, {
          method: 'POST',
          headers: { ...from, cookie },
          body: '{"name":"k"}',
        });
        const { id, key } = (await made.json()) as { id: string; key: string };
        const status = async (): Promise<number> => {
          const headers = { 'x-api-key': key, 'x-forwarded-for': `203.0.${person}.${i}` };
          return (await fetch(`${right}${KEYS}`, { headers })).status;
        };
        // 403: the key is known, and a session is needed here; 401: it is not known.
        expect(await status()).toBe(403);
        const ended = await fetch(`${left}${KEYS}/${id}`, { method: 'DELETE', headers: { ...from, cookie } });
        expect(ended.status).toBe(200);
        const revoked = performance.now();
        while ((await status()) !== 401) if (performance.now() - revoked > 5000) break;
        delays.push(performance.now() - revoked);
      }
    }
    expect(delays).toHaveLength(100);
    expect(Math.max(...delays)).toBeLessThan(1000);
  });

  test('make one account of parallel registrations with one e-mail', async () => {
    const body = JSON.stringify({ email: 'same@example.com', password: PASSWORD });
    const statuses = await Promise.all(
      Array.from({ length: 50 }, async (_, i) => {
        const headers = { 'content-type': 'application/json', 'x-forwarded-for': `192.0.2.${i}` };
        return (await fetch(`${i % 2 ? left : right}/v1/api/auth/register`, { method: 'POST', headers, body })).status;
      }),
    );
    expect(statuses.filter((status) => status === 201)).toHaveLength(1);
    expect(statuses.filter((status) => status !== 201 && status !== 409 && status !== 429)).toEqual([]);
  });
});

describe('four processes on one store', () => {
  let directory: string;
  let engine: EmbeddedClickHouse;
  let store: ClickHouse;
  let kalshi: Simulator<KalshiWorld>;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'forecastle-several-'));
    engine = await startEmbeddedClickHouse({ dataDir: directory, memoryMb: 1000, log: silent, clock: systemClock });
    store = connect(engine.url, async () => {});
    kalshi = await startKalshi({ seed: 5, markets: 60, tradesPerMarket: 60, historyDays: 6 });
  });

  afterAll(async () => {
    await store.close();
    await engine.close();
    await kalshi.close();
    await rm(directory, { recursive: true, force: true });
  });

  const storedTrades = async (): Promise<number> => {
    const [row] = await store.sql<{ n: string }>('SELECT count() AS n FROM trades');
    return Number(row?.n);
  };

  test(
    'two ingesting and two serving share one budget, store each trade once, and one takes over when the other is killed',
    { timeout: 400_000 },
    async () => {
      const database = await freshDatabase(DATABASE_URL);
      const redis = new URL(REDIS_URL);
      // A numbered database of its own: leases of another run must not be in the way.
      redis.pathname = `/${randomInt(1, 13)}`;
      const key = newApiKey();
      const env = {
        CLICKHOUSE_URL: engine.url,
        DATABASE_URL: database.url,
        REDIS_URL: redis.href,
        DEMO_API_KEY: key,
        PLATFORMS: 'kalshi',
        TRADES_SECONDS: '2',
        SWEEP_SECONDS: '6',
        // Longer than the simulated history.
        BACKFILL_DAYS: '10',
        JWT_SECRET: 'x'.repeat(40),
        ...kalshi.env,
      };
      const dir = (name: string) => ({ ...env, DATA_DIR: join(directory, name) });
      const first = startProcessOfTest('ingest', dir('a'));
      await first.ready;
      const second = startProcessOfTest('ingest', dir('b'));
      const serving = [startProcessOfTest('api', dir('c')), startProcessOfTest('api', dir('d'))];
      const [urlC, urlD] = await Promise.all(serving.map((service) => service.ready));
      await second.ready;
      const history = kalshi.world.trades.length;
      kalshi.startTrading(10);
      await expect.poll(storedTrades, PATIENT).toBeGreaterThan(history);

      first.kill('SIGKILL');
      await first.ended;
      const atKill = await storedTrades();
      // The dead process's leases run out, then the other stores on.
      await expect.poll(storedTrades, PATIENT).toBeGreaterThan(atKill);

      kalshi.startTrading(0);
      await expect.poll(storedTrades, PATIENT).toBe(kalshi.world.trades.length);
      await expect.poll(() => rollupDifferences(store), PATIENT).toEqual([]);
      expect(kalshi.refused.count).toBe(0);

      const totals = await Promise.all(
        [urlC, urlD].map(async (url) => {
          const reply = await fetch(`${url}/v1/api/markets?provider=kalshi`, { headers: { 'x-api-key': key } });
          return ((await reply.json()) as { pagination: { total: number } }).pagination.total;
        }),
      );
      expect(totals[0]).toBe(totals[1]);
      expect(totals[0]).toBeGreaterThan(0);
      for (const service of [second, ...serving]) service.kill('SIGTERM');
      for (const service of [second, ...serving]) expect(await service.ended).toBe(0);
      await database.drop();
    },
  );
});
