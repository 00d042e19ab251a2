import { once } from 'node:events';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTrading, type Trading } from '../helpers/trading.ts';
import { type KalshiWorld, startKalshi } from '../simulators/kalshi.ts';
import type { Simulator } from '../simulators/simulator.ts';

let sim: Simulator<KalshiWorld>;
let trading: Trading;

beforeAll(async () => {
  sim = await startKalshi({ seed: 10, markets: 12, tradesPerMarket: 5 });
  sim.enforceLimits = false;
  trading = await startTrading(sim.env);
});
afterAll(async () => {
  await trading?.close();
  await sim?.close();
});

test('orders are placed and cancelled while as many reads wait for PostgreSQL as may', async () => {
  const ann = await trading.customer();
  const { apiKeyId: api_key_id, privateKeyPem: private_key } = sim.world.addAccount({ balance: '1000' });
  await ann.credential('kalshi', { api_key_id, private_key });
  const [market_id, other] = [sim.world.createMarket('rate'), sim.world.createMarket('rate')];
  const terms = { side: 'buy', outcome: 'yes', type: 'limit', price: 0.01, size: 10 };
  const place = () => ann.post('/orders', { platform: 'kalshi', market_id, ...terms });
  const { order_id: id } = (await place()).body.order;

  const { db } = trading.service.postgres;
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
