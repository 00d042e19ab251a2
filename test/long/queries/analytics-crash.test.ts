import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { newApiKey } from '../../../src/accounts/api-key-format.ts';
import { UNMETERED } from '../../helpers/process.ts';
import { startProcessOfTest } from '../../helpers/process-of-test.ts';
import { ANALYTICS, type AnalyticsApi, analyticsChecks } from '../../oracle/analytics.ts';
import { eventually, type Page, type ServedMarket } from '../../oracle/pipeline.ts';
import { createRng } from '../../simulators/lib/index.ts';
import { type KalshiWorld, startKalshi } from '../../simulators/kalshi.ts';
import { startLimitless } from '../../simulators/limitless.ts';
import type { LimitlessWorld } from '../../simulators/limitless/world.ts';
import { type PolymarketWorld, startPolymarket } from '../../simulators/polymarket.ts';
import type { Simulator } from '../../simulators/simulator.ts';

// Some tens of seconds; a busy machine gets there later.
vi.setConfig({ testTimeout: 600_000 });

const KILLS = 3;
/** Two windows of a week and more, so that every change can be known. */
const BACKFILL_DAYS = 20;

let directory: string;
let kalshi: Simulator<KalshiWorld>;
let polymarket: Simulator<PolymarketWorld>;
let limitless: Simulator<LimitlessWorld>;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'forecastle-analytics-crash-'));
  const world = { seed: 13, markets: 7, tradesPerMarket: 20, historyDays: 10 };
  [kalshi, polymarket, limitless] = await Promise.all([
    startKalshi(world),
    startPolymarket(world),
    startLimitless(world),
  ]);
  for (const sim of [kalshi, polymarket, limitless]) sim.enforceLimits = false;
});
afterAll(async () => {
  for (const sim of [kalshi, polymarket, limitless]) await sim?.close();
  await rm(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 });
});

/** The service behind its address, asked no faster than one key may. */
function apiOf(url: string, key: string): AnalyticsApi {
  const get = async <T>(path: string): Promise<T> => {
    const reply = await fetch(`${url}/v1/api/${path}`, { headers: { 'x-api-key': key } });
    if (reply.status === 429) {
      await sleep(1000);
      return get(path);
    }
    if (!reply.ok) throw new Error(`${path} answered ${reply.status} ${await reply.text()}`);
    return (await reply.json()) as T;
  };
  return {
    get,
    async markets(query, limit) {
      const rows: ServedMarket[] = [];
      for (let cursor: string | null = ''; cursor !== null;) {
        const page: { markets: ServedMarket[]; pagination: Page } = await get(
          `markets?${query}&limit=${limit}&cursor=${cursor}`,
        );
        rows.push(...page.markets);
        cursor = page.pagination.next_cursor;
      }
      return { rows };
    },
    // The service computes them anew every ten seconds; a check that came too early is made again.
    refresh: async () => {},
  };
}

test(`${KILLS} kills of the ingestion leave every figure of analytics and metrics what the worlds come to`, async () => {
  const rng = createRng(17);
  const key = newApiKey();
  const env = {
    DATA_DIR: directory,
    DEMO_API_KEY: key,
    TRADES_SECONDS: '1',
    SWEEP_SECONDS: '2',
    BACKFILL_DAYS: String(BACKFILL_DAYS),
    ...kalshi.env,
    ...polymarket.env,
    ...limitless.env,
  };
  const sims = [kalshi, polymarket, limitless];
  const trading = setInterval(() => sims.forEach((sim) => sim.trade(2)), 250);
  onTestFinished(() => clearInterval(trading));
  for (let i = 0; i < KILLS; i++) {
    const service = startProcessOfTest('ingest', env, { program: UNMETERED });
    await service.ready.then(() => sleep(300 + rng.next() * 1500));
    service.kill('SIGKILL');
    await service.ended;
  }
  clearInterval(trading);

  const service = startProcessOfTest('all', env, { program: UNMETERED });
  const checks = analyticsChecks({ kalshi, polymarket, limitless }, apiOf(await service.ready, key));
  for (const [name, check] of ANALYTICS) expect(await eventually(() => check(checks), 120), name).toEqual([]);
});
