import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { changeDefaultClients } from '../../../src/accounts/default-clients.ts';
import { orders } from '../../../src/orders/tables.ts';
import { flowingClock, passes } from '../../helpers/flowing-clock.ts';
import { kalshiRig } from '../../helpers/kalshi-rig.ts';
import type { Customer } from '../../helpers/trading.ts';

/** How far the service's clock is ahead of Kalshi's, which accepts signatures up to 30 s from its own. */
const AHEAD_MS = 25_000;

const simClock = flowingClock();
const clock = { ...simClock, now: () => simClock.now() + AHEAD_MS };
const rig = kalshiRig(9, { clock, simClock, operator: {} });

/** An order that rests at Kalshi for 24 s more, and whose date has passed on the service's clock. */
async function restsLonger(who: Customer) {
  const book = rig.sim.world.bookOf(rig.ticker);
  for (const { order } of Array.from(book.orders('bid'))) book.remove('bid', order);
  const expiration = new Date(simClock.now() + 3_600_000).toISOString();
  const { body } = await who.post('/orders', rig.asked({ expiration }));
  const id = body.order.order_id;
  const held = rig.sim.world.desk.accounts.flatMap(({ orders: all }) => all.get(id) ?? [])[0];
  if (!held) throw new Error('no such order');
  rig.sim.world.desk.amend(held, { price: 100, count: 1000, expirationMs: simClock.now() + 24_000 });
  const path = `/orders/${id}?platform=kalshi`;
  expect((await who.get(path)).body.order).toMatchObject({ status: 'expired', remaining_size: 0 });
  return { id, path, status: () => held.status };
}

test('cancel-all cancels an order that rests, though its date has passed on a clock that is ahead', async () => {
  const ann = await rig.joins();
  const { id, path, status } = await restsLonger(ann);
  const { body } = await ann.post('/orders/cancel-all', { platform: 'kalshi' });
  expect([status(), body.cancelled, body.not_cancelled]).toEqual(['canceled', [id], []]);
  expect((await ann.get(path)).body.order).toMatchObject({ status: 'cancelled', remaining_size: 0 });
});

test('cancel-all cancels such an order that was placed elsewhere', async () => {
  const [ann, elsewhere] = [await rig.joins(), await rig.joins()];
  const { id, status } = await restsLonger(elsewhere);
  expect((await ann.get('/orders?platform=kalshi')).body.orders).toMatchObject([{ order_id: id, status: 'expired' }]);
  const { body } = await ann.post('/orders/cancel-all', { platform: 'kalshi' });
  expect([status(), body.cancelled, body.not_cancelled]).toEqual(['canceled', [id], []]);
});

test('cancel-all names such an order while Kalshi answers no cancel', async () => {
  const ann = await rig.joins();
  const { id, status } = await restsLonger(ann);
  rig.sim.inject({ match: /^DELETE /, times: 10, kind: 'status', status: 500, body: '' });
  const { body } = await ann.post('/orders/cancel-all', { platform: 'kalshi' });
  expect([status(), body.cancelled, body.not_cancelled]).toMatchObject(['resting', [], [{ order_id: id }]]);
});

test('its owner cancels such an order by its id', async () => {
  const ann = await rig.joins();
  const { path, status } = await restsLonger(ann);
  const { status: answered, body } = await ann.delete(path);
  expect([answered, body.order?.status, status()]).toEqual([200, 'cancelled', 'canceled']);
  expect((await ann.delete(path)).status).toBe(409);
});

test('the kill switch of the operator cancels such an order of its default client', async () => {
  const ann = await rig.trading.customer({ mayUseDefaultClients: true });
  const { status } = await restsLonger(ann);
  await changeDefaultClients(rig.trading.service.postgres.db, { tradingEnabled: false });
  await passes(clock, () => expect(status()).toBe('canceled'), 15_000);
  await changeDefaultClients(rig.trading.service.postgres.db, { tradingEnabled: true });
});

test('a fill that Kalshi reports after the date of an order is stored without a request', async () => {
  const ann = await rig.joins();
  const { id } = await restsLonger(ann);
  rig.sim.world.takeOn(rig.ticker, { takerSide: 'no', yesPrice: '0.0100', count: '4.00' });
  const { db } = rig.trading.service.postgres;
  const stored = async () => (await db.select().from(orders).where(eq(orders.orderId, id)))[0]?.filledSize;
  await passes(clock, async () => expect(await stored()).toBe('4'), 30_000);
});
