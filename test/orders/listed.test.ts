import { describe, expect, test } from 'vitest';
import { PLATFORMS } from '../../src/core/model.ts';
import { orderRig } from '../helpers/order-rig.ts';

const rig = orderRig(13);

describe.each(PLATFORMS)('an order of this service at %s that has filled', (platform) => {
  test('is listed with what it brought', async () => {
    const venue = rig.at(platform);
    const ann = await rig.member(platform);
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
