import { expect, test } from 'vitest';
import { kalshiRig } from '../../helpers/kalshi-rig.ts';

const rig = kalshiRig(8);

test('an order placed elsewhere is shown with the terms to which it was amended there', async () => {
  const [ann, elsewhere] = [await rig.joins(), await rig.joins()];
  const { order_id: id } = (await elsewhere.post('/orders', rig.asked())).body.order;
  const listed = async () => (await ann.get('/orders?platform=kalshi')).body.orders;
  expect(await listed()).toMatchObject([{ order_id: id, price: 0.01, size: 10, time_in_force: 'gtc' }]);

  const held = rig.sim.world.desk.accounts.flatMap(({ orders }) => orders.get(id) ?? [])[0];
  if (!held) throw new Error('no such order');
  const expirationMs = Math.floor(Date.now() / 1000 + 3600) * 1000;
  rig.sim.world.desk.amend(held, { price: 200, count: 2500, expirationMs });
  const amended = { price: 0.02, size: 25, remaining_size: 25, status: 'open', time_in_force: 'gtd' };
  const shown = { order_id: id, ...amended, expiration: new Date(expirationMs).toISOString() };
  expect((await ann.get(`/orders/${id}?platform=kalshi`)).body.order).toMatchObject(shown);
  expect(await listed()).toMatchObject([shown]);
});

test('an order that its market ended is no longer open, though the platform refused the cancel', async () => {
  const ann = await rig.joins();
  const { order_id: id } = (await ann.post('/orders', rig.asked())).body.order;
  rig.sim.world.close(rig.ticker);
  const { status, body } = await ann.delete(`/orders/${id}?platform=kalshi`);
  expect([status, body.error?.error_text]).toEqual([409, `order ${id} is cancelled: 0 of 10 filled`]);
});
