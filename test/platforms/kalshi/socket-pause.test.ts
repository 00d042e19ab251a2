import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createKalshiSockets } from '../../../src/platforms/kalshi/stream/sockets.ts';
import { SocketKeeper } from '../../../src/platforms/sockets/keeper.ts';
import { SETTINGS } from '../../fixtures/canned-http.ts';
import { flowingClock, passes } from '../../helpers/flowing-clock.ts';
import { socketCounts } from '../../helpers/socket-counts.ts';
import { startKalshi } from '../../simulators/kalshi.ts';

const PACE = 0.1;
const clock = flowingClock();

test('while nothing is traded no connection is replaced, and one whose subscription has ended is', async () => {
  // Nothing moves, as in the weekly pause: the platform only pings and answers.
  const sim = await startKalshi({ seed: 37, markets: 4, tradesPerMarket: 1, historyDays: 1, pingMs: 500, clock });
  const { apiKeyId: KALSHI_API_KEY_ID, privateKeyPem: KALSHI_PRIVATE_KEY } = sim.world.addAccount();
  const settings = { ...SETTINGS, ...sim.env, KALSHI_API_KEY_ID, KALSHI_PRIVATE_KEY };
  const { channels } = createKalshiSockets(settings, clock);
  const log = pino({ level: 'silent' });
  const deps = {
    platform: 'kalshi',
    clock,
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
    await passes(clock, () => expect(isLive()).toBe(true));
    await clock.sleep(5000);
    expect([isLive(), reconnects()]).toEqual([true, [0, 0]]);
    sim.stream.end('ticker', 25);
    await passes(clock, () => expect(reconnects()).toEqual([0, 1]));
  } finally {
    await Promise.all(keepers.map((keeper) => keeper.stop()));
    await sim.close();
  }
});
