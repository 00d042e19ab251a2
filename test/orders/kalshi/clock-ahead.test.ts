import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { changeDefaultClients } from '../../../src/accounts/default-clients.ts';
import { systemClock } from '../../../src/core/time.ts';
import { orders } from '../../../src/orders/tables.ts';
import { waitsInRealTime } from '../../helpers/real-time.ts';
import { type Customer, startTrading, type Trading } from '../../helpers/trading.ts';
import { type KalshiWorld, type Member, startKalshi } from '../../simulators/kalshi.ts';
import type { Simulator } from '../../simulators/simulator.ts';

waitsInRealTime('the simulated exchange goes by the time of the machine');

/** How far the service's clock is ahead of Kalshi's, which accepts signatures up to 30 s from its own. */
const AHEAD_MS = 25_000;

let sim: Simulator<KalshiWorld>;
let trading: Trading;
let operator: Member;

beforeAll(async () => {
  sim = await startKalshi({ seed: 9, markets: 12, tradesPerMarket: 5 });
  sim.enforceLimits = false;
  operator = sim.world.addAccount({ balance: '1000' });
  const client = { KALSHI_API_KEY_ID: operator.apiKeyId, KALSHI_PRIVATE_KEY: operator.privateKeyPem };
  trading = await startTrading({ ...sim.env, ...client }, { ...systemClock, now: () => Date.now() + AHEAD_MS });
});
afterAll(async () => {
  await trading?.close();
  await sim?.close();
});
beforeEach(() => sim.clearFaults());

/** An order that rests at Kalshi for 24 s more, and whose date has passed on the service's clock. */
async function restsLonger(who: Customer) {
  const marketId = sim.world.createMarket('rate');
  const book = sim.world.bookOf(marketId);
  for (const { order } of Array.from(book.orders('bid'))) book.remove('bid', order);
  const terms = { platform: 'kalshi', market_id: marketId, side: 'buy', outcome: 'yes', type: 'limit' };
  const expiration = new Date(Date.now() + 3_600_000).toISOString();
  const { body } = await who.post('/orders', { ...terms, price: 0.01, size: 10, expiration });
  const id = body.order.order_id;
  const held = sim.world.desk.accounts.flatMap(({ orders: all }) => all.get(id) ?? [])[0];
  if (!held) throw new Error('no such order');
  sim.world.desk.amend(held, { price: 100, count: 1000, expirationMs: Date.now() + 24_000 });
  const path = `/orders/${id}?platform=kalshi`;
  expect((await who.get(path)).body.order).toMatchObject({ status: 'expired', remaining_size: 0 });
  return { id, marketId, path, status: () => held.status };
}

async function customer(member = sim.world.addAccount({ balance: '1000' })): Promise<Customer> {
  const one = await trading.customer();
  await one.credential('kalshi', { api_key_id: member.apiKeyId, private_key: member.privateKeyPem });
  return one;
}

test('cancel-all cancels an order that rests, though its date has passed on a clock that is ahead', async () => {
  const ann = await customer();
  const { id, path, status } = await restsLonger(ann);
  const { body } = await ann.post('/orders/cancel-all', { platform: 'kalshi' });
  expect([status(), body.cancelled, body.not_cancelled]).toEqual(['canceled', [id], []]);
  expect((await ann.get(path)).body.order).toMatchObject({ status: 'cancelled', remaining_size: 0 });
});

test('cancel-all cancels such an order that was placed elsewhere', async () => {
  const member = sim.world.addAccount({ balance: '1000' });
  const [ann, elsewhere] = [await customer(member), await customer(member)];
  const { id, status } = await restsLonger(elsewhere);
  expect((await ann.get('/orders?platform=kalshi')).body.orders).toMatchObject([{ order_id: id, status: 'expired' }]);
  const { body } = await ann.post('/orders/cancel-all', { platform: 'kalshi' });
  expect([status(), body.cancelled, body.not_cancelled]).toEqual(['canceled', [id], []]);
});

test('cancel-all names such an order while Kalshi answers no cancel', async () => {
  const ann = await customer();
  const { id, status } = await restsLonger(ann);
  sim.inject({ match: /^DELETE /, times: 10, kind: 'status', status: 500, body: '' });
  const { body } = await ann.post('/orders/cancel-all', { platform: 'kalshi' });
  expect([status(), body.cancelled, body.not_cancelled]).toMatchObject(['resting', [], [{ order_id: id }]]);
});

test('its owner cancels such an order by its id', async () => {
  const ann = await customer();
  const { path, status } = await restsLonger(ann);
  const { status: answered, body } = await ann.delete(path);
  expect([answered, body.order?.status, status()]).toEqual([200, 'cancelled', 'canceled']);
  expect((await ann.delete(path)).status).toBe(409);
});

test('the kill switch of the operator cancels such an order of its default client', async () => {
  const ann = await trading.customer({ mayUseDefaultClients: true });
  const { status } = await restsLonger(ann);
  await changeDefaultClients(trading.service.postgres.db, { tradingEnabled: false });
  await expect.poll(status, { timeout: 15_000 }).toBe('canceled');
  await changeDefaultClients(trading.service.postgres.db, { tradingEnabled: true });
});

test('a fill that Kalshi reports after the date of an order is stored without a request', async () => {
  const ann = await customer();
  const { id, marketId } = await restsLonger(ann);
  sim.world.takeOn(marketId, { takerSide: 'no', yesPrice: '0.0100', count: '4.00' });
  const { db } = trading.service.postgres;
  const stored = async () => (await db.select().from(orders).where(eq(orders.orderId, id)))[0]?.filledSize;
  await expect.poll(stored, { timeout: 30_000 }).toBe('4');
});
