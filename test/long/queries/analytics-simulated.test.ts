import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { systemClock } from '../../../src/core/time.ts';
import { refreshWindows } from '../../../src/stores/clickhouse/windows.ts';
import { isSound, verifyRollups } from '../../../src/stores/clickhouse/verify-rollups.ts';
import { rollupDifferences } from '../../helpers/rollups.ts';
import { buildPresent } from '../../../src/present/catch-up.ts';
import { silent } from '../../helpers/silent-log.ts';
import { AT_REST, type AnalyticsChecks, analyticsChecks, PLATFORMS } from '../../oracle/analytics.ts';
import { StoppableClock } from '../../oracle/clock.ts';
import { eventually, type Pipeline, startPipeline } from '../../oracle/pipeline.ts';
import { type KalshiWorld, startKalshi } from '../../simulators/kalshi.ts';
import { startLimitless } from '../../simulators/limitless.ts';
import type { LimitlessWorld } from '../../simulators/limitless/world.ts';
import { type PolymarketWorld, startPolymarket } from '../../simulators/polymarket.ts';
import type { Simulator } from '../../simulators/simulator.ts';
import { waitsInRealTime } from '../../helpers/real-time.ts';

waitsInRealTime('ingestion runs every second beside the requests');

vi.setConfig({ testTimeout: 240_000 });

const FIRST_DAYS = 6;
/** As far as Polymarket's feed of all markets reaches in any month, and further than these worlds do. */
const ALL_DAYS = 27;
const clock = new StoppableClock();
let kalshi: Simulator<KalshiWorld>;
let polymarket: Simulator<PolymarketWorld>;
let limitless: Simulator<LimitlessWorld>;
let service: Pipeline;
let checks: AnalyticsChecks;

beforeAll(async () => {
  const world = { seed: 8, clock, markets: 14, tradesPerMarket: 24, historyDays: 18 };
  [kalshi, polymarket, limitless] = await Promise.all([
    startKalshi(world),
    startPolymarket(world),
    startLimitless(world),
  ]);
  for (const sim of [kalshi, polymarket, limitless]) sim.enforceLimits = false;
  service = await startPipeline([kalshi, polymarket, limitless], PLATFORMS, { backfillDays: FIRST_DAYS });
  checks = analyticsChecks(
    { kalshi, polymarket, limitless },
    { get: service.get, markets: service.markets, refresh: () => refreshWindows(service.clickhouse) },
  );
});
afterAll(async () => {
  await service?.close();
  for (const sim of [kalshi, polymarket, limitless]) await sim?.close();
});

/** Feeds of which not every trade of so many days was read. */
async function unread(days: number): Promise<string[]> {
  const read = await service.clickhouse.sql<{ platform: string }>(
    `SELECT platform FROM trade_coverage FINAL WHERE market_key = 0 AND complete_from < now() - INTERVAL ${days * 24} HOUR`,
  );
  return PLATFORMS.filter((one) => !read.some(({ platform }) => platform === one));
}

/**
 * Holds for worlds that stand still. They do from now on: Polymarket's feed is read up to its own clock, and a bucket of bars that ends
 * more than six minutes after that is the platform's.
 */
async function expectNothingWrong(check: (of: AnalyticsChecks) => Promise<string[]>): Promise<void> {
  clock.stop();
  expect(await eventually(() => check(checks), 90)).toEqual([]);
}

/** Every roll-up against the trades that are stored. */
async function expectSound(): Promise<void> {
  expect(await rollupDifferences(service.clickhouse)).toEqual([]);
  const { results } = await verifyRollups(service.clickhouse, { clock: systemClock });
  expect(results.filter((one) => !isSound(one))).toEqual([]);
}

test('a backfill of some days is sound', async () => {
  expect(await eventually(() => unread(FIRST_DAYS - 0.5), 90)).toEqual([]);
  await expectSound();
  const [stored] = await service.clickhouse.sql<{ n: string }>('SELECT count() AS n FROM trades');
  expect(Number(stored?.n)).toBeLessThan((await checks.truth()).length);
});

test('one that reaches further back finds what is older', async () => {
  await service.reachBack(ALL_DAYS);
  expect(await eventually(checks.wrongWhales, 90)).toEqual([]);
});

test.each(AT_REST)('then %s are what the worlds come to', (_, check) => expectNothingWrong(check));

test('after live trading, late trades and a second reading of everything the roll-ups hold each trade once', async () => {
  clock.run();
  polymarket.world.indexer.delayMs = 3000;
  for (let i = 0; i < 12; i++) {
    for (const sim of [kalshi, polymarket, limitless]) sim.trade(10);
    await sleep(150);
  }
  polymarket.world.indexer.delayMs = 0;
  await sleep(3000);
  clock.stop();
  expect(await eventually(checks.wrongWhales)).toEqual([]);
  // As if nothing had been read: every page comes again. Who holds a lease knows what it stored under it, and what is listed while
  // spans are missing has no volumes from trades.
  await service.rest();
  await service.clickhouse.command('TRUNCATE TABLE trade_coverage');
  await buildPresent({ clickhouse: service.clickhouse, postgres: service.app.postgres, log: silent }, { again: true });
  await service.reachBack(ALL_DAYS);
  expect(await eventually(() => unread(ALL_DAYS - 0.5))).toEqual([]);
  await expectSound();
});

test.each(AT_REST)('and %s are still what the worlds come to', (_, check) => expectNothingWrong(check));
