import { expect, test } from 'vitest';
import { createOrderStore } from '../../src/orders/store.ts';
import { flowingClock } from '../helpers/flowing-clock.ts';
import { orderRig } from '../helpers/order-rig.ts';

const clock = flowingClock();
const rig = orderRig(33, clock, ['polymarket']);
const venue = () => rig.at('polymarket');

test('what the fills of an old order cost is read again when the platform lists them after the order', async () => {
  const ann = await rig.member('polymarket');
  const order = { ...venue().order(1, 'rests'), idempotency_key: 'old' };
  const { order_id: id } = (await ann.post('/orders', order)).body.order;
  await clock.sleep(600_000);

  venue().sim.rewrite(({ path }, reply) => {
    if (!path.endsWith('/data/trades')) return reply;
    return { ...reply, body: JSON.stringify({ ...(JSON.parse(reply.body) as object), data: [] }) };
  });
  await venue().sell(2);
  const filled = { status: 'partially_filled', filled_size: 2 };
  const { body } = await ann.get(`/orders/${id}?platform=polymarket`);
  expect(body.order).toMatchObject({ ...filled, average_fill_price: null, fees: { total_fee: null } });
  venue().sim.rewrite(null);
  await clock.sleep(5000);
  // A repeat answers with what is stored.
  const again = await ann.post('/orders', order);
  expect(again.body.meta.idempotent_replay).toBe(true);
  expect(again.body.order).toMatchObject({ ...filled, average_fill_price: 0.3, fees: { total_fee: 0 } });
});

test('a read that ends after a cancel leaves the later look for fills that the cancel has set', async () => {
  const ann = await rig.member('polymarket');
  const { order_id: id } = (await ann.post('/orders', venue().order(2, 'rests'))).body.order;
  const store = createOrderStore(rig.trading.service.postgres.db, () => {});
  const read = await store.named(ann.userId, 'polymarket', id, undefined);
  if (!read) throw new Error('not stored');
  const at = new Date(clock.now() + 3_600_000);
  await store.record(read, () => ({ recheckAt: at }), new Date(clock.now()));
  await store.recheckLater(read, null);
  expect((await store.byId(read.id))?.recheckAt).toEqual(at);
});
