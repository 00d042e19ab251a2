import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { beforeEach, describe, expect, test } from 'vitest';
import { changeLimits } from '../../src/orders/spending-limits.ts';
import { orderAttempts, orders } from '../../src/orders/tables.ts';
import { parseUsd } from '../../src/core/decimal.ts';
import { credentials } from '../../src/accounts/tables.ts';
import { createCredentials } from '../../src/accounts/credentials.ts';
import { marketRow } from '../../src/stores/clickhouse/insert-rows.ts';
import { kalshiRig } from '../helpers/kalshi-rig.ts';
import type { Customer } from '../helpers/trading.ts';

const rig = kalshiRig(5, { operator: { keyType: 'rsa' } });
const { asked, held, stores } = rig;
let ann: Customer;
beforeEach(async () => {
  ann = await rig.trading.customer({ mayUseDefaultClients: true });
});
/** The service no longer has the key that sealed a credential. */
const losesKeyOf = (id: number) =>
  rig.trading.service.postgres.db.update(credentials).set({ keyId: 'lost' }).where(eq(credentials.id, id));
/** Fields that an order is refused for, in the order of the answer. */
async function failing(change: object): Promise<string[]> {
  const { body } = await ann.post('/orders', asked(change));
  return body.error.error_text.split('; ').map((issue) => issue.slice(0, issue.indexOf(':')));
}

describe('what contradicts itself or the platform is refused before it is sent', () => {
  const LATER = new Date(Date.now() + 3_600_000).toISOString();
  test.each<[string, object, number, string]>([
    ['a limit order without a price', { price: undefined }, 400, 'price: a price of 0.01 to 0.99'],
    ['a price of 0', { price: 0 }, 400, 'price: a price of 0.01 to 0.99'],
    ['a price of 1', { price: 1 }, 400, 'price: a price of 0.01 to 0.99'],
    ['a price that is no number', { price: 'cheap' }, 400, 'price: a price of 0.01 to 0.99'],
    ['a price of more places than there are', { price: '0.123456789012' }, 400, 'price: a price of 0.01 to 0.99'],
    [
      'a price with the noise of a float',
      { price: 0.1 + 0.2 },
      400,
      "on the market's price grid, with at most 10 decimals",
    ],
    ['no size', { size: undefined }, 400, 'size: a size above 0'],
    ['a size of 0', { size: 0 }, 400, 'size: a size above 0'],
    ['a negative size', { size: -1 }, 400, 'size: a size above 0'],
    ['a size that would be rounded', { size: 1.0000001 }, 400, 'size: a size above 0'],
    ['an unknown side', { side: 'hold' }, 400, 'side: one of buy, sell'],
    ['an unknown type', { type: 'stop' }, 400, 'type: one of limit, market'],
    ['an unknown time in force', { time_in_force: 'day' }, 400, 'time_in_force: one of gtc, gtd, ioc, fok'],
    ['an outcome of another market', { outcome: 'Maybe' }, 400, 'outcome: one of yes, no, received "Maybe"'],
    [
      'a market order that rests',
      { type: 'market', price: undefined, time_in_force: 'gtc' },
      400,
      'time_in_force: ioc or fok',
    ],
    ['gtd without an expiration', { time_in_force: 'gtd' }, 400, 'expiration: a time, which gtd needs'],
    ['gtc with one', { time_in_force: 'gtc', expiration: LATER }, 400, 'expiration: only with gtd'],
    ['ioc with one', { time_in_force: 'ioc', expiration: LATER }, 400, 'expiration: only with gtd'],
    [
      'an expiration in the past',
      { expiration: '2026-01-01T00:00:00Z' },
      400,
      'expiration: a time at least 5 seconds ahead',
    ],
    ['an expiration that is no time', { expiration: 'tomorrow' }, 400, 'expiration: a time in Unix seconds'],
    ['slippage of a limit order', { max_slippage: 0.1 }, 400, 'max_slippage: only with a market order'],
    ['a key that no store takes', { idempotency_key: 'a\u0000b' }, 400, 'idempotency_key: text of 1 to 200 characters'],
    ['half a character in a key', { idempotency_key: 'a\ud83d' }, 400, 'idempotency_key: text of 1 to 200 characters'],
    [
      'an own id that no store takes',
      { client_order_id: '\u0000' },
      400,
      'client_order_id: text of 1 to 64 characters',
    ],
    ['a field nobody knows', { prize: 0.4 }, 400, 'prize: no such parameter (nearest: price)'],
    ['a price off the grid', { price: 0.405 }, 422, 'price: 0.405 is not on the grid'],
    ['a third decimal of a contract', { size: 1.005 }, 422, 'size: 1.005 has more than two decimals'],
  ])('%s', async (_, change, status, text) => {
    await stores(ann);
    const answer = await ann.post('/orders', asked(change));
    expect(answer.status).toBe(status);
    expect(answer.body.error.error_text).toContain(text);
    expect(held()).toEqual([]);
  });

  test('a name that no store takes is a 400 too, not a failure of ours', async () => {
    const asked = await Promise.all([
      ann.get('/orders/a%00b?platform=kalshi'),
      ann.delete('/orders/client:%00?platform=kalshi'),
    ]);
    expect(asked.map(({ status }) => status)).toEqual([400, 400]);
  });

  test('the nearest valid prices and sizes are named', async () => {
    expect((await ann.post('/orders', asked({ price: 0.405 }))).body.error.resolution).toContain('0.4 or 0.41');
    expect((await ann.post('/orders', asked({ outcome: 'no', price: 0.405 }))).body.error.resolution).toContain(
      '0.4 or 0.41',
    );
    expect((await ann.post('/orders', asked({ size: 1.005 }))).body.error.resolution).toContain('1 or 1.01');
  });

  test('every contradiction is listed, not only the first', async () => {
    const { body } = await ann.post('/orders', asked({ type: 'market', time_in_force: 'gtd', max_slippage: 2 }));
    expect(body.error.error_text).toContain('max_slippage');
    const both = await ann.post('/orders', asked({ price: undefined, time_in_force: 'gtd' }));
    expect(both.body.error.error_text).toMatch(/price: .*; expiration: /);
  });

  test('fields that fail together are listed with those that fail by themselves', async () => {
    const missing = { price: undefined, time_in_force: 'gtd' };
    expect(await failing({ ...missing, size: 0, side: 'hold' })).toEqual(['side', 'size', 'price', 'expiration']);
    expect(await failing({ ...missing, prize: 0.4 })).toEqual(['prize', 'price', 'expiration']);
    expect(await failing({ size: 0, expiration: '2026-01-01T00:00:00Z' })).toEqual(['size', 'expiration']);
    // One fault is reported once, and nothing is held against what could not be read.
    expect(await failing({ price: 2, time_in_force: 'day', expiration: LATER })).toEqual(['price', 'time_in_force']);
    expect(await failing({ type: 'stop', price: undefined, max_slippage: 0.1 })).toEqual(['type']);
  });

  test('an unknown market is 404, a paused one 422', async () => {
    expect((await ann.post('/orders', asked({ market_id: 'NOPE-26-X' }))).status).toBe(404);
    const ticker = rig.sim.world.createMarket('rate');
    rig.sim.world.pause(ticker);
    const paused = await ann.post('/orders', asked({ market_id: ticker }));
    expect(paused).toMatchObject({ status: 422, body: { error: { error_text: `${ticker} is paused` } } });
  });

  test('a market order is bounded by the book, the slippage and the price given', async () => {
    rig.sim.world.tradeOn(rig.ticker, { takerSide: 'yes', yesPrice: '0.4500', count: '1' });
    const book = rig.sim.world.bookOf(rig.ticker);
    for (const side of ['bid', 'ask'] as const)
      for (const { order } of Array.from(book.orders(side))) book.remove(side, order);
    book.add('ask', 4500, { trader: 0, count: 1000 });
    book.add('ask', 5000, { trader: 0, count: 1000 });
    const market = { type: 'market', price: undefined, dry_run: true };
    const bound = async (change: object): Promise<number | null | string> => {
      const { status, body } = await ann.post('/orders', asked({ ...market, ...change }));
      return status === 200 ? body.order.price : body.error.message;
    };
    expect(await bound({ size: 10 })).toBe(0.45);
    expect(await bound({ size: 10.01 })).toBe(0.5);
    expect(await bound({ size: 100 })).toBe(0.5);
    expect(await bound({ size: 15, max_slippage: 0.02 })).toBe(0.47);
    expect(await bound({ size: 15, price: 0.46 })).toBe(0.46);
    expect(await bound({ size: 15, price: 0.44 })).toBe('The book offers nothing within the worst price');
    expect(await bound({ size: 100, time_in_force: 'fok' })).toBe('The book cannot fill the whole order');
    expect(await bound({ side: 'sell' })).toBe('The book offers nothing at any price');
  });
});

describe('credentials', () => {
  test("by id, else the user's default, else the operator's client", async () => {
    const second = rig.sim.world.addAccount();
    await ann.post('/orders', asked({ client_order_id: randomUUID() }));
    expect(held(rig.operator)).toHaveLength(1);
    await stores(ann);
    await ann.post('/orders', asked());
    expect(held()).toHaveLength(1);
    const id = await stores(ann, second);
    await ann.post('/orders', asked({ credential_id: id }));
    expect([held().length, held(second).length]).toEqual([1, 1]);
    await stores(ann, second, true);
    await ann.post('/orders', asked());
    expect([held().length, held(second).length]).toEqual([1, 2]);
  });

  test('of another user are 404, on every route', async () => {
    const bob = await rig.trading.customer();
    const credential_id = await stores(bob);
    const { body } = await bob.post('/orders', asked());
    const query = `platform=kalshi&credential_id=${credential_id}`;
    const id = body.order.order_id;
    const statuses = [
      await ann.post('/orders', asked({ credential_id })),
      await ann.get(`/orders?${query}`),
      await ann.get(`/orders/${id}?${query}`),
      await ann.delete(`/orders/${id}?${query}`),
      await ann.get(`/orders/${id}?platform=kalshi`),
      await ann.delete(`/orders/${id}?platform=kalshi`),
      await ann.post('/orders/cancel-all', { platform: 'kalshi', credential_id }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([404, 404, 404, 404, 404, 404, 404]);
    expect(held()).toMatchObject([{ status: 'resting' }]);
  });

  test('are needed: without one and without a default client it is 422 with what to store', async () => {
    const answer = await ann.post('/orders', asked({ platform: 'limitless', market_id: 'nope-1' }));
    expect([404, 422]).toContain(answer.status);
    const listed = await ann.get('/orders?platform=limitless');
    expect(listed.status).toBe(422);
    expect(listed.body.error.resolution).toContain('/v1/api/auth/credentials');
  });

  test("that the platform rejects are the caller's to renew (422), or the operator's (502)", async () => {
    await stores(ann, { ...rig.member, apiKeyId: randomUUID() });
    expect((await ann.get('/orders?platform=kalshi')).status).toBe(422);
    const bob = await rig.trading.customer({ mayUseDefaultClients: true });
    const answer = { status: 401, body: '{"error":{"code":"unauthorized","message":"unauthorized"}}' };
    rig.sim.inject({ match: /portfolio/, times: 2, kind: 'status', ...answer });
    expect((await bob.get('/orders?platform=kalshi')).status).toBe(502);
    expect((await bob.post('/orders', asked())).status).toBe(502);
  });

  test('other than the default one have their orders listed too, once each', async () => {
    const operators = (await ann.post('/orders', asked())).body.order.order_id;
    const first = await stores(ann);
    const one = (await ann.post('/orders', asked())).body.order.order_id;
    const second = await stores(ann, rig.sim.world.addAccount(), true);
    const another = (await ann.post('/orders', asked({ price: 0.02 }))).body.order.order_id;
    const listed = async (query = ''): Promise<string[]> =>
      (await ann.get(`/orders?platform=kalshi${query}`)).body.orders.map(({ order_id }) => order_id);
    expect(await listed()).toEqual([another, one, operators]);
    expect(await listed(`&credential_id=${second}`)).toEqual([another]);
    // The same account under another credential: its listing has the order of the first one.
    const third = await stores(ann, rig.member, true);
    expect(await listed(`&credential_id=${third}`)).toEqual([one]);
    expect(await listed()).toEqual([another, one, operators]);
    expect((await ann.get('/orders?platform=kalshi&limit=1')).body.pagination).toMatchObject({ total: 3 });
    // A change at the platform is seen, whatever the credential.
    rig.sim.world.close(rig.ticker);
    const states = (await ann.get('/orders?platform=kalshi')).body.orders.map(({ status }) => status);
    expect(states).toEqual(['cancelled', 'cancelled', 'cancelled']);
    expect(await listed(`&credential_id=${first}`)).toEqual([one]);
  });

  test('that were deleted leave the orders of the others to be read again', async () => {
    const deleted = await stores(ann);
    for (let n = 0; n < 20; n += 1) expect((await ann.post('/orders', asked({ size: 1 }))).status).toBe(201);
    const { postgres, config } = rig.trading.service;
    expect(await createCredentials(postgres.db, config.credentialKeys).remove(ann.userId, deleted)).toBe(true);
    await stores(ann, rig.sim.world.addAccount(), true);
    const { order_id: id } = (await ann.post('/orders', asked())).body.order;
    await stores(ann, rig.sim.world.addAccount(), true);
    rig.sim.world.close(rig.ticker);
    const statusOf = async () =>
      (await ann.get('/orders?platform=kalshi&limit=100')).body.orders.find(({ order_id }) => order_id === id)?.status;
    await statusOf();
    expect(await statusOf()).toBe('cancelled');
  });

  test('of which the last was deleted leave the orders that were placed here, as stored', async () => {
    const bob = await rig.trading.customer();
    const credential = await stores(bob);
    const { order_id: id } = (await bob.post('/orders', asked())).body.order;
    const { postgres, config } = rig.trading.service;
    expect(await createCredentials(postgres.db, config.credentialKeys).remove(bob.userId, credential)).toBe(true);
    const listed = await bob.get('/orders?platform=kalshi');
    expect(listed).toMatchObject({ status: 200, body: { orders: [{ order_id: id }], pagination: { total: 1 } } });
    expect(await bob.get(`/orders/${id}?platform=kalshi`)).toMatchObject({
      status: 200,
      body: { order: { order_id: id } },
    });
    expect((await bob.delete(`/orders/${id}?platform=kalshi`)).status).toBe(422);
    expect((await bob.get('/orders/unknown-1?platform=kalshi')).status).toBe(422);
    expect((await bob.get(`/orders?platform=kalshi&credential_id=${credential}`)).status).toBe(404);
    expect((await bob.get('/orders?platform=limitless')).status).toBe(422);
  });

  test('that cannot be opened leave the orders of the others, and say so themselves', async () => {
    const lost = await stores(ann);
    const key = { idempotency_key: randomUUID() };
    const stuck = (await ann.post('/orders', asked(key))).body.order.order_id;
    await stores(ann, rig.sim.world.addAccount(), true);
    const other = (await ann.post('/orders', asked())).body.order.order_id;
    await losesKeyOf(lost);
    const refusedHere = await ann.post('/orders', asked({ credential_id: lost }));
    expect(refusedHere).toMatchObject({
      status: 422,
      body: { error: { message: 'The stored credential cannot be opened' } },
    });
    expect(rig.trading.service.logged()).toContain('"sealedWith":"lost"');
    const listed = await ann.get('/orders?platform=kalshi');
    expect(listed.body.orders.map(({ order_id: id }) => id)).toEqual([other, stuck]);
    expect((await ann.get(`/orders/${stuck}?platform=kalshi`)).status).toBe(200);
    expect(await ann.post('/orders', asked(key))).toMatchObject({ status: 200, body: { order: { order_id: stuck } } });
    const all = await ann.post('/orders/cancel-all', { platform: 'kalshi' });
    expect(all).toMatchObject({ status: 200, body: { cancelled: [other], unlisted: [{ credential_id: lost }] } });
    expect(all.body.not_cancelled.map(({ order_id: id }) => id)).toEqual([stuck]);
    const lines = rig.trading.service.logged().split('\n');
    expect(lines.filter((line) => line.includes(`"credential":${lost},"sealedWith":"lost"`))).toHaveLength(1);
    // The next list begins with orders that this one left out.
    const [read] = await rig.trading.service.postgres.db.select().from(orders).where(eq(orders.orderId, stuck));
    expect(read?.askedAt.getTime()).toBeGreaterThan(read?.createdAt.getTime() ?? Infinity);
  });

  test('that cannot be opened do not keep orders of the default client from being cancelled', async () => {
    const { order_id: id } = (await ann.post('/orders', asked())).body.order;
    const lost = await stores(ann);
    await losesKeyOf(lost);
    const all = await ann.post('/orders/cancel-all', { platform: 'kalshi' });
    expect(all).toMatchObject({ status: 200, body: { cancelled: [id], unlisted: [{ credential_id: lost }] } });
  });

  test('of the operator show each user their own orders only, and cancel theirs only', async () => {
    const bob = await rig.trading.customer({ mayUseDefaultClients: true });
    const anns = (await ann.post('/orders', asked())).body.order.order_id;
    const bobs = (await bob.post('/orders', asked())).body.order.order_id;
    const listed = await ann.get('/orders?platform=kalshi');
    expect(listed.body.orders.map(({ order_id }) => order_id)).toEqual([anns]);
    expect((await ann.get(`/orders/${bobs}?platform=kalshi`)).status).toBe(404);
    expect((await ann.delete(`/orders/${bobs}?platform=kalshi`)).status).toBe(404);
    const all = await ann.post('/orders/cancel-all', { platform: 'kalshi' });
    expect(all.body.cancelled).toEqual([anns]);
    expect(held(rig.operator).find(({ orderId }) => orderId === bobs)).toMatchObject({ status: 'resting' });
  });
});

const allow = (change: Parameters<typeof changeLimits>[2]) =>
  changeLimits(rig.trading.service.postgres.db, ann.userId, change);

describe("an account's own limits", () => {
  test('stop all trading, and single orders above a notional', async () => {
    await stores(ann);
    await allow({ tradingEnabled: false });
    expect((await ann.post('/orders', asked())).body.error.message).toBe('Trading is switched off in this account');
    await allow({ tradingEnabled: true, maxOrder: parseUsd('5') });
    expect((await ann.post('/orders', asked({ price: 0.5, size: 10.01 }))).status).toBe(422);
    expect((await ann.post('/orders', asked({ price: 0.05, size: 100 }))).status).toBe(201);
    expect(held()).toHaveLength(1);
  });

  test('hold for a day, for orders that race each other too; refused orders do not count', async () => {
    await stores(ann);
    await allow({ maxDay: parseUsd('1') });
    expect((await ann.post('/orders', asked({ price: 0.01, size: 100.01 }))).status).toBe(422);
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => ann.post('/orders', asked({ price: 0.01, size: 25 }))),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(4);
    expect(held()).toHaveLength(4);
  });
});

test('a client id used twice is noticed under a daily limit too', async () => {
  await stores(ann);
  await allow({ maxDay: parseUsd('100') });
  const first = await ann.post('/orders', asked({ client_order_id: 'one', idempotency_key: 'a' }));
  const second = await ann.post('/orders', asked({ client_order_id: 'one', idempotency_key: 'b' }));
  expect([first.status, second.status]).toEqual([201, 409]);
});

test('a dry run checks and signs, and leaves nothing but its audit row', async () => {
  await stores(ann);
  const { status, body } = await ann.post('/orders', asked({ dry_run: true, idempotency_key: 'dry' }));
  expect(status).toBe(200);
  expect(body).toMatchObject({
    order: { order_id: `dry_run:${body.order.client_order_id}`, status: 'pending', size: 10, remaining_size: 10 },
    meta: { dry_run: true, idempotent_replay: false },
  });
  const { db } = rig.trading.service.postgres;
  expect(await db.select().from(orders).where(eq(orders.userId, ann.userId))).toEqual([]);
  const rows = await db.select().from(orderAttempts).where(eq(orderAttempts.userId, ann.userId));
  expect(rows).toMatchObject([{ action: 'dry_run', result: 'signed' }]);
  expect(held()).toEqual([]);
  expect((await ann.post('/orders', asked({ idempotency_key: 'dry' }))).status).toBe(201);
});

test('cancel-all cancels what works through every credential, ours and what was placed elsewhere', async () => {
  const second = rig.sim.world.addAccount();
  await stores(ann);
  const credential_id = await stores(ann, second);
  await ann.post('/orders', asked());
  await ann.post('/orders', asked({ credential_id }));
  const bob = await rig.trading.customer();
  await stores(bob);
  await bob.post('/orders', asked());
  const { status, body } = await ann.post('/orders/cancel-all', { platform: 'kalshi' });
  expect(status).toBe(200);
  expect(body.cancelled).toHaveLength(3);
  expect(body.not_cancelled).toEqual([]);
  expect([...held(), ...held(second)].map((order) => order.status)).toEqual(['canceled', 'canceled', 'canceled']);
});

test.each([
  [400, 'bad_request'],
  [401, 'unauthorized'],
])('cancel-all names a credential whose open orders could not be listed (%i)', async (status, code) => {
  // Neither may use the default client, whose listing is not meant.
  const [bob, elsewhere] = [await rig.trading.customer(), await rig.trading.customer()];
  await stores(elsewhere);
  const { order_id: id } = (await elsewhere.post('/orders', asked())).body.order;
  const credential_id = await stores(bob);
  const body = JSON.stringify({ error: { code, message: 'no list' } });
  rig.sim.inject({ match: /^GET .*\/portfolio\/orders\?/, times: 1, kind: 'status', status, body });
  const cancels = async () => {
    const { cancelled, not_cancelled, unlisted } = (await bob.post('/orders/cancel-all', { platform: 'kalshi' })).body;
    return { cancelled, not_cancelled, unlisted };
  };
  const unlisted = [{ credential_id, reason: expect.stringContaining('no list') }];
  expect(await cancels()).toEqual({ cancelled: [], not_cancelled: [], unlisted });
  expect(await cancels()).toEqual({ cancelled: [id], not_cancelled: [], unlisted: [] });
});

test('a confirmed cancel is stored, though a process whose clock is ahead has read the order', async () => {
  await stores(ann);
  const { order_id: id } = (await ann.post('/orders', asked())).body.order;
  const { db } = rig.trading.service.postgres;
  const ahead = new Date(Date.now() + 60_000);
  await db.update(orders).set({ askedAt: ahead }).where(eq(orders.orderId, id));
  const { status, body } = await ann.delete(`/orders/${id}?platform=kalshi`);
  expect([status, body.order?.status, held()[0]?.status]).toEqual([200, 'cancelled', 'canceled']);
  const [stored] = await db.select().from(orders).where(eq(orders.orderId, id));
  expect(stored).toMatchObject({ status: 'cancelled', remainingSize: '0' });
});

test('a listing pages newest first without a repeat or a gap, and filters by market and status', async () => {
  await stores(ann);
  const ids: string[] = [];
  for (let i = 0; i < 7; i++) ids.unshift((await ann.post('/orders', asked())).body.order.order_id);
  await ann.delete(`/orders/${ids[3]}?platform=kalshi`);
  const seen: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const page = await ann.get(`/orders?platform=kalshi&limit=3&cursor=${cursor}`);
    expect(page.body.pagination.total).toBe(7);
    seen.push(...page.body.orders.map(({ order_id }) => order_id));
    cursor = page.body.pagination.next_cursor;
    // An order that arrives meanwhile belongs to no later page.
    if (seen.length === 3) await ann.post('/orders', asked());
  }
  expect(seen).toEqual(ids);
  const other = rig.sim.world.createMarket('rate');
  await ann.post('/orders', asked({ market_id: other }));
  const count = async (query: string): Promise<number> =>
    (await ann.get(`/orders?platform=kalshi&${query}`)).body.pagination.total;
  expect(await count(`market_id=${other}`)).toBe(1);
  expect(await count(`market_id=kalshi:${rig.ticker}`)).toBe(8);
  expect(await count('status=cancelled')).toBe(1);
  expect(await count(`status=open&market_id=${rig.ticker}`)).toBe(7);
  const page = await ann.get('/orders?platform=kalshi&limit=3');
  const foreign = await ann.get(`/orders?platform=kalshi&status=open&cursor=${page.body.pagination.next_cursor}`);
  expect(foreign.status).toBe(400);
});

test('every attempt leaves its platform status, its duration and its request, and no secret anywhere', async () => {
  await stores(ann, rig.sim.world.addAccount({ keyType: 'rsa', balance: '10' }));
  const refused = await ann.post('/orders', asked({ size: 100_000 }));
  const placed = await ann.post('/orders', asked());
  await ann.delete(`/orders/${placed.body.order.order_id}?platform=kalshi`);
  const { db } = rig.trading.service.postgres;
  const rows = await db
    .select()
    .from(orderAttempts)
    .where(eq(orderAttempts.userId, ann.userId))
    .orderBy(orderAttempts.id);
  expect(rows).toMatchObject([
    { action: 'place', result: 'rejected', httpStatus: 400, requestId: refused.headers['x-request-id'] },
    { action: 'place', result: 'accepted', httpStatus: 201, orderId: placed.body.order.order_id },
    { action: 'cancel', result: 'cancelled', httpStatus: 200, orderId: placed.body.order.order_id },
  ]);
  expect(rows.every(({ ms }) => ms >= 0)).toBe(true);
  const stored = await db.select().from(orders).where(eq(orders.userId, ann.userId));
  const everything = JSON.stringify([rows, stored, refused, placed]) + rig.trading.service.logged();
  const body = rig.operator.privateKeyPem.split('\n')[3] ?? '';
  expect(body.length).toBeGreaterThan(20);
  for (const secret of [body, 'PRIVATE KEY', 'kalshi-access-signature']) expect(everything).not.toContain(secret);
});

test('a market whose listing was interrupted is read again from its platform, and not reported as closed', async () => {
  await stores(ann);
  const { clickhouse, platforms, onBadRow } = rig.trading.service.deps;
  const listed = await platforms.kalshi?.market(rig.ticker, { priority: 'live', onBadRow });
  if (!listed) throw new Error('no such market');
  // As a kill between the inserts leaves it: named, without a state.
  await clickhouse.insert('markets', [marketRow(listed.info, listed.fetchedAt, listed.fetchedAt)]);
  expect(await ann.post('/orders', asked())).toMatchObject({ status: 201, body: { order: { status: 'open' } } });
});
