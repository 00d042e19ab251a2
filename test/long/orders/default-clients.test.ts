import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { eq } from 'drizzle-orm';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  changeDefaultClients,
  grantDefaultClients,
  revokeDefaultClients,
  type DefaultClientLimits,
} from '../../../src/accounts/default-clients.ts';
import { parseUsd } from '../../../src/core/decimal.ts';
import { orders } from '../../../src/orders/tables.ts';
import { kalshiRig } from '../../helpers/kalshi-rig.ts';
import type { Answer, Customer } from '../../helpers/trading.ts';
import type { Member, TrueOrder } from '../../simulators/kalshi.ts';

const rig = kalshiRig(8, { operator: { balance: '100000' } });
let ann: Customer;
let bob: Customer;
beforeEach(async () => {
  await allow({ tradingEnabled: true, maxOrder: null });
  [ann, bob] = [await rig.trading.customer(), await rig.trading.customer()];
});

const database = () => rig.trading.service.postgres.db;
const allow = (limits: Partial<DefaultClientLimits>): Promise<void> => changeDefaultClients(database(), limits);
const place = (who: Customer, change: object = {}): Promise<Answer> => who.post('/orders', rig.asked(change));
/** Orders of the operator's account in the market of this test. */
const held = (of = rig.operator): TrueOrder[] => rig.held(of).filter((order) => order.ticker === rig.ticker);
const statuses = (of = rig.operator): string[] => held(of).map(({ status }) => status);
async function joins(who: Customer): Promise<Member> {
  const member = rig.sim.world.addAccount();
  await rig.stores(who, member);
  return member;
}

describe('the default client of a platform', () => {
  test('is there only for users whom the operator has named: to others it is as if there were none', async () => {
    const answers = [
      await place(ann),
      await place(ann, { dry_run: true }),
      await ann.get('/orders?platform=kalshi'),
      await ann.get('/orders/some-order?platform=kalshi'),
      await ann.delete('/orders/some-order?platform=kalshi'),
      await ann.post('/orders/cancel-all', { platform: 'kalshi' }),
    ];
    const none = await ann.get('/orders?platform=polymarket');
    expect(none.status).toBe(422);
    const { message, error_text: text, ...rest } = none.body.error;
    for (const { status, body } of answers) {
      expect(status).toBe(422);
      expect(body.error).toEqual({
        ...rest,
        message: message.replace('Polymarket', 'Kalshi'),
        error_text: text.replace('polymarket', 'kalshi'),
      });
    }
    expect(held()).toEqual([]);
    await grantDefaultClients(database(), bob.userId);
    expect((await place(bob)).status).toBe(201);
    expect(held()).toHaveLength(1);
  });

  test('keeps its orders with the user who placed them, when the operator has taken it away', async () => {
    await grantDefaultClients(database(), ann.userId);
    const [first, second] = [(await place(ann)).body.order.order_id, (await place(ann)).body.order.order_id];
    await revokeDefaultClients(database(), ann.userId);
    expect((await place(ann)).status).toBe(422);
    expect((await ann.get('/orders?platform=kalshi')).body.orders).toHaveLength(2);
    expect((await ann.get(`/orders/${first}?platform=kalshi`)).body.order.status).toBe('open');
    expect((await bob.get(`/orders/${first}?platform=kalshi`)).status).toBe(422);
    expect((await ann.delete(`/orders/${first}?platform=kalshi`)).body.cancelled).toBe(true);
    const all = await ann.post('/orders/cancel-all', { platform: 'kalshi' });
    expect(all.body.cancelled).toEqual([second]);
    expect(statuses()).toEqual(['canceled', 'canceled']);
  });
});

describe("the operator's own order limit", () => {
  test('binds every order through the default client, and none through a credential of the user', async () => {
    await allow({ maxOrder: parseUsd('5') });
    await grantDefaultClients(database(), ann.userId);
    const over = { price: 0.05, size: 100.01 };
    const refused = await place(ann, over);
    expect(refused).toMatchObject({
      status: 422,
      body: { error: { error_text: 'the order can cost 5.0005 USD; at most 5 USD are allowed' } },
    });
    expect(await place(ann, { ...over, dry_run: true })).toMatchObject({ status: 422, body: refused.body });
    expect((await place(ann, { ...over, size: 100 })).status).toBe(201);
    expect(held()).toHaveLength(1);
    await joins(ann);
    expect((await place(ann, over)).status).toBe(201);
    expect(held()).toHaveLength(1);
  });
});

/** Waits until nothing works in the operator's account any more. */
async function settles(): Promise<void> {
  for (const end = performance.now() + 15_000; performance.now() < end; await sleep(100)) {
    if (statuses().every((status) => status !== 'resting')) return;
  }
  throw new Error('orders still work');
}

describe("the operator's kill switch", () => {
  beforeEach(async () => {
    await grantDefaultClients(database(), ann.userId);
    await grantDefaultClients(database(), bob.userId);
  });

  test('refuses orders through the default clients and cancels what works of every user, and nothing else', async () => {
    const eve = await rig.trading.customer();
    const own = await joins(eve);
    await Promise.all([place(ann), place(bob), place(eve)]);
    await allow({ tradingEnabled: false });
    const refused = await place(ann, { idempotency_key: 'off' });
    expect(refused).toMatchObject({
      status: 422,
      body: { error: { message: "Trading through this server's default clients is switched off" } },
    });
    expect((await place(ann, { dry_run: true })).status).toBe(422);
    await settles();
    expect(statuses()).toEqual(['canceled', 'canceled']);
    expect(statuses(own)).toEqual(['resting']);
    expect((await place(eve)).status).toBe(201);
    expect((await ann.get('/orders?platform=kalshi')).body.orders).toMatchObject([{ status: 'cancelled' }]);
    await allow({ tradingEnabled: true });
    expect((await place(ann, { idempotency_key: 'off' })).status).toBe(201);
  });

  test('tries again until the platform has confirmed', async () => {
    await place(ann);
    rig.sim.inject({ match: /^DELETE /, times: 4, kind: 'status', status: 500, body: '' });
    await allow({ tradingEnabled: false });
    await settles();
    expect(statuses()).toEqual(['canceled']);
  });

  test('cancels an order whose result is unknown, if its id is known', async () => {
    const { order_id: id } = (await place(ann)).body.order;
    await database().update(orders).set({ state: 'unknown', status: 'unknown' }).where(eq(orders.orderId, id));
    await allow({ tradingEnabled: false });
    await settles();
    expect(statuses()).toEqual(['canceled']);
  });

  test('does not wait for reads of orders whose result is unknown', async () => {
    const eve = await rig.trading.customer();
    await joins(eve);
    await place(ann);
    rig.sim.inject({ match: /^GET .*\/portfolio\/orders/, times: 1000, kind: 'hang' });
    rig.sim.inject({ match: /^POST .*\/portfolio\/events\/orders$/, times: 1, kind: 'after' });
    expect((await place(eve)).status).toBe(202);
    await allow({ tradingEnabled: false });
    const startedAt = performance.now();
    await settles();
    expect(performance.now() - startedAt).toBeLessThan(4000);
  });

  test('reaches every order though many older ones cannot be cancelled', async () => {
    await place(ann);
    const [row] = await database().select().from(orders).where(eq(orders.userId, ann.userId));
    if (!row) throw new Error('no order');
    // As of a default client that is no longer configured.
    const older = { platform: 'limitless', idempotencyKey: null, askedAt: new Date(0) } as const;
    const stuck = Array.from({ length: 60 }, (_, n) => ({
      ...row,
      ...older,
      id: randomUUID(),
      clientOrderId: `stuck ${n}`,
      orderId: `stuck ${n}`,
    }));
    await database().insert(orders).values(stuck);
    await allow({ tradingEnabled: false });
    await settles();
    expect(statuses()).toEqual(['canceled']);
    await database().delete(orders).where(eq(orders.platform, 'limitless'));
  });

  test('leaves nothing at work of orders that race it', async () => {
    const answers: number[] = [];
    const placing = async (who: Customer): Promise<void> => {
      while (answers.at(-1) !== 422) answers.push((await place(who)).status);
    };
    const racing = [ann, ann, bob, bob].map(placing);
    while (!answers.includes(201)) await sleep(5);
    await allow({ tradingEnabled: false });
    await Promise.all(racing);
    expect(new Set(answers)).toEqual(new Set([201, 422]));
    await settles();
    expect(held()).toHaveLength(answers.filter((status) => status === 201).length);
  });
});
