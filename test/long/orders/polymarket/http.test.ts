import { eq } from 'drizzle-orm';
import { privateKeyToAccount } from 'viem/accounts';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parsePrice, parseSize } from '../../../../src/core/decimal.ts';
import { orders } from '../../../../src/orders/tables.ts';
import { flowingClock } from '../../../helpers/flowing-clock.ts';
import type { Customer } from '../../../helpers/trading.ts';
import { tradingRig } from '../../../helpers/trading-rig.ts';
import { startPolymarket, type PolymarketWorld } from '../../../simulators/polymarket.ts';
import type { SimAccount } from '../../../simulators/polymarket/clob/accounts.ts';
import type { ClobTrade } from '../../../simulators/polymarket/clob/exchange.ts';
import type { SimOrder } from '../../../simulators/polymarket/clob/order.ts';
import { createRig, type TradingRig } from '../../../simulators/polymarket/trading-rig.ts';
import type { SimMarket } from '../../../simulators/polymarket/world/model.ts';
import { shares } from '../../../simulators/polymarket/world/units.ts';

const OPERATOR = `0x${'d'.repeat(64)}` as const;
const FEE = { rateBps: 500, exponent: 1, rebateBps: 2500, type: 'general_fees' };
const clock = flowingClock(Date.parse('2026-11-20T12:00:00Z'));
const our = tradingRig(() => startPolymarket({ clock, markets: 1, tradesPerMarket: 2 }), {
  clock,
  settings: () => ({ POLYMARKET_PRIVATE_KEY: OPERATOR }),
});
let world: PolymarketWorld;
let rig: TradingRig;
let market: SimMarket;
let account: SimAccount;
let ann: Customer;
let privateKey: `0x${string}`;
let members = 0;

beforeAll(() => {
  ({ world } = our.sim);
  rig = createRig(our.sim);
  world.addWallet({ privateKey: OPERATOR });
});
/** 1000 shares wanted at 0.40, 1000 offered at 0.41; Ann has 10,000 pUSD and 100 of either outcome. */
beforeEach(async () => {
  our.sim.clearFaults();
  world.exchange.mode = 'normal';
  market = rig.flat({ fee: FEE });
  members += 1;
  privateKey = `0x${String(members).padStart(64, 'b')}`;
  account = world.addWallet({ privateKey });
  world.giveShares(account.wallet, market, shares('100'));
  ann = await our.trading.customer();
  await ann.credential('polymarket', { private_key: privateKey, signature_type: 0 });
});

const asked = (change: object = {}): object => ({
  platform: 'polymarket',
  market_id: market.id,
  side: 'buy',
  outcome: 'yes',
  type: 'limit',
  price: 0.35,
  size: 10,
  ...change,
});
const place = (change: object = {}) => ann.post('/orders', asked(change));
const held = (): SimOrder[] => world.ordersOf(account);
const read = async (id: string) => (await ann.get(`/orders/${id}?platform=polymarket`)).body.order;
const attempts = (): number => our.sim.requests.get('POST /clob/order') ?? 0;
const batches = (): number => our.sim.requests.get('POST /clob/orders') ?? 0;

describe('an order on Polymarket over HTTP', () => {
  const taking = { type: 'market', price: undefined };
  test('a refusal whose text PostgreSQL cannot hold is stored and answered at once', async () => {
    const body = JSON.stringify({ success: false, errorMsg: 'bad \0 price \ud800', orderID: '', status: '' });
    our.sim.inject({ match: /POST \/clob\/order$/, times: 1, kind: 'status', status: 200, body });
    const key = { idempotency_key: `odd ${members}` };
    const before = attempts();
    const refused = await place(key);
    expect(refused.status).toBe(422);
    const stored = await our.trading.service.postgres.db
      .select({ state: orders.state })
      .from(orders)
      .where(eq(orders.idempotencyKey, key.idempotency_key));
    expect(stored).toEqual([{ state: 'rejected' }]);
    expect(await place(key)).toMatchObject({ status: 422, body: { error: refused.body.error } });
    expect(attempts()).toBe(before + 1);
  });

  test.each([
    ['buy', 'yes', { price: 0.35 }, 'GTC', '3.5', '10', 'open'],
    [
      'buy',
      'no',
      { price: 0.35, time_in_force: 'gtd', expiration: '2026-11-20T18:00:00Z' },
      'GTD',
      '3.5',
      '10',
      'open',
    ],
    ['buy', 'yes', { price: 0.41, time_in_force: 'ioc' }, 'FAK', '4.1', '10', 'filled'],
    ['buy', 'no', { price: 0.6, time_in_force: 'fok' }, 'FOK', '6', '10', 'filled'],
    ['sell', 'yes', { price: 0.45 }, 'GTC', '4.5', '10', 'open'],
    ['sell', 'no', { price: 0.59, time_in_force: 'ioc' }, 'FAK', '5.9', '10', 'filled'],
    ['sell', 'yes', { price: 0.4, time_in_force: 'fok' }, 'FOK', '4', '10', 'filled'],
    ['buy', 'yes', { ...taking }, 'FAK', '4.1', '10', 'filled'],
    ['buy', 'no', { ...taking, time_in_force: 'fok' }, 'FOK', '6', '10', 'filled'],
    ['sell', 'yes', { ...taking, time_in_force: 'ioc' }, 'FAK', '4', '10', 'filled'],
    ['sell', 'no', { ...taking, time_in_force: 'fok' }, 'FOK', '5.9', '10', 'filled'],
  ] as const)('to %s %s, %o, reaches the exchange as asked', async (side, outcome, terms, type, usd, size, status) => {
    const dry = await place({ side, outcome, ...terms, dry_run: true });
    expect([dry.status, held()]).toEqual([200, []]);
    const { status: code, body } = await place({ side, outcome, ...terms });
    expect([code, body.error]).toEqual([201, undefined]);
    expect(held()).toMatchObject([
      {
        id: body.order.order_id,
        type,
        side: side.toUpperCase(),
        outcome: outcome === 'yes' ? 0 : 1,
        shares: parseSize(size),
        usd: parseSize(usd),
        expiration: type === 'GTD' ? String(Date.parse('2026-11-20T18:01:00Z') / 1000) : '0',
      },
    ]);
    expect(body.order).toMatchObject({ market_id: market.id, side, outcome, size: 10, status });
    const [maker, taker] = side === 'buy' ? [usd, size] : [size, usd];
    expect(dry.body.order.metadata?.['wire']).toMatchObject({
      orderType: type,
      order: { makerAmount: String(parseSize(maker)), takerAmount: String(parseSize(taker)) },
    });
  });

  test('that is filled shows shares, mean price, fee and what it spent', async () => {
    const { body } = await place({ type: 'market', price: undefined, size: 20 });
    expect(body.order).toMatchObject({
      status: 'filled',
      price: 0.41,
      filled_size: 20,
      remaining_size: 0,
      average_fill_price: 0.41,
      // 20 × 0.05 × 0.41 × 0.59
      fees: { maker_fee: 0, taker_fee: 0.2419, total_fee: 0.2419 },
      metadata: { collateral: 8.2, least_shares: 20, trade_ids: held()[0]?.tradeIds },
    });
    const cancel = await ann.delete(`/orders/${body.order.order_id}?platform=polymarket`);
    expect(cancel).toMatchObject({
      status: 409,
      body: { error: { error_text: expect.stringContaining('is filled: 20 of 20') } },
    });
  });

  test('that finds nothing is 201 and cancelled under the id it would have had', async () => {
    const { status, body } = await place({ side: 'sell', price: 0.45, time_in_force: 'fok' });
    expect([status, body.order.status, body.order.filled_size, held()]).toEqual([201, 'cancelled', 0, []]);
    expect(body.order.order_id).toMatch(/^0x[0-9a-f]{64}$/);
    clock.correct(60_000);
    expect(await read(body.order.order_id)).toMatchObject({ status: 'cancelled', filled_size: 0 });
  });

  type Book = [price: string, size: string][];
  const deep: Book = [['0.41', '1000']];
  const steps: Book = [
    ['0.3', '2'],
    ['0.35', '3.5'],
    ['0.6', '100'],
  ];
  type Line = [asks: Book, price: number, size: number, status: string, filled: number, spent: string];
  const lines: Line[] = [
    [deep, 0.99, 5, 'filled', 5, '2.05'],
    [deep, 0.41, 12.34, 'filled', 12.34146, '5.06'],
    [[['0.1', '1000']], 0.9, 12, 'filled', 12, '1.2'],
    [[['0.333', '1000']], 0.333, 5, 'filled', 5.01501, '1.67'],
    [steps, 0.9, 7.5, 'filled', 7.508333, '3.03'],
    [steps, 0.59, 5.48, 'filled', 5.48571, '1.82'],
  ];
  /** The market with these offers of YES, and no others. */
  const offer = (asks: Book): void => {
    market = rig.flat({ tick: parsePrice('0.001') });
    const book = world.book(market)!;
    const [wallet] = world.wallets;
    book.remove(({ at }) => at === 'ask');
    for (const [price, size] of asks) {
      book.rest({ wallet: wallet!, at: 'ask', price: parsePrice(price), left: shares(size), own: null });
    }
  };

  test.each(['ioc', 'fok'])('to buy at once with a limit buys its size, whatever the limit (%s)', async (tif) => {
    for (const [asks, price, size, status, filled, spent] of lines) {
      offer(asks);
      const cash = account.cash;
      const { body } = await place({ price, size, time_in_force: tif });
      expect(body.error).toBeUndefined();
      const { order } = body;
      expect(order).toMatchObject({ status, size, price });
      expect(order.filled_size).toBeCloseTo(filled, 4);
      // A cent buys the rest.
      const paid = Number(cash - account.cash) / 1e6;
      expect(paid).toBeGreaterThanOrEqual(Number(spent) - 0.00001);
      expect(paid).toBeLessThan(Number(spent) + 0.01);
    }
  });

  test('to buy at once buys no more than the book offers within the limit, and is refused where that is nothing', async () => {
    offer(steps);
    expect((await place({ price: 0.5, size: 10, time_in_force: 'ioc' })).body.order).toMatchObject({
      status: 'cancelled',
      filled_size: 5.5,
    });
    offer(steps);
    const refusals = [
      await place({ price: 0.5, size: 10, time_in_force: 'fok' }),
      await place({ price: 0.59, size: 5.5, time_in_force: 'fok' }),
      await place({ price: 0.29, size: 10, time_in_force: 'fok' }),
      await place({ price: 0.29, size: 10, time_in_force: 'ioc' }),
    ];
    expect(refusals.map(({ status, body }) => [status, body.error.message])).toEqual([
      [422, 'The book cannot fill the whole order'],
      [422, 'Polymarket cannot spend the exact cost of the size'],
      [422, 'The book offers nothing within the price'],
      [422, 'The book offers nothing within the price'],
    ]);
    // 1.825 pUSD buy the whole level; 1.82 leave a part of it.
    expect(refusals[1]?.body.error.resolution).toContain('another size: 5.48.');
  });

  test('cancelled elsewhere, expired, or filled by others becomes known by reading it', async () => {
    const [elsewhere, dated, filled] = [
      await place({ price: 0.3 }),
      await place({ price: 0.31, expiration: '2026-11-20T23:30:00Z' }),
      await place({ price: 0.32 }),
    ].map(({ body }) => body.order.order_id);
    world.exchange.cancel(held()[0]!);
    world.book(market)?.remove(({ own }) => own === null);
    const bob = await rig.trader();
    await rig.limit(bob, { token: market.tokenIds[1] ?? '', at: 0.68, size: 10 });
    clock.correct(Date.parse('2026-11-20T23:31:00Z') - clock.now());
    const list = async () => (await ann.get('/orders?platform=polymarket')).body.orders;
    await list();
    clock.correct(10_000);
    const states = new Map((await list()).map((order) => [order.order_id, order.status]));
    expect([elsewhere, dated, filled].map((id) => states.get(id ?? ''))).toEqual(['cancelled', 'expired', 'filled']);
    expect((await ann.get('/orders?platform=polymarket&status=expired')).body.orders).toMatchObject([
      { order_id: dated },
    ]);
  });

  test('is placed with the credential that is named, whatever wallet that is', async () => {
    const key = `0x${String(members).padStart(64, 'e')}` as const;
    const safe = world.addWallet({ privateKey: key, signatureType: 2 });
    const fields = { private_key: key, signature_type: 2, funder: safe.wallet.address as `0x${string}` } as const;
    const id = await ann.credential('polymarket', fields);
    const { status, body } = await place({ credential_id: id });
    expect([status, world.ordersOf(safe).map((order) => order.id)]).toEqual([201, [body.order.order_id]]);
    expect(held()).toEqual([]);
  });

  test('placed with Polymarket’s own client is listed and cancelled here, which lists and cancels ours', async () => {
    const bob = await rig.trader({ privateKey: `0x${String(members).padStart(64, 'a')}` });
    const theirs = await rig.limit(bob, { token: market.tokenIds[0] ?? '', at: 0.33, size: 12 });
    const id = await ann.credential('polymarket', { private_key: bob.privateKey, signature_type: 0 });
    const query = `platform=polymarket&credential_id=${id}`;
    const { order_id: ours } = (await place({ credential_id: id })).body.order;
    const listed = (await bob.client.getOpenOrders()).map((row) => row.id);
    expect(listed.toSorted()).toEqual([theirs.orderID, ours].toSorted());
    expect(await bob.client.cancelOrder({ orderID: ours })).toMatchObject({ canceled: [ours] });
    expect((await ann.get(`/orders?${query}&status=open`)).body.orders).toMatchObject([
      {
        order_id: theirs.orderID,
        side: 'buy',
        outcome: 'yes',
        price: 0.33,
        size: 12,
        status: 'open',
        client_order_id: '',
      },
    ]);
    expect(await ann.delete(`/orders/${String(theirs.orderID)}?${query}`)).toMatchObject({
      status: 200,
      body: { cancelled: true },
    });
  });

  test.each([
    ['a price between steps', { price: 0.355 }, 'reject the price', '0.35 or 0.36'],
    ['a size of three decimals', { size: 10.005 }, 'reject the size', '10 or 10.01'],
    ['less than the smallest order that rests', { size: 4.99 }, 'too small to rest', '5 or more'],
    ['less than a dollar at once', { size: 1, price: 0.41, time_in_force: 'ioc' }, 'too small', '2.44 or more'],
    ['more than the wallet holds', { size: 90_000 }, 'not enough balance', 'Fund the wallet'],
    ['shares it does not hold', { side: 'sell', size: 101 }, 'not enough balance', 'Fund the wallet'],
    [
      'a fok of more than the book holds',
      { type: 'market', price: undefined, time_in_force: 'fok', size: 1001 },
      'cannot fill',
      'ioc',
    ],
  ])('with %s is refused with 422 that says what to change', async (_, change, words, help) => {
    const { status, body } = await place(change);
    expect([status, held()]).toEqual([422, []]);
    expect(body.error.message).toContain(words);
    expect(body.error.resolution).toContain(help);
  });

  test('with a price between the stored steps is held against the step of the current book', async () => {
    expect((await place()).status).toBe(201);
    market.tick = parsePrice('0.001');
    const { status, body } = await place({ price: 0.355 });
    expect([status, body.order?.price]).toEqual([201, 0.355]);
    expect((await place({ price: 0.3555 })).body.error.resolution).toContain('0.355 or 0.356');
  });

  test('with a date that may be less than two minutes ahead when it arrives is refused with the seconds that it needs', async () => {
    for (const seconds of [6, 60, 119, 120]) {
      const { status, body } = await place({ expiration: new Date(clock.now() + seconds * 1000).toISOString() });
      expect([status, body.error.resolution]).toEqual([422, expect.stringContaining('valid for 120 seconds or more')]);
    }
    expect((await place({ expiration: new Date(clock.now() + 123_000).toISOString() })).status).toBe(201);
  });

  test('on a market of Protocol V2 is placed, read, listed and cancelled, whichever way the market is named', async () => {
    market = rig.flat({ version: 'v2' });
    for (const id of [market.id, market.conditionId, market.conditionId.slice(0, 64)]) {
      const { status, body } = await place({ market_id: id });
      expect([status, body.order]).toMatchObject([201, { status: 'open', market_id: market.id }]);
      expect(await read(body.order.order_id)).toMatchObject({ status: 'open' });
      const listed = await ann.get(`/orders?platform=polymarket&market_id=${id}&status=open`);
      expect(listed.body.orders).toMatchObject([{ order_id: body.order.order_id }]);
      const cancelled = await ann.delete(`/orders/${body.order.order_id}?platform=polymarket`);
      expect([cancelled.status, cancelled.body.order]).toMatchObject([200, { status: 'cancelled' }]);
    }
    const bought = await place({ type: 'market', price: undefined, time_in_force: 'fok', size: 20 });
    expect([bought.status, bought.body.order]).toMatchObject([201, { status: 'filled', filled_size: 20 }]);
  });

  test('on a negative-risk market of Protocol V2 is refused with 422 that names the setting', async () => {
    market = rig.flat({ version: 'v2' }, true);
    const { status, body } = await place();
    expect([status, held()]).toEqual([422, []]);
    expect(body.error.resolution).toContain('POLYMARKET_V2_NEGATIVE_RISK');
  });

  test('while Polymarket takes none is refused with 503 and the wait it names', async () => {
    world.exchange.mode = 'post-only';
    world.exchange.modeUntilMs = clock.now() + 79_000;
    const { status, headers } = await place();
    expect([status, headers['retry-after'], held()]).toEqual([503, '79', []]);
  });
});

describe('an order on Polymarket without an answer', () => {
  test.each([
    ['never arrived', { kind: 'reset' }],
    ['met an engine that restarts', { kind: 'status', status: 425, body: '' }],
  ] as const)('that %s is 202 under the id it would have, and rejected after two minutes', async (_, fault) => {
    our.sim.inject({ match: /POST \/clob\/order$/, times: 1, ...fault });
    const before = attempts();
    const { status, body } = await place({ idempotency_key: `key-${members}` });
    const id = body.order.order_id;
    expect([status, body.order.status, id]).toEqual([202, 'unknown', expect.stringMatching(/^0x[0-9a-f]{64}$/)]);
    const cancel = await ann.delete(`/orders/${id}?platform=polymarket`);
    expect(cancel.status).toBe(503);
    clock.correct(121_000);
    expect(await read(id)).toMatchObject({ status: 'rejected', filled_size: 0 });
    const replay = await place({ idempotency_key: `key-${members}` });
    expect(replay.body).toMatchObject({
      order: { order_id: id, status: 'rejected' },
      meta: { idempotent_replay: true },
    });
    expect([attempts() - before, held()]).toEqual([1, []]);
  });

  test('and was filled meanwhile shows what it got', async () => {
    our.sim.inject({ match: /POST \/clob\/order$/, times: 1, kind: 'after' });
    const { status, body } = await place({ type: 'market', price: undefined, time_in_force: 'fok', size: 20 });
    expect([status, body.order]).toMatchObject([201, { status: 'filled', filled_size: 20, average_fill_price: 0.41 }]);
    expect(body.order.fees.taker_fee).toBe(0.2419);
  });
});

test('an API key of the operator that ended is no fault of the caller: the order can be placed again', async () => {
  const bob = await our.trading.customer({ mayUseDefaultClients: true });
  expect((await bob.post('/orders', asked())).status).toBe(201);
  const operator = world.exchange.accounts.byMaker(privateKeyToAccount(OPERATOR).address)!;
  world.exchange.keys.listOf(operator.owner).forEach((key) => world.exchange.keys.drop(key));
  const refused = await bob.post('/orders', asked());
  expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1']);
  expect((await bob.post('/orders', asked())).status).toBe(201);
});

describe('a choice that an order on Polymarket may make', () => {
  test('an amount is spent in place of a size', async () => {
    const cash = account.cash;
    const { body } = await place({ type: 'market', price: undefined, size: undefined, amount: 5 });
    expect(body.order).toMatchObject({ status: 'filled', remaining_size: 0, received_usd: null });
    expect(body.order.filled_size).toBeCloseTo(5 / 0.41, 4);
    expect(Number(cash - account.cash) / 1e6).toBeCloseTo(5 + (body.order.fees.taker_fee ?? NaN), 4);
    const small = await place({ type: 'market', price: undefined, size: undefined, amount: 0.99 });
    expect([small.status, small.body.error.resolution]).toEqual([
      422,
      expect.stringContaining('an amount of 1 or more'),
    ]);
  });

  test('post_only rests, and is refused where it would trade', async () => {
    expect((await place({ post_only: true })).body.order.status).toBe('open');
    expect(held()).toMatchObject([{ postOnly: true, status: 'LIVE' }]);
    const crossing = await place({ post_only: true, price: 0.41 });
    expect([crossing.status, crossing.body.error.resolution]).toEqual([
      422,
      expect.stringContaining('would trade at once'),
    ]);
  });

  test('self_trade_prevention is refused, and reduce_only is held against what the wallet holds', async () => {
    const stp = await place({ self_trade_prevention: 'cancel_maker' });
    expect([stp.status, stp.body.error.message]).toEqual([422, 'Polymarket has no choice of self-trade prevention']);
    const sale = { side: 'sell', price: 0.45, reduce_only: true };
    expect((await place({ ...sale, size: 101 })).status).toBe(422);
    expect((await place({ ...sale, size: 100 })).status).toBe(201);
    expect((await place({ reduce_only: true })).status).toBe(422);
  });

  test('a sale brings its proceeds less the fee', async () => {
    const cash = account.cash;
    const { body } = await place({ side: 'sell', type: 'market', price: undefined, size: 50 });
    expect(body.order).toMatchObject({ status: 'filled', received_size: null });
    expect(body.order.received_usd).toBeCloseTo(Number(account.cash - cash) / 1e6, 6);
  });

  test('several orders are sent in one call, each with its own result', async () => {
    const [together, alone] = [batches(), attempts()];
    const bodies = [asked(), asked({ size: 90_000 }), asked({ price: 0.355 }), asked({ price: 0.34, outcome: 'no' })];
    const { status, body } = await ann.post('/orders/batch', { orders: bodies });
    expect(status).toBe(200);
    expect(body.results.map((one) => one.status)).toEqual([201, 422, 422, 201]);
    expect([batches(), attempts()]).toEqual([together + 1, alone]);
    expect(held()).toHaveLength(2);
  });

  test('balances show what the wallet holds and what orders reserve', async () => {
    await place();
    const { status, body } = await ann.get(`/balances?platform=polymarket&outcome_of=${market.id}`);
    expect(status).toBe(200);
    expect(body.balances).toMatchObject([
      { asset: 'pUSD', total: 10_000, available: 9996.5, reserved: 3.5 },
      { asset: 'yes', total: 100 },
      { asset: 'no', total: 100 },
    ]);
  });
});

/** Until the reconciler has brought the stored order there, without anybody asking for it. */
async function storedAs(id: string, status: string): Promise<void> {
  const { db } = our.trading.service.postgres;
  const row = async () => (await db.select().from(orders).where(eq(orders.orderId, id)))[0];
  for (let i = 0; i < 100 && (await row())?.status !== status; i++) await clock.sleep(50);
  expect((await row())?.status).toBe(status);
}

const fill = async (): Promise<{ id: string; trade: ClobTrade }> => {
  const { body } = await place({ price: 0.41 });
  expect(body.order).toMatchObject({ status: 'filled', filled_size: 10 });
  const trade = world.exchange.trades.at(-1);
  if (!trade) throw new Error('no trade');
  return { id: body.order.order_id, trade };
};

describe('a matched order whose settlement', () => {
  test('is tried again is pending, by itself and when read; it is filled once that went well', async () => {
    const { id, trade } = await fill();
    trade.trouble = 'RETRYING';
    clock.correct(6000);
    await storedAs(id, 'pending');
    expect(await read(id)).toMatchObject({ status: 'pending', filled_size: 0, remaining_size: 10 });
    trade.trouble = null;
    clock.correct(10_000);
    await storedAs(id, 'filled');
    expect(await read(id)).toMatchObject({ status: 'filled', filled_size: 10, average_fill_price: 0.41 });
  });

  test('failed for good is shown as not filled, without fees, and is not looked for again', async () => {
    const { cash } = account;
    const { id, trade } = await fill();
    expect(account.cash).toBeLessThan(cash);
    world.exchange.fail(trade);
    clock.correct(6000);
    await storedAs(id, 'cancelled');
    expect(await read(id)).toMatchObject({
      status: 'cancelled',
      filled_size: 0,
      remaining_size: 0,
      average_fill_price: null,
      fees: { total_fee: 0 },
    });
    // As it is: the money never left.
    expect([account.cash, world.held(account.wallet, market, 0)]).toEqual([cash, shares('100')]);
    const [row] = await our.trading.service.postgres.db.select().from(orders).where(eq(orders.orderId, id));
    expect(row?.recheckAt).toBeNull();
  });

  test('is confirmed stays filled and is looked for no more', async () => {
    const { id } = await fill();
    const next = async () =>
      (await our.trading.service.postgres.db.select().from(orders).where(eq(orders.orderId, id)))[0]?.recheckAt;
    expect(await next()).not.toBeNull();
    clock.correct(121_000);
    for (let i = 0; i < 100 && (await next()) !== null; i++) await clock.sleep(50);
    expect(await next()).toBeNull();
    expect(await read(id)).toMatchObject({ status: 'filled', filled_size: 10 });
  });

  test('failed for a part of an order at work is counted neither as filled nor as working', async () => {
    const { body } = await place({ price: 0.41, size: 1200 });
    const { order_id: id } = body.order;
    expect(body.order).toMatchObject({ status: 'partially_filled', filled_size: 1000 });
    const trade = world.exchange.trades.at(-1);
    if (trade) world.exchange.fail(trade);
    // Only what was not matched is in the book.
    expect(await read(id)).toMatchObject({ status: 'open', filled_size: 0, remaining_size: 200 });
  });
});
