import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { orderAttempts, orders } from '../../../src/orders/tables.ts';
import { flowingClock } from '../../helpers/flowing-clock.ts';
import { type Answer, type Customer, startTrading, type Trading } from '../../helpers/trading.ts';
import { type KalshiWorld, type Member, startKalshi } from '../../simulators/kalshi.ts';
import type { Simulator } from '../../simulators/simulator.ts';

const PLACE = /^POST .*\/portfolio\/events\/orders$/;

const clock = flowingClock();
let sim: Simulator<KalshiWorld>;
let trading: Trading;
let member: Member;
let ann: Customer;
let ticker: string;

beforeAll(async () => {
  sim = await startKalshi({ seed: 6, markets: 12, tradesPerMarket: 5, clock });
  sim.enforceLimits = false;
  trading = await startTrading(sim.env, clock);
});
afterAll(async () => {
  await trading?.close();
  await sim?.close();
});
beforeEach(async () => {
  sim.clearFaults();
  ticker = sim.world.createMarket('rate');
  member = sim.world.addAccount({ balance: '1000' });
  ann = await trading.customer();
  await ann.credential('kalshi', { api_key_id: member.apiKeyId, private_key: member.privateKeyPem });
});

const place = (change: object = {}, customer = ann): Promise<Answer> =>
  customer.post('/orders', {
    platform: 'kalshi',
    market_id: ticker,
    side: 'buy',
    outcome: 'yes',
    type: 'limit',
    price: 0.01,
    size: 10,
    ...change,
  });
/** Another customer, whose orders share the breaker. */
async function neighbour(): Promise<Customer> {
  const other = sim.world.addAccount({ balance: '1000' });
  const bob = await trading.customer();
  await bob.credential('kalshi', { api_key_id: other.apiKeyId, private_key: other.privateKeyPem });
  return bob;
}
const stored = () => trading.service.postgres.db.select().from(orders).where(eq(orders.userId, ann.userId));
const attempts = () =>
  trading.service.postgres.db.select().from(orderAttempts).where(eq(orderAttempts.userId, ann.userId));

/** Kalshi is down for so long that no order is sent to it any more; then it is back. */
async function outage(during: () => Promise<void>): Promise<void> {
  sim.inject({ match: /portfolio/, times: 1000, kind: 'status', status: 500, body: '' });
  const bob = await neighbour();
  // More failures than the breaker waits for.
  for (let i = 0; i < 8; i += 1) await place({}, bob);
  await during();
  sim.clearFaults();
  for (const end = clock.elapsed() + 15_000; clock.elapsed() < end; await clock.sleep(250)) {
    if ((await place({}, bob)).status === 201) return;
  }
  throw new Error('the platform is not asked again');
}

describe('an order that was never sent', () => {
  test('leaves its idempotency key and its client id free, and no order behind', async () => {
    await place();
    const held = { idempotency_key: 'held', client_order_id: 'own-1' };
    await outage(async () => {
      const refused = await place(held);
      expect(refused).toMatchObject({ status: 503, body: { error: { message: 'Kalshi cannot be called now' } } });
      expect(refused.headers['retry-after']).toBeDefined();
      expect(refused.body.error.resolution).toContain('The same idempotency key');
      expect(await stored()).toHaveLength(1);
      expect(await attempts()).toMatchObject([{ result: 'accepted' }, { action: 'place', result: 'not_sent' }]);
    });
    const placed = await place(held);
    expect(placed).toMatchObject({ status: 201, body: { order: { client_order_id: 'own-1' } } });
    expect(await place(held)).toMatchObject({ status: 200, body: { meta: { idempotent_replay: true } } });
    expect(sim.world.ordersOf(member)).toHaveLength(2);
  });
});

test('an order that was sent keeps its key, though the platform refused it for now', async () => {
  sim.inject({ match: PLACE, times: 1, kind: 'status', status: 429, body: '{"error":"too many requests"}' });
  const first = await place({ idempotency_key: 'limited' });
  expect(first.status).toBe(503);
  expect(first.body.error.resolution).toContain('under a new idempotency key');
  expect(await place({ idempotency_key: 'limited' })).toMatchObject({ status: 503, body: first.body });
  expect(sim.world.ordersOf(member)).toEqual([]);
});

test('an order for a platform that accepts no connection was not sent: its key is free, and no order is left behind', async () => {
  await place();
  await sim.close();
  // The connections that were kept open are gone for the client too.
  await clock.sleep(100);
  const refused = await place({ idempotency_key: 'nobody listens' });
  expect(refused).toMatchObject({ status: 503, body: { error: { error_text: 'ECONNREFUSED' } } });
  expect(refused.body.error.resolution).toContain('The same idempotency key');
  expect(await stored()).toHaveLength(1);
  expect(await attempts()).toMatchObject([{ result: 'accepted' }, { action: 'place', result: 'not_sent' }]);
});
