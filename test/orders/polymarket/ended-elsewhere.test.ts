import { expect, test } from 'vitest';
import { flowingClock } from '../../helpers/flowing-clock.ts';
import { orderRig } from '../../helpers/order-rig.ts';

const clock = flowingClock();
const rig = orderRig(31, clock, ['polymarket']);
const venue = () => rig.at('polymarket');

/** What rests gets old at once, as in a process that stood still: from timer to timer ten minutes take seconds. */
async function age(): Promise<void> {
  clock.stall(600_000);
  await clock.sleep(2000);
}

test('an old order that was cancelled elsewhere ends without another request for it', async () => {
  const { fields } = venue().member();
  const [ann, elsewhere] = [await rig.trading.customer(), await rig.trading.customer()];
  await ann.credential('polymarket', fields);
  await elsewhere.credential('polymarket', fields);
  const order = { ...venue().order(1, 'rests'), idempotency_key: 'old' };
  const name = `/orders/${(await ann.post('/orders', order)).body.order.order_id}?platform=polymarket`;
  await age();

  const cancelledAt = clock.now();
  expect((await elsewhere.delete(name)).status).toBe(200);
  // The last fill of an order that has left the book may appear moments later.
  expect((await ann.get(name)).body.order.status).toBe('pending');
  await clock.sleep(30_000);
  // A repeat answers with what is stored if the platform cannot be read.
  venue().sim.inject({ match: /data\//, times: 1000, kind: 'status', status: 400, body: '{"error":"no"}' });
  const { body } = await ann.post('/orders', order);
  expect(body).toMatchObject({ order: { status: 'cancelled', remaining_size: 0 }, meta: { idempotent_replay: true } });
  expect(Date.parse(body.order.updated_at)).toBeGreaterThanOrEqual(cancelledAt);
  venue().sim.clearFaults();
  const upper = await ann.get(name.replace(/0x[0-9a-f]+/, (id) => `0x${id.slice(2).toUpperCase()}`));
  expect(upper).toMatchObject({ status: 200, body: { order: { order_id: body.order.order_id } } });
});

test('a repeat of an idempotency key answers with the order as its platform reports it now', async () => {
  const { fields } = venue().member();
  const [ann, elsewhere] = [await rig.trading.customer(), await rig.trading.customer()];
  await ann.credential('polymarket', fields);
  await elsewhere.credential('polymarket', fields);
  const order = { ...venue().order(4, 'rests'), idempotency_key: 'now' };
  const { order_id: id } = (await ann.post('/orders', order)).body.order;
  // It rests, so no recheck is due: only the repeat reads it.
  await age();
  await elsewhere.delete(`/orders/${id}?platform=polymarket`);
  const repeat = async () => (await ann.post('/orders', order)).body;
  const isStated = { order: { order_id: id, status: 'pending' }, meta: { idempotent_replay: true } };
  expect(await repeat()).toMatchObject(isStated);
});

test('cancel-all cancels an order that the platform lists, though it was not found for a while', async () => {
  const member = venue().member();
  const ann = await rig.trading.customer();
  await ann.credential('polymarket', member.fields);
  const { order_id: id } = (await ann.post('/orders', venue().order(2, 'rests'))).body.order;
  const name = `/orders/${id}?platform=polymarket`;
  venue().sim.rewrite(({ path }, reply) =>
    path.includes('/data/order/') ? { ...reply, status: 200, body: 'null' } : reply,
  );
  await ann.get(name);
  await clock.sleep(15_000);
  expect((await ann.get(name)).body.order.status).toBe('cancelled');
  venue().sim.rewrite(null);

  await clock.sleep(60_000);
  const { body } = await ann.post('/orders/cancel-all', { platform: 'polymarket' });
  expect([body.cancelled, body.not_cancelled, member.held().map(({ status }) => status)]).toEqual([
    [id],
    [],
    ['cancelled'],
  ]);
  expect((await ann.get(name)).body.order).toMatchObject({ status: 'cancelled', remaining_size: 0 });
});

test('an order that arrives after it counted as never arrived is found without a request for it', async () => {
  const member = venue().member();
  const ann = await rig.trading.customer();
  await ann.credential('polymarket', member.fields);
  const { sim } = venue();
  // It is not shown before it has arrived.
  sim.rewrite(({ path }, reply) => (path.includes('/data/order/') ? { ...reply, status: 200, body: 'null' } : reply));
  sim.inject({ match: venue().places, times: 1, kind: 'after' });
  const order = { ...venue().order(3, 'rests'), idempotency_key: 'held up' };
  expect((await ann.post('/orders', order)).status).toBe(202);
  await clock.sleep(130_000);
  const stored = async () => (await ann.post('/orders', order)).body.order.status;
  expect(await stored()).toBe('rejected');
  sim.rewrite(null);
  await clock.sleep(60_000);
  expect([await stored(), member.held()]).toMatchObject(['open', [{ status: 'open' }]]);
});
