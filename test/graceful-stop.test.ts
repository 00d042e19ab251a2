import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openClickHouse } from '../src/clickhouse.ts';
import { loadConfig } from '../src/config.ts';
import { newApiKey } from '../src/key-format.ts';
import { copyEmptyDatabase } from './helpers/databases.ts';
import { startProcess } from './helpers/process.ts';
import { rollupDifferences } from './helpers/rollups.ts';
import { silent } from './helpers/silent-log.ts';
import { type KalshiWorld, startKalshi } from './simulators/kalshi.ts';
import type { Simulator } from './simulators/simulator.ts';

const CALLERS = 8;
const STOP_MS = 10_000;

let directory: string;
let kalshi: Simulator<KalshiWorld>;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'forecastle-stop-'));
  await copyEmptyDatabase(join(directory, 'postgres'));
  kalshi = await startKalshi({ seed: 3, markets: 40, tradesPerMarket: 60, historyDays: 2 });
});

afterAll(async () => {
  await kalshi.close();
  rmSync(directory, { recursive: true });
});

/** What became of one request on a connection of its own: its status, `refused` before it was taken, `cut off` after. */
const outcome = (url: string, key: string): Promise<string> =>
  new Promise((resolve) => {
    const call = request(url, { agent: false, headers: { 'x-api-key': key } }, (answer) => {
      answer.resume().on('close', () => resolve(answer.complete ? String(answer.statusCode) : 'cut off'));
    });
    call.on('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED' ? 'refused' : 'cut off'));
    call.end();
  });

it('a stop under load and ingestion ends in time with 0, cuts off no request, and loses no row', async () => {
  const key = newApiKey();
  const env = { DATA_DIR: directory, PLATFORMS: 'kalshi', TRADES_SECONDS: '1', SWEEP_SECONDS: '2', ...kalshi.env };
  const service = startProcess('all', { ...env, DEMO_API_KEY: key });
  const url = await service.ready;
  kalshi.startTrading(20);
  await sleep(6000);
  const seen = new Map<string, number>();
  const load = new AbortController();
  const callers = Array.from({ length: CALLERS }, async (_, i) => {
    while (!load.signal.aborted) {
      // Past the cache: every request reaches the store.
      const result = await outcome(`${url}/v1/api/markets?provider=kalshi&limit=${20 + i}`, key);
      seen.set(result, (seen.get(result) ?? 0) + 1);
      if (result !== '200') await sleep(300);
    }
  });
  await sleep(2000);
  const startedAt = Date.now();
  service.kill('SIGTERM');
  expect(await service.ended).toBe(0);
  expect(Date.now() - startedAt).toBeLessThan(STOP_MS);
  load.abort();
  await Promise.all(callers);
  expect(seen.get('200')).toBeGreaterThan(0);
  expect(seen.get('cut off') ?? 0).toBe(0);
  // 429: the callers share one allowance; 503: taken while stopping.
  for (const result of seen.keys()) expect(['200', '429', '503', 'refused']).toContain(result);

  // A batch on its way waits in the spool: the next start stores it, and all tables agree.
  kalshi.startTrading(0);
  const next = startProcess('ingest', env);
  await next.ready;
  await sleep(8000);
  next.kill('SIGTERM');
  expect(await next.ended).toBe(0);
  expect(readdirSync(join(directory, 'spool'))).toEqual([]);
  const store = await openClickHouse(loadConfig({ DATA_DIR: directory }), silent);
  try {
    const truth = kalshi.world.trades.length;
    const [row] = await store.sql<{ n: string }>('SELECT count() AS n FROM trades');
    expect(Number(row?.n)).toBeGreaterThan(0);
    expect(Number(row?.n)).toBeLessThanOrEqual(truth);
    expect(await rollupDifferences(store)).toEqual([]);
  } finally {
    await store.close();
  }
});
