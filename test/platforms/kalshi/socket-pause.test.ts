import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { systemClock } from '../../../src/core/time.ts';
import { createKalshiSockets } from '../../../src/platforms/kalshi/stream/sockets.ts';
import { SocketKeeper } from '../../../src/platforms/sockets/keeper.ts';
import { SETTINGS } from '../../fixtures/canned-http.ts';
import { waitsInRealTime } from '../../helpers/real-time.ts';
import { socketCounts } from '../../helpers/socket-counts.ts';
import { startKalshi } from '../../simulators/kalshi.ts';

waitsInRealTime('silence lasts longer than a connection may be without data');

const PACE = 0.1;

test('while nothing is traded no connection is replaced, and one whose subscription has ended is', async () => {
  // Nothing moves, as in the weekly pause: the platform only pings and answers.
  const sim = await startKalshi({ seed: 37, markets: 4, tradesPerMarket: 1, historyDays: 1, pingMs: 500 });
  const { apiKeyId: KALSHI_API_KEY_ID, privateKeyPem: KALSHI_PRIVATE_KEY } = sim.world.addAccount();
  const settings = { ...SETTINGS, ...sim.env, KALSHI_API_KEY_ID, KALSHI_PRIVATE_KEY };
  const { channels } = createKalshiSockets(settings, systemClock);
  const log = pino({ level: 'silent' });
  const deps = {
    platform: 'kalshi',
    clock: systemClock,
    log,
    observer: socketCounts(),
    onEvent: () => {},
    onEnd: () => {},
  } as const;
  const keepers = channels
    .filter(({ isForBooks }) => !isForBooks)
    .map(({ heartbeat, ...rest }) => {
      const channel = { ...rest, heartbeat: heartbeat && { ...heartbeat, everyMs: heartbeat.everyMs * PACE } };
      return new SocketKeeper(deps, channel, [], { pace: PACE, onReady: () => {} });
    });
  const isLive = (): boolean => keepers.every((keeper) => keeper.isLive);
  const reconnects = (): number[] => keepers.map((keeper) => keeper.reconnects);
  try {
    await vi.waitFor(() => expect(isLive()).toBe(true), { timeout: 10_000 });
    await sleep(5000);
    expect([isLive(), reconnects()]).toEqual([true, [0, 0]]);
    sim.stream.end('ticker', 25);
    await vi.waitFor(() => expect(reconnects()).toEqual([0, 1]), { timeout: 10_000 });
  } finally {
    await Promise.all(keepers.map((keeper) => keeper.stop()));
    await sim.close();
  }
});
