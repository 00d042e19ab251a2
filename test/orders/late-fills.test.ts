import { expect, test } from 'vitest';
import { createOrderStore } from '../../src/orders/store.ts';
import { flowingClock } from '../helpers/flowing-clock.ts';
import { orderRig } from '../helpers/order-rig.ts';

const clock = flowingClock();
const rig = orderRig(33, clock, ['polymarket']);
const venue = () => rig.at('polymarket');

/** What rests gets old at once, as in a process that stood still: from timer to timer ten minutes take seconds. */
async function age(): Promise<void> {
  clock.stall(600_000);
  await clock.sleep(2000);
}

const edited = (body: string, change: object): string => JSON.stringify({ ...(JSON.parse(body) as object), ...change });

test('fills that the platform lists after a cancel count, though the first read showed the end of the order', async () => {
  const ann = await rig.member('polymarket');
  const order = { ...venue().order(3, 'rests'), idempotency_key: 'cancelled' };
  const { order_id: id } = (await ann.post('/orders', order)).body.order;
  let row = '{}';
  venue().sim.rewrite(({ path }, reply) => {
    if (path.endsWith(`/data/order/${id}`)) row = reply.body;
    return reply;
  });
  await ann.get(`/orders/${id}?platform=polymarket`);
  await venue().sell(2);
  venue().sim.rewrite(({ path }, reply) => {
    if (path.endsWith('/data/trades')) return { ...reply, body: edited(reply.body, { data: [] }) };
    if (!path.endsWith(`/data/order/${id}`)) return reply;
    return { ...reply, status: 200, body: edited(row, { status: 'CANCELED' }) };
  });
  const { body } = await ann.delete(`/orders/${id}?platform=polymarket`);
  expect(body).toMatchObject({ cancelled: true, order: { status: 'cancelled', filled_size: 0 } });
  venue().sim.rewrite(null);
  await clock.sleep(7000);
  // A repeat answers with what is stored if the platform cannot be read.
  venue().sim.inject({ match: /data\//, times: 1000, kind: 'status', status: 400, body: '{"error":"no"}' });
  const again = await ann.post('/orders', order);
  venue().sim.clearFaults();
  const filled = { status: 'cancelled', filled_size: 2, average_fill_price: 0.3, fees: { total_fee: 0 } };
  expect(again.body.order).toMatchObject(filled);
});

test('fills that the platform lists one after the other after a cancel all count', async () => {
  const ann = await rig.member('polymarket');
  const order = { ...venue().order(5, 'rests'), idempotency_key: 'one by one' };
  const { order_id: id } = (await ann.post('/orders', order)).body.order;
  let row = '{}';
  venue().sim.rewrite(({ path }, reply) => {
    if (path.endsWith(`/data/order/${id}`)) row = reply.body;
    return reply;
  });
  const read = async () => (await ann.get(`/orders/${id}?platform=polymarket`)).body.order;
  await read();
  await venue().sell(1);
  await venue().sell(1);
  const show = (fills: number): void =>
    venue().sim.rewrite(({ path }, reply) => {
      if (path.endsWith(`/data/order/${id}`)) {
        return { ...reply, status: 200, body: edited(row, { status: 'CANCELED', size_matched: String(fills) }) };
      }
      if (!path.endsWith('/data/trades')) return reply;
      const { data } = JSON.parse(reply.body) as { data: object[] };
      const shown = data.slice(0, fills).map((trade) => Object.assign(trade, { status: 'CONFIRMED' }));
      return { ...reply, body: edited(reply.body, { data: shown }) };
    });
  show(0);
  expect((await ann.delete(`/orders/${id}?platform=polymarket`)).body.order).toMatchObject({ filled_size: 0 });
  show(1);
  await clock.sleep(2000);
  expect(await read()).toMatchObject({ status: 'cancelled', filled_size: 1 });
  show(2);
  await clock.sleep(5000);
  // A repeat answers with what is stored.
  expect((await ann.post('/orders', order)).body.order).toMatchObject({ status: 'cancelled', filled_size: 2 });
});

test('a cancelled order without late fills is read once more, and then no more', async () => {
  const ann = await rig.member('polymarket');
  const { order_id: id } = (await ann.post('/orders', venue().order(4, 'rests'))).body.order;
  const { body } = await ann.delete(`/orders/${id}?platform=polymarket`);
  expect(body).toMatchObject({ cancelled: true, order: { status: 'cancelled', filled_size: 0 } });
  const reads = () =>
    [...venue().sim.requests].reduce((sum, [call, times]) => sum + (call.endsWith(`/data/order/${id}`) ? times : 0), 0);
  const atCancel = reads();
  await clock.sleep(180_000);
  expect(reads()).toBe(atCancel + 1);
});

test.each([20_000, 60_000])(
  'an order that is gone from the book without a match becomes filled if its match is listed %i ms later',
  async (ms) => {
    const ann = await rig.member('polymarket');
    const wanted = { ...venue().order(2, 'rests'), idempotency_key: `gone ${ms}` };
    const { order_id: id, size } = (await ann.post('/orders', wanted)).body.order;
    const read = async () => (await ann.get(`/orders/${id}?platform=polymarket`)).body.order;
    await age();
    venue().sim.rewrite(({ path }, reply) =>
      path.endsWith('/data/trades') ? { ...reply, body: edited(reply.body, { data: [] }) } : reply,
    );
    await venue().sell(size);
    await read();
    await clock.sleep(6000);
    expect(await read()).toMatchObject({ status: 'cancelled', filled_size: 0 });
    await clock.sleep(ms);
    venue().sim.rewrite(null);
    await clock.sleep(ms === 20_000 ? 15_000 : 65_000);
    // A repeat answers with what is stored if the platform cannot be read.
    venue().sim.inject({ match: /data\//, times: 1000, kind: 'status', status: 400, body: '{"error":"no"}' });
    const again = await ann.post('/orders', wanted);
    venue().sim.clearFaults();
    expect(again.body.order).toMatchObject({ status: 'filled', filled_size: size });
  },
);

test('what the fills of an old order cost is read again when the platform lists them after the order', async () => {
  const ann = await rig.member('polymarket');
  const order = { ...venue().order(1, 'rests'), idempotency_key: 'old' };
  const { order_id: id } = (await ann.post('/orders', order)).body.order;
  await age();

  venue().sim.rewrite(({ path }, reply) => {
    if (!path.endsWith('/data/trades')) return reply;
    return { ...reply, body: edited(reply.body, { data: [] }) };
  });
  await venue().sell(2);
  const filled = { status: 'partially_filled', filled_size: 2 };
  const { body } = await ann.get(`/orders/${id}?platform=polymarket`);
  expect(body.order).toMatchObject({ ...filled, average_fill_price: null, fees: { total_fee: null } });
  venue().sim.rewrite(null);
  await clock.sleep(5000);
  // A repeat answers with what is stored if the platform cannot be read.
  venue().sim.inject({ match: /data\//, times: 1000, kind: 'status', status: 400, body: '{"error":"no"}' });
  const again = await ann.post('/orders', order);
  venue().sim.clearFaults();
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
