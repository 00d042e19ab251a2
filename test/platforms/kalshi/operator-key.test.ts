import { afterEach, expect, test, vi } from 'vitest';
import { createKalshiData } from '../../../src/platforms/kalshi/data.ts';
import { ReadTier } from '../../../src/platforms/kalshi/read-tier.ts';
import type { PlatformHttp, PlatformRequest } from '../../../src/platforms/http/request.ts';
import { readContext, SETTINGS } from '../../fixtures/canned-http.ts';
import { unmeteredHttp } from '../../fixtures/unmetered-http.ts';
import { type KalshiSimulator, startKalshi } from '../../simulators/kalshi.ts';

const undo: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0)) await step();
});

/** A function that reads one market with the key of these settings, and the requests it sends. */
async function reader(settingsOf: (sim: KalshiSimulator) => Record<string, string>) {
  const sim = await startKalshi({ seed: 3, markets: 10, tradesPerMarket: 2, historyDays: 1 });
  const http = await unmeteredHttp();
  undo.push(
    () => sim.close(),
    () => http.close(),
  );
  const sent: PlatformRequest[] = [];
  const noted: PlatformHttp = { ...http, send: (request) => (sent.push(request), http.send(request)) };
  const settings = { ...SETTINGS, ...sim.env, ...settingsOf(sim) };
  let nowMs = Date.now();
  const data = createKalshiData({ http: noted, settings, now: () => nowMs });
  const [market] = sim.world.markets;
  return {
    sim,
    sent,
    pass: (ms: number) => void (nowMs += ms),
    read: async () => (await data.market(market?.ticker ?? '', readContext()))?.info.ref,
    ticker: market?.ticker,
  };
}
const groupsOf = (sent: readonly PlatformRequest[]): Set<string> => new Set(sent.map(({ group }) => group));

test.each(['rsa', 'ed25519'] as const)(
  "the operator's %s key signs reads of public data, which count in its account's own budget",
  async (type) => {
    const { sim, sent, read, ticker } = await reader(({ world }) => {
      const { apiKeyId, privateKeyPem } = world.addAccount({ keyType: type, scopes: ['read'] });
      return { KALSHI_API_KEY_ID: apiKeyId, KALSHI_PRIVATE_KEY: privateKeyPem };
    });
    expect(await read()).toBe(ticker);
    expect(sim.signedReads.count).toBe(sent.filter(({ url }) => !url.endsWith('/account/limits')).length);
    expect(groupsOf(sent)).toEqual(new Set(['kalshi:read']));
    for (const { account } of sent) expect(account).toMatch(/^[\w-]{43}$/);
  },
);

test('without a key reads are unsigned, in the budget of reads without one', async () => {
  const { sim, sent, read, ticker } = await reader(() => ({}));
  expect(await read()).toBe(ticker);
  expect([sim.signedReads.count, [...groupsOf(sent)]]).toEqual([0, ['kalshi:anonymous']]);
});

test('a refused key costs one request, and is tried again after ten minutes', async () => {
  const { sim, sent, read, pass, ticker } = await reader(({ world }) => ({
    KALSHI_API_KEY_ID: 'no-such-key',
    KALSHI_PRIVATE_KEY: world.addAccount().privateKeyPem,
  }));
  expect(await read()).toBe(ticker);
  expect(await read()).toBe(ticker);
  const signed = (): number => sent.filter(({ group }) => group === 'kalshi:read').length;
  expect([signed(), sim.signedReads.count]).toEqual([1, 0]);
  pass(600_000);
  expect(await read()).toBe(ticker);
  expect(signed()).toBe(2);
});

test.each([
  [{ usage_tier: 'advanced', read: { refill_rate: 300, bucket_capacity: 900 } }, 7],
  [{ usage_tier: 'prime', read: { refill_rate: 4000, bucket_capacity: 8000 } }, 1],
  [{ usage_tier: 'basic', read: { refill_rate: 200, bucket_capacity: 600 } }, 10],
  [{ usage_tier: 'less', read: { refill_rate: 100, bucket_capacity: 300 } }, 20],
  [{ usage_tier: 'odd', read: { refill_rate: 0 } }, 10],
  [{ usage_tier: 'older', read: 20 }, 10],
  [null, 10],
])('with limits of %j a signed read costs %d tokens of the budget', async (limits, cost) => {
  let nowMs = 0;
  let reads = 0;
  const tier = new ReadTier(
    async () => {
      reads += 1;
      if (limits === null) throw new Error('away');
      return { status: 200, headers: {}, text: '', json: limits, receivedAt: '' };
    },
    () => nowMs,
  );
  expect(tier.cost).toBe(10);
  for (let read = 0; read < 3; read += 1) tier.refresh();
  await vi.waitFor(() => expect(tier.cost).toBe(cost));
  nowMs += 3_600_000;
  tier.refresh();
  expect(reads).toBe(2);
});

test('the limits of the account are read once, with the key, after the first read that Kalshi accepted', async () => {
  const { sim, sent, read } = await reader(({ world }) => {
    const { apiKeyId, privateKeyPem } = world.addAccount({ scopes: ['read'] });
    return { KALSHI_API_KEY_ID: apiKeyId, KALSHI_PRIVATE_KEY: privateKeyPem };
  });
  await read();
  await read();
  const asked = () => [...sim.requests].filter(([request]) => request.includes('/account/limits'));
  await vi.waitFor(() => expect(asked().map(([, times]) => times)).toEqual([1]));
  expect(sent.find(({ url }) => url.endsWith('/account/limits'))).toMatchObject({ group: 'kalshi:read' });
});
