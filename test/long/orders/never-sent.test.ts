import { eq } from 'drizzle-orm';
import { beforeEach, describe, expect, test } from 'vitest';
import { orderAttempts, orders } from '../../../src/orders/tables.ts';
import { failedPlacement } from '../../../src/platforms/failed-placement.ts';
import { NoBudgetError } from '../../../src/platforms/http/errors.ts';
import { flowingClock } from '../../helpers/flowing-clock.ts';
import { kalshiRig } from '../../helpers/kalshi-rig.ts';
import type { Answer, Customer } from '../../helpers/trading.ts';

const PLACE = /^POST .*\/portfolio\/events\/orders$/;

const clock = flowingClock();
const rig = kalshiRig(6, { clock });
let ann: Customer;
beforeEach(async () => {
  ann = await rig.joins();
});

const place = (change: object = {}, customer = ann): Promise<Answer> => customer.post('/orders', rig.asked(change));
/** Another customer, whose orders share the breaker. */
const neighbour = (): Promise<Customer> => rig.joins(rig.sim.world.addAccount());
const stored = () => rig.trading.service.postgres.db.select().from(orders).where(eq(orders.userId, ann.userId));
const attempts = () =>
  rig.trading.service.postgres.db.select().from(orderAttempts).where(eq(orderAttempts.userId, ann.userId));

/** Kalshi is down for so long that no order is sent to it any more; then it is back. */
async function outage(during: () => Promise<void>): Promise<void> {
  rig.sim.inject({ match: /portfolio/, times: 1000, kind: 'status', status: 500, body: '' });
  const bob = await neighbour();
  // More failures than the breaker waits for.
  for (let i = 0; i < 8; i += 1) await place({}, bob);
  await during();
  rig.sim.clearFaults();
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
    expect(rig.held()).toHaveLength(2);
  });
});

test('an order that was not sent for want of the own share says so, and that its key is free', () => {
  const detail = 'kalshi:read: one user may cause 75 calls a minute';
  const overShare = new NoBudgetError('kalshi', 'over_share', { detail, retryAfterMs: 800 });
  expect(failedPlacement('kalshi', overShare, () => 'unused')).toMatchObject({
    result: 'not_sent',
    refusal: {
      status: 429,
      message: 'You have used your share of calls to Kalshi',
      resolution: 'The order was not sent. Retry later. The same idempotency key may be used.',
      errorText: detail,
      retryAfter: 1,
    },
  });
});

test('an order that was sent keeps its key, though the platform refused it for now', async () => {
  rig.sim.inject({ match: PLACE, times: 1, kind: 'status', status: 429, body: '{"error":"too many requests"}' });
  const first = await place({ idempotency_key: 'limited' });
  expect(first.status).toBe(503);
  expect(first.body.error.resolution).toContain('under a new idempotency key');
  expect(await place({ idempotency_key: 'limited' })).toMatchObject({ status: 503, body: first.body });
  expect(rig.held()).toEqual([]);
});

test('an order for a platform that accepts no connection was not sent: its key is free, and no order is left behind', async () => {
  await place();
  await rig.sim.close();
  // The connections that were kept open are gone for the client too.
  await clock.sleep(100);
  const refused = await place({ idempotency_key: 'nobody listens' });
  expect(refused).toMatchObject({ status: 503, body: { error: { error_text: 'ECONNREFUSED' } } });
  expect(refused.body.error.resolution).toContain('The same idempotency key');
  expect(await stored()).toHaveLength(1);
  expect(await attempts()).toMatchObject([{ result: 'accepted' }, { action: 'place', result: 'not_sent' }]);
});
