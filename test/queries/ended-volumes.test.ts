import { afterAll, beforeAll, expect, test } from 'vitest';
import { parsePrice } from '../../src/core/decimal.ts';
import { market, type MarketStore, startMarketStore, usd } from '../helpers/market-store.ts';

const HOUR_MS = 3_600_000;
let store: MarketStore;

const readAgo = (ref: string, hours: number, status: 'open' | 'closed' | 'settled', volume24h: string) => ({
  ...market({
    platform: 'kalshi',
    ref,
    eventId: 'KXENDED',
    fetchedAt: new Date(Date.now() - hours * HOUR_MS).toISOString(),
    state: {
      status,
      priceChange24h: parsePrice('-0.43'),
      priceChange7d: parsePrice('0.2'),
      volume24h: usd(volume24h),
      volume7d: usd('9000'),
      volume30d: usd('9500'),
      volumeTotal: usd('9999'),
    },
  }),
});

beforeAll(async () => {
  store = await startMarketStore();
  await store.list(
    readAgo('KXENDED-OPEN', 30, 'open', '100'),
    readAgo('KXENDED-LATELY', 10, 'settled', '500'),
    readAgo('KXENDED-DAY', 30, 'settled', '700'),
    readAgo('KXENDED-WEEK', 200, 'closed', '800'),
  );
});
afterAll(() => store?.close());

interface Listed {
  platform_id: string;
  volume_24h: number | null;
  volume_7d: number | null;
  volume_total: number | null;
  price_24h_changes: Record<string, number>;
  price_7d_changes: Record<string, number>;
}

test('a market that is over ranks by what its window still holds: nothing, once it began after the last reading', async () => {
  const { markets } = await store.get<{ markets: Listed[] }>('markets?provider=kalshi');
  const figures = markets.map((one) => [one.platform_id, one.volume_24h, one.volume_7d, one.volume_total]);
  expect(figures.slice(0, 2)).toEqual([
    ['KXENDED-LATELY', 500, 9000, 9999],
    ['KXENDED-OPEN', 100, 9000, 9999],
  ]);
  expect(figures.slice(2).toSorted()).toEqual([
    ['KXENDED-DAY', 0, 9000, 9999],
    ['KXENDED-WEEK', 0, 0, 9999],
  ]);
});

test('a market that is over has no change of a window that began after its last reading, and ranks without one', async () => {
  const { markets } = await store.get<{ markets: Listed[] }>('markets?provider=kalshi&sort=price_change_24h&order=asc');
  const [day, week] = [
    { yes: -0.43, no: 0.43 },
    { yes: 0.2, no: -0.2 },
  ];
  const changes = markets.map((one) => [one.platform_id, [one.price_24h_changes, one.price_7d_changes]]);
  expect(Object.fromEntries(changes)).toEqual({
    'KXENDED-OPEN': [day, week],
    'KXENDED-LATELY': [day, week],
    'KXENDED-DAY': [{}, week],
    'KXENDED-WEEK': [{}, {}],
  });
  const ids = markets.map((one) => one.platform_id);
  expect(ids.slice(0, 2).toSorted()).toEqual(['KXENDED-LATELY', 'KXENDED-OPEN']);
});

test('the volume of an event leaves it out', async () => {
  const { events } = await store.get<{ events: { volume_24h: number | null }[] }>('events?provider=kalshi');
  expect(events).toMatchObject([{ volume_24h: 600 }]);
  const one = await store.get<{ event: { volume_24h: number | null } }>('events/KXENDED?provider=kalshi');
  expect(one.event.volume_24h).toBe(600);
});

test('its snapshot of metrics says the same', async () => {
  const { metrics } = await store.get<{ metrics: { volume: object } }>(
    'metrics/snapshot?platform=kalshi&market_id=KXENDED-WEEK',
  );
  expect(metrics.volume).toMatchObject({ volume_24h: 0, volume_7d: 0, volume_30d: 9500, total: 9999 });
});

test('the volumes of its category say the same', async () => {
  await store.refresh();
  const { categories } = await store.get<{
    categories: { volume_24h: number; volume_7d: number; volume_30d: number }[];
  }>('analytics/categories');
  expect(categories).toMatchObject([{ volume_24h: 600, volume_7d: 27_000, volume_30d: 38_000 }]);
});

test('SQL says the same of markets and of their event', async () => {
  const markets = await store.clickhouse.sql<{ market_id: string; volume_24h: string; volume_7d: string }>(
    'SELECT market_id, volume_24h, volume_7d FROM v_markets ORDER BY market_id',
  );
  expect(markets.map((one) => [one.market_id, Number(one.volume_24h), Number(one.volume_7d)])).toEqual([
    ['KXENDED-DAY', 0, 9000],
    ['KXENDED-LATELY', 500, 9000],
    ['KXENDED-OPEN', 100, 9000],
    ['KXENDED-WEEK', 0, 0],
  ]);
  const moved = await store.clickhouse.sql<{ day: string | null; week: string | null }>(
    'SELECT price_change_24h AS day, price_change_7d AS week FROM v_markets ORDER BY market_id',
  );
  expect(moved.map(({ day, week }) => [day, week].map((change) => (change === null ? null : Number(change))))).toEqual([
    [null, 0.2],
    [-0.43, 0.2],
    [-0.43, 0.2],
    [null, null],
  ]);
  const events = await store.clickhouse.sql<{ volume_24h: string }>('SELECT volume_24h FROM v_events');
  expect(events.map((one) => Number(one.volume_24h))).toEqual([600]);
});
