import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PLATFORMS } from '../../src/core/model.ts';
import { startVenues, type Venue } from '../helpers/order-venues.ts';
import { startTrading, type Trading } from '../helpers/trading.ts';

let venues: Venue[];
let trading: Trading;

beforeAll(async () => {
  venues = await startVenues(13);
  trading = await startTrading(Object.assign({}, ...venues.map(({ sim }) => sim.env)));
});
afterAll(async () => {
  await trading?.close();
  await Promise.all((venues ?? []).map(({ sim }) => sim.close()));
});

describe.each(PLATFORMS)('an order of this service at %s that has filled', (platform) => {
  test('is listed with what it brought', async () => {
    const venue = venues.find((one) => one.platform === platform);
    if (!venue) throw new Error('no such venue');
    const ann = await trading.customer();
    await ann.credential(platform, venue.member().fields as never);
    const { order } = (await ann.post('/orders', venue.order(1, 'rests'))).body;
    await venue.sell(order.size);
    const listed = async () =>
      (await ann.get(`/orders?platform=${platform}&market_id=${encodeURIComponent(venue.marketId)}`)).body.orders;
    await expect.poll(listed, { timeout: 10_000, interval: 100 }).toMatchObject([{ status: 'filled' }]);
    const [row] = await listed();
    const { body } = await ann.get(`/orders/${order.order_id}?platform=${platform}`);
    expect(body.order.received_size).toBe(order.size);
    expect(row).toEqual(body.order);
  });
});
