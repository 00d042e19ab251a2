import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLimitlessData } from '../../src/platforms/limitless/data.ts';
import { SETTINGS, readContext } from '../fixtures/canned-http.ts';
import { unmeteredHttp } from '../fixtures/unmetered-http.ts';
import { type MarketStore, startMarketStore } from '../helpers/market-store.ts';
import type { ClobMarket } from '../simulators/limitless/model.ts';
import { startLimitless } from '../simulators/limitless.ts';

interface Answer {
  data: { timestamp: number; open: string; high: string; low: string; close: string }[];
  meta: Record<string, unknown>;
}

let store: MarketStore;
let http: Awaited<ReturnType<typeof unmeteredHttp>>;
let sim: Awaited<ReturnType<typeof startLimitless>>;
let priced: ClobMarket;
let other: ClobMarket;

beforeAll(async () => {
  sim = await startLimitless({ seed: 5, limits: { spacingMs: 0, concurrent: 100 } });
  http = await unmeteredHttp();
  const data = createLimitlessData({ http, settings: { ...SETTINGS, ...sim.env }, now: Date.now });
  store = await startMarketStore({ platforms: { limitless: data } });
  const clobs = [...sim.world.markets.values()].filter((one): one is ClobMarket => one.kind === 'clob');
  priced = clobs.find((one) => one.series?.symbol === 'BTC' && one.status === 'FUNDED')!;
  other = clobs.find((one) => one.series === null && one.group === null && one.status === 'FUNDED')!;
  for (const { slug } of [priced, other]) await store.list((await data.market(slug, readContext()))!);
});
afterAll(async () => {
  await store?.close();
  await http?.close();
  await sim?.close();
});

const get = (query: string) => store.get<Answer>(`markets/id/${priced.slug}/oracle-candles?provider=limitless${query}`);

async function refusal(query: string, slug = priced.slug) {
  const { key } = await store.app.newKey('pro');
  const url = `/v1/api/markets/id/${slug}/oracle-candles?provider=limitless${query}`;
  const reply = await store.app.app.inject({ url, headers: { 'x-api-key': key } });
  return { status: reply.statusCode, ...(reply.json() as { error: { message: string; resolution: string } }).error };
}

test('the bars of a price market equal those of the platform, as exact decimals', async () => {
  const endTs = Math.floor(Date.now() / 3_600_000) * 3600;
  const { data, meta } = await get(`&interval=15m&start_ts=${endTs - 7200}&end_ts=${endTs}`);
  const path = `/markets/${priced.slug}/oracle-candles?interval=15m&from=${endTs - 7200}&to=${endTs}`;
  const { rows } = (await (await fetch(`${sim.env['LIMITLESS_API_URL']}${path}`)).json()) as {
    rows: { timestamp: number; close: string }[];
  };
  expect(data).toHaveLength(8);
  expect(data.map(({ timestamp }) => timestamp)).toEqual(rows.map(({ timestamp }) => timestamp));
  const units = data.map(({ close }) => {
    const [whole = '', fraction = ''] = close.split('.');
    return whole + fraction.padEnd(18, '0');
  });
  expect(units).toEqual(rows.map(({ close }) => close));
  expect(meta).toMatchObject({
    market_id: priced.slug,
    interval: '15m',
    complete_from: null,
    source: 'chainlink',
    symbol: 'BTC/USD',
  });
});

test('without a span the newest bars up to the end of the market come, and a span is read limit by limit', async () => {
  const { data } = await get('&limit=5');
  expect(data.length).toBeGreaterThanOrEqual(4);
  expect(data.length).toBeLessThanOrEqual(5);
  const lastMs = Math.min(Date.now(), priced.expiresAt);
  expect(data.at(-1)!.timestamp * 1000).toBeGreaterThan(lastMs - 120_000);
  const endTs = data[0]!.timestamp;
  const seen: number[] = [];
  const cuts: unknown[] = [];
  for (let from = endTs - 600; from < endTs; from = seen.at(-1)! + 60) {
    const page = await get(`&limit=4&start_ts=${from}&end_ts=${endTs}`);
    seen.push(...page.data.map(({ timestamp }) => timestamp));
    cuts.push(page.meta['has_more']);
  }
  expect(cuts).toEqual([true, true, false]);
  expect(seen).toEqual(Array.from({ length: 10 }, (_, n) => endTs - 600 + n * 60));
});

test('a market names its oracle, and one without is refused with what to do', async () => {
  const { markets } = await store.get<{ markets: { metadata: object }[] }>(
    `markets/id/${priced.slug}?provider=limitless`,
  );
  expect(markets[0]?.metadata).toMatchObject({ oracle: { symbol: 'BTC/USD' } });
  expect(await refusal('', other.slug)).toMatchObject({
    status: 400,
    resolution: expect.stringContaining('price-history'),
  });
});

test('a span without bars is refused', async () => {
  const now = Math.floor(Date.now() / 1000);
  expect(await refusal(`&start_ts=${now + 600}`)).toMatchObject({ status: 400 });
  expect(await refusal(`&start_ts=${now - 600}&end_ts=${now - 1200}`)).toMatchObject({ status: 400 });
  expect(await refusal('&limit=1001')).toMatchObject({ status: 400 });
});
