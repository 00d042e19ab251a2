import { eq } from 'drizzle-orm';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { StoreError } from '../../../src/stores/clickhouse/errors.ts';
import { createCredentials } from '../../../src/accounts/credentials.ts';
import { PresentMarkets } from '../../../src/markets/present-markets.ts';
import { orderAttempts } from '../../../src/orders/tables.ts';
import { parsePrice } from '../../../src/core/decimal.ts';
import { PLATFORMS, type Platform } from '../../../src/core/model.ts';
import { credentials } from '../../../src/accounts/tables.ts';
import { flowingClock, passes } from '../../helpers/flowing-clock.ts';
import { orderRig } from '../../helpers/order-rig.ts';
import type { HeldOrder } from '../../helpers/order-venues.ts';
import type { Customer } from '../../helpers/trading.ts';
import { createRig } from '../../simulators/polymarket/trading-rig.ts';
import { shares } from '../../simulators/polymarket/world/units.ts';

const clock = flowingClock();
const rig = orderRig(7, clock);
const { at } = rig;
let ann: Customer;

beforeEach(async () => {
  for (const { sim } of rig.venues) sim.clearFaults();
  ann = await rig.trading.customer();
});

/** A member of a platform whose credential ann has stored. */
async function joins(platform: Platform) {
  const { fields, held } = at(platform).member();
  const stores = (): Promise<number> => ann.credential(platform, fields as never, true);
  return { id: await stores(), stores, held };
}
const removes = (id: number): Promise<boolean> =>
  createCredentials(rig.trading.service.postgres.db, rig.trading.service.config.credentialKeys).remove(ann.userId, id);
const rests = async (platform: Platform, number = 1, change: object = {}): Promise<string> =>
  (await ann.post('/orders', { ...at(platform).order(number, 'rests'), ...change })).body.order.order_id;
const states = (orders: readonly HeldOrder[]): string[] => orders.map(({ status }) => status);

test.each(PLATFORMS)(
  'cancel-all at %s reaches what was placed with a credential that was replaced since',
  async (platform) => {
    const member = await joins(platform);
    const id = await rests(platform);
    await removes(member.id);
    await member.stores();
    const { body } = await ann.post('/orders/cancel-all', { platform });
    expect(states(member.held())).toEqual(['cancelled']);
    expect(body).toMatchObject({ cancelled: [id], not_cancelled: [] });
  },
);

test('cancel-all cancels the orders it knows while the listing of the platform is slow', async () => {
  const { held } = await joins('kalshi');
  const id = await rests('kalshi');
  at('kalshi').sim.inject({ match: /^GET .*\/portfolio\/orders\?/, times: Infinity, kind: 'slow', delayMs: 3000 });
  const cancelled = ann.post('/orders/cancel-all', { platform: 'kalshi' });
  await passes(clock, () => expect(states(held())).toEqual(['cancelled']), 2000);
  expect((await cancelled).body).toMatchObject({ cancelled: [id], not_cancelled: [] });
});

test.each(PLATFORMS)('cancel-all at %s names what no credential it has can cancel', async (platform) => {
  const member = await joins(platform);
  const id = await rests(platform);
  await removes(member.id);
  await joins(platform);
  const { body } = await ann.post('/orders/cancel-all', { platform });
  expect(states(member.held())).toEqual(['open']);
  expect(body).toMatchObject({ cancelled: [], not_cancelled: [{ order_id: id }] });
});

test.each(PLATFORMS)(
  'an order at %s that another account does not know is not taken for cancelled',
  async (platform) => {
    const member = await joins(platform);
    const id = await rests(platform);
    await removes(member.id);
    await joins(platform);
    // Polymarket does not report an end: an order is over once it was gone for five seconds, twice looked for.
    for (const waitMs of platform === 'polymarket' ? [5500, 5500] : []) {
      expect((await ann.get(`/orders/${id}?platform=${platform}`)).body.order.status).toBe('open');
      await clock.sleep(waitMs);
    }
    expect((await ann.get(`/orders/${id}?platform=${platform}`)).body.order.status).toBe('open');
    expect(await ann.delete(`/orders/${id}?platform=${platform}`)).toMatchObject({
      status: 422,
      body: { error: { message: expect.stringContaining('does not know the order under this credential') } },
    });
    expect(states(member.held())).toEqual(['open']);
  },
);

test('cancel-all names an order that the platform denies and still lists', async () => {
  const member = await joins('kalshi');
  const id = await rests('kalshi');
  const body = '{"error":{"code":"not_found","message":"not found"}}';
  at('kalshi').sim.inject({ match: /^(DELETE|POST) .*batched|^DELETE /, times: 10, kind: 'status', status: 404, body });
  const answer = await ann.post('/orders/cancel-all', { platform: 'kalshi' });
  expect(states(member.held())).toEqual(['open']);
  expect(answer.body).toMatchObject({ cancelled: [], not_cancelled: [{ order_id: id }] });
});

/** The platform's word for an order that it does not cancel, as its cancels answer it. */
const NOT_FOUND: Record<Platform, (id: string) => { status: number; body: string }> = {
  kalshi: () => ({ status: 404, body: '{"error":{"code":"not_found","message":"not found"}}' }),
  polymarket: (id) => ({
    status: 200,
    body: JSON.stringify({ canceled: [], not_canceled: { [id]: 'Order not found or already canceled' } }),
  }),
  limitless: () => ({ status: 400, body: '{"message":"Order not found or already canceled"}' }),
};
const CANCELS = /^DELETE |cancel-batch/;
const denies = (platform: Platform, id: string, times = 100): void =>
  at(platform).sim.inject({ match: CANCELS, times, kind: 'status', ...NOT_FOUND[platform](id) });

/** Orders that rest at Kalshi, more than one call of the service cancels. */
const many = async (): Promise<string[]> => {
  const placed: string[] = [];
  for (let at = 0; at < 55; at++) placed.push(await rests('kalshi', 100 + at));
  return placed.toSorted();
};

test('cancel-all asks for every order before it reads what became of the first', async () => {
  const { held } = await joins('kalshi');
  const placed = await many();
  at('kalshi').sim.inject({ match: /^GET .*\/orders\/[^?]/, times: Infinity, kind: 'slow', delayMs: 3000 });
  const asked = ann.post('/orders/cancel-all', { platform: 'kalshi' });
  await passes(clock, () => expect(states(held())).toEqual(placed.map(() => 'cancelled')), 2000);
  const { body } = await asked;
  expect(body.not_cancelled).toEqual([]);
  expect((body.cancelled as string[]).toSorted()).toEqual(placed);
});

test('cancel-all names what was cancelled, also if the platform rejects the key before the rest is asked for', async () => {
  const { held } = await joins('kalshi');
  const placed = await many();
  const body = '{"error":{"code":"unauthorized","message":"no such key"}}';
  const { sim } = at('kalshi');
  sim.inject({ match: CANCELS, times: 50, kind: 'slow', delayMs: 0 });
  sim.inject({ match: CANCELS, times: Infinity, kind: 'status', status: 401, body });
  const answer = (await ann.post('/orders/cancel-all', { platform: 'kalshi' })).body;
  const of = (status: string): string[] => held().flatMap((one) => (one.status === status ? one.orderId : []));
  expect((answer.cancelled as string[]).toSorted()).toEqual(of('cancelled').toSorted());
  expect(answer.not_cancelled.map(({ order_id }) => order_id).toSorted()).toEqual(of('open').toSorted());
  expect([of('cancelled').length, of('open').length]).toEqual([50, placed.length - 50]);
  expect(answer.not_cancelled[0]?.reason).toContain('no such key');
});

describe.each(PLATFORMS)('an order at %s that is not final', (platform) => {
  test('is never answered as over: 503 while the platform denies it and its read says open', async () => {
    const member = await joins(platform);
    const id = await rests(platform);
    denies(platform, id);
    const refused = await ann.delete(`/orders/${id}?platform=${platform}`);
    expect(refused).toMatchObject({
      status: 503,
      body: { error: { message: expect.stringMatching(/did not cancel.*still open/) } },
    });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    const all = await ann.post('/orders/cancel-all', { platform });
    expect(all.body).toMatchObject({
      cancelled: [],
      not_cancelled: [{ order_id: id, reason: expect.stringMatching(/still open/) }],
    });
    at(platform).sim.clearFaults();
    expect((await ann.delete(`/orders/${id}?platform=${platform}`)).status).toBe(200);
    expect(states(member.held())).toEqual(['cancelled']);
    expect((await ann.delete(`/orders/${id}?platform=${platform}`)).status).toBe(409);
  });

  test('is cancelled when the platform denies it at first only', async () => {
    const member = await joins(platform);
    const id = await rests(platform);
    denies(platform, id, 2);
    expect(await ann.delete(`/orders/${id}?platform=${platform}`)).toMatchObject({
      status: 200,
      body: { cancelled: true },
    });
    expect(states(member.held())).toEqual(['cancelled']);
  });
});

/** Placed where it would match, which the platform does after the delay. */
const delayed = async (change: object, secondsDelay = 2) => {
  const sim = at('polymarket').sim;
  const market = createRig(sim).flat({ secondsDelay });
  const member = await joins('polymarket');
  const body = { ...at('polymarket').order(1, 'fills'), market_id: market.id, ...change };
  const placed = (await ann.post('/orders', body)).body;
  expect(placed).toMatchObject({ order: { status: 'pending', filled_size: 0 } });
  return { id: placed.order.order_id, member, market };
};

describe('an order in the match delay of its market', () => {
  test.each([
    ['a limit order', {}],
    ['a market order', { type: 'market', price: undefined, time_in_force: 'ioc' }],
  ])('%s is asked for until the delay is over, and answered as filled', async (_, change) => {
    const { id, member } = await delayed(change);
    const answer = await ann.delete(`/orders/${id}?platform=polymarket`);
    expect(answer).toMatchObject({
      status: 409,
      body: { error: { error_text: expect.stringContaining('is filled') } },
    });
    expect(states(member.held())).toEqual(['filled']);
  });

  test('is not answered as cancelled by a request that the platform refused', async () => {
    const { id, market } = await delayed({ size: 1000, time_in_force: 'ioc' });
    const { world } = at('polymarket').sim;
    const { exchange } = world;
    const book = world.book(market);
    book?.remove((order) => order.at === 'ask');
    book?.rest({ wallet: world.wallets[0]!, at: 'ask', price: parsePrice('0.41'), left: shares('600'), own: null });
    // The row of the order shows its end at once.
    exchange.goneOrders = 'row';
    at('polymarket').sim.rewrite(({ method }, reply) => {
      const said = 'the order is delayed and cannot be canceled now';
      return method === 'DELETE' ? { ...reply, body: reply.body.replace(/Order not found[^"]*/, said) } : reply;
    });
    try {
      expect(await ann.delete(`/orders/${id}?platform=polymarket`)).toMatchObject({
        status: 409,
        body: { error: { error_text: expect.stringContaining('is cancelled: 600 of 1000 filled') } },
      });
    } finally {
      exchange.goneOrders = 'null';
      at('polymarket').sim.rewrite(null);
    }
  });

  test('is cancelled after it when it could not be matched whole', async () => {
    const { id, member } = await delayed({ size: 1200 });
    const answer = await ann.delete(`/orders/${id}?platform=polymarket`);
    expect(answer).toMatchObject({ status: 200, body: { order: { status: 'cancelled', filled_size: 1000 } } });
    expect(states(member.held())).toEqual(['cancelled']);
  });

  test('that is longer than a request waits is 503 with its seconds, and cancel-all names the order', async () => {
    const { id } = await delayed({ type: 'market', price: undefined, time_in_force: 'ioc' }, 20);
    expect(await ann.delete(`/orders/${id}?platform=polymarket`)).toMatchObject({
      status: 503,
      headers: { 'retry-after': '20' },
      body: { error: { message: 'Polymarket did not cancel the order; it is still pending' } },
    });
    const all = await ann.post('/orders/cancel-all', { platform: 'polymarket' });
    const reason = expect.stringMatching(/^still pending/);
    expect(all.body).toMatchObject({ cancelled: [], not_cancelled: [{ order_id: id, reason }] });
  });
});

test('a credential that cannot be opened does not keep the others from cancelling', async () => {
  const first = await joins('kalshi');
  const id = await rests('kalshi');
  const second = await joins('kalshi');
  const other = await rests('kalshi', 2);
  const { db } = rig.trading.service.postgres;
  await db.update(credentials).set({ keyId: 'lost' }).where(eq(credentials.id, second.id));
  const { status, body } = await ann.post('/orders/cancel-all', { platform: 'kalshi' });
  expect(status).toBe(200);
  expect(body).toMatchObject({ cancelled: [id], not_cancelled: [{ order_id: other }] });
  expect([states(first.held()), states(second.held())]).toEqual([['cancelled'], ['open']]);
});

test.each(PLATFORMS)('the loss of ClickHouse keeps no order at %s from being cancelled', async (platform) => {
  const member = await joins(platform);
  const ids = [await rests(platform, 1), await rests(platform, 2)];
  // As it is for markets that are not copied.
  const lost = vi.spyOn(PresentMarkets.prototype, 'byRef').mockRejectedValue(new StoreError('unreachable'));
  try {
    const one = await ann.delete(`/orders/${ids[0]}?platform=${platform}`);
    expect(one).toMatchObject({ status: 200, body: { order: { status: 'cancelled' } } });
    const all = await ann.post('/orders/cancel-all', { platform });
    expect(all).toMatchObject({ status: 200, body: { cancelled: [ids[1]], not_cancelled: [] } });
    expect(states(member.held())).toEqual(['cancelled', 'cancelled']);
  } finally {
    lost.mockRestore();
  }
});

test('an order that was cancelled before its date has not expired by it', async () => {
  const expiration = new Date(Math.floor(clock.now() / 1000) * 1000 + 15_789);
  await joins('kalshi');
  const id = await rests('kalshi', 1, { time_in_force: 'gtd', expiration: expiration.toISOString() });
  const { order } = (await ann.delete(`/orders/${id}?platform=kalshi`)).body;
  await clock.sleep(expiration.getTime() - clock.now() + 6000);
  const read = await ann.get(`/orders/${id}?platform=kalshi`);
  // Kalshi takes whole seconds.
  const taken = expiration.toISOString().replace('.789', '.000');
  expect([order.status, order.expiration, read.body.order.status]).toEqual(['cancelled', taken, 'cancelled']);
});

test('a cancel that the platform refuses for its credential is in the audit', async () => {
  await joins('kalshi');
  const id = await rests('kalshi');
  const body = '{"error":{"code":"unauthorized","message":"no"}}';
  at('kalshi').sim.inject({ match: /^DELETE /, times: 1, kind: 'status', status: 401, body });
  expect((await ann.delete(`/orders/${id}?platform=kalshi`)).status).toBe(422);
  const { db } = rig.trading.service.postgres;
  const rows = await db.select().from(orderAttempts).where(eq(orderAttempts.userId, ann.userId));
  expect(rows.map(({ action, result }) => [action, result])).toEqual([
    ['place', 'accepted'],
    ['cancel', 'unconfirmed'],
  ]);
});

test('the mean price of several levels is the same in the placement and in a read', async () => {
  const { world } = at('kalshi').sim;
  const marketId = world.createMarket('rate');
  const book = world.bookOf(marketId);
  for (const side of ['bid', 'ask'] as const)
    for (const { order } of Array.from(book.orders(side))) book.remove(side, order);
  book.add('ask', 4500, { trader: 0, count: 100 });
  book.add('ask', 4600, { trader: 0, count: 200 });
  await joins('kalshi');
  const body = {
    platform: 'kalshi',
    market_id: marketId,
    side: 'buy',
    outcome: 'yes',
    type: 'limit',
    price: 0.46,
    size: 3,
  };
  const placed = await ann.post('/orders', body);
  const read = await ann.get(`/orders/${placed.body.order.order_id}?platform=kalshi`);
  expect(read.body.order.average_fill_price).toBe(0.4566666667);
  expect(placed.body.order.average_fill_price).toBe(0.4566666667);
});

describe.each(PLATFORMS)('while the order books of %s answer 500', (platform) => {
  const BOOK = /^(GET|POST) .*\/(orderbooks?|books?)(\?|$)/;
  let reading: AbortController;
  let readers: Promise<void[]>;
  const book = () => ann.get(`/markets/id/${at(platform).marketId}/orderbook?platform=${platform}`);

  /** Four readers of one book, three calls a second each; resolves once its reads are suspended. */
  async function startReaders(): Promise<void> {
    at(platform).sim.inject({ match: BOOK, times: 100_000, kind: 'status', status: 500, body: '' });
    reading = new AbortController();
    const read = async (): Promise<void> => {
      for (; !reading.signal.aborted; await clock.sleep(330)) await book();
    };
    readers = Promise.all(Array.from({ length: 4 }, read));
    await passes(
      clock,
      async () => expect((await book()).body.error?.error_text).toContain('failed too often'),
      20_000,
    );
  }
  afterEach(async () => {
    reading.abort();
    at(platform).sim.clearFaults();
    await readers;
    // The next test begins with reads that are answered.
    await passes(clock, async () => expect((await book()).status).toBe(200), 20_000);
  });

  test('orders are placed and cancelled, and what was filled meanwhile is said', async () => {
    const { held } = await joins(platform);
    const id = await rests(platform);
    const second = await rests(platform, 2);
    await startReaders();
    const placed = await ann.post('/orders', at(platform).order(3, 'rests'));
    expect(placed).toMatchObject({ status: 201, body: { order: { status: 'open' } } });
    const cancelled = await ann.delete(`/orders/${id}?platform=${platform}`);
    expect(cancelled).toMatchObject({ status: 200, body: { order: { status: 'cancelled' } } });
    const all = await ann.post('/orders/cancel-all', { platform });
    expect(all).toMatchObject({ status: 200, body: { not_cancelled: [] } });
    expect(all.body.cancelled).toHaveLength(2);
    expect(states(held())).toEqual(['cancelled', 'cancelled', 'cancelled']);
    const again = await ann.delete(`/orders/${second}?platform=${platform}`);
    expect(again).toMatchObject({ status: 409, body: { error: { message: 'The order is no longer open' } } });
  });

  test('an account that is new here places its first order', async () => {
    await startReaders();
    const { held } = await joins(platform);
    const placed = await ann.post('/orders', at(platform).order(4, 'fills'));
    expect(placed).toMatchObject({ status: 201, body: { order: { status: 'filled' } } });
    expect(states(held())).toEqual(['filled']);
  });
});
