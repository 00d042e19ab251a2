import { afterEach, expect, test } from 'vitest';
import { createKalshiData } from '../../../src/platforms/kalshi/data.ts';
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
    expect(sim.signedReads.count).toBe(sent.length);
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
