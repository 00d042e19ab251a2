import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parsePrice, parseSize, parseUsd } from '../../../src/core/decimal.ts';
import type { StoredMarket } from '../../../src/platforms/contract.ts';
import type { PlatformHttp } from '../../../src/platforms/http/request.ts';
import { KalshiFields } from '../../../src/platforms/kalshi/credential.ts';
import { createKalshiData } from '../../../src/platforms/kalshi/data.ts';
import { createKalshiOrders } from '../../../src/platforms/kalshi/orders/adapter.ts';
import type {
  Balance,
  OrderAccess,
  OrderRecord,
  Placement,
  PlatformOrder,
} from '../../../src/platforms/order-contract.ts';
import { PlacementGroup } from '../../../src/orders/placing/placement-group.ts';
import { virtualClock } from '../../helpers/virtual-clock.ts';
import { readContext, SETTINGS } from '../../fixtures/canned-http.ts';
import { unmeteredHttp } from '../../fixtures/unmetered-http.ts';
import { startKalshi, type KalshiSimulator, type Member } from '../../simulators/kalshi.ts';
import type { ReplyEdit } from '../../simulators/lib/index.ts';
import { orderTerms, type WantedTerms } from '../../fixtures/order-terms.ts';

let http: PlatformHttp;
let sim: KalshiSimulator;
let adapter: ReturnType<typeof createKalshiOrders>;
let member: Member;
let market: StoredMarket;

beforeAll(async () => {
  http = await unmeteredHttp();
  sim = await startKalshi({ seed: 5, markets: 12, tradesPerMarket: 5 });
  sim.enforceLimits = false;
  adapter = createKalshiOrders({ http, settings: { ...SETTINGS, ...sim.env }, now: Date.now });
});
afterAll(async () => {
  await sim?.close();
  await http?.close();
});

/** A market of its own for each test: 0.40 bid for 20, 0.45 asked for 30 contracts, and nothing else nearby. */
beforeEach(async () => {
  sim.clearFaults();
  sim.requests.clear();
  Object.assign(sim.world.desk.settings, { cancelDelayMs: 0, fillOrKill: 'empty' });
  const ticker = sim.world.createMarket('rate');
  sim.world.tradeOn(ticker, { takerSide: 'yes', yesPrice: '0.4500', count: '1' });
  sim.world.tradeOn(ticker, { takerSide: 'no', yesPrice: '0.4000', count: '1' });
  sim.world.bookOf(ticker).add('bid', 4000, { trader: 0, count: 2000 });
  sim.world.bookOf(ticker).add('ask', 4500, { trader: 0, count: 3000 });
  member = sim.world.addAccount({ balance: '100' });
  const data = createKalshiData({ http, settings: { ...SETTINGS, ...sim.env }, now: Date.now });
  const record = await data.market(ticker, readContext());
  if (!record) throw new Error('no such market');
  market = { ...record.info, status: record.state.status };
});

const access = (over: Partial<OrderAccess<'kalshi'>> = {}, who = member): OrderAccess<'kalshi'> => ({
  credential: KalshiFields.parse({ api_key_id: who.apiKeyId, private_key: who.privateKeyPem }),
  priority: 'live',
  markets: { byRef: async () => new Map<string, StoredMarket>() },
  onBadRow: (row) => {
    throw new Error(`a bad row: ${JSON.stringify(row)}`);
  },
  ...over,
});

async function signed(wanted: WantedTerms = {}, by = access()) {
  const order = {
    market,
    terms: orderTerms(wanted),
    clientOrderId: randomUUID(),
    seed: new Uint8Array(32),
    claimedAtMs: 0,
  };
  adapter.check(order.market, order.terms);
  const prepared = await adapter.prepare(order, by);
  const record: OrderRecord = {
    orderId: null,
    clientOrderId: order.clientOrderId,
    marketRef: market.ref,
    marketId: market.platformId,
    terms: order.terms,
    wire: prepared.wire,
    sentAtMs: Date.now(),
  };
  return { ...prepared, record };
}
const place = async (wanted: WantedTerms = {}, by = access()): Promise<Placement> => (await signed(wanted, by)).place();
const accepted = (placement: Placement): PlatformOrder => {
  if (placement.result !== 'accepted') throw new Error(`${placement.result}: ${placement.detail}`);
  return placement.order;
};
const held = () => sim.world.ordersOf(member);
const sent = (): number => sim.requests.get('POST /trade-api/v2/portfolio/events/orders') ?? 0;
const answer = (status: number, body: unknown, match = /^POST .*orders$/): void =>
  sim.inject({ match, times: 1, kind: 'status', status, body: typeof body === 'string' ? body : JSON.stringify(body) });
const refusal = (code: string, message: string) => ({ error: { code, message } });

describe('choices of an order', () => {
  test.each(['gtc', 'gtd'] as const)('post_only %s rests, and is refused where it would trade', async (timeInForce) => {
    const ends = timeInForce === 'gtd' ? Date.now() + 3_600_000 : null;
    const wanted = { postOnly: true, timeInForce, expirationMs: ends };
    expect(accepted(await place({ ...wanted, price: '0.44' }))).toMatchObject({ status: 'open' });
    expect(await place({ ...wanted, price: '0.45' })).toMatchObject({
      result: 'rejected',
      httpStatus: 400,
      refusal: {
        status: 422,
        message: expect.stringContaining('post only cross'),
        resolution: expect.stringContaining('would trade at once'),
      },
    });
    expect(held()).toHaveLength(1);
  });

  test('reduce_only fills no more than the position, where Kalshi has it; elsewhere it is not sent', async () => {
    accepted(await place({ price: '0.45', size: '4', timeInForce: 'ioc' }));
    const wanted = { side: 'sell', price: '0.4', reduceOnly: true } as const;
    const order = accepted(await place({ ...wanted, timeInForce: 'ioc' }));
    expect(order).toMatchObject({ status: 'cancelled', filledSize: parseSize('4'), remainingSize: 0n });
    for (const timeInForce of ['gtc', 'fok'] as const) {
      expect((await signed({ ...wanted, timeInForce })).wire).not.toHaveProperty('reduce_only');
    }
    expect(accepted(await place({ ...wanted, timeInForce: 'ioc' }))).toMatchObject({
      status: 'cancelled',
      filledSize: 0n,
    });
  });

  test.each([
    [null, 'taker_at_cross', 'cancelled', 'open'],
    ['cancel_taker', 'taker_at_cross', 'cancelled', 'open'],
    ['cancel_maker', 'maker', 'filled', 'cancelled'],
  ] as const)('self_trade_prevention %s is sent as %s', async (selfTradePrevention, wire, taking, resting) => {
    const mine = accepted(await place({ side: 'sell', price: '0.44' }));
    const { place: send, wire: body } = await signed({ price: '0.45', timeInForce: 'ioc', selfTradePrevention });
    expect(body).toMatchObject({ self_trade_prevention_type: wire });
    expect(accepted(await send())).toMatchObject({ status: taking });
    expect(await adapter.get(mine.orderId, access())).toMatchObject({ status: resting });
  });

  test('self_trade_prevention cancel_both is refused before it is signed', async () => {
    await expect(signed({ selfTradePrevention: 'cancel_both' })).rejects.toMatchObject({
      status: 422,
      message: 'Kalshi cannot cancel both orders of a self-trade',
    });
    expect(sent()).toBe(0);
  });
});

describe('what a placement brought', () => {
  test('is contracts for a purchase, dollars after fees for a sale', async () => {
    const bought = accepted(await place({ price: '0.45', size: '12.34', timeInForce: 'ioc' }));
    expect(bought).toMatchObject({ receivedSize: parseSize('12.34'), receivedUsd: null });
    const sold = accepted(await place({ side: 'sell', price: '0.4', size: '12.34', timeInForce: 'ioc' }));
    const fees = parseUsd(held().at(-1)?.fees ?? '');
    expect(fees).toBeGreaterThan(0n);
    expect(sold).toMatchObject({ receivedSize: null, receivedUsd: parseUsd('4.936') - fees, takerFee: fees });
    expect(accepted(await place({ side: 'sell', price: '0.9' }))).toMatchObject({ receivedUsd: 0n });
  });
});

test('a sale that was amended to another price after a fill brings what its fills brought', async () => {
  const { place: send, record } = await signed({ side: 'sell', price: '0.44' });
  const { orderId } = accepted(await send());
  sim.world.takeOn(market.ref, { takerSide: 'yes', yesPrice: '0.4400', count: '4.00' });
  const own = sim.world.desk.accounts.flatMap(({ orders }) => orders.get(orderId) ?? [])[0];
  if (!own) throw new Error('no such order');
  sim.world.desk.amend(own, { price: 6000, count: 1000 });
  const fees = parseUsd(held()[0]?.fees ?? '');
  expect(await adapter.find([{ ...record, orderId }], access())).toMatchObject([
    { filledSize: parseSize('4'), averageFillPrice: parsePrice('0.44'), receivedUsd: parseUsd('1.76') - fees },
  ]);
});

describe('an answer that does not say what happened', () => {
  test.each([
    ['no order id', 201, { client_order_id: 'c', fill_count: '0.00', remaining_count: '10.00' }],
    ['an empty order id', 200, { order_id: '', fill_count: '0.00', remaining_count: '10.00' }],
    ['nothing', 201, {}],
    ['an error with 200', 200, refusal('invalid_order', 'invalid order')],
    ['a text', 200, 'OK'],
    ["a gateway's page", 403, '<html><head><title>Attention Required! | Cloudflare</title></head></html>'],
    ['a gateway that failed', 502, '<html><title>Bad gateway</title>'],
    ['an order that exists', 409, refusal('order_already_exists', 'order already exists')],
    ['an order that exists, in other words', 409, refusal('order_already_exists', 'client_order_id was used before')],
    ['a failure inside', 503, refusal('service_unavailable', 'service_unavailable')],
  ])('%s is unknown with a reason, and then looked up', async (_, status, body) => {
    const { place: send, record } = await signed({}, access(readContext()));
    answer(status, body);
    const placement = await send();
    expect(placement).toMatchObject({ result: 'unknown', httpStatus: status });
    expect(placement.detail).not.toBe('');
    if (typeof body === 'object' && 'error' in body) expect(placement.detail).toContain(body.error.message);
    expect(await adapter.find([record], access())).toEqual([null]);
    expect(sent()).toBe(1);
  });

  test.each([
    [{ ts_ms: 'now' }, 'ts_ms'],
    [{ ts_ms: {}, average_fill_price: '81' }, 'average_fill_price', 'ts_ms'],
    [{ average_fill_price: 'many' }, 'average_fill_price'],
    [{ ts_ms: 1e20 }],
    [{ client_order_id: [] }, 'client_order_id'],
  ])('is an acceptance where only what may be unknown is odd: %j', async (odd, ...fields) => {
    const context = readContext();
    answer(201, { order_id: 'o-1', client_order_id: 'c', fill_count: '0.00', remaining_count: '10.00', ...odd });
    const { order } = (await place({}, access(context))) as { order: PlatformOrder };
    expect(order).toMatchObject({ orderId: 'o-1', status: 'open', averageFillPrice: null });
    expect(Date.now() - Date.parse(order.createdAt ?? '')).toBeLessThan(60_000);
    expect(context.badRows.map(({ field }) => field).toSorted()).toEqual(fields);
  });

  test('is unknown where the order was taken, and then found', async () => {
    const { place: send, record } = await signed();
    sim.inject({ match: /^POST .*orders$/, times: 1, kind: 'after' });
    expect(await send()).toMatchObject({ result: 'unknown' });
    expect(await adapter.find([record], access())).toMatchObject([{ orderId: held()[0]?.orderId, status: 'open' }]);
  });

  test("of a cancel, 'not found' about an order that works is passed on as it is", async () => {
    const order = accepted(await place());
    sim.world.desk.settings.cancelDelayMs = 60_000;
    expect(await adapter.cancel([order], access())).toEqual([
      { result: 'not_open', httpStatus: 404, detail: 'not found' },
    ]);
    expect(await adapter.get(order.orderId, access())).toMatchObject({ status: 'open' });
    sim.world.desk.settings.cancelDelayMs = 0;
    expect(await adapter.cancel([order], access())).toMatchObject([{ result: 'cancelled' }]);
    expect(await adapter.cancel([order], access())).toMatchObject([{ result: 'not_open', httpStatus: 404 }]);
  });
});

/** Places these orders as the room does: every one takes part in the group or leaves it. */
async function together(wanted: WantedTerms[]) {
  const group = new PlacementGroup(wanted.length, virtualClock());
  const orders = await Promise.all(wanted.map((one) => signed(one, access({ group: group.member() }))));
  const placements = await Promise.all(orders.map((order) => order.place()));
  return { placements, records: orders.map(({ record }) => record) };
}

test.each(['trading_is_paused', 'exchange_is_paused'])('%s is 503: the order was not placed', async (code) => {
  answer(409, refusal(code, code.replaceAll('_', ' ')));
  expect(await place()).toMatchObject({
    result: 'rejected',
    refusal: { status: 503, message: 'Kalshi accepts no orders now', retryAfter: expect.any(Number) },
  });
});

describe('orders placed together', () => {
  const BATCHED = 'POST /trade-api/v2/portfolio/events/orders/batched';

  test('go out in as few calls as the budget pays for, and each has its own result', async () => {
    const { placements } = await together([
      { price: '0.41' },
      { price: '0.45', size: '3' },
      { price: '0.39', size: '90000' },
      { price: '0.45', postOnly: true },
      { side: 'sell', price: '0.9', size: '2' },
      { price: '0.42', size: '0.01' },
      { price: '0.43' },
    ]);
    expect(placements.map((one) => (one.result === 'accepted' ? one.order.status : one.result))).toEqual([
      'open',
      'filled',
      'rejected',
      'rejected',
      'open',
      'open',
      'open',
    ]);
    expect(placements[1]).toMatchObject({ order: { takerFee: parseUsd(held()[1]?.fees ?? '') } });
    expect(placements[2]).toMatchObject({ refusal: { status: 422, resolution: expect.stringContaining('Fund') } });
    expect(placements[3]).toMatchObject({ refusal: { message: expect.stringContaining('post only cross') } });
    expect(sim.requests.get(BATCHED)).toBe(2);
    expect(sent()).toBe(0);
    expect(held()).toHaveLength(5);
  });

  test('a fok that the book cannot fill is refused like one that is sent alone, and is not left unknown', async () => {
    sim.world.desk.settings.fillOrKill = 'refused';
    const killed = { price: '0.45', size: '31', timeInForce: 'fok' } as const;
    const { placements } = await together([killed, { price: '0.41' }]);
    for (const placement of [await place(killed), placements[0]]) {
      expect(placement).toMatchObject({
        result: 'rejected',
        refusal: { status: 422, resolution: expect.stringContaining('use ioc') },
      });
    }
    expect(placements[1]).toMatchObject({ result: 'accepted' });
  });

  test('a single one goes out alone', async () => {
    const { placements } = await together([{}]);
    expect(placements).toMatchObject([{ result: 'accepted' }]);
    expect([sent(), sim.requests.get(BATCHED)]).toEqual([1, undefined]);
  });

  test('are all unknown when the answer is lost, and then found', async () => {
    sim.inject({ match: /batched$/, times: 1, kind: 'after' });
    const { placements, records } = await together([{}, { price: '0.42' }]);
    expect(placements.map(({ result }) => result)).toEqual(['unknown', 'unknown']);
    const ids = held().map(({ orderId }) => orderId);
    expect((await adapter.find(records, access())).map((order) => order?.orderId)).toEqual(ids);
    expect(sim.requests.get(BATCHED)).toBe(1);
  });

  test('are refused together when the call is', async () => {
    answer(401, refusal('unauthorized', 'unauthorized'), /batched$/);
    const { placements } = await together([{}, {}]);
    for (const placement of placements) {
      expect(placement).toMatchObject({ result: 'rejected', refusal: { message: 'Kalshi rejected the credential' } });
    }
    expect(held()).toEqual([]);
  });

  test.each([
    [404, 'not_found'],
    [400, 'MARKET_INACTIVE'],
    [400, 'available_balance_too_low'],
  ])('are all unknown when the call is refused with %i %s, a word about one of them', async (status, code) => {
    answer(status, refusal(code, 'a text'), /batched$/);
    const { placements } = await together([{}, {}]);
    expect(placements).toMatchObject([
      { result: 'unknown', httpStatus: status },
      { result: 'unknown', httpStatus: status },
    ]);
  });

  const paused = { error: { code: 'exchange_is_paused', message: 'exchange is paused' } };
  const nothing = { order_id: null, client_order_id: null, fill_count: null, remaining_count: null };
  test.each([
    ['another error', { orders: [{ ...nothing, error: { code: 'internal', message: 'busy' } }, {}] }, 'unknown'],
    [
      'an error without a code',
      {
        orders: [
          { ...nothing, error: {} },
          { ...nothing, error: 'no' },
        ],
      },
      'unknown',
    ],
    ['nothing about them', { orders: [nothing, nothing] }, 'unknown'],
    ['too few results', { orders: [paused] }, 'unknown'],
    ['a duplicate', { orders: [refusal('order_already_exists', 'exists'), null] }, 'unknown'],
    ['no list', {}, 'unknown'],
    ["another order's result", { orders: ['a', 'b'].map((id) => placedAs(id)) }, 'unknown'],
    ['a pause', { orders: [paused, paused] }, 'rejected'],
  ])('with %s: %#', async (_, body, wanted) => {
    answer(201, body, /batched$/);
    const { placements } = await together([{}, {}]);
    expect(placements.map(({ result }) => result)).toEqual([wanted, wanted]);
    for (const placement of placements) expect(placement.detail).not.toBe('');
    if (wanted === 'rejected') expect(placements[0]).toMatchObject({ refusal: { status: 503 } });
  });

  test('an ioc for which the book has nothing is refused like one that is sent alone', async () => {
    const nothing = refusal('immediate_or_cancel_insufficient_resting_volume', 'insufficient resting volume');
    const ioc = { price: '0.44', timeInForce: 'ioc' } as const;
    answer(201, { orders: [nothing, nothing] }, /batched$/);
    answer(409, nothing);
    const { placements } = await together([ioc, ioc]);
    for (const placement of [await place(ioc), ...placements]) {
      expect(placement).toMatchObject({ result: 'rejected', refusal: { status: 422 } });
    }
  });

  const invalid = refusal('invalid_order', 'invalid order');
  test.each<[string, (ids: string[]) => unknown[], string[]]>([
    ['in order', ([a = '', , c = '']) => [placedAs(a), invalid, placedAs(c)], ['accepted', 'rejected', 'accepted']],
    [
      'in another order',
      ([, b = '', c = '']) => [placedAs(b), invalid, placedAs(c)],
      ['unknown', 'accepted', 'accepted'],
    ],
    ['with one missing', ([, b = '']) => [invalid, placedAs(b)], ['unknown', 'accepted', 'unknown']],
    [
      'with one too many',
      ([a = '', b = '', c = '']) => [a, b, c, 'd'].map(placedAs),
      ['accepted', 'accepted', 'accepted'],
    ],
  ])('answered %s each get the result that names them, and no refusal of another', async (_, body, wanted) => {
    const group = new PlacementGroup(3, virtualClock());
    const orders = await Promise.all([{}, {}, {}].map((one) => signed(one, access({ group: group.member() }))));
    answer(201, { orders: body(orders.map(({ record }) => record.clientOrderId)) }, /batched$/);
    const placements = await Promise.all(orders.map((order) => order.place()));
    expect(placements.map(({ result }) => result)).toEqual(wanted);
    for (const [at, placement] of placements.entries()) {
      if (placement.result === 'accepted') expect(placement.order.orderId).toBe(orders[at]?.record.clientOrderId);
    }
  });
});

const placedAs = (id: string) => ({
  order_id: id,
  client_order_id: id,
  fill_count: '0.00',
  remaining_count: '10.00',
});

/** Two and a half No, and an open purchase of ten Yes that Kalshi lists in a subaccount. `edit` changes other answers. */
async function inSubaccount(edit: ReplyEdit): Promise<Balance | undefined> {
  const rich = sim.world.addAccount({ balance: '100' });
  const by = access({}, rich);
  accepted(await place({ price: '0.3', size: '10' }, by));
  accepted(await place({ outcomeIndex: 1, price: '0.6', size: '2.5', timeInForce: 'ioc' }, by));
  sim.rewrite((request, reply) =>
    request.path.endsWith('/portfolio/orders')
      ? { ...reply, body: reply.body.replaceAll('"subaccount_number":0', '"subaccount_number":1') }
      : edit(request, reply),
  );
  const { balances } = await adapter.balances(market, by);
  sim.rewrite(null);
  return balances.at(-1);
}

describe('balances', () => {
  test('are cash that can be spent, of each shard too, and the net position as its outcome', async () => {
    const rich = sim.world.addAccount({ balance: { 0: '100', 2: '7.5' } });
    const by = access({}, rich);
    accepted(await place({ price: '0.3', size: '10' }, by));
    accepted(await place({ outcomeIndex: 1, price: '0.6', size: '2.5', timeInForce: 'ioc' }, by));
    const fees = parseUsd(sim.world.ordersOf(rich).at(-1)?.fees ?? '');
    // What is paid for No, and a bid for 10 of which 2.5 would close that.
    const free = parseUsd('100') - parseUsd('1.5') - parseUsd('2.25') - fees;
    const cash = { total: null, reserved: null };
    expect(await adapter.balances(market, by)).toEqual({
      balances: [
        { asset: 'USD', ...cash, available: free + parseUsd('7.5') },
        { asset: 'USD/0', ...cash, available: free },
        { asset: 'USD/1', ...cash, available: 0n },
        { asset: 'USD/2', ...cash, available: parseUsd('7.5') },
        { asset: 'USD/3', ...cash, available: 0n },
        { asset: 'yes', total: 0n, available: 0n, reserved: 0n },
        // The bid for Yes would close all of it.
        { asset: 'no', total: parseSize('2.5'), available: 0n, reserved: parseSize('2.5') },
      ],
      allowances: [],
    });
  });

  test('count no orders of subaccounts, whose positions are others', async () => {
    const held = await inSubaccount((_, reply) => reply);
    expect(held).toEqual({ asset: 'no', total: parseSize('2.5'), available: parseSize('2.5'), reserved: 0n });
  });

  test('count the orders of the subaccount that the key is locked to, whose position it reads', async () => {
    const forbidden = { status: 403, body: '{"error":{"code":"forbidden","message":"subaccount"}}' };
    const held = await inSubaccount(({ query }, reply) => (query.get('subaccount') === '0' ? forbidden : reply));
    expect(held).toEqual({ asset: 'no', total: parseSize('2.5'), available: 0n, reserved: parseSize('2.5') });
  });

  test('of an account without a position are zero, and without a market cash alone', async () => {
    const { balances } = await adapter.balances(market, access());
    expect(balances.filter(({ asset }) => !asset.startsWith('USD'))).toMatchObject([{ total: 0n }, { total: 0n }]);
    const alone = await adapter.balances(null, access());
    expect(alone.balances.map(({ asset }) => asset)).toEqual(['USD', 'USD/0', 'USD/1', 'USD/2', 'USD/3']);
  });

  test.each([
    ['whole cents', { balance: 1234, portfolio_value: 0 }, [['USD', parseUsd('12.34')]]],
    ['nothing', {}, [['USD', null]]],
  ])('are read from %s', async (_, body, wanted) => {
    answer(200, body, /^GET .*balance$/);
    const { balances } = await adapter.balances(null, access());
    expect(balances.map(({ asset, available }) => [asset, available])).toEqual(wanted);
  });

  test('say that a credential is refused', async () => {
    answer(401, refusal('unauthorized', 'unauthorized'), /^GET .*balance$/);
    await expect(adapter.balances(null, access())).rejects.toMatchObject({ kind: 'unauthorized' });
  });
});
