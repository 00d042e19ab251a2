import { once } from 'node:events';
import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { kalshiRig } from '../helpers/kalshi-rig.ts';

const rig = kalshiRig(10);

test('orders are placed and cancelled while as many reads wait for PostgreSQL as may', async () => {
  const ann = await rig.joins();
  const other = rig.sim.world.createMarket('rate');
  const place = () => ann.post('/orders', rig.asked());
  const { order_id: id } = (await place()).body.order;

  const { db } = rig.trading.service.postgres;
  const release = new AbortController();
  const released = once(release.signal, 'abort');
  let begun = 0;
  const hold = async (): Promise<void> => {
    begun += 1;
    await released;
  };
  const held = Array.from({ length: 10 }, () => db.transaction(hold));
  // Jobs of the service use connections too.
  await expect.poll(() => begun).toBe(10);
  const waiting = Array.from({ length: 3000 }, () => db.execute(sql`SELECT 1`).catch(() => {}));
  const read = await ann.get(`/markets/id/${other}?provider=kalshi`);
  const cancelled = await ann.delete(`/orders/${id}?platform=kalshi`);
  const placed = await place();
  const all = await ann.post('/orders/cancel-all', { platform: 'kalshi' });
  release.abort();
  await Promise.all([...held, ...waiting]);
  expect([read.status, cancelled.status, placed.status, all.status]).toEqual([503, 200, 201, 200]);
  expect(all.body.cancelled).toEqual([placed.body.order.order_id]);
});
