import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { openClickHouse } from '../../../src/stores/clickhouse/client.ts';
import { loadConfig } from '../../../src/core/config.ts';
import { newApiKey } from '../../../src/accounts/api-key-format.ts';
import { startProcessOfTest } from '../../helpers/process-of-test.ts';
import { rollupDifferences } from '../../helpers/rollups.ts';
import { silent } from '../../helpers/silent-log.ts';
import { type KalshiWorld, startKalshi } from '../../simulators/kalshi.ts';
import type { Simulator } from '../../simulators/simulator.ts';
import { waitsInRealTime } from '../../helpers/real-time.ts';

waitsInRealTime('a whole service is started and stopped');

const CALLERS = 8;
const STOP_MS = 10_000;
const WAIT_MS = 60_000;
const BUSY_ANSWERS = 30;

let directory: string;
let kalshi: Simulator<KalshiWorld>;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'forecastle-stop-'));
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
      let body = '';
      answer.setEncoding('utf8').on('data', (part: string) => (body += part));
      answer.on('close', () => {
        const { statusCode, headers, complete } = answer;
        const reported =
          statusCode !== 503 ||
          (body.startsWith('{"error":{"status":503,') && headers['retry-after'] && headers['x-request-id']);
        resolve(complete ? `${statusCode}${reported ? '' : ' of another form'}` : 'cut off');
      });
    });
    // A connection that the listener never took is refused, or reset while it connects.
    call.on('error', ({ syscall }: NodeJS.ErrnoException) => resolve(syscall === 'connect' ? 'refused' : 'cut off'));
    call.end();
  });

/** Resolves once `look` gives true. */
async function until(what: string, look: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = Date.now() + WAIT_MS; !(await look()); await sleep(250)) {
    if (Date.now() > end) throw new Error(`waited in vain for ${what}`);
  }
}

/** How many trades the service says it has stored. */
async function storedTrades(url: string, key: string): Promise<number> {
  const answer = await fetch(`${url}/v1/api/trades/whales?platform=kalshi&min_size=0&limit=1`, {
    headers: { 'x-api-key': key },
  });
  const { pagination } = (await answer.json()) as { pagination?: { total: number } };
  return pagination?.total ?? 0;
}

// It waits for three things, each a minute at most.
vi.setConfig({ testTimeout: 240_000 });

it('a stop under load and ingestion ends in time with 0, cuts off no request, and loses no row', async () => {
  const key = newApiKey();
  const env = { DATA_DIR: directory, PLATFORMS: 'kalshi', TRADES_SECONDS: '1', SWEEP_SECONDS: '2', ...kalshi.env };
  const service = startProcessOfTest('all', { ...env, DEMO_API_KEY: key });
  const url = await service.ready;
  const before = kalshi.world.trades.length;
  kalshi.startTrading(20);
  await until('trades of today to be ingested', async () => (await storedTrades(url, key)) > before);
  const seen = new Map<string, number>();
  const load = new AbortController();
  onTestFinished(() => {
    load.abort();
    kalshi.startTrading(0);
  });
  const callers = Array.from({ length: CALLERS }, async (_, i) => {
    while (!load.signal.aborted) {
      // Past the cache: every request reaches the store.
      const result = await outcome(`${url}/v1/api/markets?provider=kalshi&limit=${20 + i}`, key);
      seen.set(result, (seen.get(result) ?? 0) + 1);
      if (result !== '200') await sleep(300);
    }
  });
  await until('answers under load', () => (seen.get('200') ?? 0) >= BUSY_ANSWERS);
  const startedAt = Date.now();
  service.kill('SIGTERM');
  expect(await service.ended, service.output().slice(-2000)).toBe(0);
  expect(Date.now() - startedAt).toBeLessThan(STOP_MS);
  load.abort();
  await Promise.all(callers);
  expect(seen.get('200')).toBeGreaterThan(0);
  expect(seen.get('cut off') ?? 0).toBe(0);
  // 429: the callers share one allowance; 503: taken while stopping.
  for (const result of seen.keys()) expect(['200', '429', '503', 'refused']).toContain(result);

  // A batch on its way waits in the spool: the next start stores it, and all tables agree.
  kalshi.startTrading(0);
  const truth = kalshi.world.trades.length;
  const next = startProcessOfTest('all', { ...env, DEMO_API_KEY: key });
  const again = await next.ready;
  await until('every trade of the platform', async () => (await storedTrades(again, key)) >= truth);
  next.kill('SIGTERM');
  expect(await next.ended).toBe(0);
  expect(readdirSync(join(directory, 'spool'))).toEqual([]);
  const store = await openClickHouse(loadConfig({ DATA_DIR: directory }), silent);
  try {
    const [row] = await store.sql<{ n: string }>('SELECT count() AS n FROM trades');
    expect(Number(row?.n)).toBe(truth);
    expect(await rollupDifferences(store)).toEqual([]);
  } finally {
    await store.close();
  }
});
