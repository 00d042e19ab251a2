import { randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ClickHouse, connect } from '../../src/stores/clickhouse/client.ts';
import { type EmbeddedClickHouse, startEmbeddedClickHouse } from '../../src/embedded/clickhouse/supervisor.ts';
import { newApiKey } from '../../src/accounts/api-key-format.ts';
import { freshDatabase } from '../helpers/databases.ts';
import { startProcessOfTest } from '../helpers/process-of-test.ts';
import { rollupDifferences } from '../helpers/rollups.ts';
import { type KalshiWorld, startKalshi } from '../simulators/kalshi.ts';
import type { Simulator } from '../simulators/simulator.ts';
import { waitsInRealTime } from '../helpers/real-time.ts';

waitsInRealTime('several processes take leases and share budgets');

/** Needs servers that several processes can share; the embedded PostgreSQL and Redis belong to one process. */
const { DATABASE_URL = '', REDIS_URL = '' } = process.env;

let directory: string;
let engine: EmbeddedClickHouse;
let store: ClickHouse;
let kalshi: Simulator<KalshiWorld>;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'forecastle-several-'));
  engine = await startEmbeddedClickHouse({ dataDir: directory, memoryMb: 1000, log: pino({ level: 'silent' }) });
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
  'two ingesting and two serving processes share one budget, store each trade once, and one takes over when the other is killed',
  { timeout: 240_000 },
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
    kalshi.startTrading(10);
    await sleep(15_000);
    const before = await storedTrades();
    expect(before).toBeGreaterThan(0);

    first.kill('SIGKILL');
    await first.ended;
    const killedAt = Date.now();
    const atKill = await storedTrades();
    // The dead process's leases run out, then the other stores on.
    while ((await storedTrades()) <= atKill && Date.now() - killedAt < 60_000) await sleep(500);
    expect(await storedTrades()).toBeGreaterThan(atKill);

    kalshi.startTrading(0);
    const truth = kalshi.world.trades.length;
    for (let i = 0; i < 90 && (await storedTrades()) < truth; i++) await sleep(1000);
    expect(await storedTrades()).toBe(truth);
    expect(await rollupDifferences(store)).toEqual([]);
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
