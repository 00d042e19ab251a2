import { setTimeout as sleep } from 'node:timers/promises';
import { eq } from 'drizzle-orm';
import { Configuration, OrdersApi } from 'kalshi-typescript';
import { beforeEach, describe, expect, test } from 'vitest';
import { orders } from '../../../../src/orders/tables.ts';
import { kalshiRig } from '../../../helpers/kalshi-rig.ts';
import type { Customer } from '../../../helpers/trading.ts';
import { clockAt } from '../../../helpers/virtual-clock.ts';

/** How far the clock of the service and of Kalshi is ahead of the machine's. */
let aheadMs = 0;
const rig = kalshiRig(3, { clock: clockAt(() => Date.now() + aheadMs), balance: '100' });
const { held } = rig;
let ann: Customer;

/** 0.40 bid for 20, 0.45 asked for 30 contracts, and nothing else nearby. */
beforeEach(async () => {
  aheadMs = 0;
  rig.sim.world.tradeOn(rig.ticker, { takerSide: 'yes', yesPrice: '0.4500', count: '1' });
  rig.sim.world.tradeOn(rig.ticker, { takerSide: 'no', yesPrice: '0.4000', count: '1' });
  rig.sim.world.bookOf(rig.ticker).add('bid', 4000, { trader: 0, count: 2000 });
  rig.sim.world.bookOf(rig.ticker).add('ask', 4500, { trader: 0, count: 3000 });
  ann = await rig.joins();
});

const asked = (change: object = {}): object => rig.asked({ outcome: 'Yes', price: 0.41, ...change });
const place = (change: object = {}) => ann.post('/orders', asked(change));
const inAnHour = (): string => new Date(Date.now() + 3_600_000).toISOString().replace(/\.\d+/, '.000');

/** A second user of the same account, whom the first does not see here. */
async function otherClient(): Promise<string> {
  const bob = await rig.joins();
  const { body } = await bob.post('/orders', asked({ outcome: 'no', price: 0.5 }));
  return body.order.order_id;
}

describe('an order on Kalshi', () => {
  // What the platform's guide says of the YES book: buying NO at q is asking 1 − q, selling NO is bidding.
  test.each([
    ['buy', 'Yes', 'limit', 'gtc', { price: 0.41 }, 'bid', '0.4100', 'good_till_canceled'],
    ['sell', 'Yes', 'limit', 'gtc', { price: 0.44 }, 'ask', '0.4400', 'good_till_canceled'],
    ['buy', 'No', 'limit', 'gtc', { price: 0.56 }, 'ask', '0.4400', 'good_till_canceled'],
    ['sell', 'No', 'limit', 'gtc', { price: 0.59 }, 'bid', '0.4100', 'good_till_canceled'],
    ['buy', 'Yes', 'limit', 'gtd', { price: 0.41 }, 'bid', '0.4100', 'good_till_canceled'],
    ['sell', 'No', 'limit', 'gtd', { price: 0.59 }, 'bid', '0.4100', 'good_till_canceled'],
    ['buy', 'Yes', 'limit', 'ioc', { price: 0.46 }, 'bid', '0.4600', 'immediate_or_cancel'],
    ['sell', 'Yes', 'limit', 'ioc', { price: 0.39 }, 'ask', '0.3900', 'immediate_or_cancel'],
    ['buy', 'No', 'limit', 'fok', { price: 0.61 }, 'ask', '0.3900', 'fill_or_kill'],
    ['sell', 'No', 'limit', 'fok', { price: 0.54 }, 'bid', '0.4600', 'fill_or_kill'],
    ['buy', 'Yes', 'market', 'ioc', {}, 'bid', '0.4500', 'immediate_or_cancel'],
    ['sell', 'Yes', 'market', 'ioc', {}, 'ask', '0.4000', 'immediate_or_cancel'],
    ['buy', 'No', 'market', 'fok', {}, 'ask', '0.4000', 'fill_or_kill'],
    ['sell', 'No', 'market', 'fok', {}, 'bid', '0.4500', 'fill_or_kill'],
  ])('to %s %s, %s %s, goes out as asked', async (side, outcome, type, tif, price, book, yesPrice, wireTif) => {
    const expiration = tif === 'gtd' ? inAnHour() : undefined;
    const expirationMs = expiration === undefined ? null : Date.parse(expiration);
    const own = type === 'market' ? { price: undefined } : price;
    const body = { side, outcome, type, time_in_force: tif, expiration, ...own };
    const dry = await place({ ...body, dry_run: true });
    expect(dry.body.order?.metadata?.['wire']).toEqual({
      ticker: rig.ticker,
      side: book,
      price: yesPrice,
      count: '10.00',
      time_in_force: wireTif,
      self_trade_prevention_type: 'taker_at_cross',
      client_order_id: dry.body.order.client_order_id,
      exchange_index: 0,
      ...(expirationMs === null ? {} : { expiration_time: expirationMs / 1000 }),
    });
    expect(held()).toEqual([]);

    const { status, body: answer } = await place(body);
    expect(status).toBe(201);
    const [order] = held();
    expect(order).toMatchObject({ side: book, yesPrice, timeInForce: wireTif, initialCount: '10.00' });
    expect(answer.order).toMatchObject({
      order_id: order?.orderId,
      client_order_id: order?.clientOrderId,
      platform: 'kalshi',
      market_id: rig.ticker,
      side,
      outcome: outcome.toLowerCase(),
      type,
      size: 10,
      time_in_force: tif,
      expiration: expiration ?? null,
    });
    expect(order?.expirationMs).toBe(expirationMs);
  });

  type Ending = 'open' | 'partially_filled' | 'filled' | 'cancelled';
  /** Every legal way to ask, on either side of the book: what is asked for, and what comes of it. */
  const ways: [type: string, tif: string, at: 'rests' | 'takes', size: number, status: Ending][] = [
    ['limit', 'gtc', 'rests', 10, 'open'],
    ['limit', 'gtc', 'takes', 10, 'filled'],
    ['limit', 'gtc', 'takes', 40, 'partially_filled'],
    ['limit', 'gtd', 'rests', 10, 'open'],
    ['limit', 'gtd', 'takes', 10, 'filled'],
    ['limit', 'gtd', 'takes', 40, 'partially_filled'],
    ['limit', 'ioc', 'rests', 10, 'cancelled'],
    ['limit', 'ioc', 'takes', 10, 'filled'],
    ['limit', 'ioc', 'takes', 40, 'cancelled'],
    ['limit', 'fok', 'rests', 10, 'cancelled'],
    ['limit', 'fok', 'takes', 10, 'filled'],
    ['market', 'ioc', 'takes', 10, 'filled'],
    ['market', 'ioc', 'takes', 40, 'cancelled'],
    ['market', 'fok', 'takes', 10, 'filled'],
  ];
  const books = [
    ['buy', 'yes'],
    ['buy', 'no'],
    ['sell', 'yes'],
    ['sell', 'no'],
  ] as const;

  describe.each(books)('to %s %s', (side, outcome) => {
    test.each(ways)('%s %s, that %s for %i, is shown as %s, and so when read, listed and cancelled', async (...row) => {
      const [type, tif, at, size, status] = row;
      // Buying YES and selling NO meet what is asked, 30 at 0.45; the others what is bid, 20 at 0.40.
      const bids = (side === 'buy') === (outcome === 'yes');
      const [resting, taking, depth] = bids ? [0.41, 0.45, 30] : [0.44, 0.4, 20];
      const own = (yes: number): number => (outcome === 'yes' ? yes : Number((1 - yes).toFixed(2)));
      const price = own(at === 'rests' ? resting : taking);
      const filled = at === 'takes' ? Math.min(size, depth) : 0;
      const works = status === 'open' || status === 'partially_filled';
      const { status: code, body } = await place({
        side,
        outcome,
        type,
        size,
        time_in_force: tif,
        ...(type === 'market' ? { price: undefined, max_slippage: 0 } : { price }),
        ...(tif === 'gtd' ? { expiration: inAnHour() } : {}),
      });
      expect(code).toBe(201);
      const [order] = held();
      const expected = {
        order_id: order?.orderId,
        side,
        outcome,
        price,
        size,
        status,
        filled_size: filled,
        remaining_size: works ? size - filled : 0,
        average_fill_price: filled > 0 ? own(taking) : null,
        fees: { maker_fee: 0, taker_fee: Number(order?.fees), total_fee: Number(order?.fees) },
      };
      expect(Number(order?.fillCount)).toBe(filled);
      expect(body.order).toMatchObject(expected);
      const path = `/orders/${body.order.order_id}?platform=kalshi`;
      expect((await ann.get(path)).body.order).toMatchObject(expected);
      expect((await ann.get('/orders?platform=kalshi')).body.orders).toMatchObject([expected]);
      const gone = await ann.delete(path);
      expect(gone.status).toBe(works ? 200 : 409);
      const last = works ? { ...expected, status: 'cancelled', remaining_size: 0 } : expected;
      expect((await ann.get(path)).body.order).toMatchObject(last);
    });
  });

  test('that is filled at once shows what it paid, in its own outcome, and its fees as charged', async () => {
    const { status, body } = await place({ side: 'buy', outcome: 'no', price: 0.61, time_in_force: 'ioc' });
    const [order] = held();
    expect(status).toBe(201);
    expect(order).toMatchObject({ status: 'executed', side: 'ask', fillCount: '10.00' });
    const fee = Number(order?.fees);
    expect(fee).toBeGreaterThan(0);
    expect(body.order).toMatchObject({
      status: 'filled',
      filled_size: 10,
      remaining_size: 0,
      // The bid of 0.40 is an offer of No at 0.60.
      average_fill_price: 0.6,
      fees: { maker_fee: 0, taker_fee: fee, total_fee: fee },
    });
  });

  test('that is filled in part keeps working, and later fills are shown when it is read', async () => {
    const { body } = await place({ price: 0.45, size: 40 });
    expect(body.order).toMatchObject({ status: 'partially_filled', filled_size: 30, remaining_size: 10 });
    const bob = await rig.joins(rig.sim.world.addAccount({ balance: '100' }));
    const sold = await bob.post('/orders', asked({ side: 'sell', price: 0.45, size: 4, time_in_force: 'ioc' }));
    expect(sold.body.order).toMatchObject({ status: 'filled', average_fill_price: 0.45 });
    const read = await ann.get(`/orders/${body.order.order_id}?platform=kalshi`);
    expect(read.body.order).toMatchObject({
      status: 'partially_filled',
      filled_size: 34,
      remaining_size: 6,
      average_fill_price: 0.45,
      fees: { total_fee: Number(held()[0]?.fees) },
    });
  });

  test.each(['ioc', 'fok'])('%s that finds nothing is shown as cancelled, not as placed', async (time_in_force) => {
    const { status, body } = await place({ price: 0.42, time_in_force });
    expect(status).toBe(201);
    expect(body.order).toMatchObject({ status: 'cancelled', filled_size: 0, remaining_size: 0 });
  });

  test('ioc that finds a part keeps it and is cancelled for the rest', async () => {
    const { body } = await place({ price: 0.45, size: 40, time_in_force: 'ioc' });
    expect(body.order).toMatchObject({
      status: 'cancelled',
      filled_size: 30,
      remaining_size: 0,
      average_fill_price: 0.45,
    });
  });

  test('to sell Yes that fills shows its price in Yes', async () => {
    const { body } = await place({ side: 'sell', price: 0.4, time_in_force: 'ioc' });
    expect(body.order).toMatchObject({ status: 'filled', outcome: 'yes', side: 'sell', average_fill_price: 0.4 });
    const read = await ann.get(`/orders/${body.order.order_id}?platform=kalshi`);
    expect(read.body.order).toMatchObject({ outcome: 'yes', side: 'sell', price: 0.4, average_fill_price: 0.4 });
  });

  test('that is filled before reads show it stays filled, and its fees are shown once they are known', async () => {
    Object.assign(rig.sim.world.desk.settings, { orderDelayMs: 400, fillDelayMs: 900 });
    try {
      const { body } = await place({ price: 0.45, time_in_force: 'ioc' });
      const { order } = body;
      expect(order).toMatchObject({ status: 'filled', filled_size: 10, average_fill_price: 0.45 });
      expect(order.fees).toEqual({ maker_fee: null, taker_fee: null, total_fee: null });
      const read = async () => (await ann.get(`/orders/${order.order_id}?platform=kalshi`)).body.order;
      let now = await read();
      while (now.fees.total_fee === null) {
        expect(now).toMatchObject({ status: 'filled', filled_size: 10 });
        await sleep(50);
        now = await read();
      }
      expect(now).toMatchObject({ status: 'filled', fees: { maker_fee: 0, total_fee: Number(held()[0]?.fees) } });
    } finally {
      Object.assign(rig.sim.world.desk.settings, { orderDelayMs: 0, fillDelayMs: 0 });
    }
  });

  test('that is cancelled before reads show its last fill is read again, by itself', async () => {
    const { order } = (await place({ price: 0.45, size: 40 })).body;
    expect(order).toMatchObject({ status: 'partially_filled', filled_size: 30 });
    rig.sim.world.desk.settings.fillDelayMs = 1500;
    try {
      const bob = await rig.joins(rig.sim.world.addAccount({ balance: '100' }));
      await bob.post('/orders', asked({ side: 'sell', price: 0.45, size: 4, time_in_force: 'ioc' }));
      const gone = await ann.delete(`/orders/${order.order_id}?platform=kalshi`);
      expect(gone.body).toMatchObject({ cancelled: true, order: { status: 'cancelled', filled_size: 30 } });
      const { db } = rig.trading.service.postgres;
      const stored = async () => (await db.select().from(orders).where(eq(orders.orderId, order.order_id)))[0];
      for (let i = 0; i < 100 && (await stored())?.filledSize === '30'; i++) await sleep(100);
      expect(await stored()).toMatchObject({ status: 'cancelled', filledSize: '34', remainingSize: '0' });
    } finally {
      rig.sim.world.desk.settings.fillDelayMs = 0;
    }
  });

  test("that Kalshi denies but shows as open is not called over: its cancel is 503 until it is 'cancelled'", async () => {
    const { order } = (await place()).body;
    const path = `/orders/${order.order_id}?platform=kalshi`;
    rig.sim.world.desk.settings.cancelDelayMs = 60_000;
    try {
      const denied = await ann.delete(path);
      expect(denied).toMatchObject({ status: 503, headers: { 'retry-after': expect.any(String) } });
      expect(denied.body.error.message).toContain('still open');
      expect(held()).toMatchObject([{ status: 'resting' }]);
    } finally {
      rig.sim.world.desk.settings.cancelDelayMs = 0;
    }
    expect((await ann.delete(path)).body).toMatchObject({ cancelled: true });
  });

  test('answered without an order id is unknown and placed once, and rejected after nobody has it for two minutes', async () => {
    const answer = { kind: 'status', status: 201, body: '{"fill_count":"0.00"}' } as const;
    rig.sim.inject({ match: /^POST .*orders$/, times: 1, ...answer });
    const { status, body } = await place({ idempotency_key: 'no-id' });
    expect([status, body.order.status]).toEqual([202, 'unknown']);
    expect((await place({ idempotency_key: 'no-id' })).status).toBe(200);
    expect(held()).toEqual([]);
    aheadMs = 121_000;
    const path = `/orders/${body.order.order_id}?platform=kalshi`;
    await expect.poll(async () => (await ann.get(path)).body.order.status).toBe('rejected');
  });

  test('refused by the platform is 422 with its words, and is kept as rejected', async () => {
    const { status, body } = await place({ price: 0.4, size: 100_000 });
    expect(status).toBe(422);
    expect(body.error.error_text).toContain('available balance too low');
    expect(body.error.resolution).toContain('Fund the account');
    const listed = await ann.get('/orders?platform=kalshi&status=rejected');
    expect(listed.body.orders).toMatchObject([{ status: 'rejected', size: 100_000, filled_size: 0 }]);
  });

  test("that a gateway's 404 hides is neither gone nor closed", async () => {
    const { body } = await place({});
    const id = `/orders/${body.order.order_id}?platform=kalshi`;
    const page = { kind: 'status', status: 404, body: '<html>Not Found</html>' } as const;
    rig.sim.inject({ match: /^(GET|DELETE) .*portfolio.*orders/, times: 100, ...page });
    expect((await ann.get(id)).status).toBe(503);
    expect((await ann.delete(id)).status).toBe(503);
    rig.sim.clearFaults();
    expect((await ann.get(id)).body.order).toMatchObject({ status: 'open' });
  });

  test('answered 410, as its interface was given up, is 502: nothing the caller can change', async () => {
    const body = '{"error":{"code":"deprecated_v1_order_endpoint","message":"Please switch to the V2 endpoints"}}';
    rig.sim.inject({ match: /^POST .*orders$/, times: 1, kind: 'status', status: 410, body });
    const answer = await place({});
    expect(answer.status).toBe(502);
    expect(answer.body.error.error_text).toBe('Please switch to the V2 endpoints');
    const again = await ann.get('/orders?platform=kalshi&status=rejected&limit=1');
    expect(again.body.orders).toMatchObject([{ filled_size: 0, remaining_size: 0 }]);
  });

  test('that expires is shown as expired by the clock, even while the platform has not swept it', async () => {
    rig.sim.world.desk.settings.expirySweepMs = 120_000;
    const { body } = await place({ expiration: new Date(Date.now() + 60_000).toISOString() });
    expect(body.order).toMatchObject({ time_in_force: 'gtd', status: 'open' });
    aheadMs = 61_000;
    const read = await ann.get(`/orders/${body.order.order_id}?platform=kalshi`);
    expect(read.body.order).toMatchObject({ status: 'expired', remaining_size: 0 });
    rig.sim.world.desk.settings.expirySweepMs = 0;
  });

  test('placed elsewhere is listed, read and cancelled too', async () => {
    const outside = await otherClient();
    const listed = await ann.get(`/orders?platform=kalshi&market_id=${rig.ticker}`);
    expect(listed.body.orders).toMatchObject([{ order_id: outside, status: 'open', outcome: 'no', side: 'buy' }]);
    expect((await ann.delete(`/orders/${outside}?platform=kalshi`)).body).toMatchObject({ cancelled: true });
  });
});

test('the official client and we place, list and cancel beside each other', async () => {
  // It signs with RSA keys only.
  const member = rig.sim.world.addAccount({ keyType: 'rsa', balance: '100' });
  const { apiKeyId, privateKeyPem } = member;
  await rig.stores(ann, member, true);
  const basePath = rig.sim.env.KALSHI_API_URL ?? '';
  const official = new OrdersApi(new Configuration({ apiKey: apiKeyId, privateKeyPem, basePath }));
  const listedThere = async (): Promise<string[]> =>
    (await official.getOrders(rig.ticker, undefined, undefined, undefined, 'resting')).data.orders.map(
      ({ order_id }) => order_id,
    );

  const ours = (await place({ outcome: 'no', price: 0.5, size: 2.5 })).body.order;
  const theirs = (
    await official.createOrderV2({
      ticker: rig.ticker,
      side: 'bid',
      price: '0.3900',
      count: '3.00',
      time_in_force: 'good_till_canceled',
      self_trade_prevention_type: 'taker_at_cross',
      client_order_id: 'theirs',
    })
  ).data;
  expect((await listedThere()).toSorted()).toEqual([ours.order_id, theirs.order_id].toSorted());
  const seen = (await official.getOrder(ours.order_id)).data.order;
  expect(seen).toMatchObject({
    client_order_id: ours.client_order_id,
    no_price_dollars: '0.5000',
    status: 'resting',
  });

  const listed = (await ann.get(`/orders?platform=kalshi&market_id=${rig.ticker}`)).body.orders;
  expect(listed.map(({ order_id }) => order_id).toSorted()).toEqual([ours.order_id, theirs.order_id].toSorted());
  expect(listed.find(({ order_id }) => order_id === theirs.order_id)).toMatchObject({
    side: 'buy',
    outcome: 'yes',
    price: 0.39,
    size: 3,
    client_order_id: 'theirs',
  });

  expect((await official.cancelOrderV2(ours.order_id, undefined, undefined, rig.ticker)).data.reduced_by).toBe('2.50');
  expect((await ann.delete(`/orders/${theirs.order_id}?platform=kalshi`)).body.cancelled).toBe(true);
  expect((await ann.get(`/orders/${ours.order_id}?platform=kalshi`)).body.order.status).toBe('cancelled');
  expect(await listedThere()).toEqual([]);
});
