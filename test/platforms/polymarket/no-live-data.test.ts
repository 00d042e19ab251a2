import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Clock } from '../../../src/core/time.ts';
import { clockBehind, passes } from '../../helpers/flowing-clock.ts';
import { socketCounts } from '../../helpers/socket-counts.ts';
import { eventually, type Pipeline, startPipeline } from '../../oracle/pipeline.ts';
import { polymarketTrades } from '../../oracle/polymarket.ts';
import { startPolymarket } from '../../simulators/polymarket.ts';

vi.setConfig({ testTimeout: 150_000 });

/** Polls come this far apart: what is stored long before was hinted at. */
const POLL_SECONDS = 40;
let clock: Clock;
let sim: Awaited<ReturnType<typeof startPolymarket>>;
let service: Pipeline;

beforeAll(async () => {
  clock = clockBehind();
  sim = await startPolymarket({ seed: 37, markets: 20, tradesPerMarket: 5, historyDays: 1, clock });
  sim.enforceLimits = false;
  sim.sockets.refuse = 503;
  const env = {
    TRADES_SECONDS: String(POLL_SECONDS),
    SWEEP_SECONDS: '60',
    // A path that is not served: the upgrade is refused with 404.
    POLYMARKET_LIVE_URL: sim.env['POLYMARKET_LIVE_URL']!.replace('/live', '/ended'),
  };
  service = await startPipeline([sim], ['polymarket'], {
    backfillDays: 2,
    clock,
    live: { pace: 0.15, env, observer: socketCounts() },
  });
});
afterAll(async () => {
  await service?.close();
  await sim?.close();
});

/** Trades of the world that are not stored exactly once, and rows that no trade stands for. */
async function wrongTrades(): Promise<string[]> {
  const made = sim.world.markets.flatMap((market) => polymarketTrades(sim.world, market)).map(({ trade_id: id }) => id);
  const rows = await service.clickhouse.sql<{ id: string; n: string }>(
    'SELECT trade_id AS id, toString(count()) AS n FROM trades GROUP BY id',
  );
  const stored = new Map(rows.map(({ id, n }) => [id, n]));
  const known = new Set(made);
  return [
    ...made.filter((id) => stored.get(id) !== '1').map((id) => `${id} is stored ${stored.get(id) ?? 0} times`),
    ...[...stored.keys()].filter((id) => !known.has(id)).map((id) => `${id} was never traded`),
  ];
}

test('trades that no socket tells of come by polling, once', async () => {
  await passes(
    clock,
    async () => expect(await service.health('polymarket')).toMatchObject({ status: 'ok', feed: 'polling' }),
    90_000,
    1000,
  );
  sim.trade(20);
  expect(await eventually(wrongTrades, 2 * POLL_SECONDS, clock)).toEqual([]);
  expect(sim.sockets.accepted).toBe(0);
});

test('without the live-data socket trades come by the market channel, once, and /health names the socket and why', async () => {
  sim.sockets.refuse = null;
  await passes(
    clock,
    async () => {
      const health = await service.health('polymarket');
      const socket = { connected: false, reason: 'activity: refused with 404' };
      expect(health).toMatchObject({ status: 'ok', feed: 'polling', socket });
      expect(health.socket?.subscriptions).toBeGreaterThan(0);
    },
    90_000,
    1000,
  );
  expect(await eventually(wrongTrades, 60, clock)).toEqual([]);
  const startedMs = clock.elapsed();
  sim.trade(20);
  expect(await eventually(wrongTrades, POLL_SECONDS, clock)).toEqual([]);
  expect(clock.elapsed() - startedMs).toBeLessThan((POLL_SECONDS * 1000) / 2);
});
