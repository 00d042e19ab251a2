import { pino } from 'pino';
import { clockBehind, passes } from '../../../helpers/flowing-clock.ts';
import { expect, test, vi } from 'vitest';
import { createKalshiSockets } from '../../../../src/platforms/kalshi/stream/sockets.ts';
import { SocketKeeper } from '../../../../src/platforms/sockets/keeper.ts';
import { SETTINGS } from '../../../fixtures/canned-http.ts';
import { leaksIn } from '../../../helpers/secrets.ts';
import { socketCounts } from '../../../helpers/socket-counts.ts';
import { eventually, startPipeline } from '../../../oracle/pipeline.ts';
import { type KalshiSimulator, startKalshi } from '../../../simulators/kalshi.ts';

vi.setConfig({ testTimeout: 240_000 });
const clock = clockBehind();

test.each([
  ['no setting', {}, 'KALSHI_API_KEY_ID is not set'],
  ['an id alone', { KALSHI_API_KEY_ID: 'an-id' }, 'KALSHI_PRIVATE_KEY is not set'],
  ['a key alone', { KALSHI_PRIVATE_KEY: 'a key' }, 'KALSHI_API_KEY_ID is not set'],
  [
    'a key that is none',
    { KALSHI_API_KEY_ID: 'an-id', KALSHI_PRIVATE_KEY: '-----BEGIN PRIVATE KEY-----' },
    'the key of KALSHI_PRIVATE_KEY cannot be used',
  ],
])('with %s the socket is off, and says why', (_, key, off) => {
  expect(createKalshiSockets({ ...SETTINGS, ...key }, clock)).toMatchObject({ channels: [], off });
});

const keyed = (id: string, pem: string) => ({ KALSHI_API_KEY_ID: id, KALSHI_PRIVATE_KEY: pem });
const deps = {
  platform: 'kalshi',
  clock,
  log: pino({ level: 'silent' }),
  observer: socketCounts(),
  onEvent: () => {},
  onEnd: () => {},
} as const;

test.each<[string, (sim: KalshiSimulator) => Record<string, string>, string]>([
  [
    "with another key's signature",
    (sim) => keyed(sim.world.addAccount().apiKeyId, sim.world.addAccount().privateKeyPem),
    'refused with 401 (authentication_error, INCORRECT_API_KEY_SIGNATURE)',
  ],
  [
    'while the platform refuses all',
    (sim) => {
      sim.sockets.refuse = 503;
      const { apiKeyId, privateKeyPem } = sim.world.addAccount();
      return keyed(apiKeyId, privateKeyPem);
    },
    'refused with 503',
  ],
])('%s no socket opens, and each says why', async (_, envOf, reason) => {
  const sim = await startKalshi({ seed: 35, markets: 1, tradesPerMarket: 1, historyDays: 1, clock });
  const { channels } = createKalshiSockets({ ...SETTINGS, ...sim.env, ...envOf(sim) }, clock);
  expect(channels.length).toBeGreaterThan(0);
  const keepers = channels.map((one) => new SocketKeeper(deps, one, [], { pace: 0.1, onReady: () => {} }));
  await passes(clock, () => expect(keepers.map((keeper) => keeper.lostBecause)).toEqual(keepers.map(() => reason)));
  expect(sim.sockets.accepted).toBe(0);
  await Promise.all(keepers.map((keeper) => keeper.stop()));
  await sim.close();
});

test('with a key that the platform does not know every trade comes by polling, and /health says why', async () => {
  const sim = await startKalshi({ seed: 35, markets: 20, tradesPerMarket: 5, historyDays: 1, clock });
  const env = keyed('no-such-key', sim.world.addAccount().privateKeyPem);
  const reason = 'tape: refused with 401 (authentication_error, NOT_FOUND)';
  const service = await startPipeline([sim], ['kalshi'], {
    backfillDays: 2,
    clock,
    live: { pace: 0.15, env, observer: socketCounts() },
  });
  const sinceUs = clock.now() * 1000;
  sim.trade(30);
  const made = sim.world.trades.flatMap(({ tradeId, timeUs }) => (timeUs >= sinceUs ? [tradeId] : []));
  const unstored = async (): Promise<string[]> => {
    const rows = await service.clickhouse.sql<{ id: string }>('SELECT trade_id AS id FROM trades');
    const stored = new Set(rows.map(({ id }) => id));
    return made.filter((id) => !stored.has(id));
  };
  try {
    expect(made).toHaveLength(30);
    expect(await eventually(unstored, 40, clock)).toEqual([]);
    // A status is published every two seconds.
    const said = await passes(
      clock,
      async () => {
        const health = await service.health('kalshi');
        expect(health).toMatchObject({ status: 'ok', feed: 'polling', socket: { connected: false, reason } });
        return JSON.stringify(health);
      },
      15_000,
      250,
    );
    for (const secret of Object.values(env)) expect(said).not.toContain(secret.split('\n')[1] ?? secret);
    expect(sim.sockets.accepted).toBe(0);
  } finally {
    await service.close();
    await sim.close();
  }
});

test('no log line holds the key, nor what it signed, whatever becomes of the connections', async () => {
  const sim = await startKalshi({ seed: 36, markets: 10, tradesPerMarket: 2, historyDays: 1, pingMs: 100, clock });
  const { apiKeyId, privateKeyPem } = sim.world.addAccount();
  const settings = { ...SETTINGS, ...sim.env, ...keyed(apiKeyId, privateKeyPem) };
  const { channels } = createKalshiSockets(settings, clock);
  const lines: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
  const logged = { ...deps, log };
  const keepers = channels.map((one) => new SocketKeeper(logged, one, [], { pace: 0.1, onReady: () => {} }));
  await passes(clock, () => expect(sim.sockets.accepted).toBeGreaterThanOrEqual(channels.length), 10_000, 50);
  for (const text of [
    'no JSON',
    '{"type":"error","msg":{"code":9,"msg":"Authentication required"}}',
    'x'.repeat(5e6),
  ]) {
    sim.sockets.inject(text);
  }
  await passes(clock, () => expect(lines.some((line) => line.includes('MESSAGE_LENGTH'))).toBe(true), 10_000, 50);
  sim.sockets.refuse = 401;
  sim.sockets.cut();
  await passes(clock, () => expect(lines.some((line) => line.includes('refused with 401'))).toBe(true), 10_000, 50);
  await Promise.all(keepers.map((keeper) => keeper.stop()));
  await sim.close();
  const text = lines.join('\n');
  expect(leaksIn(text, { 'private key': privateKeyPem })).toEqual([]);
  expect(text).not.toMatch(/kalshi-access|signature/i);
});
