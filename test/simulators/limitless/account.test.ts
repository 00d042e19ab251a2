import { afterEach, describe, expect, it } from 'vitest';
import type { Profile } from './members.ts';
import { closeRigs, plain, rig, rows } from './rig.ts';
import { join, liveOrders, minted, orderId, quiet } from './trading-rig.ts';

afterEach(closeRigs);

const UNKNOWN_ID = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee';

describe('a signed request', () => {
  it('is refused without headers, with a stale time, a wrong secret, or a signature over other bytes', async () => {
    const { sim, ann, world, clock } = await quiet();
    const url = `${sim.env['LIMITLESS_API_URL']}/profiles/me`;
    expect((await fetch(url)).status).toBe(401);
    expect((await ann.send('GET', '/profiles/me')).body).toMatchObject({
      account: ann.address,
      rank: { feeRateBps: 300 },
    });
    const at = (skewMs: number) => ({ 'lmts-timestamp': new Date(clock.now() + skewMs).toISOString() });
    expect((await ann.send('GET', '/profiles/me', undefined, at(-29_000))).status).toBe(200);
    expect((await ann.send('GET', '/profiles/me', undefined, at(-31_000))).status).toBe(401);
    const now = new Date(clock.now()).toISOString();
    const forged = (method: string, target: string) => ({
      'lmts-timestamp': now,
      'lmts-signature': ann.signature(method, target, '', now),
    });
    expect((await ann.send('GET', '/profiles/me', undefined, forged('GET', '/profiles/me'))).status).toBe(200);
    expect((await ann.send('GET', '/profiles/me', undefined, forged('GET', '/profiles/me?'))).status).toBe(401);
    expect((await ann.send('GET', '/profiles/me', undefined, forged('POST', '/profiles/me'))).status).toBe(401);
    (world.members.withAddress(ann.address) as Profile).secret = 'b3RoZXI=';
    expect((await ann.send('GET', '/profiles/me')).status).toBe(401);
  });

  it('covers the query as sent and needs the trading scope for orders', async () => {
    const on = await rig();
    const reader = join(on, 3, { scopes: [] });
    const market = plain(on.world);
    expect(
      (await reader.send('GET', `/markets/${market.slug}/user-orders?statuses=LIVE&statuses=MATCHED&limit=5`)).status,
    ).toBe(200);
    expect((await reader.place({ market })).status).toBe(403);
    const now = new Date(on.clock.now()).toISOString();
    const forged = {
      'lmts-timestamp': now,
      'lmts-signature': reader.signature('GET', `/markets/${market.slug}/user-orders`, '', now),
    };
    expect(
      (await reader.send('GET', `/markets/${market.slug}/user-orders?statuses=LIVE`, undefined, forged)).status,
    ).toBe(401);
  });
});

describe('taking orders back', () => {
  it('works by DELETE without body or content type, once, and for the owner only', async () => {
    const { ann, bob, market } = await quiet();
    const id = orderId(await ann.place({ market, tick: 100 }));
    expect(
      (await ann.send('DELETE', `/orders/${id}`, undefined, { 'content-type': 'application/json' })).body['message'],
    ).toBe('Body cannot be empty');
    expect((await bob.send('DELETE', `/orders/${id}`)).status).toBe(401);
    expect(await ann.send('DELETE', `/orders/${id}`)).toEqual({
      status: 200,
      body: { message: 'Order canceled successfully' },
    });
    const again = await ann.send('DELETE', `/orders/${id}`);
    expect([again.status, again.body['message']]).toEqual([400, 'Order not found or already canceled']);
    expect((await ann.send('DELETE', `/orders/${UNKNOWN_ID}`)).status).toBe(404);
    expect((await ann.send('DELETE', '/orders/17')).status).toBe(400);
    expect(await liveOrders(ann, market)).toEqual([]);
  });

  it('works by client id, in batches of which a part may fail, and for a whole market', async () => {
    const { ann, market, world } = await quiet();
    const ids: string[] = [];
    for (let i = 0; i < 4; i++)
      ids.push(orderId(await ann.place({ market, tick: 100 + i, top: { clientOrderId: `c${i}` } })));
    expect((await ann.send('POST', '/orders/cancel', { clientOrderId: 'c0' })).status).toBe(200);
    expect((await ann.send('POST', '/orders/cancel', { clientOrderId: 'c1', orderId: ids[1] })).status).toBe(400);
    const some = await ann.send('POST', '/orders/cancel-batch', { orderIds: [ids[0], ids[1]] });
    expect([some.status, some.body['canceled']]).toEqual([207, [ids[1]]]);
    expect(rows(some.body['failed'])).toEqual([
      { orderId: ids[0], reason: 'ORDER_NOT_FOUND', message: expect.any(String) },
    ]);
    expect((await ann.send('POST', '/orders/cancel-batch', { orderIds: [UNKNOWN_ID] })).status).toBe(400);
    world.desk.uncancellable.add(ids[2] as string);
    const all = await ann.send('DELETE', `/orders/all/${market.slug}`);
    expect([all.status, all.body['canceled']]).toEqual([207, [ids[3]]]);
    world.desk.uncancellable.clear();
    expect((await ann.send('DELETE', `/orders/all/${market.slug}`)).status).toBe(200);
    expect(await liveOrders(ann, market)).toEqual([]);
  });

  it('replaces an order, not atomically: a refused replacement leaves the old one cancelled and answers 409', async () => {
    const { ann, market } = await quiet();
    const id = orderId(await ann.place({ market, tick: 100 }));
    const broken = await ann.body({ market, order: { price: undefined } });
    const half = await ann.send('POST', '/orders/cancel-replace', {
      cancel: { orderId: id },
      replacement: broken,
      mode: 'STOP_ON_FAILURE',
    });
    expect(half).toMatchObject({
      status: 409,
      body: { cancel: { status: 'SUCCESS' }, replacement: { status: 'FAILURE' } },
    });
    const good = {
      cancel: { orderId: id },
      replacement: await ann.body({ market, tick: 200 }),
      mode: 'STOP_ON_FAILURE',
    };
    expect(await ann.send('POST', '/orders/cancel-replace', good)).toMatchObject({
      status: 409,
      body: { replacement: { status: 'NOT_ATTEMPTED' } },
    });
    const whole = await ann.send('POST', '/orders/cancel-replace', { ...good, mode: 'ALLOW_FAILURE' });
    expect(whole).toMatchObject({
      status: 409,
      body: { cancel: { status: 'FAILURE' }, replacement: { status: 'SUCCESS' } },
    });
    expect(await liveOrders(ann, market)).toHaveLength(1);
  });

  it('happens to every order when its market expires', async () => {
    const { ann, market, world } = await quiet();
    await ann.place({ market, tick: 100 });
    world.expire(market.slug);
    expect((await liveOrders(ann, market, '?statuses=CANCELED'))[0]).toMatchObject({
      status: 'CANCELED',
      remainingSize: '10000000',
    });
  });
});

describe('queries of a member', () => {
  it('find an order by either id, in numbers as texts, and not somebody else’s', async () => {
    const { ann, bob, market } = await quiet();
    await bob.place({ market, outcome: 1, tick: 500 });
    const id = orderId(await ann.place({ market, type: 'FAK', tick: 500, top: { clientOrderId: 'x' } }));
    const items = [{ orderId: id }, { clientOrderId: 'x' }, { clientOrderId: 'y' }, { orderId: 'no' }];
    const results = rows((await ann.send('POST', '/orders/status/batch', { items })).body['results']);
    expect(results.map((row) => row['status'])).toEqual(['found', 'found', 'not_found', 'invalid']);
    expect(results[0]?.['data']).toMatchObject({
      order: { price: '0.5', nonce: '0', marketId: market.id, expiration: null },
      makerMatches: [
        { fillPrice: '0.5', fillCost: '5000000', order: { side: 0, tokenId: market.tokens[1], price: '0.5' } },
      ],
    });
    const foreign = await bob.send('POST', '/orders/status/batch', { items: [{ orderId: id }] });
    expect(rows(foreign.body['results'])[0]).toMatchObject({ status: 'not_found' });
  });

  it('show positions to anybody, locked collateral, and a history of trades and settlements by cursor', async () => {
    const { ann, bob, market, get, world } = await quiet();
    await minted(ann, bob, market);
    await ann.place({ market, tick: 250, milliShares: 4_000 });
    expect((await ann.send('GET', `/markets/${market.slug}/locked-balance`)).body).toMatchObject({
      lockedBalance: '1',
      orderCount: 1,
    });
    const shown = (await get(`/portfolio/${ann.address}/positions`)).body;
    expect(shown).toEqual((await ann.send('GET', '/portfolio/positions')).body);
    expect(rows(shown['clob'])[0]).toMatchObject({
      market: { slug: market.slug, group: {} },
      positions: { yes: { cost: '50000000', fillPrice: '500000' }, no: { cost: '0' } },
      tokensBalance: { yes: '100000000', no: '0' },
      orders: { totalCollateralLocked: '1000000' },
    });
    world.resolve(market.slug, 1);
    const first = (await ann.send('GET', '/portfolio/history?cursor=&limit=1')).body;
    expect(rows(first['data'])[0]).toMatchObject({ action: 'loss', pnl: '-50000000', collateralAmount: '50' });
    const second = (await ann.send('GET', `/portfolio/history?cursor=${first['nextCursor'] as string}&limit=1`)).body;
    expect(second).toMatchObject({
      nextCursor: null,
      data: [{ strategy: 'Limit Buy', outcomeTokenAmount: '100', outcomeTokenPrice: '0.5' }],
    });
  });
});

describe('maintenance', () => {
  it('is announced and blocks what its mode says, with a code, as 425 or 503', async () => {
    const { ann, market, world, get } = await quiet();
    const id = orderId(await ann.place({ market, tick: 100 }));
    world.maintenance.mode = 'post_only';
    expect((await get('/maintenance/status')).body).toMatchObject({
      active: [{ effects: [{ target: 'trading', mode: 'post_only' }] }],
    });
    expect(await ann.place({ market, tick: 101 })).toMatchObject({ status: 425, body: { code: 'post_only_mode' } });
    expect((await ann.place({ market, tick: 101, top: { postOnly: true } })).status).toBe(201);
    world.maintenance.mode = 'disabled';
    world.maintenance.status = 503;
    expect(await ann.send('DELETE', `/orders/${id}`)).toMatchObject({
      status: 503,
      body: { code: 'trading_disabled' },
    });
    world.maintenance.mode = 'cancel_only';
    expect((await ann.send('DELETE', `/orders/${id}`)).status).toBe(200);
    expect(await ann.place({ market, tick: 102 })).toMatchObject({ status: 503, body: { code: 'cancel_only_mode' } });
  });
});
