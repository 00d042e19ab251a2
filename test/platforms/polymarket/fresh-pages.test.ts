import { expect, test } from 'vitest';
import type { PlatformHttp } from '../../../src/platforms/http/request.ts';
import { createPolymarketData } from '../../../src/platforms/polymarket/data.ts';
import { collect, readContext, RECEIVED_AT, SETTINGS } from '../../fixtures/canned-http.ts';
import { unmeteredHttp } from '../../fixtures/unmetered-http.ts';
import { dataEnvelope, tradeRow } from '../../fixtures/polymarket/rows.ts';
import { manualClock } from '../../simulators/lib/index.ts';
import { startPolymarket } from '../../simulators/polymarket.ts';

const RECEIVED_US = Date.parse(RECEIVED_AT) * 1000;
const directory = { byRef: async () => new Map<string, never>() };
const QUERY = { sinceUs: 1, untilUs: null, market: null };

/** Reads trades off replies with these headers, one after the other; the last one repeats. */
async function read(replies: Record<string, string>[]) {
  let sent = 0;
  const json = dataEnvelope([tradeRow({ timestamp: RECEIVED_US / 1e6 - 30 })], null);
  const http: PlatformHttp = {
    async send() {
      const headers = replies[Math.min(sent, replies.length - 1)] ?? {};
      sent += 1;
      return { status: 200, headers, text: '', json, receivedAt: RECEIVED_AT };
    },
    async close() {},
  };
  const stale: string[] = [];
  const onStalePage = (platform: string, route: string): number => stale.push(`${platform} ${route}`);
  const now = (): number => RECEIVED_US / 1000;
  const data = createPolymarketData({ http, settings: SETTINGS, now, onStalePage });
  const [page] = await collect(data.trades(QUERY, directory, readContext()));
  return { page, sent, stale };
}
const date = new Date(RECEIVED_US / 1000).toUTCString();

test('a fresh page is read once, and is of the time that the platform gives it', async () => {
  const { page, sent, stale } = await read([{ date, 'x-cache': 'Miss from cloudfront', 'x-trace-id': 'a' }]);
  expect([page?.platformUs, sent, stale]).toEqual([RECEIVED_US, 1, []]);
});

test('a page that a cache had kept is counted and asked for once more', async () => {
  const { page, sent, stale } = await read([
    { date, age: '124', 'x-trace-id': 'a' },
    { date, 'x-trace-id': 'b' },
  ]);
  expect([page?.platformUs, sent, stale]).toEqual([RECEIVED_US, 2, ['polymarket /v2/trades']]);
});

test.each<[string, Record<string, string>[], number]>([
  ['by its age', [{ date, age: '124' }], 124],
  ['by what the cache says, at its worst age', [{ date, 'x-cache': 'Hit from cloudfront' }], 300],
  [
    'by a trace id that was seen before',
    [
      { date, age: '7', 'x-trace-id': 'a' },
      { date, 'x-trace-id': 'a' },
    ],
    300,
  ],
])('a page that is kept every time is known %s, and is complete up to that age only', async (_, replies, ageSec) => {
  const { page, sent, stale } = await read(replies);
  expect([page?.platformUs, sent, stale.length]).toEqual([RECEIVED_US - ageSec * 1e6, 2, 2]);
});

test('figures of a page that was kept are dated when it was made', async () => {
  const headers = { age: '124' };
  const condition = `0x${'ab'.repeat(32)}`;
  const http: PlatformHttp = {
    async send({ url }) {
      const rows = url.includes('/v2/oi') ? [{ condition_id: condition, value: 7 }] : [];
      return { status: 200, headers, text: '', json: dataEnvelope(rows, null), receivedAt: RECEIVED_AT };
    },
    async close() {},
  };
  const data = createPolymarketData({ http, settings: SETTINGS, now: Date.now });
  const madeAt = new Date(RECEIVED_US / 1000 - 124_000).toISOString();
  const interest = await data.openInterest?.([condition], readContext());
  expect(interest?.get(condition)?.at).toBe(madeAt);
  const wallet = `0x${'1'.repeat(40)}`;
  expect((await data.users?.positions(wallet, readContext()))?.readAt).toBe(madeAt);
  const page = { limit: 10, position: null };
  expect((await data.users?.userTrades(wallet, page, readContext()))?.readAt).toBe(madeAt);
});

test('through a cache that keeps pages for 300 s each poll has the trades of that moment, and so has open interest', async () => {
  const clock = manualClock('2026-11-20T12:00:00Z');
  const sim = await startPolymarket({ seed: 12, clock, markets: 20, tradesPerMarket: 5 });
  const http = await unmeteredHttp();
  const settings = { ...SETTINGS, ...sim.env };
  const stale: string[] = [];
  const onStalePage = (_: string, route: string): number => stale.push(route);
  const data = createPolymarketData({ http, settings, now: () => clock.now(), onStalePage });
  const market = sim.world.markets.find(({ state, volume }) => state === 'open' && volume > 0n)!;
  for (let poll = 0; poll < 5; poll += 1) {
    clock.advance(10_000);
    sim.trade(7);
    sim.world.giveShares(sim.world.demoUser, market, 1_000_000n);
    clock.advance(30_000);
    const pages = await collect(data.trades(QUERY, directory, readContext()));
    expect(pages.flatMap(({ trades }) => trades)).toHaveLength(sim.world.ledger.tape.count);
    const interest = await data.openInterest?.([market.conditionId], readContext());
    expect(interest?.get(market.conditionId)?.value).toBe(market.sets);
  }
  expect(stale).toEqual([]);
  await sim.close();
  await http.close();
});
