import { beforeEach, describe, expect, test } from 'vitest';
import { parsePrice, parseSize, parseUsd } from '../../../src/core/decimal.ts';
import type { Placement } from '../../../src/platforms/order-contract.ts';
import { PlacementGroup } from '../../../src/orders/placing/placement-group.ts';
import { virtualClock } from '../../helpers/virtual-clock.ts';
import { refuse } from '../../fixtures/canned-http.ts';
import {
  MARKET,
  cannedOrders,
  intent,
  orderRow,
  page,
  placedRow,
  terms,
  type Wanted,
} from '../../fixtures/polymarket/orders.ts';
import { hex, token } from '../../fixtures/polymarket/rows.ts';
import { polymarketMember } from '../../helpers/polymarket-member.ts';
import { quietPolymarket } from '../../helpers/quiet-polymarket.ts';
import type { SimMarket } from '../../simulators/polymarket/world/model.ts';

const quiet = quietPolymarket();
let market: SimMarket;

/** 1000 shares wanted at 0.40, 1000 offered at 0.41. */
beforeEach(() => {
  market = quiet.rig.flat();
});

const member = () => polymarketMember(quiet.sim, { http: quiet.http }, () => market);
type Member = ReturnType<typeof member>;
const calls = (line: string): number => quiet.sim.requests.get(line) ?? 0;

/** Orders of one member placed as one group. */
async function together(our: Member, wanted: readonly Wanted[]): Promise<Placement[]> {
  const group = new PlacementGroup(wanted.length, virtualClock());
  const known = await our.keys(market);
  const prepared = await Promise.all(
    wanted.map((one) => {
      const order = intent(terms(one), { market: known, claimedAtMs: quiet.clock.now() });
      return our.adapter.prepare(order, { ...our.access, group: group.member() });
    }),
  );
  return Promise.all(prepared.map((one) => one.place()));
}

/** A refusal of a whole call in these words. */
const fault = (detail: string, status = 400) => ({
  refuse: { ...refuse(status === 404 ? 'not_found' : 'refused', status, { error: detail }).refuse, detail },
});

describe('orders that are placed together', () => {
  test('of which the engine takes post-only ones alone: those rest, and the others are refused for a while', async () => {
    quiet.sim.world.exchange.mode = 'post-only';
    const our = member();
    const results = await together(our, [{ price: '0.35', postOnly: true }, { price: '0.36' }]);
    quiet.sim.world.exchange.mode = 'normal';
    expect(results).toMatchObject([
      { result: 'accepted', order: { status: 'open' } },
      { result: 'rejected', httpStatus: 200, refusal: { status: 503, retryAfter: 30 } },
    ]);
    expect(quiet.sim.world.ordersOf(our.account).map(({ status }) => status)).toEqual(['LIVE']);
  });

  test('are sent in one call, and each has its own result', async () => {
    const our = member();
    const before = [calls('POST /clob/orders'), calls('POST /clob/order')];
    const results = await together(our, [
      { price: '0.35' },
      { price: '0.35', size: '90000' },
      { price: '0.41', timeInForce: 'ioc' },
      { price: '0.41', postOnly: true },
      { price: '0.3', timeInForce: 'fok' },
    ]);
    expect(results).toMatchObject([
      { result: 'accepted', order: { status: 'open' } },
      { result: 'rejected', refusal: { status: 422, resolution: expect.stringContaining('Fund the wallet') } },
      { result: 'accepted', order: { status: 'filled', filledSize: parseSize('10') } },
      { result: 'rejected', refusal: { resolution: expect.stringContaining('would trade at once') } },
      { result: 'accepted', order: { status: 'cancelled', filledSize: 0n } },
    ]);
    expect([calls('POST /clob/orders'), calls('POST /clob/order')].map((now, at) => now - (before[at] ?? 0))).toEqual([
      1, 0,
    ]);
    const ids = results.flatMap((one) => (one.result === 'accepted' ? one.order.orderId : []));
    expect(new Set(ids)).toEqual(new Set([...quiet.sim.world.ordersOf(our.account).map(({ id }) => id), ids[2]]));
  });

  test('are sent in calls of 15 at most, and one alone as one', async () => {
    const our = member();
    const before = [calls('POST /clob/orders'), calls('POST /clob/order')];
    const results = await together(
      our,
      Array.from({ length: 16 }, () => ({ price: '0.2' })),
    );
    expect(results.map(({ result }) => result)).toEqual(Array.from({ length: 16 }, () => 'accepted'));
    expect([calls('POST /clob/orders'), calls('POST /clob/order')].map((now, at) => now - (before[at] ?? 0))).toEqual([
      1, 1,
    ]);
    expect(quiet.sim.world.ordersOf(our.account)).toHaveLength(16);
  });

  test('of an answer that is lost are all unknown, each found under its own id, none sent again', async () => {
    const our = member();
    const before = calls('POST /clob/orders');
    quiet.sim.inject({ match: /POST \/clob\/orders$/, times: 1, kind: 'after' });
    const results = await together(our, [{ price: '0.35' }, { price: '0.34' }, { price: '0.33' }]);
    expect(results.map(({ result }) => result)).toEqual(['unknown', 'unknown', 'unknown']);
    expect(calls('POST /clob/orders') - before).toBe(1);
    expect(quiet.sim.world.ordersOf(our.account)).toHaveLength(3);
  });

  const NOW_REFUSED = { result: 'rejected', refusal: { status: 503 } };
  test.each([
    ['post-only mode: only post-only orders and cancels are allowed', NOW_REFUSED],
    ['Trading is currently cancel-only. New orders are not accepted, but cancels are allowed.', NOW_REFUSED],
    ['Trading is currently disabled. Check polymarket.com for updates', NOW_REFUSED],
    ['Too Many Requests', { result: 'rejected', refusal: { status: 503, message: 'Polymarket is rate limiting' } }],
    ['order timed out', { result: 'unknown' }],
    ['internal server error', { result: 'unknown' }],
    ['service not ready', { result: 'unknown' }],
    ['could not run the execution', { result: 'unknown' }],
    ['error delaying the order', { result: 'unknown' }],
    ['order match delayed due to market conditions', { result: 'unknown' }],
    ['invalid post-only order: order crosses book', { result: 'rejected', refusal: { status: 422 } }],
  ])('of which one has the reply "%s"', async (errorMsg, result) => {
    const refused = placedRow({ success: false, orderID: '', errorMsg });
    const { adapter, access } = cannedOrders({ '/orders': [placedRow(), refused] });
    const group = new PlacementGroup(2, virtualClock());
    const prepare = () => adapter.prepare(intent(terms()), { ...access, group: group.member() });
    const prepared = [await prepare(), await prepare()];
    const placed = await Promise.all(prepared.map((one) => one.place()));
    expect(placed).toMatchObject([{ result: 'accepted' }, { ...result, httpStatus: 200 }]);
  });

  test('and refused in one call by the post-only mode: what became of the post-only ones is not known', async () => {
    const error = 'post-only mode: only post-only orders and cancels are allowed';
    const reply = { refuse: { ...refuse('maintenance', 503, { error }).refuse, detail: error } };
    const { adapter, access } = cannedOrders({ '/orders': reply });
    const group = new PlacementGroup(2, virtualClock());
    const prepared = await Promise.all(
      [true, false].map((postOnly) =>
        adapter.prepare(intent(terms({ postOnly })), { ...access, group: group.member() }),
      ),
    );
    const placed = await Promise.all(prepared.map((one) => one.place()));
    expect(placed).toMatchObject([{ result: 'unknown' }, NOW_REFUSED]);
  });

  test.each([
    ['another number of replies', [placedRow()], ['unknown', 'unknown']],
    ['a reply of another shape', [placedRow(), { ok: true }], ['accepted', 'unknown']],
    [
      'a refusal that says success',
      [placedRow({ orderID: '', errorMsg: 'invalid expiration' }), placedRow()],
      ['rejected', 'accepted'],
    ],
    ['a reply without an order id', [placedRow(), placedRow({ orderID: '' })], ['accepted', 'unknown']],
    [
      'a failure inside the platform',
      [placedRow({ success: false, orderID: '', errorMsg: 'could not insert order' }), placedRow()],
      ['unknown', 'accepted'],
    ],
    [
      'a refusal of the whole call',
      refuse('refused', 400, { error: 'Invalid order payload' }),
      ['rejected', 'rejected'],
    ],
    ['a gateway’s page', refuse('geo_blocked', 403), ['unknown', 'unknown']],
    ['no connection', refuse('unavailable', 0), ['unknown', 'unknown']],
  ])('with %s', async (_, reply, results) => {
    const { adapter, access, http: canned } = cannedOrders({ '/orders': reply });
    const group = new PlacementGroup(2, virtualClock());
    const prepare = () => adapter.prepare(intent(terms()), { ...access, group: group.member() });
    const prepared = [await prepare(), await prepare()];
    const placed = await Promise.all(prepared.map((one) => one.place()));
    expect(placed.map(({ result }) => result)).toEqual(results);
    expect(canned.requests.filter(({ method }) => method === 'POST')).toMatchObject([{ retry: false, cost: 2 }]);
  });

  test.each([
    "order couldn't be fully filled. FOK orders are fully filled or killed.",
    'no orders found to match with FAK order. FAK orders are partially filled or killed if no match is found.',
    'not enough balance / allowance: the balance is not enough -> balance: 0, order amount: 3500000',
    'invalid post-only order: order crosses book',
    'the market is not yet ready to process new orders',
    'invalid order version, please use the latest clob-client',
    'No orderbook exists for the requested token id',
    'order timed out',
  ])('and refused in one call by words about one order, %s, are all looked for', async (error) => {
    const status = error.startsWith('No orderbook') ? 404 : error === 'order timed out' ? 500 : 400;
    const { adapter, access } = cannedOrders({ '/orders': fault(error, status) });
    const group = new PlacementGroup(2, virtualClock());
    const prepared = await Promise.all(
      (['gtc', 'fok'] as const).map((timeInForce) =>
        adapter.prepare(intent(terms({ side: 'sell', timeInForce })), { ...access, group: group.member() }),
      ),
    );
    const placed = await Promise.all(prepared.map((one) => one.place()));
    expect(placed).toMatchObject([
      { result: 'unknown', httpStatus: status, detail: error },
      { result: 'unknown', httpStatus: status, detail: error },
    ]);
  });

  test('and refused in one call by words that name one of them: that one is refused, the other is looked for', async () => {
    let named = '';
    const { adapter, access } = cannedOrders({
      '/orders': () => fault(`order ${named} is invalid. Price (0.333) breaks minimum tick size rule: 0.01`),
    });
    const group = new PlacementGroup(2, virtualClock());
    const prepared = await Promise.all(
      ['0.35', '0.34'].map((price) => adapter.prepare(intent(terms({ price })), { ...access, group: group.member() })),
    );
    named = prepared[1]?.orderId ?? '';
    const placed = await Promise.all(prepared.map((one) => one.place()));
    expect(placed).toMatchObject([{ result: 'unknown' }, { result: 'rejected', refusal: { status: 422 } }]);
  });

  test('and answered in another order each get the reply that names them, and no refusal of another', async () => {
    let ids: string[] = [];
    const refused = placedRow({ success: false, orderID: '', errorMsg: 'invalid expiration' });
    const { adapter, access } = cannedOrders({
      '/orders': () => [placedRow({ orderID: ids[1], status: 'matched' }), refused, placedRow({ orderID: ids[2] })],
    });
    const group = new PlacementGroup(3, virtualClock());
    const prepared = await Promise.all(
      ['0.35', '0.34', '0.33'].map((price) =>
        adapter.prepare(intent(terms({ price })), { ...access, group: group.member() }),
      ),
    );
    ids = prepared.map(({ orderId }) => orderId ?? '');
    const placed = await Promise.all(prepared.map((one) => one.place()));
    expect(placed).toMatchObject([
      { result: 'unknown' },
      { result: 'accepted', order: { orderId: ids[1], status: 'pending' } },
      { result: 'accepted', order: { orderId: ids[2], status: 'open' } },
    ]);
  });
});

describe('balances', () => {
  test('are those of the wallet, with what open orders reserve', async () => {
    const our = member();
    await our.place({ price: '0.35', size: '100' });
    await our.place({ price: '0.7', size: '30', side: 'sell' });
    await our.place({ price: '0.41', size: '10' });
    const { balances, allowances } = await our.adapter.balances(await our.keys(market), our.access);
    expect(balances).toEqual([
      { asset: 'pUSD', total: parseUsd('9995.9'), available: parseUsd('9960.9'), reserved: parseUsd('35') },
      { asset: 'yes', total: parseSize('2010'), available: parseSize('1980'), reserved: parseSize('30') },
      { asset: 'no', total: parseSize('2000'), available: parseSize('2000'), reserved: 0n },
    ]);
    expect(allowances).toContainEqual({
      asset: 'pUSD',
      spender: '0xe111180000d2663c0091e4f400237545b87b996b',
      name: 'CTF Exchange',
      amount: null,
    });
    expect(await our.adapter.balances(null, our.access)).toMatchObject({ balances: [{ asset: 'pUSD' }] });
  });

  test('are null where the platform does not state them: what is reserved, where the list of orders is cut off', async () => {
    const { adapter, access } = cannedOrders({
      '/balance-allowance': { balance: '12000000', allowances: { [`0x${'0'.repeat(38)}d9`]: '5000000' } },
      '/data/orders': page([orderRow(), orderRow({ id: hex(3), side: 'HOLD' })]),
    });
    const { balances, allowances } = await adapter.balances(null, access);
    expect(balances).toEqual([{ asset: 'pUSD', total: parseUsd('12'), available: null, reserved: null }]);
    expect(allowances).toEqual([
      { asset: 'pUSD', spender: `0x${'0'.repeat(38)}d9`, name: null, amount: parseUsd('5') },
    ]);
  });

  test('count what a purchase may spend that is held back before it is matched', async () => {
    const held = orderRow({ order_type: 'FAK', status: 'ORDER_STATUS_LIVE', original_size: '10', price: '0.5' });
    const { adapter, access } = cannedOrders({
      '/balance-allowance': { balance: '12000000' },
      '/data/orders': page([held]),
    });
    expect((await adapter.balances(null, access)).balances).toEqual([
      { asset: 'pUSD', total: parseUsd('12'), available: parseUsd('2'), reserved: parseUsd('10') },
    ]);
  });

  test('of more orders than money show nothing as available', async () => {
    const row = orderRow({ original_size: '100', size_matched: '4', price: '0.5' });
    const {
      adapter,
      access,
      http: canned,
    } = cannedOrders({
      '/balance-allowance': { balance: '12000000' },
      '/data/orders': page([row, orderRow({ id: hex(3), side: 'SELL', asset_id: token(12), original_size: '7.5' })]),
    });
    expect((await adapter.balances(MARKET, access)).balances).toEqual([
      { asset: 'pUSD', total: parseUsd('12'), available: 0n, reserved: parseUsd('12') },
      { asset: 'yes', total: parseSize('12'), available: parseSize('12'), reserved: 0n },
      { asset: 'no', total: parseSize('12'), available: parseSize('4.5'), reserved: parseSize('7.5') },
    ]);
    expect(canned.asked).toContain(`/balance-allowance?asset_type=CONDITIONAL&token_id=${token(12)}&signature_type=0`);
  });
});

test('the price of an order is held against the step of a book that was read for it', () => {
  const { adapter } = cannedOrders();
  const order = terms({ price: '0.455' });
  expect(() => adapter.check(MARKET, order)).toThrow('Polymarket would reject the price');
  expect(() => adapter.check(MARKET, order, parsePrice('0.001'))).not.toThrow();
  expect(() => adapter.check(MARKET, terms({ price: '0.45' }), parsePrice('0.1'))).toThrow('reject the price');
});
