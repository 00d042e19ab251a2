import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { parseSize, parseUsd } from '../../../src/core/decimal.ts';
import type { PlatformHttp } from '../../../src/platforms/http/request.ts';
import { answerError } from '../../../src/platforms/http/errors.ts';
import { LIMITLESS_CHECKS, LIMITLESS_REJECTIONS } from '../../../src/platforms/limitless/orders/advice.ts';
import { PlacementGroup } from '../../../src/orders/placing/placement-group.ts';
import { adviceOf } from '../../../src/platforms/refusal-rules.ts';
import { accepted, asMember, attempts } from '../../fixtures/limitless/member.ts';
import { virtualClock } from '../../helpers/virtual-clock.ts';
import { unmeteredHttp } from '../../fixtures/unmetered-http.ts';
import { docsTable, rejectionRows } from '../../helpers/docs-table.ts';
import { NEG_RISK_VENUE, PLAIN_VENUE } from '../../simulators/limitless/catalog.ts';
import { closeRigs } from '../../simulators/limitless/rig.ts';
import { minted, quiet, walletKey } from '../../simulators/limitless/trading-rig.ts';

let http: PlatformHttp;
beforeAll(async () => {
  http = await unmeteredHttp();
});
afterAll(() => http.close());
afterEach(closeRigs);

/** Ann and Bob hold a hundred of one outcome each; Ann offers ten YES at 0.6, and Bob wants ten at 0.4. */
async function trading(options: { chargesFees?: boolean } = {}) {
  const on = await quiet(options);
  await minted(on.ann, on.bob, on.market);
  const our = asMember(on, on.ann, http);
  const theirs = asMember(on, on.bob, http, walletKey(2));
  await on.bob.place({ market: on.market, tick: 400, milliShares: 10_000 });
  const offer = accepted(await our.place(on.market, { side: 'sell', price: '0.6' }));
  return { ...on, our, theirs, offer };
}

describe('choices of an order', () => {
  test('post_only rests, and is refused where it would trade, also with an own order', async () => {
    const { our, market } = await trading();
    expect(accepted(await our.place(market, { price: '0.599', postOnly: true }))).toMatchObject({ status: 'open' });
    const { placement } = await our.place(market, { price: '0.6', postOnly: true });
    expect(placement).toMatchObject({
      result: 'rejected',
      refusal: {
        status: 422,
        message: expect.stringContaining('Post-only order would match'),
        resolution: expect.stringContaining('leave out post_only'),
      },
    });
  });

  test.each([
    // Without a choice the exchange takes the open order away.
    [null, 'cancelled', 'cancelled'],
    ['cancel_maker', 'cancelled', 'cancelled'],
    ['cancel_taker', 'cancelled', 'open'],
    ['cancel_both', 'cancelled', 'cancelled'],
  ] as const)('self_trade_prevention %s: the new order is %s, the open one %s', async (choice, taking, resting) => {
    const { our, market, offer } = await trading();
    const wanted = { price: '0.6', size: '4', timeInForce: 'ioc', selfTradePrevention: choice } as const;
    expect(accepted(await our.place(market, wanted))).toMatchObject({ status: taking, filledSize: 0n });
    expect(await our.adapter.get(offer.orderId, our.access)).toMatchObject({ status: resting });
  });

  test.each(['limit', 'market'] as const)('a %s order with fok is not signed and not sent', async (type) => {
    const { our, market, ...on } = await trading();
    const before = attempts(on);
    const wanted = { type, price: '0.6', timeInForce: 'fok', walk: { size: '10', cost: '6' } } as const;
    await expect(our.signed(market, wanted)).rejects.toMatchObject({
      status: 422,
      message: expect.stringContaining('takes no fok order'),
      resolution: expect.stringContaining('Use ioc'),
    });
    expect(attempts(on)).toBe(before);
  });

  test.each([
    ['ioc', 'cancelled'],
    ['gtc', 'open'],
  ] as const)('%s keeps its worst price when the book moves before it arrives', async (timeInForce, status) => {
    const { our, theirs, market, offer } = await trading();
    const { place } = await theirs.signed(market, { price: '0.6', timeInForce, type: 'limit' });
    await our.adapter.cancel([offer], our.access);
    await our.place(market, { side: 'sell', price: '0.9' });
    expect(accepted({ placement: await place() })).toMatchObject({ status, filledSize: 0n });
  });
});

describe('what a purchase brought', () => {
  test('is what can be sold: more is refused with advice that names it', async () => {
    const { theirs, market } = await trading({ chargesFees: true });
    const bought = accepted(await theirs.place(market, { price: '0.6', timeInForce: 'ioc' }));
    expect(bought).toMatchObject({ filledSize: parseSize('10'), receivedSize: parseSize('9.787') });
    const { balances } = await theirs.adapter.balances(await theirs.keys(market), theirs.access);
    expect(balances.find(({ asset }) => asset === 'yes')?.total).toBe(bought.receivedSize);

    const sale = { side: 'sell', price: '0.4', timeInForce: 'ioc' } as const;
    expect((await theirs.place(market, sale)).placement).toMatchObject({
      result: 'rejected',
      refusal: { resolution: expect.stringContaining('received_size') },
    });
    expect(accepted(await theirs.place(market, { ...sale, price: '0.9', size: '9.787' }))).toMatchObject({
      status: 'cancelled',
      receivedUsd: 0n,
    });
  });

  test('and a sale, in dollars after the fee, is what moved in the wallet', async () => {
    const { our, market, world, ann } = await trading({ chargesFees: true });
    const wallet = world.members.withAddress(ann.address)!;
    const before = wallet.usdc;
    const sold = accepted(await our.place(market, { side: 'sell', price: '0.4', timeInForce: 'ioc' }));
    expect(sold).toMatchObject({ status: 'filled', receivedSize: null, receivedUsd: parseUsd('3.9424') });
    expect(wallet.usdc - before).toBe(sold.receivedUsd);
  });
});

test("'not found' about an order that the market holds back is passed on, and reads show that it is pending", async () => {
  const { theirs, market, world, clock } = await trading();
  market.takerDelayMs = 3000;
  world.desk.hidesDelayed = true;
  const [a, b] = [
    accepted(await theirs.place(market, { price: '0.6', size: '1' })),
    accepted(await theirs.place(market, { price: '0.6', size: '2' })),
  ];
  expect(a).toMatchObject({ status: 'pending' });
  expect(await theirs.adapter.cancel([a], theirs.access)).toEqual([
    { result: 'not_open', httpStatus: 400, detail: expect.stringContaining('Order not found or already canceled') },
  ]);
  expect(await theirs.adapter.cancel([a, b], theirs.access)).toMatchObject([
    { result: 'not_open', detail: 'ORDER_NOT_FOUND: Order not found or already canceled' },
    { result: 'not_open' },
  ]);
  expect(await theirs.adapter.get(a.orderId, theirs.access)).toMatchObject({ status: 'pending' });
  clock.advance(3000);
  expect(await theirs.adapter.get(a.orderId, theirs.access)).toMatchObject({ status: 'filled' });
});

test.each([
  [201, '{"execution":{"matched":false}}'],
  [200, '{"order":{"id":""},"execution":{"settlementStatus":"UNMATCHED"}}'],
  [200, '{"message":"queued"}'],
  [403, '<html><head><title>Attention Required! | Cloudflare</title></head></html>'],
])('%i %s, without an order, is unknown with a reason', async (status, body) => {
  const { our, market, sim, ...on } = await trading();
  const before = attempts({ ...on, sim });
  const { place } = await our.signed(market, { price: '0.3' });
  sim.inject({ match: /^POST \/orders$/, times: 1, kind: 'status', status, body });
  const placement = await place();
  expect(placement).toMatchObject({ result: 'unknown', httpStatus: status });
  expect(placement.detail).toMatch(status === 403 ? /Attention Required/ : /bad_answer: orders/);
  expect(attempts({ ...on, sim })).toBe(before + 1);
});

test('orders placed together go out one by one, each with its own result', async () => {
  const { our, market, sim, ...on } = await trading();
  const before = attempts({ ...on, sim });
  const group = new PlacementGroup(3, virtualClock());
  const orders = await Promise.all(
    ['0.3', '0.599', '0.2'].map((price) =>
      our.signed(market, { price, postOnly: true }, {}, { ...our.access, group: group.member() }),
    ),
  );
  const placements = await Promise.all(orders.map(({ place }) => place()));
  expect(placements.map(({ result }) => result)).toEqual(['accepted', 'accepted', 'accepted']);
  expect(attempts({ ...on, sim })).toBe(before + 3);
});

describe('balances', () => {
  test('are what open purchases reserve, the outcome tokens less open sales, and what the exchanges may spend', async () => {
    const { our, market, world, ann } = await trading();
    await our.place(market, { price: '0.3', size: '20' });
    const wallet = world.members.withAddress(ann.address)!;
    wallet.usdcAllowances.set(PLAIN_VENUE.exchange, parseUsd('12.5'));
    wallet.usdcAllowances.set(NEG_RISK_VENUE.exchange, 2n ** 256n - 1n);
    expect(await our.adapter.balances(await our.keys(market), our.access)).toEqual({
      balances: [
        { asset: 'USDC', total: null, available: null, reserved: parseUsd('6') },
        { asset: 'yes', total: parseSize('100'), available: parseSize('90'), reserved: parseSize('10') },
        { asset: 'no', total: 0n, available: 0n, reserved: 0n },
      ],
      allowances: [
        { asset: 'USDC', spender: PLAIN_VENUE.exchange, name: 'exchange', amount: parseUsd('12.5') },
        { asset: 'USDC', spender: NEG_RISK_VENUE.exchange, name: 'NegRisk exchange', amount: null },
      ],
    });
    expect((await our.adapter.balances(null, our.access)).balances).toMatchObject([{ asset: 'USDC' }]);
  });

  test('of a market of a group are found where the portfolio lists groups by themselves', async () => {
    const { our, market, sim } = await trading();
    await our.place(market, { price: '0.3', size: '20' });
    sim.rewrite(({ path }, reply) => {
      if (path !== '/portfolio/positions') return reply;
      const body = JSON.parse(reply.body) as { clob: unknown[] };
      return { ...reply, body: JSON.stringify({ ...body, clob: [], group: body.clob }) };
    });
    expect((await our.adapter.balances(await our.keys(market), our.access)).balances).toEqual([
      { asset: 'USDC', total: null, available: null, reserved: parseUsd('6') },
      { asset: 'yes', total: parseSize('100'), available: parseSize('90'), reserved: parseSize('10') },
      { asset: 'no', total: 0n, available: 0n, reserved: 0n },
    ]);
  });

  test('of a market that was never touched are zero', async () => {
    const { our, world } = await trading();
    const other = world.createMarket({ title: 'Another market', halfSpread: 500, popularity: 0 });
    const { balances } = await our.adapter.balances(await our.keys(other), our.access);
    expect(balances.slice(1)).toMatchObject([{ total: 0n }, { total: 0n }]);
  });

  test('that do not read are null, and cost no other field', async () => {
    const { our, market, sim } = await trading();
    const keys = await our.keys(market);
    const body = JSON.stringify({
      clob: [{ market: { slug: market.slug }, orders: { totalCollateralLocked: 'many' } }],
    });
    sim.inject({ match: /^GET \/portfolio\/positions/, times: 1, kind: 'status', status: 200, body });
    const unknown = { total: null, available: null, reserved: null };
    expect((await our.adapter.balances(keys, our.access)).balances).toEqual([
      { asset: 'USDC', ...unknown },
      { asset: 'yes', ...unknown },
      { asset: 'no', ...unknown },
    ]);
    expect(our.access.badRows).toHaveLength(1);
  });
});

const advice = (status: number, message: unknown): string => {
  const body = { message, error: 'Error', statusCode: status };
  const answer = { status, headers: {}, text: JSON.stringify(body) };
  return adviceOf(LIMITLESS_REJECTIONS, answerError('limitless', answer, body, { nowMs: Date.now() }));
};

describe('advice on a rejection by Limitless', () => {
  test.each([
    [400, 'Invalid signature. Exchange address for this market: 0xab', 'which contract it signs for'],
    [400, "feeRateBps[300] is out of user's band", 'fee rate of the account again'],
    [400, 'Insufficient collateral allowance for this order.', 'to spend USDC'],
    [400, 'Insufficient conditional token allowance for this order.', 'for the outcome tokens'],
    [400, 'Insufficient collateral balance for this order.', 'with USDC on Base'],
    [400, 'Insufficient conditional token balance', 'received_size'],
    [400, 'Post-only order would match immediately', 'leave out post_only'],
    [400, 'Order amounts tick violation: price(0.56) * contracts(1785714)', 'steps of 0.001'],
    [400, [{ property: 'makerAmount', error: 'makerAmount must be a number' }], 'steps of 0.001'],
    [400, 'Market deadline has passed', 'a market that is open'],
    [400, 'Market is not active: LOCKED', 'a market that is open'],
    [400, "Order wallet does not match the profile's trade wallet option: eoa", 'Store the key of the wallet'],
    [400, 'a text to come', 'Correct the order'],
    [401, 'Invalid signature', 'Renew the API token'],
    [401, 'Request timestamp is outside of the allowed window', 'clock of the server'],
    [403, 'Missing required scope: trading', 'the scope trading'],
    [403, 'Trading is restricted in your country', 'from this region'],
    [401, 'You are not the owner of this balance', 'Renew the API token'],
  ])('%i %s', (status, message, wanted) => {
    expect(advice(status, message)).toContain(wanted);
  });
});

test('the guide lists every refusal of an order for Limitless', async () => {
  expect(await docsTable('Limitless', 'Refused before it is sent')).toEqual(
    Object.values(LIMITLESS_CHECKS).map(({ message, resolution }) => [message, `${resolution}.`]),
  );
  expect(await docsTable('Limitless', 'Rejected by Limitless')).toEqual(rejectionRows(LIMITLESS_REJECTIONS));
});
