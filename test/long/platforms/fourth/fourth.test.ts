import { PLATFORM_ROW } from '../../../platforms/fourth/register.ts';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { eventually, largePage, type Pipeline, startPipeline } from '../../../oracle/pipeline.ts';
import { FOURTH } from '../../../platforms/fourth/platform/map.ts';
import { startFourth } from '../../../platforms/fourth/simulator.ts';
import { clockBehind } from '../../../helpers/flowing-clock.ts';

vi.setConfig({ testTimeout: 240_000 });

// What "a platform is one folder and its lines in the registries" means: nothing else is changed here, and it works.
let platform: Awaited<ReturnType<typeof startFourth>>;
let service: Pipeline;
const clock = clockBehind();

beforeAll(async () => {
  platform = await startFourth();
  service = await startPipeline([platform], [FOURTH], { clock });
  await service.clickhouse.command(PLATFORM_ROW);
});
afterAll(async () => {
  await service?.close();
  await platform?.close();
});

test('its markets are ingested and listed, without the row that cannot be read', async () => {
  const listed = async () => (await service.markets('provider=fourth&sort=created', 50)).rows;
  expect(await eventually(async () => ((await listed()).length === 2 ? [] : ['not listed yet']), 60, clock)).toEqual(
    [],
  );
  const rain = (await listed()).find(({ platform_id }) => platform_id === 'rain');
  expect(rain).toMatchObject({
    platform: 'fourth',
    title: 'Will it rain?',
    status: 'open',
    volume_total: 11,
    metadata: { volume_basis: 'usd' },
    source_url: 'https://fourth.example/m/rain',
  });
  const words = await service.markets('provider=fourth&query=snow', 51);
  expect(words.rows.map(({ platform_id }) => platform_id)).toEqual(['snow']);
  expect(await service.health(FOURTH)).toMatchObject({ platform: 'fourth' });
});

const traded = async () => (await service.trades('provider=fourth&market_id=rain', 50)).rows;

test('its trades are ingested once and listed', async () => {
  expect(await eventually(async () => ((await traded()).length === 3 ? [] : ['not stored yet']), 60, clock)).toEqual(
    [],
  );
  expect((await traded()).map(({ price, size, side }) => [side, price, size])).toEqual([
    ['buy', 0.4, 7.5],
    ['sell', 0.3, 10],
    ['buy', 0.5, 10],
  ]);
});

test('its market is charted from the stored trades', async () => {
  const range = `start_ts=${platform.hourTs}&end_ts=${platform.hourTs + 3600}`;
  const chart = (limit: number) =>
    service.get<{ data: { price: object; volume: number }[]; meta: object }>(
      `markets/price-history?provider=fourth&market_ids=rain&interval=60&${range}&limit=${limit}`,
    );
  // The hour is charted once the feed is known to be complete over it.
  expect(
    await eventually(async () => ((await chart(largePage())).data.length === 1 ? [] : ['no bar yet']), 60, clock),
  ).toEqual([]);
  const { data, meta } = await chart(largePage());
  expect(data).toMatchObject([{ volume: 27.5, price: { open: 0.5, high: 0.5, low: 0.3, close: 0.4 } }]);
  expect(meta).toMatchObject({ source: 'trades' });
});

test('its book, its metrics and the lists over all platforms include it', async () => {
  const book = await service.get<{ data: object }>('markets/id/rain/orderbook?provider=fourth');
  expect(book.data).toMatchObject({ platform: 'fourth', market_id: 'rain' });
  await service.get('metrics/snapshot?platform=fourth&market_id=rain');
  const { categories } = await service.get<{ categories: object[] }>('analytics/categories');
  expect(categories).toContainEqual(expect.objectContaining({ slug: 'weather', platforms: ['fourth'] }));
});

test('profiles that it does not have are refused with 400, its orders with 422', async () => {
  const profile = await service.get<{ error: { error_text: string } }>('profile/trades?provider=fourth&user=ann', 400);
  expect(profile.error.error_text).toMatch(/provider: .*kalshi/);
  const order = {
    platform: 'fourth',
    market_id: 'rain',
    side: 'buy',
    outcome: 'yes',
    type: 'limit',
    price: 0.4,
    size: 1,
    idempotency_key: 'first-order',
  };
  const { key } = await service.app.newKey();
  const reply = await service.app.app.inject({
    method: 'POST',
    url: '/v1/api/orders',
    headers: { 'x-api-key': key },
    payload: order,
  });
  expect([reply.statusCode, reply.json()]).toMatchObject([
    422,
    { error: { message: 'Fourth takes no orders here', resolution: 'Use another platform.' } },
  ]);
});
