import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTrading, type Trading } from '../../helpers/trading.ts';
import { type KalshiWorld, startKalshi } from '../../simulators/kalshi.ts';
import type { Simulator } from '../../simulators/simulator.ts';

let sim: Simulator<KalshiWorld>;
let trading: Trading;

beforeAll(async () => {
  sim = await startKalshi({ seed: 8, markets: 12, tradesPerMarket: 5 });
  sim.enforceLimits = false;
  trading = await startTrading(sim.env);
});
afterAll(async () => {
  await trading?.close();
  await sim?.close();
});

test('an order placed elsewhere is shown with the terms to which it was amended there', async () => {
  const { apiKeyId: api_key_id, privateKeyPem: private_key } = sim.world.addAccount({ balance: '1000' });
  const [ann, elsewhere] = [await trading.customer(), await trading.customer()];
  for (const one of [ann, elsewhere]) await one.credential('kalshi', { api_key_id, private_key });
  const order = { platform: 'kalshi', market_id: sim.world.createMarket('rate'), side: 'buy', outcome: 'yes' };
  const asked = { ...order, type: 'limit', price: 0.01, size: 10 };
  const { order_id: id } = (await elsewhere.post('/orders', asked)).body.order;
  const listed = async () => (await ann.get('/orders?platform=kalshi')).body.orders;
  expect(await listed()).toMatchObject([{ order_id: id, price: 0.01, size: 10, time_in_force: 'gtc' }]);

  const held = sim.world.desk.accounts.flatMap(({ orders }) => orders.get(id) ?? [])[0];
  if (!held) throw new Error('no such order');
  const expirationMs = Math.floor(Date.now() / 1000 + 3600) * 1000;
  sim.world.desk.amend(held, { price: 200, count: 2500, expirationMs });
  const amended = { price: 0.02, size: 25, remaining_size: 25, status: 'open', time_in_force: 'gtd' };
  const shown = { order_id: id, ...amended, expiration: new Date(expirationMs).toISOString() };
  expect((await ann.get(`/orders/${id}?platform=kalshi`)).body.order).toMatchObject(shown);
  expect(await listed()).toMatchObject([shown]);
});

test('an order that its market ended is no longer open, though the platform refused the cancel', async () => {
  const { apiKeyId: api_key_id, privateKeyPem: private_key } = sim.world.addAccount({ balance: '1000' });
  const ann = await trading.customer();
  await ann.credential('kalshi', { api_key_id, private_key });
  const market_id = sim.world.createMarket('rate');
  const terms = { side: 'buy', outcome: 'yes', type: 'limit', price: 0.01, size: 10 };
  const { order_id: id } = (await ann.post('/orders', { platform: 'kalshi', market_id, ...terms })).body.order;
  sim.world.close(market_id);
  const { status, body } = await ann.delete(`/orders/${id}?platform=kalshi`);
  expect([status, body.error?.error_text]).toEqual([409, `order ${id} is cancelled: 0 of 10 filled`]);
});
