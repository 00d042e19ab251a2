import { Client as SdkClient, OrderType, Side } from '@limitless-exchange/sdk';
import { afterEach, describe, expect, it } from 'vitest';
import { realClock } from '../lib/index.ts';
import { clob, closeRigs, plain, rig, rows, tape } from './rig.ts';
import {
  execution,
  join,
  liveOrders,
  minted,
  orderId,
  quiet,
  sdkWallet,
  totals,
  type Client,
  type Reply,
} from './trading-rig.ts';

afterEach(closeRigs);

describe('an order is refused', () => {
  const refusals: [
    string,
    Parameters<Client['place']>[0] extends infer W ? Omit<W & object, 'market'> : never,
    string,
  ][] = [
    [
      'amounts as texts',
      { order: { makerAmount: '5000000' } },
      'makerAmount must be a number conforming to the specified constraints',
    ],
    [
      'an expiration',
      { signed: { expiration: '1798779540' } },
      'Order expiration is not currently supported. Please sign orders without expiration.',
    ],
    [
      'a salt beyond int64',
      { signed: { salt: '9223372036854775808' } },
      "value '9223372036854775808' is out of range for type bigint",
    ],
    [
      'one taker',
      { signed: { taker: '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A' } },
      'Invalid taker: only the zero address is supported',
    ],
    ['another fee rate', { signed: { feeRateBps: 0 } }, "feeRateBps[0] is out of user's band"],
    ['no price', { order: { price: undefined } }, 'GTC order must have a price'],
    [
      'a price finer than the tick',
      { order: { price: 0.5005 } },
      'price must be a number between 0.001 and 0.999 with at most 3 decimal places',
    ],
    ['a FOK with a price', { type: 'FOK', order: { price: 0.5 } }, 'FOK order must not have a price'],
    ['postOnly on a FAK', { type: 'FAK', top: { postOnly: true } }, 'postOnly is supported for GTC orders only'],
    [
      'a fraction of a base unit',
      { tick: 560, signed: { makerAmount: 1_000_000, takerAmount: 1_785_714 } },
      'Order amounts tick violation: price(0.56) * contracts(1785714) = 999999.84 is not a whole (integer) number. Use contracts ending with price tick size zeros (3), e.g. price=0.56, contracts=1785000, collateral=999600',
    ],
    ['more than the wallet holds', { milliShares: 900_000_000 }, 'Insufficient collateral balance for this order.'],
    ['shares not owned', { side: 'SELL' }, 'Insufficient conditional token balance'],
    ['a recvWindow over ten seconds', { top: { recvWindow: 10_001 } }, 'recvWindow must not be greater than 10000'],
  ];
  it.each(refusals)('for %s', async (_reason, wish, message) => {
    const { market, ann, world } = await quiet();
    const reply = await ann.place({ ...wish, market });
    expect(reply.status).toBe(400);
    expect(JSON.stringify(reply.body['message'])).toContain(JSON.stringify(message).slice(1, -1));
    expect(world.ordersOf(ann.address)).toEqual([]);
  });

  it('when signed for another exchange, with words that name the right one', async () => {
    const on = await rig();
    const child = clob(on.world, (one) => one.group?.negRiskMarketId != null && one.status === 'FUNDED');
    const ann = join(on, 1);
    const body = await ann.body({ market: { ...child, venue: plain(on.world).venue } });
    const reply = await ann.send('POST', '/orders', body);
    expect([reply.status, reply.body['message']]).toEqual([
      400,
      `Invalid signature. Exchange address for this market: ${child.venue.exchange}`,
    ]);
    expect((await ann.place({ market: child, tick: 1 })).status).toBe(201);
  });

  it('when the market is over, locked, a group or a pool', async () => {
    const { world, ann, market } = await quiet();
    world.lock(market.slug);
    expect((await ann.place({ market })).status).toBe(400);
    world.unlock(market.slug);
    world.expire(market.slug);
    expect((await ann.place({ market })).status).toBe(400);
    const group = [...world.groups.keys()][0];
    const pool = [...world.markets.values()].find((one) => one.kind === 'amm');
    for (const marketSlug of [group, pool?.slug]) {
      expect((await ann.place({ market, top: { marketSlug } })).status).toBe(400);
    }
    expect((await ann.place({ market, top: { marketSlug: 'gone-1790108004599' } })).status).toBe(404);
  });

  it('for its allowance, per exchange, and for approvals when selling on a NegRisk market', async () => {
    const on = await rig();
    const ann = join(on, 1);
    const profile = on.world.members.withAddress(ann.address);
    const child = clob(on.world, (one) => one.group?.negRiskMarketId != null && one.status === 'FUNDED');
    await ann.place({ market: child, type: 'FOK', give: 5_000_000 });
    profile?.tokenApprovals.delete(child.venue.adapter as string);
    const sale = await ann.place({ market: child, side: 'SELL', tick: 1, milliShares: 10 });
    expect(sale.body['message']).toBe('Insufficient conditional token allowance for this order.');
    profile?.usdcAllowances.set(child.venue.exchange, 1n);
    expect((await ann.place({ market: child })).body['message']).toBe(
      'Insufficient collateral allowance for this order.',
    );
    expect((await ann.place({ market: plain(on.world), tick: 1 })).status).toBe(201);
  });

  it('with 425 and no code when it comes too late, and 409 when its id or hash was seen', async () => {
    const { ann, market, clock } = await quiet();
    const late = await ann.place({ market, top: { timestamp: clock.now() - 6_000, recvWindow: 5_000 } });
    expect([late.status, 'code' in late.body]).toEqual([425, false]);
    const body = await ann.body({
      market,
      tick: 10,
      top: { clientOrderId: 'mine-1', timestamp: clock.now(), recvWindow: 5_000 },
    });
    expect((await ann.send('POST', '/orders', body)).status).toBe(201);
    expect((await ann.send('POST', '/orders', body)).status).toBe(409);
    expect((await ann.send('POST', '/orders', { ...body, clientOrderId: 'mine-2' })).status).toBe(409);
    expect((await ann.place({ market, tick: 10, top: { clientOrderId: 'mine-1' } })).status).toBe(409);
    expect(await liveOrders(ann, market)).toHaveLength(1);
  });
});

describe('matching', () => {
  it('mints a pair from two buyers: the recorded fee of a 0.93 buy, the maker free, the fill on the public tape', async () => {
    const { ann, bob, market, get, world } = await quiet();
    await bob.place({ market, outcome: 1, tick: 70, milliShares: 20_000 });
    const bought = await ann.place({ market, type: 'FAK', tick: 930, milliShares: 10_752 });
    expect(bought.status).toBe(201);
    expect(execution(bought)).toMatchObject({
      matched: true,
      settlementStatus: 'MINED',
      effectiveFeeBps: 59,
      feeRateBps: 300,
    });
    expect(totals(bought)).toEqual({
      contractsGross: '10752000',
      contractsFee: '63436',
      contractsNet: '10688564',
      usdGross: '9999360',
      usdFee: '0',
      usdNet: '9999360',
    });
    const [mine] = await liveOrders(bob, market);
    expect(mine).toMatchObject({
      token: market.tokens[1],
      status: 'LIVE',
      originalSize: '20000000',
      remainingSize: '9248000',
      price: '0.07',
    });
    const [event] = await tape(get, market.slug);
    expect(event).toMatchObject({
      tokenId: market.tokens[0],
      side: 0,
      price: 0.93,
      matchedSize: '10752000',
      takerAmount: '9999360',
      profile: { account: ann.address },
    });
    expect(event?.['txHash']).toBe(execution(bought)['txHash']);
    const [a, b] = [ann, bob].map(({ address }) => world.members.withAddress(address));
    expect([a?.usdc, b?.usdc]).toEqual([10_000_000_000n - 9_999_360n, 10_000_000_000n - 752_640n]);
    expect([a?.holdings.get(market.tokens[0])?.balance, b?.holdings.get(market.tokens[1])?.balance]).toEqual([
      10_688_564n,
      10_752_000n,
    ]);
  });

  it('merges a pair from two sellers and takes the seller’s fee in USDC', async () => {
    const { ann, bob, market, world } = await quiet();
    await minted(ann, bob, market);
    await ann.place({ market, side: 'SELL', tick: 600, milliShares: 50_000 });
    const sold = await bob.place({ market, outcome: 1, side: 'SELL', type: 'FAK', tick: 400, milliShares: 50_000 });
    expect(totals(sold)).toMatchObject({
      contractsGross: '50000000',
      contractsFee: '0',
      usdGross: '20000000',
      usdFee: '288000',
      usdNet: '19712000',
    });
    const seller = world.members.withAddress(ann.address);
    expect(seller?.usdc).toBe(10_000_000_000n - 50_000_000n + 30_000_000n);
  });

  it.each(['BUY', 'SELL'] as const)('whose settlement fails leaves both members as they were (%s)', async (side) => {
    const { ann, bob, market, world } = await quiet();
    await minted(ann, bob, market);
    const members = [ann, bob].map(({ address }) => world.members.withAddress(address)!);
    const state = () => structuredClone(members.map(({ usdc, holdings }) => ({ usdc, holdings })));
    const before = state();
    // The other outcome at the complement mints or merges; the resting order keeps what was filled of it.
    await ann.place({ market, side, tick: side === 'BUY' ? 600 : 400, milliShares: 50_000 });
    await bob.place({ market, outcome: 1, side, type: 'FAK', tick: side === 'BUY' ? 400 : 600, milliShares: 20_000 });
    expect(state()).not.toEqual(before);
    const [order] = world.ordersOf(bob.address).slice(-1);
    world.desk.fail(order!);
    expect(state()).toEqual(before);
  });

  it('charges nothing where the market says fee false', async () => {
    const { ann, bob, market } = await quiet({ chargesFees: false });
    await bob.place({ market, outcome: 1, tick: 500 });
    const bought = await ann.place({ market, type: 'FAK', tick: 500 });
    expect([execution(bought)['effectiveFeeBps'], totals(bought)['contractsFee']]).toEqual([0, '0']);
    expect(market.metadata['fee']).toBe(false);
  });

  it('walks several levels as one execution with a weighted price, and rests what is left of a GTC', async () => {
    const { ann, bob, market, get } = await quiet();
    await bob.place({ market, outcome: 1, tick: 600, milliShares: 10_000 });
    await bob.place({ market, outcome: 1, tick: 500, milliShares: 20_000 });
    const bought = await ann.place({ market, tick: 500, milliShares: 40_000 });
    expect(totals(bought)).toMatchObject({ contractsGross: '30000000', usdGross: '14000000' });
    expect(rows(bought.body['makerMatches']).map((match) => match['matchedSize'])).toEqual(['10000000', '20000000']);
    expect((await tape(get, market.slug))[0]).toMatchObject({
      price: 0.466667,
      matchedSize: '30000000',
      takerAmount: '14000000',
    });
    expect((await liveOrders(ann, market))[0]).toMatchObject({ originalSize: '40000000', remainingSize: '10000000' });
    const book = (await get(`/markets/${market.slug}/orderbook`)).body;
    expect(book).toMatchObject({ bids: [{ price: 0.5, size: 10_000_000 }], asks: [] });
  });

  it('answers a killed FOK or FAK with 201 and says so inside', async () => {
    const { ann, bob, market } = await quiet();
    await bob.place({ market, outcome: 1, tick: 500, milliShares: 1_000 });
    const killed = [
      await ann.place({ market, type: 'FOK', give: 9_000_000 }),
      await ann.place({ market, type: 'FAK', tick: 499 }),
    ];
    for (const reply of killed) {
      expect([reply.status, execution(reply)['matched'], typeof execution(reply)['reason']]).toEqual([
        201,
        false,
        'string',
      ]);
    }
    const spent = await ann.place({ market, type: 'FOK', give: 500_000 });
    expect(totals(spent)).toMatchObject({ usdGross: '500000', contractsGross: '1000000' });
    expect(await liveOrders(ann, market, '?statuses=UNMATCHED&statuses=MATCHED')).toHaveLength(3);
  });

  it('refuses a postOnly order that would take, and keeps one that would not', async () => {
    const { ann, bob, market } = await quiet();
    await bob.place({ market, outcome: 1, tick: 500 });
    expect((await ann.place({ market, tick: 500, top: { postOnly: true } })).status).toBe(400);
    expect((await ann.place({ market, tick: 499, top: { postOnly: true } })).status).toBe(201);
  });

  it('waits out the taker delay of a market before it executes', async () => {
    const { ann, bob, market, clock } = await quiet({ takerDelayMs: 500 });
    await bob.place({ market, outcome: 1, tick: 500 });
    const delayed = await ann.place({ market, type: 'FAK', tick: 500 });
    expect(execution(delayed)).toMatchObject({
      matched: false,
      settlementStatus: 'DELAYED',
      eligibleAt: new Date(clock.now() + 500).toISOString(),
    });
    clock.advance(500);
    const status = await ann.send('POST', '/orders/status/batch', { items: [{ orderId: orderId(delayed) }] });
    expect(rows(status.body['results'])[0]).toMatchObject({
      data: { execution: { matched: true, settlementStatus: 'MINED' } },
    });
  });

  it.each([
    ['cancel_maker', { mine: [], matched: false, status: 'LIVE' }],
    ['cancel_taker', { mine: ['first'], matched: false, status: 'CANCELED' }],
    ['cancel_both', { mine: [], matched: false, status: 'CANCELED' }],
  ])('keeps a member from trading with himself by %s', async (stpPolicy, wanted) => {
    const { ann, market } = await quiet();
    const first = await ann.place({ market, outcome: 1, tick: 500 });
    const second = await ann.place({ market, tick: 500, top: { stpPolicy } });
    expect(execution(second)['matched']).toBe(wanted.matched);
    const all = await liveOrders(ann, market, '?statuses=LIVE&statuses=CANCELED');
    const statusOf = (reply: Reply) => all.find((row) => row['id'] === orderId(reply))?.['status'];
    expect(statusOf(first)).toBe(wanted.mine.length > 0 ? 'LIVE' : 'CANCELED');
    expect(statusOf(second)).toBe(wanted.status);
  });

  it('fills a resting order when the crowd reaches its price', async () => {
    const { world, sim, ...on } = await rig();
    const market = plain(world);
    const ann = join({ world, sim, ...on }, 1);
    const placed = await ann.place({ market, tick: (market.book.bestAsk as number) - 1, milliShares: 2_000 });
    expect(execution(placed)['settlementStatus']).toBe('UNMATCHED');
    for (let i = 0; i < 40 && world.ordersOf(ann.address)[0]?.status === 'LIVE'; i++) sim.trade(25);
    const status = await ann.send('POST', '/orders/status/batch', { items: [{ orderId: orderId(placed) }] });
    expect(rows(status.body['results'])[0]).toMatchObject({
      status: 'found',
      data: {
        execution: {
          matched: true,
          effectiveFeeBps: 0,
          totalsRaw: { contractsGross: '2000000', contractsNet: '2000000' },
        },
      },
    });
  });
});

it('is an exchange the official SDK can trade on', async () => {
  const { sim, world } = await rig({ clock: realClock });
  const { tokenId, secret, privateKey, address } = world.demoProfile;
  const sdk = new SdkClient({ baseURL: sim.env['LIMITLESS_API_URL'] as string, hmacCredentials: { tokenId, secret } });
  const market = plain(world);
  const orders = sdk.newOrderClient(sdkWallet(privateKey));
  const terms = { tokenId: market.tokens[0], side: Side.BUY, marketSlug: market.slug };
  const rested = await orders.createOrder({ ...terms, orderType: OrderType.GTC, price: 0.001, size: 12 });
  expect(rested.execution?.settlementStatus).toBe('UNMATCHED');
  expect(await (await sdk.markets.getMarket(market.slug)).getUserOrders()).toHaveLength(1);
  expect(await orders.cancel(rested.order.id)).toEqual({ message: 'Order canceled successfully' });
  const bought = await orders.createOrder({ ...terms, orderType: OrderType.FOK, makerAmount: 3 });
  expect(bought.execution).toMatchObject({ matched: true, totalsRaw: { usdGross: '3000000' } });
  const held = await sdk.portfolio.getPositions();
  expect(held.clob[0]?.tokensBalance.yes).toBe(bought.execution?.totalsRaw.contractsNet);
  expect(world.ordersOf(address)).toHaveLength(2);
});
