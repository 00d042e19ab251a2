import { inspect } from 'node:util';
import { Client as SdkClient, OrderType, Side } from '@limitless-exchange/sdk';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/core/time.ts';
import { parseSize, parseUsd } from '../../../src/core/decimal.ts';
import { createPlatformHttp } from '../../../src/platforms/http/client.ts';
import { type PlatformHttp } from '../../../src/platforms/http/request.ts';
import { openShared } from '../../../src/stores/shared/open.ts';
import { createLimitlessData } from '../../../src/platforms/limitless/data.ts';
import { createLimitlessOrders } from '../../../src/platforms/limitless/orders/adapter.ts';
import type { PlatformOrder } from '../../../src/platforms/order-contract.ts';
import type { StoredMarket } from '../../../src/platforms/contract.ts';
import { SETTINGS, readContext } from '../../fixtures/canned-http.ts';
import { accepted, asMember, attempts } from '../../fixtures/limitless/member.ts';
import { intent, orderAccess, terms, type Wanted } from '../../fixtures/limitless/orders.ts';
import { unmeteredHttp } from '../../fixtures/unmetered-http.ts';
import { silent } from '../../helpers/silent-log.ts';
import { realClock } from '../../simulators/lib/index.ts';
import { clob, closeRigs, plain, rig, type Rig } from '../../simulators/limitless/rig.ts';
import { join, minted, orderId, quiet, sdkWallet, type Client } from '../../simulators/limitless/trading-rig.ts';

let http: PlatformHttp;
beforeAll(async () => {
  http = await unmeteredHttp();
});
afterAll(() => http.close());
afterEach(closeRigs);

const as = (on: Rig, client: Client, way = http) => asMember(on, client, way);

/** Ann holds a hundred of each outcome; ten of either are offered at 0.6 and wanted at 0.4. */
async function offered() {
  const on = await quiet();
  const { ann, bob, market } = on;
  await minted(ann, bob, market);
  await bob.place({ market, tick: 500, milliShares: 100_000 });
  await ann.place({ market, outcome: 1, tick: 500, milliShares: 100_000 });
  await bob.place({ market, side: 'BUY', tick: 400, milliShares: 10_000 });
  await bob.place({ market, outcome: 1, tick: 400, milliShares: 10_000 });
  return { ...on, our: as(on, ann) };
}
describe('an order', () => {
  const walk = { size: '10', cost: '6' };

  type Row = [
    wanted: Wanted,
    status: string,
    filled: string,
    remaining: string,
    /** In dollars: 2.13 % of a purchase at 0.6, 1.44 % of a sale at 0.4. */
    fee: string,
  ];
  const rows: Row[] = ([0, 1] as const).flatMap((outcomeIndex): Row[] => {
    const buy = { side: 'buy', outcomeIndex } as const;
    const sell = { side: 'sell', outcomeIndex } as const;
    const market = { type: 'market', timeInForce: 'ioc' } as const;
    return [
      [{ ...buy, price: '0.599' }, 'open', '0', '10', '0'],
      [{ ...buy, price: '0.6', size: '4' }, 'filled', '4', '0', '0.05112'],
      [{ ...buy, price: '0.6', size: '25' }, 'partially_filled', '10', '15', '0.1278'],
      [{ ...buy, price: '0.6', size: '4', timeInForce: 'ioc' }, 'filled', '4', '0', '0.05112'],
      [{ ...buy, price: '0.6', size: '25', timeInForce: 'ioc' }, 'cancelled', '10', '0', '0.1278'],
      [{ ...buy, price: '0.599', timeInForce: 'ioc' }, 'cancelled', '0', '0', '0'],
      [{ ...buy, ...market, price: '0.6', walk }, 'filled', '10', '0', '0.1278'],
      [{ ...sell, price: '0.401' }, 'open', '0', '10', '0'],
      [{ ...sell, price: '0.4', size: '4' }, 'filled', '4', '0', '0.02304'],
      [{ ...sell, price: '0.4', size: '25' }, 'partially_filled', '10', '15', '0.0576'],
      [{ ...sell, price: '0.4', size: '25', timeInForce: 'ioc' }, 'cancelled', '10', '0', '0.0576'],
      [{ ...sell, price: '0.401', timeInForce: 'ioc' }, 'cancelled', '0', '0', '0'],
      [{ ...sell, ...market, price: '0.4', walk }, 'filled', '10', '0', '0.0576'],
    ];
  });

  test.each(rows)('%o comes back %s', async (wanted, status, filled, remaining, fee) => {
    const { our, market, world, ann } = await offered();
    const before = world.ordersOf(ann.address).length;
    const done = await our.place(market, wanted);
    const order = accepted(done);
    expect(order).toMatchObject({
      status,
      filledSize: parseSize(filled),
      remainingSize: parseSize(remaining),
      takerFee: parseUsd(fee),
      outcomeIndex: done.record.terms.outcomeIndex,
      outcome: done.record.terms.outcomeIndex === 0 ? 'yes' : 'no',
      side: done.record.terms.side,
      type: done.record.terms.type,
      timeInForce: done.record.terms.timeInForce,
      clientOrderId: done.record.clientOrderId,
    });
    const mine = world.ordersOf(ann.address).slice(before);
    expect(mine).toMatchObject([{ id: order.orderId, filled: parseSize(filled) }]);
    // Later look-ups report the same, by either name.
    const { updatedAt: _, ...reported } = order;
    const byId = { ...done.record, orderId: order.orderId };
    expect(await our.adapter.find([done.record, byId], our.access)).toMatchObject([reported, reported]);
  });

  test('pays the fee of what it took, whatever its resting part brings later', async () => {
    const { our, market, bob } = await offered();
    const done = await our.place(market, { price: '0.9', size: '60' });
    expect(accepted(done)).toMatchObject({ filledSize: parseSize('10'), takerFee: parseUsd('0.1278') });
    await bob.place({ market, outcome: 1, tick: 100, milliShares: 40_000 });
    expect(await our.adapter.find([done.record], our.access)).toMatchObject([
      { filledSize: parseSize('50'), takerFee: parseUsd('0.1278'), receivedSize: parseSize('49.787') },
    ]);
  });

  test('is pending while the market holds takers back, then filled', async () => {
    const on = await quiet({ takerDelayMs: 500 });
    await on.bob.place({ market: on.market, outcome: 1, tick: 500 });
    const our = as(on, on.ann);
    const done = await our.place(on.market, { price: '0.5', timeInForce: 'ioc' });
    expect(accepted(done)).toMatchObject({ status: 'pending', filledSize: 0n, remainingSize: parseSize('10') });
    on.clock.advance(500);
    expect(await our.adapter.get(accepted(done).orderId, our.access)).toMatchObject({ status: 'filled' });
  });

  test('of a smart wallet is signed for it', async () => {
    const on = await rig();
    const smartWallet = '0xAb2B9833FC8B8f55F4De7C4A0FAb8577EF0F7b36';
    const ann = join(on, 1);
    const profile = on.world.members.withAddress(ann.address)!;
    Object.assign(profile, { tradeWalletOption: 'smartWallet', smartWallet, embeddedAccount: ann.address });
    const done = await as(on, ann).place(plain(on.world), { price: '0.01' });
    expect(accepted(done)).toMatchObject({ status: 'open' });
    expect(on.world.ordersOf(ann.address)[0]?.intent.signed).toMatchObject({ maker: smartWallet, signatureType: 2 });
  });
});

describe('a refusal is passed on as it is, and nothing was placed', () => {
  const refused: [
    reason: string,
    prepare: (on: Awaited<ReturnType<typeof quiet>>) => void,
    wanted: Wanted,
    answer: { httpStatus: number; status: number; message: string; resolution: string },
  ][] = [
    [
      'more than the wallet holds',
      () => {},
      { size: '900000' },
      { httpStatus: 400, status: 422, message: 'Insufficient collateral balance', resolution: 'Fund the wallet' },
    ],
    [
      'shares not owned',
      () => {},
      { side: 'sell' },
      {
        httpStatus: 400,
        status: 422,
        message: 'Insufficient conditional token balance',
        resolution: 'Fund the wallet',
      },
    ],
    [
      'an exchange that may not take the collateral',
      ({ world, ann }) => world.members.withAddress(ann.address)!.usdcAllowances.clear(),
      {},
      { httpStatus: 400, status: 422, message: 'allowance', resolution: 'Approve the market' },
    ],
    [
      'another fee rate than the account has by now',
      ({ world, ann }) => (world.members.withAddress(ann.address)!.feeRateBps = 250),
      {},
      {
        httpStatus: 400,
        status: 422,
        message: "feeRateBps[300] is out of user's band",
        resolution: 'Place the order again',
      },
    ],
    [
      'another wallet than the account trades from by now',
      ({ world, ann }) => (world.members.withAddress(ann.address)!.tradeWalletOption = 'smartWallet'),
      {},
      { httpStatus: 400, status: 422, message: 'trade wallet option', resolution: 'Store the key of the wallet' },
    ],
    [
      'a market that is locked by now',
      ({ world, market }) => world.lock(market.slug),
      {},
      { httpStatus: 400, status: 422, message: 'Market is not active', resolution: 'Choose a market that is open' },
    ],
    [
      'a market that has ended by now',
      ({ world, market }) => world.expire(market.slug),
      {},
      { httpStatus: 400, status: 422, message: 'deadline', resolution: 'Choose a market that is open' },
    ],
    [
      'a token that was replaced',
      ({ world, ann }) => (world.members.withAddress(ann.address)!.secret = 'b3RoZXI='),
      {},
      { httpStatus: 401, status: 422, message: 'rejected the credential', resolution: 'Renew the API token' },
    ],
    [
      'a token without the scope',
      ({ world, ann }) => (world.members.withAddress(ann.address)!.scopes = []),
      {},
      { httpStatus: 403, status: 422, message: 'rejected the credential', resolution: 'scope trading' },
    ],
    ...(['post_only', 'cancel_only', 'disabled'] as const).flatMap((mode) =>
      ([425, 503] as const).map((status): (typeof refused)[number] => [
        `maintenance ${mode} by ${status}`,
        ({ world }) => void Object.assign(world.maintenance, { mode, status }),
        {},
        { httpStatus: status, status: 503, message: 'accepts no orders now', resolution: 'was not placed' },
      ]),
    ),
    [
      'the rate limit',
      ({ sim }) =>
        sim.inject({
          match: /POST \/orders/,
          times: 1,
          kind: 'status',
          status: 429,
          body: '{"message":"Too many requests"}',
        }),
      {},
      { httpStatus: 429, status: 503, message: 'rate limiting', resolution: 'was not placed' },
    ],
    [
      'words as a list of objects',
      ({ sim }) =>
        sim.inject({
          match: /POST \/orders/,
          times: 1,
          kind: 'status',
          status: 400,
          body: '{"message":[{"property":"x","error":"makerAmount must be a number"}],"statusCode":400}',
        }),
      {},
      { httpStatus: 400, status: 422, message: 'makerAmount must be a number', resolution: '' },
    ],
  ];

  test.each(refused)('%s', async (_, prepare, wanted, answer) => {
    const on = await quiet();
    const our = as(on, on.ann);
    // What signing needs is known from an earlier order.
    await our.signed(on.market, {});
    const { place } = await our.signed(on.market, wanted);
    prepare(on);
    const placement = await place();
    expect(placement).toMatchObject({
      result: 'rejected',
      httpStatus: answer.httpStatus,
      refusal: { status: answer.status, resolution: expect.stringContaining(answer.resolution) },
    });
    if (placement.result !== 'rejected') return;
    expect(placement.refusal.message).toContain(answer.message);
    expect(placement.refusal.retryAfter === undefined).toBe(answer.status !== 503);
    expect(on.world.ordersOf(on.ann.address)).toEqual([]);
    expect(attempts(on)).toBe(1);
  });

  test('an exchange contract that changed: refused once, and the next order is signed for the new one', async () => {
    const on = await rig();
    const ann = join(on, 1);
    const market = plain(on.world);
    const our = as(on, ann);
    await our.signed(market, {});
    market.venue = clob(on.world, (one) => one.group?.negRiskMarketId != null).venue;
    const first = await our.place(market, { price: '0.01' });
    expect(first.placement).toMatchObject({
      result: 'rejected',
      refusal: { status: 422, resolution: expect.stringContaining('new idempotency key') },
    });
    expect(attempts(on)).toBe(1);
    expect(accepted(await our.place(market, { price: '0.01' }))).toMatchObject({ status: 'open' });
    expect(on.world.ordersOf(ann.address)).toHaveLength(1);
  });

  test('an order that waited for its turn beyond the receive window is not sent at all', async () => {
    const on = await quiet();
    const { place } = await as(on, on.ann).signed(on.market, {});
    on.clock.advance(4001);
    expect(await place()).toMatchObject({ result: 'not_sent', refusal: { status: 503 } });
    expect(attempts(on)).toBe(0);
  });
});

describe('never twice: an order whose answer did not come', () => {
  const faults: [string, Parameters<Rig['sim']['inject']>[0], number][] = [
    ['the connection broke after the exchange took it', { match: /POST \/orders$/, times: 1, kind: 'after' }, 1],
    ['the answer was cut off', { match: /POST \/orders$/, times: 1, kind: 'cut' }, 1],
    ['the connection broke before the exchange saw it', { match: /POST \/orders$/, times: 1, kind: 'reset' }, 0],
    ['a gateway failed', { match: /POST \/orders$/, times: 1, kind: 'status', status: 502, body: '<html>' }, 0],
    ['a gateway blocked it', { match: /POST \/orders$/, times: 1, kind: 'status', status: 403, body: '<html>' }, 0],
    [
      'it failed inside',
      { match: /POST \/orders$/, times: 1, kind: 'status', status: 500, body: '{"message":"no"}' },
      0,
    ],
    ['the answer was nothing', { match: /POST \/orders$/, times: 1, kind: 'status', status: 201, body: '' }, 0],
    ['the answer was another', { match: /POST \/orders$/, times: 1, kind: 'status', status: 201, body: '{}' }, 0],
  ];

  test.each(faults)('because %s is unknown, then found as it is', async (_, fault, held) => {
    const on = await quiet();
    const our = as(on, on.ann);
    const { place, record } = await our.signed(on.market, { price: '0.4' });
    on.sim.inject(fault);
    expect(await place()).toMatchObject({ result: 'unknown' });
    const found = await our.adapter.find([record], our.access);
    const mine = on.world.ordersOf(on.ann.address);
    expect(mine).toHaveLength(held);
    expect(found).toEqual(
      mine.map(({ id }) => expect.objectContaining({ orderId: id, status: 'open' })).concat(held ? [] : [null]),
    );
    expect(attempts(on)).toBe(1);
  });

  test('that came too late is unknown, and not there', async () => {
    const on = await quiet();
    const our = as(on, on.ann);
    const { place, record } = await our.signed(on.market, {});
    on.sim.inject({
      match: /POST \/orders$/,
      times: 1,
      kind: 'status',
      status: 425,
      body: '{"message":"outside of the receive window"}',
    });
    expect(await place()).toMatchObject({ result: 'unknown', httpStatus: 425 });
    expect(await our.adapter.find([record], our.access)).toEqual([null]);
  });

  test.each([
    [503, '{"message":"Service Unavailable","statusCode":503}'],
    [503, '{"message":"Bad gateway","code":"UPSTREAM_ERROR"}'],
    [503, '[]'],
    [425, '{"message":"Too early","code":"RECEIVE_WINDOW"}'],
  ])('is unknown after %i %s, which names no mode of trading', async (status, body) => {
    const on = await quiet();
    const { place } = await as(on, on.ann).signed(on.market, {});
    on.sim.inject({ match: /POST \/orders$/, times: 1, kind: 'status', status, body });
    expect(await place()).toMatchObject({ result: 'unknown', httpStatus: status });
    expect(attempts(on)).toBe(1);
  });

  test('and is sent a second time on its way is refused as a duplicate, which leaves it unknown until it is found', async () => {
    const on = await quiet();
    const our = as(on, on.ann);
    const same = { clientOrderId: 'mine-1', seed: new Uint8Array(32).fill(9) };
    const first = await our.place(on.market, { price: '0.4' }, same);
    const again = await our.place(on.market, { price: '0.4' }, same);
    expect(again.placement).toMatchObject({ result: 'unknown', httpStatus: 409 });
    expect(await our.adapter.find([again.record], our.access)).toMatchObject([{ orderId: accepted(first).orderId }]);
    // The same client order id on another order: that one was not taken.
    const other = await our.place(on.market, { price: '0.3' }, { ...same, seed: new Uint8Array(32).fill(8) });
    expect(other.placement).toMatchObject({ result: 'unknown' });
    expect(await our.adapter.find([other.record], our.access)).toEqual([null]);
    expect(on.world.ordersOf(on.ann.address)).toHaveLength(1);
  });
});

describe('reading orders', () => {
  test('lists those of a market, other clients’ too, and of no other user', async () => {
    const on = await quiet();
    const { ann, bob, market } = on;
    const our = as(on, ann);
    const rests = accepted(await our.place(market, { price: '0.4' }));
    const foreign = orderId(await ann.place({ market, outcome: 1, side: 'BUY', tick: 300, milliShares: 5000 }));
    const bobs = orderId(await bob.place({ market, outcome: 1, tick: 600, milliShares: 4000 }));
    const keys = await our.keys(market);
    const { orders, complete } = await our.adapter.list({ market: keys, sinceMs: 0 }, our.access);
    expect(complete).toBe(true);
    const reported = orders.map(({ orderId: id, status, filledSize, remainingSize, outcome }) => [
      id,
      status,
      filledSize,
      remainingSize,
      outcome,
    ]);
    expect(reported.toSorted()).toEqual(
      [
        [rests.orderId, 'partially_filled', parseSize('4'), parseSize('6'), 'yes'],
        [foreign, 'open', 0n, parseSize('5'), 'no'],
      ].toSorted(),
    );
    expect(await our.adapter.get(bobs, our.access)).toBeNull();
    expect(await our.adapter.get('not-an-id', our.access)).toBeNull();
    expect(await our.adapter.get(foreign, our.access)).toMatchObject({
      clientOrderId: '',
      side: 'buy',
      timeInForce: 'gtc',
    });
    expect(our.access.badRows).toEqual([]);
  });

  test('says that a credential is refused', async () => {
    const on = await quiet();
    const our = as(on, on.ann);
    const keys = await our.keys(on.market);
    our.profile.secret = 'b3RoZXI=';
    const refusal = { kind: 'unauthorized', status: 401 };
    await expect(our.adapter.get('c4b1a83a-219f-48db-a9be-1ddadf0bc14c', our.access)).rejects.toMatchObject(refusal);
    await expect(our.adapter.list({ market: keys, sinceMs: 0 }, our.access)).rejects.toMatchObject(refusal);
    await expect(our.adapter.prepare(intent(terms(), { market: keys }), our.access)).rejects.toMatchObject(refusal);
    const target = { orderId: 'c4b1a83a-219f-48db-a9be-1ddadf0bc14c', marketRef: keys.ref };
    await expect(our.adapter.cancel([target], our.access)).rejects.toMatchObject(refusal);
  });
});

/** Ann with orders that rest. */
async function resting(count: number) {
  const on = await quiet();
  const our = as(on, on.ann);
  const targets: PlatformOrder[] = [];
  for (let i = 0; i < count; i++) targets.push(accepted(await our.place(on.market, { price: '0.4' })));
  return { ...on, our, targets };
}

describe('cancelling', () => {
  test('takes one order out by a DELETE without body and content type; a second time there is nothing to take', async () => {
    const { our, targets, sim } = await resting(1);
    expect(await our.adapter.cancel(targets, our.access)).toEqual([
      { result: 'cancelled', httpStatus: 200, detail: 'Order canceled successfully' },
    ]);
    expect(sim.requests.get(`DELETE /orders/${targets[0]?.orderId}`)).toBe(1);
    expect(await our.adapter.get(targets[0]!.orderId, our.access)).toMatchObject({
      status: 'cancelled',
      remainingSize: 0n,
    });
    expect(await our.adapter.cancel(targets, our.access)).toMatchObject([{ result: 'not_open', httpStatus: 400 }]);
  });

  test('an order of another account does not find it, which is not the fault of the token', async () => {
    const { targets, ...on } = await resting(1);
    const eve = as(on, join(on, 3), http);
    expect(await eve.adapter.cancel(targets, eve.access)).toMatchObject([{ result: 'not_open', httpStatus: 401 }]);
    expect(await on.our.adapter.get(targets[0]!.orderId, on.our.access)).toMatchObject({ status: 'open' });
    eve.profile.secret = 'b3RoZXI=';
    await expect(eve.adapter.cancel(targets, eve.access)).rejects.toMatchObject({ kind: 'unauthorized' });
  });

  test('keeps what was filled before', async () => {
    const { our, targets, bob, market } = await resting(1);
    await bob.place({ market, outcome: 1, tick: 600, milliShares: 4000 });
    expect(await our.adapter.cancel(targets, our.access)).toMatchObject([{ result: 'cancelled' }]);
    expect(await our.adapter.get(targets[0]!.orderId, our.access)).toMatchObject({
      status: 'cancelled',
      filledSize: parseSize('4'),
      makerFee: 0n,
      takerFee: 0n,
    });
  });

  test('takes many out at once, and reports the result of each, also on a 207', async () => {
    const { our, targets, sim, world } = await resting(4);
    const [a, b, c, d] = targets as [PlatformOrder, PlatformOrder, PlatformOrder, PlatformOrder];
    await our.adapter.cancel([b], our.access);
    world.desk.uncancellable.add(c.orderId);
    const results = await our.adapter.cancel([a, b, c, d, a], our.access);
    expect(results.map(({ result, httpStatus }) => [result, httpStatus])).toEqual([
      ['cancelled', 207],
      ['not_open', 207],
      ['unconfirmed', 207],
      ['cancelled', 207],
      ['cancelled', 207],
    ]);
    expect(sim.requests.get('POST /orders/cancel-batch')).toBe(1);
    // Now none of them: 400, in the same shape.
    const again = await our.adapter.cancel([a, c], our.access);
    expect(again.map(({ result, httpStatus }) => [result, httpStatus])).toEqual([
      ['not_open', 400],
      ['unconfirmed', 400],
    ]);
    expect(await our.adapter.get(c.orderId, our.access)).toMatchObject({ status: 'open' });
  });

  test('confirms nothing that the platform did not say', async () => {
    const { our, targets, sim, world } = await resting(2);
    const [a] = targets as [PlatformOrder];
    const tried = async (orders = [a]) => (await our.adapter.cancel(orders, our.access)).map(({ result }) => result);
    world.maintenance.mode = 'disabled';
    expect([await tried(), await tried(targets)]).toEqual([['unconfirmed'], ['unconfirmed', 'unconfirmed']]);
    world.maintenance.mode = 'normal';
    sim.inject({ match: /DELETE/, times: 1, kind: 'reset' });
    expect(await tried()).toEqual(['unconfirmed']);
    sim.inject({ match: /DELETE/, times: 1, kind: 'after' });
    expect(await tried()).toEqual(['unconfirmed']);
    sim.inject({ match: /DELETE/, times: 1, kind: 'status', status: 404, body: '<html>Not Found</html>' });
    expect(await tried()).toEqual(['unconfirmed']);
    for (const body of ['<html>Just a moment</html>', '', '{"message":"not now"}']) {
      sim.inject({ match: /DELETE/, times: 1, kind: 'status', status: 200, body });
      expect([body, await tried()]).toEqual([body, ['unconfirmed']]);
    }
    sim.inject({ match: /cancel-batch/, times: 1, kind: 'status', status: 200, body: '{"message":"done"}' });
    expect(await tried(targets)).toEqual(['unconfirmed', 'unconfirmed']);
    // The one that was cut off after the fact had been carried out.
    expect(await tried()).toEqual(['not_open']);
    expect(
      await our.adapter.cancel([{ ...a, orderId: 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee' }], our.access),
    ).toMatchObject([{ result: 'not_open', httpStatus: 404 }]);
  });
});

test('no key and no signature is in anything that is answered, stored or thrown', async () => {
  const lines: unknown[] = [];
  const shared = await openShared({ REDIS_URL: undefined }, silent, { clock: systemClock });
  const note = (...line: unknown[]): void => void lines.push(line);
  const log = { debug: note, info: note, warn: note, error: note };
  const logged = createPlatformHttp({ shared: { ...shared, takeBudget: async () => 0 }, log, clock: systemClock });
  const on = await quiet();
  const our = as(on, on.ann, logged);
  const { signature } = (await on.ann.body({ market: on.market, tick: 400 }))['order'] as { signature: string };
  const said: unknown[] = [lines];
  for (const fault of [null, 'after', 'reset', 'cut', 'status'] as const) {
    const { place, record } = await our.signed(on.market, { price: '0.4' });
    if (fault) on.sim.inject({ match: /POST \/orders$/, times: 1, kind: fault, status: 429, body: '{}' });
    said.push(record, await place(), await our.adapter.find([record], our.access));
  }
  our.profile.secret = 'b3RoZXI=';
  said.push(await our.adapter.get('c4b1a83a-219f-48db-a9be-1ddadf0bc14c', our.access).catch((error: unknown) => error));
  const text = inspect(said, { depth: 20, maxStringLength: null, maxArrayLength: null, showHidden: true });
  expect(text).toContain('The platform is rate limiting this service');
  const { private_key: key, secret } = our.access.credential;
  const bytes = [Buffer.from(key.slice(2), 'hex'), Buffer.from(secret, 'base64')];
  for (const one of bytes.flatMap((part) => [
    part.toString('hex'),
    part.toString('base64'),
    part.toString('base64url'),
  ])) {
    expect(text.toLowerCase()).not.toContain(one.toLowerCase());
  }
  expect(text).not.toMatch(/lmts-signature|0x[0-9a-f]{130}/);
  expect(signature).toMatch(/^0x[0-9a-f]{130}$/);
  await logged.close();
});

test('the official SDK and we see and cancel each other’s orders', async () => {
  const on = await rig({ clock: realClock });
  const { tokenId, secret, privateKey } = on.world.demoProfile;
  const adapter = createLimitlessOrders({
    http,
    settings: { ...SETTINGS, ...on.sim.env },
    now: Date.now,
  });
  const access = orderAccess({ token_id: tokenId, secret, private_key: privateKey });
  const market = plain(on.world);
  const keys = await createLimitlessData({
    http,
    settings: { ...SETTINGS, ...on.sim.env },
    now: Date.now,
  }).market(market.slug, readContext());
  const marketKeys: StoredMarket = { ...keys!.info, status: 'open' };
  const sdk = new SdkClient({ baseURL: on.sim.env.LIMITLESS_API_URL!, hmacCredentials: { tokenId, secret } });
  const orders = sdk.newOrderClient(sdkWallet(privateKey));

  const theirs = await orders.createOrder({
    tokenId: market.tokens[0],
    side: Side.BUY,
    marketSlug: market.slug,
    orderType: OrderType.GTC,
    price: 0.001,
    size: 12,
  });
  const seen = await adapter.get(theirs.order.id, access);
  expect(seen).toMatchObject({ status: 'open', size: parseSize('12'), outcome: 'yes', side: 'buy' });
  expect(await adapter.cancel([seen!], access)).toMatchObject([{ result: 'cancelled' }]);

  const order = intent(terms({ price: '0.001' }), { market: marketKeys });
  const placement = await (await adapter.prepare(order, access)).place();
  const ours = accepted({ placement });
  expect(await orders.cancel(ours.orderId)).toEqual({ message: 'Order canceled successfully' });
  expect(await adapter.get(ours.orderId, access)).toMatchObject({ status: 'cancelled' });
});
