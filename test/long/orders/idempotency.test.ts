import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { beforeEach, describe, expect, test } from 'vitest';
import { orderAttempts, orders } from '../../../src/orders/tables.ts';
import { changeLimits } from '../../../src/orders/spending-limits.ts';
import { credentials } from '../../../src/accounts/tables.ts';
import { flowingClock, passes } from '../../helpers/flowing-clock.ts';
import { kalshiRig } from '../../helpers/kalshi-rig.ts';
import type { Answer, Customer } from '../../helpers/trading.ts';
import type { Fault } from '../../simulators/simulator.ts';

const DAY_MS = 86_400_000;
const PLACE = /^POST .*\/portfolio\/events\/orders$/;
const READ = /^GET .*\/portfolio\/orders/;

/** Platform and service agree on it. */
const clock = flowingClock();
/** What it is set back by each time that somebody looks at it. */
let backMs = 0;
const now = (): number => {
  clock.correct(-backMs);
  return clock.now();
};
const rig = kalshiRig(4, { clock: { ...clock, now }, unlisted: true });
const { asked, held } = rig;
let ann: Customer;
beforeEach(async () => {
  backMs = 0;
  ann = await rig.joins();
});
const fault = (kind: Fault['kind'], rest: Partial<Fault> = {}): void =>
  rig.sim.inject({ match: PLACE, times: 1, kind, ...rest });
/** Orders cannot be read. Not as an outage: after some of those nothing would be sent at all for a while. */
const silence = (): void =>
  rig.sim.inject({ match: READ, times: 1000, kind: 'status', status: 400, body: '{"error":{"code":"bad_request"}}' });
/** Until the order stands as wanted. */
async function becomes(id: string, status: string): Promise<Answer> {
  for (let i = 0; i < 100; i++) {
    const answer = await ann.get(`/orders/${encodeURIComponent(id)}?platform=kalshi`);
    if (answer.body.order.status === status) return answer;
    await clock.sleep(100);
  }
  throw new Error(`${id} did not become ${status}`);
}

describe('an idempotency key', () => {
  test('places one order, however many ask two services at once, and all get the same answer', async () => {
    const { service, as } = await rig.trading.another();
    try {
      const key = { idempotency_key: 'race' };
      const there = as(ann);
      const answers = await Promise.all(
        Array.from({ length: 200 }, (_, i) => (i % 2 === 0 ? ann : there).post('/orders', asked(key))),
      );
      expect(held()).toHaveLength(1);
      expect(new Set(answers.map(({ body }) => body.order?.order_id))).toEqual(new Set([held()[0]?.orderId]));
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
      const replays = answers.filter(({ status }) => status === 200);
      expect(replays).toHaveLength(199);
      expect(replays.every(({ body }) => body.meta.idempotent_replay)).toBe(true);
    } finally {
      await service.close();
    }
  });

  test('is of one user: the same key of another places another order', async () => {
    const bob = await rig.joins();
    const first = await ann.post('/orders', asked({ idempotency_key: 'shared' }));
    const second = await bob.post('/orders', asked({ idempotency_key: 'shared' }));
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(held()).toHaveLength(2);
  });

  test('with another body is 409; with the same one written otherwise it is a repeat', async () => {
    const first = await ann.post('/orders', asked({ idempotency_key: 'body', time_in_force: 'gtc' }));
    const other = await ann.post('/orders', asked({ idempotency_key: 'body', time_in_force: 'gtc', size: 11 }));
    expect(other.status).toBe(409);
    const same = {
      idempotency_key: 'body',
      time_in_force: 'gtc',
      platform: 'platform_a',
      size: '10.0',
      price: '0.010',
    };
    const again = await ann.post('/orders', asked({ ...same, market_id: `kalshi:${rig.ticker}` }));
    expect(again).toMatchObject({ status: 200, body: { order: { order_id: first.body.order.order_id } } });
    expect(held()).toHaveLength(1);
  });

  test('whose request was refused before it was sent is free again', async () => {
    expect((await ann.post('/orders', asked({ idempotency_key: 'free', price: 0.015 }))).status).toBe(422);
    expect((await ann.post('/orders', asked({ idempotency_key: 'free' }))).status).toBe(201);
  });

  test('whose order the platform refused answers with the same refusal', async () => {
    const body = asked({ idempotency_key: 'poor', size: 1_000_000 });
    const first = await ann.post('/orders', body);
    const again = await ann.post('/orders', body);
    expect(first.status).toBe(422);
    expect(again).toMatchObject({ status: 422, body: first.body });
    expect(rig.sim.requests.get('POST /trade-api/v2/portfolio/events/orders')).toBeDefined();
    const places = await rig.trading.service.postgres.db
      .select()
      .from(orderAttempts)
      .where(eq(orderAttempts.userId, ann.userId));
    expect(places).toMatchObject([{ action: 'place', result: 'rejected', httpStatus: 400 }]);
  });

  test('is kept for as long as its order, also when trading is switched off since', async () => {
    const first = await ann.post('/orders', asked({ idempotency_key: 'kept' }));
    clock.correct(30 * DAY_MS);
    const { db } = rig.trading.service.postgres;
    await changeLimits(db, ann.userId, { tradingEnabled: false });
    const again = await ann.post('/orders', asked({ idempotency_key: 'kept' }));
    expect(again).toMatchObject({ status: 200, body: { order: { order_id: first.body.order.order_id } } });
    expect((await ann.post('/orders', asked({ idempotency_key: 'kept', size: 11 }))).status).toBe(409);
    expect((await ann.post('/orders', asked({ idempotency_key: 'new' }))).status).toBe(422);
    expect(held()).toHaveLength(1);
  });

  test('is found by its order though its market takes no orders any more', async () => {
    const first = await ann.post('/orders', asked({ idempotency_key: 'paused' }));
    rig.sim.world.pause(rig.ticker);
    const again = await ann.post('/orders', asked({ idempotency_key: 'paused' }));
    expect(again).toMatchObject({ status: 200, body: { order: { order_id: first.body.order.order_id } } });
  });

  test('answers with its order after that has expired too', async () => {
    const body = asked({ idempotency_key: 'dated', expiration: Math.floor(now() / 1000) + 60 });
    const first = await ann.post('/orders', body);
    clock.correct(120_000);
    const again = await ann.post('/orders', body);
    expect(again).toMatchObject({ status: 200, body: { order: { order_id: first.body.order.order_id } } });
  });

  test('gives the same client id always: a platform that sees it twice refuses the second', async () => {
    const first = await ann.post('/orders', asked({ idempotency_key: 'lost-store' }));
    await rig.trading.service.postgres.db.delete(orders).where(eq(orders.userId, ann.userId));
    const again = await ann.post('/orders', asked({ idempotency_key: 'lost-store' }));
    expect(again.body.order).toMatchObject({ order_id: first.body.order.order_id });
    expect(held()).toHaveLength(1);
  });
});

describe('a client order id', () => {
  test('names one order of an account: a second order under it is 409 and not sent', async () => {
    const first = await ann.post('/orders', asked({ client_order_id: 'mine' }));
    expect(first.body.order.client_order_id).toBe('mine');
    const second = await ann.post('/orders', asked({ client_order_id: 'mine' }));
    expect(second).toMatchObject({ status: 409, body: { error: { message: 'Client order id already used' } } });
    expect(held()).toHaveLength(1);
  });

  test.each([true, false])(
    'that the platform knows from elsewhere does not pass for ours (stored: %s)',
    async (stored) => {
      const bob = await rig.joins();
      await bob.post('/orders', asked({ client_order_id: 'theirs', size: 3 }));
      const { db } = rig.trading.service.postgres;
      if (!stored) await db.delete(orders).where(eq(orders.userId, bob.userId));
      const mine = await ann.post('/orders', asked({ client_order_id: 'theirs', size: 4 }));
      expect(mine).toMatchObject({ status: 202, body: { order: { status: 'unknown' } } });
      const { orders: listed } = (await ann.get('/orders?platform=kalshi')).body;
      expect(listed.map(({ size, status }) => [size, status]).toSorted()).toEqual([
        [3, 'open'],
        [4, 'unknown'],
      ]);
      clock.correct(121_000);
      await becomes('client:theirs', 'rejected');
      expect((await ann.get('/orders?platform=kalshi')).body.orders).toHaveLength(2);
      expect(held()).toHaveLength(1);
    },
  );
});

describe('when the platform does not answer', () => {
  test.each<[string, () => void]>([
    ['the connection breaks after the order was taken', () => fault('after')],
    ['half of the answer arrives', () => fault('cut')],
  ])('%s: the order is found at once, and answered as placed', async (_, spoil) => {
    spoil();
    const { status, body } = await ann.post('/orders', asked());
    expect(status).toBe(201);
    expect(body.order).toMatchObject({ order_id: held()[0]?.orderId, status: 'open' });
    expect(held()).toHaveLength(1);
  });

  test('and cannot be asked either: 202, shown as unknown, then found and reported as it is; a repeat sends nothing', async () => {
    fault('after');
    silence();
    const { status, body } = await ann.post('/orders', asked({ idempotency_key: 'dark' }));
    expect(status).toBe(202);
    expect(body.order).toMatchObject({ status: 'unknown', filled_size: null, remaining_size: null });
    expect(body.order.order_id).toBe(`client:${body.order.client_order_id}`);
    const name = `/orders/${body.order.order_id}?platform=kalshi`;
    expect((await ann.get(name)).body.order.status).toBe('unknown');
    expect((await ann.get('/orders?platform=kalshi&status=unknown')).body.orders).toHaveLength(1);
    expect((await ann.delete(name)).status).toBe(503);
    const again = await ann.post('/orders', asked({ idempotency_key: 'dark' }));
    expect(again).toMatchObject({
      status: 200,
      body: { order: { status: 'unknown' }, meta: { idempotent_replay: true } },
    });
    rig.sim.clearFaults();
    const found = await becomes(body.order.order_id, 'open');
    expect(found.body.order.order_id).toBe(held()[0]?.orderId);
    expect(held()).toHaveLength(1);
  });

  test.each<[string, () => void]>([
    ['the connection breaks before the order arrives', () => fault('reset')],
    ['a gateway answers 500', () => fault('status', { status: 500, body: '<html><title>Oops</title></html>' })],
    [
      'the platform answers 503',
      () => fault('status', { status: 503, body: '{"error":{"code":"service_unavailable"}}' }),
    ],
    ['the answer is not JSON', () => fault('status', { status: 201, body: 'created' })],
  ])('%s: unknown until nobody has it for two minutes, then rejected; never sent again', async (_, spoil) => {
    spoil();
    const { status, body } = await ann.post('/orders', asked());
    expect(status).toBe(202);
    clock.correct(60_000);
    expect((await becomes(body.order.order_id, 'unknown')).status).toBe(200);
    clock.correct(61_000);
    const rejected = await becomes(body.order.order_id, 'rejected');
    expect(rejected.body.order).toMatchObject({ filled_size: 0, remaining_size: 0, fees: { total_fee: 0 } });
    expect(held()).toEqual([]);
  });

  test('within ten seconds: unknown', async () => {
    fault('hang');
    const started = clock.elapsed();
    const { status } = await ann.post('/orders', asked());
    expect(status).toBe(202);
    expect(clock.elapsed() - started).toBeLessThan(15_000);
  });

  test.each<[string, Partial<Fault>, number]>([
    ['limits our rate', { status: 429, body: '{"error":"too many requests"}' }, 503],
    [
      'has paused trading',
      { status: 409, body: '{"error":{"code":"trading_is_paused","message":"trading is paused"}}' },
      503,
    ],
    ['refuses the key', { status: 401, body: '{"error":{"code":"unauthorized","message":"unauthorized"}}' }, 422],
  ])('but %s: it has not taken the order, which is rejected at once', async (_, answer, expected) => {
    fault('status', answer);
    const { status, headers } = await ann.post('/orders', asked());
    expect(status).toBe(expected);
    expect(headers['retry-after'] !== undefined).toBe(expected === 503);
    expect((await ann.get('/orders?platform=kalshi')).body.orders).toMatchObject([{ status: 'rejected' }]);
    expect(held()).toEqual([]);
  });

  test.each([
    [400, 499, 422, 'rejected'],
    [500, 486, 202, 'unknown'],
  ])(
    'but says %i with an emoji at the end of what is kept of its words: it is kept',
    async (status, length, answered, kept) => {
      const message = `${'x'.repeat(length)}😀 and more`;
      fault('status', { status, body: JSON.stringify({ error: { code: 'c', message } }) });
      expect((await ann.post('/orders', asked())).status).toBe(answered);
      expect(await rowsOf()).toMatchObject([{ state: kept }]);
    },
  );

  test('but refuses with a time to wait: that is answered with a key as without one, and to a repeat', async () => {
    const paused = { status: 409, body: '{"error":{"code":"trading_is_paused","message":"trading is paused"}}' };
    const waits: unknown[] = [];
    for (const body of [asked(), asked({ idempotency_key: 'paused' }), asked({ idempotency_key: 'paused' })]) {
      if (waits.length < 2) fault('status', paused);
      const { status, headers } = await ann.post('/orders', body);
      expect(status).toBe(503);
      waits.push(headers['retry-after']);
    }
    expect(waits).toEqual(['30', '30', '30']);
  });

  test('yet, a listing does not take the answer from the order that is on its way', async () => {
    fault('slow', { delayMs: 4000 });
    const placing = ann.post('/orders', asked({ size: 1_000_000, idempotency_key: 'listed' }));
    const listed = async () => (await ann.get('/orders?platform=kalshi')).body.orders;
    await passes(clock, async () => expect(await listed()).toMatchObject([{ status: 'unknown' }]), 4000);
    expect((await placing).status).toBe(422);
    expect(await rowsOf()).toMatchObject([{ state: 'rejected' }]);
  });

  test('to a cancel: asked again, and reported as cancelled only once the platform says so', async () => {
    const { body } = await ann.post('/orders', asked());
    rig.sim.inject({ match: /^DELETE /, times: 1, kind: 'after' });
    const gone = await ann.delete(`/orders/${body.order.order_id}?platform=kalshi`);
    expect(gone).toMatchObject({ status: 200, body: { cancelled: true, order: { status: 'cancelled' } } });

    const first = (await ann.post('/orders', asked())).body.order;
    rig.sim.inject({
      match: /^DELETE /,
      times: 3,
      kind: 'status',
      status: 404,
      body: '{"error":{"code":"not_found"}}',
    });
    silence();
    expect((await ann.delete(`/orders/${first.order_id}?platform=kalshi`)).status).toBe(503);
    rig.sim.clearFaults();

    const second = (await ann.post('/orders', asked())).body.order;
    rig.sim.inject({ match: /^DELETE /, times: 3, kind: 'reset' });
    const unsure = await ann.delete(`/orders/${second.order_id}?platform=kalshi`);
    expect(unsure.status).toBe(503);
    expect(unsure.body.error.error_text).toContain('is open');
    expect(held().at(-1)).toMatchObject({ status: 'resting' });
  });
});

test('an order placed while the clock is being set back is answered and stored as placed', async () => {
  backMs = 20;
  const { status, body } = await ann.post('/orders', asked());
  backMs = 0;
  expect({ status, order: body.order }).toMatchObject({ status: 201, order: { status: 'open' } });
  expect(await rowsOf()).toMatchObject([{ state: 'placed', orderId: held()[0]?.orderId }]);
});

const rowsOf = () => rig.trading.service.postgres.db.select().from(orders).where(eq(orders.userId, ann.userId));

describe('an order whose result is unknown', () => {
  test('that a listing took for one placed elsewhere becomes ours again, and is shown once', async () => {
    const { body } = await ann.post('/orders', asked());
    const { db } = rig.trading.service.postgres;
    const [placed] = await rowsOf();
    if (!placed) throw new Error('no row');
    await db.update(orders).set({ state: 'unknown', status: 'unknown', orderId: null }).where(eq(orders.id, placed.id));
    const foreign = {
      ...placed,
      id: randomUUID(),
      origin: 'platform',
      clientOrderId: '',
      idempotencyKey: null,
    } as const;
    await db.insert(orders).values(foreign);
    const found = await ann.get(`/orders/client:${placed.clientOrderId}?platform=kalshi`);
    expect(found.body.order).toMatchObject({ order_id: body.order.order_id, status: 'open' });
    expect(await rowsOf()).toMatchObject([{ id: placed.id, origin: 'service', orderId: body.order.order_id }]);
  });

  test('and whose credential is gone is not called rejected because another account lacks it', async () => {
    fault('after');
    silence();
    const { body } = await ann.post('/orders', asked());
    const [{ id }] = (await rig.trading.service.postgres.db
      .delete(credentials)
      .where(eq(credentials.userId, ann.userId))
      .returning({ id: credentials.id })) as [{ id: number }];
    const stranger = rig.sim.world.addAccount();
    const other = await rig.stores(ann, stranger);
    expect(other).not.toBe(id);
    rig.sim.clearFaults();
    clock.correct(200_000);
    const name = `/orders/${body.order.order_id}?platform=kalshi`;
    expect((await ann.get(name)).body.order.status).toBe('unknown');

    // A new key of the same account finds it.
    await rig.stores(ann, rig.member, true);
    const found = (await ann.get(name)).body.order;
    expect(found).toMatchObject({ status: 'open', order_id: held()[0]?.orderId });
    await rig.stores(ann, stranger, true);
    const refused = await ann.delete(`/orders/${found.order_id}?platform=kalshi`);
    expect(refused.status).toBe(422);
    expect(held()).toMatchObject([{ status: 'resting' }]);
  });
});

describe('a service that starts', () => {
  test('looks for what another one had sent when it died', async () => {
    fault('after');
    silence();
    const { body } = await ann.post('/orders', asked());
    // As a process leaves it that was killed before the answer: in flight.
    const { db } = rig.trading.service.postgres;
    await db
      .update(orders)
      .set({ state: 'sending', recheckAt: new Date(now() + 30_000) })
      .where(eq(orders.userId, ann.userId));
    rig.sim.clearFaults();
    const { service } = await rig.trading.another();
    try {
      for (let i = 0; i < 100; i++) {
        const [row] = await db.select().from(orders).where(eq(orders.userId, ann.userId));
        if (row?.state === 'placed') break;
        await clock.sleep(100);
      }
      const [row] = await db.select().from(orders).where(eq(orders.userId, ann.userId));
      expect(row).toMatchObject({ state: 'placed', status: 'open', orderId: held()[0]?.orderId });
      expect(body.order.client_order_id).toBe(held()[0]?.clientOrderId);
    } finally {
      await service.close();
    }
  });
});
