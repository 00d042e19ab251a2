import { beforeEach, describe, expect, test } from 'vitest';
import { flowingClock } from '../../../helpers/flowing-clock.ts';
import type { Customer } from '../../../helpers/trading.ts';
import { tradingRig } from '../../../helpers/trading-rig.ts';
import type { MemberOrder } from '../../../simulators/limitless/orders.ts';
import { clob } from '../../../simulators/limitless/rig.ts';
import { startLimitless } from '../../../simulators/limitless.ts';
import type { ClobMarket } from '../../../simulators/limitless/model.ts';

const clock = flowingClock();
const rig = tradingRig(() => startLimitless({ seed: 3, markets: 12, tradesPerMarket: 5, clock }), { clock });
let market: ClobMarket;
let ann: Customer;
let address: string;
let fields: { token_id: string; secret: string; private_key: `0x${string}` };
let members = 0;

/**
 * A market and a member of its own for each test: 10 shares offered at 0.52 and 20 at 0.55, 10 wanted at 0.48. The member
 * holds a hundred of either outcome.
 */
beforeEach(async () => {
  rig.sim.clearFaults();
  market = rig.sim.world.createMarket({ title: 'A quiet market', halfSpread: 500, popularity: 0 });
  const house = rig.sim.world.floor.crowd[0]!;
  const quote = (side: 'BUY' | 'SELL', tick: number, shares: number) =>
    market.book.add({
      id: rig.sim.world.ids.uuid(),
      account: house,
      outcome: 0,
      side,
      tick,
      remaining: BigInt(shares) * 1_000_000n,
      isHouse: true,
    });
  quote('SELL', 520, 10);
  quote('SELL', 550, 20);
  quote('BUY', 480, 10);
  members += 1;
  const privateKey = `0x${String(members).padStart(64, '7')}` as const;
  const profile = rig.sim.world.addProfile({ privateKey });
  address = profile.address;
  for (const token of market.tokens) profile.holdings.set(token, { balance: 100_000_000n, cost: 0n, realised: 0n });
  ann = await rig.trading.customer();
  fields = { token_id: profile.tokenId, secret: profile.secret, private_key: privateKey };
  await ann.credential('limitless', fields);
});

const asked = (change: object = {}): object => ({
  platform: 'limitless',
  market_id: market.slug,
  side: 'buy',
  outcome: 'yes',
  type: 'limit',
  price: 0.4,
  size: 10,
  ...change,
});
const place = (change: object = {}) => ann.post('/orders', asked(change));
const held = (): MemberOrder[] => rig.sim.world.ordersOf(address);
const read = (id: string) => ann.get(`/orders/${id}?platform=limitless`);
const listed = async () => (await ann.get('/orders?platform=limitless&limit=200')).body.orders;

describe('an order on Limitless over HTTP', () => {
  const limit = { type: 'limit' };
  const taking = { type: 'market', price: undefined };
  test.each([
    ['buy', 'yes', { ...limit, time_in_force: 'gtc', price: 0.4 }, 'GTC', 4_000_000n, 10_000_000n, 400],
    ['buy', 'no', { ...limit, time_in_force: 'ioc', price: 0.4 }, 'FAK', 4_000_000n, 10_000_000n, 400],
    ['sell', 'yes', { ...limit, time_in_force: 'ioc', price: 0.9 }, 'FAK', 10_000_000n, 9_000_000n, 900],
    ['sell', 'no', { ...limit, time_in_force: 'gtc', price: 0.6 }, 'GTC', 10_000_000n, 6_000_000n, 600],
    ['buy', 'yes', { ...taking }, 'FAK', 5_200_000n, 10_000_000n, 520],
    ['buy', 'yes', { ...taking, size: 11.5 }, 'FAK', 6_325_000n, 11_500_000n, 550],
    ['buy', 'no', { ...taking, time_in_force: 'ioc' }, 'FAK', 5_200_000n, 10_000_000n, 520],
    ['sell', 'yes', { ...taking, time_in_force: 'ioc' }, 'FAK', 10_000_000n, 4_800_000n, 480],
    ['sell', 'no', { ...taking, time_in_force: 'ioc', size: 5 }, 'FAK', 5_000_000n, 2_400_000n, 480],
  ] as const)(
    'to %s %s, %o, reaches the exchange as asked',
    async (side, outcome, terms, orderType, gives, gets, tick) => {
      const dry = await place({ side, outcome, ...terms, dry_run: true });
      expect(dry.status).toBe(200);
      expect(held()).toEqual([]);
      const { status, body } = await place({ side, outcome, ...terms });
      expect([status, body.error]).toEqual([201, undefined]);
      const [order] = held();
      expect(order?.intent).toMatchObject({
        orderType,
        tick,
        side: side.toUpperCase(),
        outcome: outcome === 'yes' ? 0 : 1,
        signed: { makerAmount: gives, takerAmount: gets, maker: address, feeRateBps: 300 },
        clientOrderId: body.order.client_order_id,
      });
      expect(body.order).toMatchObject({
        order_id: order?.id,
        market_id: market.slug,
        side,
        outcome,
        type: terms.type,
        size: 'size' in terms ? terms.size : 10,
        expiration: null,
      });
      expect(dry.body.order.metadata?.['wire']).toMatchObject({
        orderType,
        order: { makerAmount: Number(gives), takerAmount: Number(gets) },
      });
    },
  );

  test('that is filled shows gross shares, their mean price and the fee in dollars', async () => {
    const { body } = await place({ type: 'market', price: undefined, size: 20 });
    const [order] = held();
    expect(body.order).toMatchObject({
      status: 'filled',
      filled_size: 20,
      average_fill_price: 0.535,
      fees: { maker_fee: 0, taker_fee: expect.any(Number) },
      metadata: { collateral: 11 },
    });
    const { taker_fee: fee } = body.order.fees;
    expect(fee).toBeCloseTo((Number(order?.totals.contractsFee) / 1e6) * 0.535, 5);
    expect(fee).toBeGreaterThan(0);
  });

  test('that the market holds back is cancelled or over, and never called over before', async () => {
    market.takerDelayMs = 2500;
    rig.sim.world.desk.hidesDelayed = true;
    try {
      const { body } = await place({ price: 0.52 });
      expect(body.order).toMatchObject({ status: 'pending' });
      const answered = await ann.delete(`/orders/${body.order.order_id}?platform=limitless`);
      // Asked again until the delay was over, the order turned out to be filled.
      expect(held()).toMatchObject([{ status: 'MATCHED' }]);
      expect(answered).toMatchObject({ status: 409, body: { error: { message: 'The order is no longer open' } } });
      expect(answered.body.error.error_text).toContain('is filled: 10 of 10');
    } finally {
      rig.sim.world.desk.hidesDelayed = false;
    }
  });

  test('killed by the exchange is 201 and cancelled, not placed', async () => {
    const { status, body } = await place({ time_in_force: 'ioc' });
    expect([status, body.order.status, body.order.filled_size]).toEqual([201, 'cancelled', 0]);
  });

  test.each([
    ['an expiry', { time_in_force: 'gtd', expiration: '2099-01-01T00:00:00Z' }, 'cannot expire'],
    ['a limit with fok', { time_in_force: 'fok' }, 'takes no fok order'],
    ['a limit with fok that the book could fill', { time_in_force: 'fok', price: 0.6 }, 'takes no fok order'],
    ['a market purchase with fok', { type: 'market', price: undefined, time_in_force: 'fok' }, 'takes no fok order'],
    [
      'a market sale with fok',
      { side: 'sell', type: 'market', price: undefined, time_in_force: 'fok', size: 5 },
      'takes no fok order',
    ],
    ['a price between ticks', { price: 0.4005 }, 'steps of 0.001'],
    ['a size between steps', { size: 1.2345 }, 'steps of 0.001 shares'],
    [
      'a fok of more than the book holds',
      { type: 'market', price: undefined, time_in_force: 'fok', size: 31 },
      'cannot fill',
    ],
    ['more than the wallet holds', { size: 9_000_000 }, 'Insufficient collateral balance'],
  ])('with %s is refused with 422 that says why', async (_, change, words) => {
    const { status, body } = await place(change);
    expect([status, held()]).toEqual([422, []]);
    expect(body.error.message).toContain(words);
    expect(body.error.resolution).not.toBe('');
  });

  test('on an AMM is refused with 422', async () => {
    const amm = [...rig.sim.world.markets.values()].find(({ kind }) => kind === 'amm')!;
    expect(await place({ market_id: amm.slug })).toMatchObject({
      status: 422,
      body: { error: { message: expect.stringContaining('no order book') } },
    });
  });

  test('on a NegRisk market is signed for its own exchange', async () => {
    const child = clob(rig.sim.world, (one) => one.group?.negRiskMarketId != null && one.status === 'FUNDED');
    const { status } = await place({ market_id: child.slug, price: 0.01 });
    expect([status, held()[0]?.intent.market.slug]).toEqual([201, child.slug]);
  });

  test('and another are cancelled in one call', async () => {
    await place();
    await place({ outcome: 'no' });
    const path = 'POST /orders/cancel-batch';
    const before = rig.sim.requests.get(path) ?? 0;
    await ann.post('/orders/cancel-all', { platform: 'limitless' });
    expect(rig.sim.requests.get(path)).toBe(before + 1);
  });

  test('what was placed elsewhere in the account is listed without a market, and cancelled with the rest', async () => {
    const bob = await rig.trading.customer();
    await bob.credential('limitless', fields);
    const theirs = [
      await bob.post('/orders', asked()),
      await bob.post('/orders', asked({ outcome: 'no', price: 0.3 })),
    ];
    const ids = [(await place()).body, ...theirs.map(({ body }) => body)].map(({ order }) => order.order_id).toSorted();
    expect((await listed()).map(({ order_id }) => order_id).toSorted()).toEqual(ids);
    await bob.post('/orders', asked({ price: 0.2 }));
    const { body } = await ann.post('/orders/cancel-all', { platform: 'limitless' });
    expect(held().map(({ status }) => status)).toEqual(held().map(() => 'CANCELED'));
    expect([body.not_cancelled, body.cancelled]).toEqual([[], expect.arrayContaining(ids)]);
  });

  test('all are cancelled before anything is looked up, one of an unknown result once it is found', async () => {
    await place();
    rig.sim.inject({ match: /^POST \/orders$/, times: 1, kind: 'after' });
    rig.sim.inject({
      match: /^POST \/orders\/status/,
      times: 1,
      kind: 'status',
      status: 400,
      body: '{"message":"no"}',
    });
    expect((await place({ outcome: 'no' })).status).toBe(202);
    rig.sim.clearFaults();
    rig.sim.inject({ match: /^POST \/orders\/status/, times: 1, kind: 'slow', delayMs: 2500 });
    const started = clock.elapsed();
    const asked = ann.post('/orders/cancel-all', { platform: 'limitless' });
    while (held().every(({ status }) => status === 'LIVE')) await clock.sleep(20);
    expect(clock.elapsed() - started).toBeLessThan(2000);
    const { body } = await asked;
    expect(body.not_cancelled).toEqual([]);
    expect((body.cancelled as string[]).toSorted()).toEqual(
      held()
        .map(({ id }) => id)
        .toSorted(),
    );
  });
});

test('a market order that took long to sign is bounded by the book as it is when it leaves', async () => {
  rig.sim.inject({ match: /^GET \/profiles\/me/, times: 1, kind: 'slow', delayMs: 2500 });
  const profiles = () => rig.sim.requests.get('GET /profiles/me') ?? 0;
  const before = profiles();
  const askedMs = clock.now();
  const placing = place({ type: 'market', price: undefined });
  while (profiles() === before) await clock.sleep(20);
  market.book.remove(({ tick }) => tick === 520);
  const { status, body } = await placing;
  expect({ status, order: body.order }).toMatchObject({
    status: 201,
    order: { status: 'filled', average_fill_price: 0.55, filled_size: 10 },
  });
  // The time is that of leaving, too.
  expect(Date.parse(body.order.created_at)).toBeGreaterThan(askedMs + 2400);
  expect(held()).toHaveLength(1);
});

test('orders that no list shows are all looked up in turn, however many work', async () => {
  const ids: string[] = [];
  for (let n = 0; n < 105; n += 1) ids.push((await place({ price: 0.1, size: 1 })).body.order.order_id);
  const over = held().slice(-5);
  for (const order of over) rig.sim.world.desk.cancel(order);
  expect(await listed()).toHaveLength(105);
  const cancelled = (await listed()).filter(({ status }) => status === 'cancelled').map(({ order_id }) => order_id);
  expect(cancelled.toSorted()).toEqual(ids.slice(-5).toSorted());
});

test('a filled order whose settlement is tried again is pending, and not filled once it failed', async () => {
  const wallet = rig.sim.world.members.withAddress(address)!;
  const owned = () => [wallet.usdc, ...market.tokens.map((token) => wallet.holdings.get(token)?.balance)];
  const before = owned();
  const { body } = await place({ price: 0.52, time_in_force: 'ioc' });
  expect(body.order).toMatchObject({ status: 'filled', filled_size: 10 });
  const order = held()[0]!;
  order.trouble = 'RETRYING';
  expect((await read(body.order.order_id)).body.order).toMatchObject({ status: 'pending' });
  order.trouble = null;
  expect((await read(body.order.order_id)).body.order).toMatchObject({ status: 'filled', filled_size: 10 });
  rig.sim.world.desk.fail(order);
  expect((await read(body.order.order_id)).body.order).toMatchObject({
    status: 'rejected',
    filled_size: 0,
    remaining_size: 0,
    average_fill_price: null,
    fees: { total_fee: 0 },
  });
  // As it is: the money never left.
  expect(owned()).toEqual(before);
});
