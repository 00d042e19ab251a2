import { inspect } from 'node:util';
import { Side } from '@polymarket/clob-client-v2';
import { beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/core/time.ts';
import { notionalUsd, parsePrice, parseSize, parseUsd } from '../../../src/core/decimal.ts';
import { createPlatformHttp } from '../../../src/platforms/http/client.ts';
import { type PlatformHttp } from '../../../src/platforms/http/request.ts';
import { openShared } from '../../../src/stores/shared/open.ts';
import { intent, orderAccess, terms, type Wanted } from '../../fixtures/polymarket/orders.ts';
import { acceptedOrder, polymarketMember } from '../../helpers/polymarket-member.ts';
import { silent } from '../../helpers/silent-log.ts';
import { quietPolymarket } from '../../helpers/quiet-polymarket.ts';
import type { SimAccount } from '../../simulators/polymarket/clob/accounts.ts';
import type { SimMarket } from '../../simulators/polymarket/world/model.ts';
import { shares } from '../../simulators/polymarket/world/units.ts';

const FEE = { rateBps: 500, exponent: 1, rebateBps: 2500, type: 'general_fees' };
const SECOND = 1000;

const quiet = quietPolymarket();
let market: SimMarket;

/** 1000 shares wanted at 0.40, 1000 offered at 0.41. */
beforeEach(() => {
  quiet.world.exchange.mode = 'normal';
  quiet.world.exchange.goneOrders = 'null';
  quiet.world.exchange.failure = null;
  market = quiet.rig.flat({ fee: FEE });
});

const member = (type: 0 | 1 | 2 | 3 = 0, way = quiet.http) =>
  polymarketMember(quiet.sim, { http: quiet.http, way }, () => market, type);
const accepted = acceptedOrder;
const held = (account: SimAccount) => quiet.world.ordersOf(account);
const balanceReads = (): number => quiet.sim.requests.get('GET /clob/balance-allowance/update') ?? 0;
const attempts = (): number => quiet.sim.requests.get('POST /clob/order') ?? 0;

describe('an order', () => {
  const walk = { size: '10', cost: '4.1' };
  type Row = [wanted: Wanted, status: string, filled: string, remaining: string, average: string | null];
  const rows = ([0, 1] as const).flatMap((outcomeIndex): Row[] => {
    // NO is offered at 0.60 and wanted at 0.59.
    const [ask, bid, below, above] =
      outcomeIndex === 0 ? ['0.41', '0.4', '0.35', '0.45'] : ['0.6', '0.59', '0.55', '0.65'];
    const buy = { side: 'buy', outcomeIndex } as const;
    const sell = { side: 'sell', outcomeIndex } as const;
    const cost = outcomeIndex === 0 ? '4.1' : '6';
    /** The whole book, of which 1200 is more than there is. */
    const thin = { size: '1200', walk: { size: '1000', cost: outcomeIndex === 0 ? '410' : '600' } };
    const gtd = { timeInForce: 'gtd', expirationMs: Date.parse('2026-11-20T18:00:00Z') } as const;
    const market = { type: 'market', timeInForce: 'ioc' } as const;
    return [
      [{ ...buy, price: below }, 'open', '0', '10', null],
      [{ ...buy, ...gtd, price: below }, 'open', '0', '10', null],
      [{ ...buy, ...gtd, price: ask }, 'filled', '10', '0', ask],
      [{ ...buy, ...gtd, price: ask, size: '1200' }, 'partially_filled', '1000', '200', ask],
      [{ ...buy, price: ask }, 'filled', '10', '0', ask],
      [{ ...buy, price: ask, size: '1200' }, 'partially_filled', '1000', '200', ask],
      [{ ...buy, price: ask, timeInForce: 'ioc' }, 'filled', '10', '0', ask],
      [{ ...buy, price: ask, timeInForce: 'ioc', size: '1200' }, 'cancelled', '1000', '0', ask],
      [{ ...buy, price: below, timeInForce: 'ioc' }, 'cancelled', '0', '0', null],
      [{ ...buy, price: ask, timeInForce: 'fok' }, 'filled', '10', '0', ask],
      [{ ...buy, price: below, timeInForce: 'fok' }, 'cancelled', '0', '0', null],
      [{ ...buy, price: ask, timeInForce: 'fok', size: '1200' }, 'cancelled', '0', '0', null],
      [{ ...buy, price: ask, type: 'market', timeInForce: 'ioc', walk: { ...walk, cost } }, 'filled', '10', '0', ask],
      [{ ...buy, price: ask, type: 'market', timeInForce: 'fok', walk: { ...walk, cost } }, 'filled', '10', '0', ask],
      [{ ...buy, ...market, ...thin, price: ask }, 'cancelled', '1000', '0', ask],
      [{ ...sell, price: above }, 'open', '0', '10', null],
      [{ ...sell, ...gtd, price: above }, 'open', '0', '10', null],
      [{ ...sell, ...gtd, price: bid }, 'filled', '10', '0', bid],
      [{ ...sell, ...gtd, price: bid, size: '1200' }, 'partially_filled', '1000', '200', bid],
      [{ ...sell, price: bid }, 'filled', '10', '0', bid],
      [{ ...sell, price: bid, size: '1200' }, 'partially_filled', '1000', '200', bid],
      [{ ...sell, price: bid, timeInForce: 'ioc' }, 'filled', '10', '0', bid],
      [{ ...sell, price: bid, timeInForce: 'ioc', size: '1200' }, 'cancelled', '1000', '0', bid],
      [{ ...sell, price: above, timeInForce: 'ioc' }, 'cancelled', '0', '0', null],
      [{ ...sell, price: bid, timeInForce: 'fok' }, 'filled', '10', '0', bid],
      [{ ...sell, price: above, timeInForce: 'fok' }, 'cancelled', '0', '0', null],
      [{ ...sell, price: bid, type: 'market', timeInForce: 'ioc', walk }, 'filled', '10', '0', bid],
      [{ ...sell, ...market, ...thin, price: bid }, 'cancelled', '1000', '0', bid],
      [{ ...sell, price: bid, type: 'market', timeInForce: 'fok', walk }, 'filled', '10', '0', bid],
    ];
  });

  test.each(rows)('%o comes back %s', async (wanted, status, filled, remaining, average) => {
    const our = member();
    const cash = our.account.cash;
    const done = await our.place(wanted);
    const order = accepted(done);
    expect(order).toMatchObject({
      orderId: done.record.orderId,
      status,
      filledSize: parseSize(filled),
      remainingSize: parseSize(remaining),
      averageFillPrice: average === null ? null : parsePrice(average),
      makerFee: 0n,
    });
    // The exchange took what was asked for: its record, and the money that moved.
    const killed = status === 'cancelled' && filled === '0';
    const taken = held(our.account).map(({ id, price, outcome, side, matched }) => ({
      id,
      price,
      outcome,
      side,
      matched,
    }));
    const { outcomeIndex: outcome, price = '', side = '' } = wanted;
    const asked = {
      id: order.orderId,
      price: parsePrice(price),
      outcome,
      side: side.toUpperCase(),
      matched: order.filledSize,
    };
    expect(taken).toEqual(killed ? [] : [asked]);
    const paid = average === null ? 0n : notionalUsd(parsePrice(average), order.filledSize);
    const moved = wanted.side === 'buy' ? -paid : paid;
    expect(our.account.cash - cash).toBe(moved - (order.takerFee ?? 0n));
    // Later looks report the same, and that the match has been settled.
    quiet.clock.advance(10 * SECOND);
    const [found] = await our.adapter.find([done.record], our.access);
    if (killed) expect(found).toBeNull();
    else {
      const { updatedAt: _, createdAt: __, metadata: ___, settlement: ____, ...reported } = order;
      expect(found).toMatchObject(reported);
      expect(found?.settlement).toBeUndefined();
    }
    expect(our.access.badRows).toEqual([]);
  });

  test.each([0, 1, 2, 3] as const)('is taken from a wallet of signature type %i, on either exchange', async (type) => {
    for (const negRisk of [false, true]) {
      market = quiet.rig.flat({}, negRisk);
      const our = member(type);
      const order = accepted(await our.place({ price: '0.35' }));
      expect(order.status).toBe('open');
      expect(held(our.account)).toMatchObject([{ id: order.orderId, account: { signatureType: type } }]);
    }
  });

  test.each(['0.1', '0.005', '0.0025', '0.001', '0.0001'])('is taken on a market with a step of %s', async (tick) => {
    market = quiet.rig.flat({ tick: parsePrice(tick) });
    const our = member();
    const price = tick === '0.1' ? '0.3' : `0.${String(4000 - Number(tick) * 10_000).padStart(4, '0')}`;
    for (const wanted of [{ price }, { price, side: 'sell' as const, outcomeIndex: 1 }]) {
      expect(accepted(await our.place({ ...wanted, size: '7.77' })).status).toMatch(/open|filled|partially/);
    }
    const at = { price: tick === '0.1' ? '0.5' : '0.41', timeInForce: 'ioc', size: '7.77' } as const;
    expect(accepted(await our.place(at)).status).toBe('filled');
  });

  test('buys at the sum of complements, and is sold to at its own price', async () => {
    quiet.world.book(market)?.remove(() => true);
    const bob = await quiet.rig.trader();
    const [yes = '', no = ''] = market.tokenIds;
    const our = member();
    // Bob buys NO at 0.45; our YES at up to 0.60 costs 0.55, and both are minted.
    await quiet.rig.limit(bob, { token: no, at: 0.45, size: 50 });
    const taken = accepted(await our.place({ price: '0.6', size: '50' }));
    expect(taken).toMatchObject({
      status: 'filled',
      averageFillPrice: parsePrice('0.55'),
      takerFee: parseUsd('0.61875'),
    });

    const resting = await our.place({ price: '0.3', size: '50' });
    quiet.world.giveShares(bob.account.wallet, market, shares('100'));
    await quiet.rig.limit(bob, { token: yes, side: Side.SELL, at: 0.3, size: 20 });
    await quiet.rig.limit(bob, { token: no, at: 0.7, size: 10 });
    expect(await our.adapter.find([resting.record], our.access)).toMatchObject([
      {
        status: 'partially_filled',
        filledSize: parseSize('30'),
        remainingSize: parseSize('20'),
        averageFillPrice: parsePrice('0.3'),
        takerFee: 0n,
        metadata: { trade_ids: [expect.any(String), expect.any(String)] },
      },
    ]);
    expect((await our.adapter.list({ market: null, sinceMs: 0 }, our.access)).orders).toMatchObject([
      { orderId: resting.record.orderId, filledSize: parseSize('30'), averageFillPrice: parsePrice('0.3') },
    ]);
  });

  test('that takes and then rests pays for what it took only', async () => {
    const our = member();
    const done = await our.place({ price: '0.41', size: '1200' });
    const bob = await quiet.rig.trader();
    quiet.world.giveShares(bob.account.wallet, market, shares('300'));
    await quiet.rig.limit(bob, { token: market.tokenIds[0] ?? '', side: Side.SELL, at: 0.41, size: 200 });
    expect(await our.adapter.find([done.record], our.access)).toMatchObject([
      { status: 'filled', filledSize: parseSize('1200'), takerFee: accepted(done).takerFee },
    ]);
  });

  test('on a game waits, and is then matched or killed', async () => {
    market = quiet.rig.flat({ secondsDelay: 3 });
    const our = member();
    const [fits, misses] = [
      await our.place({ price: '0.41', timeInForce: 'ioc' }),
      await our.place({ price: '0.41', timeInForce: 'fok', size: '999' }),
    ];
    expect([accepted(fits).status, accepted(misses).status]).toEqual(['pending', 'pending']);
    expect(await our.adapter.find([fits.record], our.access)).toMatchObject([{ status: 'pending', filledSize: 0n }]);
    quiet.clock.advance(13 * SECOND);
    const placed = [fits, misses].map(({ record }) => Object.assign(record, { placed: true }));
    expect(await our.adapter.find(placed, our.access)).toMatchObject([
      { status: 'filled', filledSize: parseSize('10') },
      { status: 'cancelled', filledSize: 0n },
    ]);
  });

  test('with a date expires by it', async () => {
    const our = member();
    const { record } = await our.place({
      price: '0.35',
      timeInForce: 'gtd',
      expirationMs: quiet.clock.now() + 126 * SECOND,
    });
    quiet.clock.advance(125 * SECOND);
    expect(await our.adapter.find([record], our.access)).toMatchObject([
      { status: 'open', expiration: new Date(record.terms.expirationMs ?? 0).toISOString() },
    ]);
    expect(await our.adapter.get(record.orderId ?? '', our.access)).toMatchObject({ timeInForce: 'gtd' });
    quiet.clock.advance(7 * SECOND);
    expect(await our.adapter.find([{ ...record, placed: true }], our.access)).toMatchObject([{ status: 'expired' }]);
  });

  test('with a date that was filled in part expires with that part', async () => {
    const our = member();
    const done = await our.place({
      price: '0.41',
      size: '1200',
      timeInForce: 'gtd',
      expirationMs: quiet.clock.now() + 126 * SECOND,
    });
    quiet.clock.advance(136 * SECOND);
    expect(await our.adapter.find([{ ...done.record, placed: true }], our.access)).toMatchObject([
      {
        status: 'expired',
        filledSize: parseSize('1000'),
        remainingSize: 0n,
        averageFillPrice: parsePrice('0.41'),
        takerFee: accepted(done).takerFee,
      },
    ]);
  });

  test.each(['null', 'not found'] as const)('that was cancelled elsewhere is known as over (%s)', async (gone) => {
    quiet.world.exchange.goneOrders = gone;
    const our = member();
    const { record } = await our.place({ price: '0.35' });
    quiet.world.exchange.cancel(held(our.account)[0]!);
    const placed = { ...record, placed: true };
    quiet.clock.advance(10 * SECOND);
    await our.adapter.find([placed], our.access);
    quiet.clock.advance(5 * SECOND);
    expect(await our.adapter.find([placed], our.access)).toMatchObject([{ status: 'cancelled', filledSize: 0n }]);
  });

  test('that the platform takes off the book as a game starts ends with its part; one without fills is rejected', async () => {
    quiet.world.exchange.goneOrders = 'row';
    market = quiet.rig.flat({ fee: FEE, gameStartMs: quiet.clock.now() + 60 * SECOND });
    const our = member();
    const [part, none] = [await our.place({ price: '0.41', size: '1200' }), await our.place({ price: '0.35' })];
    quiet.clock.advance(60 * SECOND);
    expect(await our.adapter.find([part.record, none.record], our.access)).toMatchObject([
      { status: 'cancelled', filledSize: parseSize('1000'), remainingSize: 0n },
      { status: 'rejected', filledSize: 0n, remainingSize: 0n },
    ]);
    expect(held(our.account).map(({ status }) => status)).toEqual(['INVALID', 'INVALID']);
  });

  test('that is killed after a wait may say why in its status', async () => {
    quiet.world.exchange.goneOrders = 'row';
    market = quiet.rig.flat({ secondsDelay: 3 });
    const our = member();
    const { record } = await our.place({ price: '0.41', timeInForce: 'fok', size: '999' });
    quiet.world.book(market)?.remove(() => true);
    quiet.clock.advance(3 * SECOND);
    expect(await our.adapter.find([record], our.access)).toMatchObject([{ status: 'cancelled', filledSize: 0n }]);
  });
});

describe('listing and cancelling', () => {
  test('every working order is listed, over several pages, of one market or of all', async () => {
    const our = member();
    for (let n = 0; n < 103; n += 1) await our.place({ price: '0.1', size: '5' });
    const first = market;
    market = quiet.rig.flat();
    await our.place({ price: '0.2' });
    const all = await our.adapter.list({ market: null, sinceMs: 0 }, our.access);
    expect([all.orders.length, all.complete]).toEqual([104, true]);
    expect(new Set(all.orders.map(({ orderId }) => orderId))).toEqual(new Set(held(our.account).map(({ id }) => id)));
    const one = await our.adapter.list({ market: await our.keys(first), sinceMs: 0 }, our.access);
    expect(one.orders).toHaveLength(103);
    expect(await our.adapter.cancel(all.orders, our.access)).toEqual(
      Array.from({ length: 104 }, () => ({ result: 'cancelled', httpStatus: 200, detail: '' })),
    );
    expect((await our.adapter.list({ market: null, sinceMs: 0 }, our.access)).orders).toEqual([]);
  });

  test('no working order is left out of a list of several pages where one before it ends between the pages', async () => {
    let pages = 0;
    const way: PlatformHttp = {
      ...quiet.http,
      async send(request) {
        const reply = await quiet.http.send(request);
        if (request.url.includes('/data/orders')) pages += 1;
        // The first order of the second page moves to the first page, which has been read.
        if (pages === 1 && request.url.includes('/data/orders')) quiet.world.exchange.cancel(held(our.account)[0]!);
        return reply;
      },
    };
    const our = member(0, way);
    for (let n = 0; n < 102; n += 1) await our.place({ price: '0.1', size: '5' });
    const { orders, complete } = await our.adapter.list({ market: null, sinceMs: 0 }, our.access);
    const working = held(our.account).filter(({ status }) => status === 'LIVE');
    expect(complete).toBe(true);
    // Nor is the one listed that has ended: it reserves nothing any more.
    expect(new Set(orders.map(({ orderId }) => orderId))).toEqual(new Set(working.map(({ id }) => id)));
  });

  test('an order that ends while a list shrinks to one page is not listed', async () => {
    let pages = 0;
    const way: PlatformHttp = {
      ...quiet.http,
      async send(request) {
        const reply = await quiet.http.send(request);
        if (request.url.includes('/data/orders')) pages += 1;
        if (pages === 2) for (const order of held(our.account).slice(0, 2)) quiet.world.exchange.cancel(order);
        return reply;
      },
    };
    const our = member(0, way);
    for (let n = 0; n < 101; n += 1) await our.place({ price: '0.1', size: '5' });
    const { orders, complete } = await our.adapter.list({ market: null, sinceMs: 0 }, our.access);
    const working = held(our.account).filter(({ status }) => status === 'LIVE');
    expect([complete, working.length]).toEqual([true, 99]);
    expect(new Set(orders.map(({ orderId }) => orderId))).toEqual(new Set(working.map(({ id }) => id)));
  });

  test('an order is cancelled once; a second time nothing is open', async () => {
    const our = member();
    const target = accepted(await our.place({ price: '0.35' }));
    const result = async () => (await our.adapter.cancel([target], our.access))[0]?.result;
    expect([await result(), await result()]).toEqual(['cancelled', 'not_open']);
  });

  test('nobody cancels or reads the orders of others', async () => {
    const target = accepted(await member().place({ price: '0.35' }));
    const eve = member();
    expect(await eve.adapter.cancel([target], eve.access)).toMatchObject([{ result: 'not_open' }]);
    expect(await eve.adapter.get(target.orderId, eve.access)).toBeNull();
  });

  test.each(['restarting', 'disabled'] as const)('nothing is confirmed while the engine is %s', async (mode) => {
    const our = member();
    const target = accepted(await our.place({ price: '0.35' }));
    quiet.world.exchange.mode = mode;
    expect(await our.adapter.cancel([target], our.access)).toMatchObject([{ result: 'unconfirmed' }]);
  });
});

describe('what Polymarket refuses', () => {
  test.each([
    ['more than the wallet holds', { price: '0.35', size: '90000' }, 'Fund the wallet', undefined],
    ['shares it has not', { side: 'sell', price: '0.5', size: '2001' }, 'Fund the wallet', undefined],
    ['money it may not move', { price: '0.35' }, 'approve', { approved: { v1: false, v2: true } }],
    ['a banned address', { price: '0.35' }, 'contact Polymarket', { banned: true }],
    ['an address that may only close', { price: '0.35' }, 'contact Polymarket', { closedOnly: true }],
    ['a wallet of the old kind', { price: '0.35' }, 'signature_type 3', { depositFlowOnly: true }],
  ] as const)('%s, with what helps', async (_, wanted, resolution, change) => {
    const our = member();
    Object.assign(our.account, change);
    expect((await our.place(wanted)).placement).toMatchObject({
      result: 'rejected',
      httpStatus: 400,
      refusal: { status: 422, resolution: expect.stringContaining(resolution) },
    });
    expect(held(our.account)).toEqual([]);
  });

  test('a price the market’s step no longer allows', async () => {
    const our = member();
    const finer = await our.keys(market);
    const stale = { ...finer, metadata: { ...finer.metadata, tick_size: 0.001 } };
    expect((await our.place({ price: '0.355' }, { market: stale })).placement).toMatchObject({
      result: 'rejected',
      refusal: { errorText: expect.stringContaining('breaks minimum tick size rule: 0.01') },
    });
  });

  test('a signature for the wrong contract', async () => {
    const our = member();
    const known = await our.keys(market);
    const wrong = { ...known, metadata: { ...known.metadata, neg_risk: true } };
    expect((await our.place({ price: '0.35' }, { market: wrong })).placement).toMatchObject({
      result: 'rejected',
      refusal: { resolution: expect.stringContaining('belong together') },
    });
  });

  test('a wallet that is not the key’s', async () => {
    const our = member(1);
    const access = orderAccess({ ...our.access.credential, signature_type: 2 }, our.access.markets);
    const order = intent(terms({ price: '0.35' }), { market: await our.keys(market), claimedAtMs: quiet.clock.now() });
    const prepared = await our.adapter.prepare(order, access);
    expect(await prepared.place()).toMatchObject({ result: 'rejected', detail: 'invalid signature' });
  });

  test('orders while it takes none: to be tried again later', async () => {
    const our = member();
    for (const mode of ['post-only', 'cancel-only', 'disabled'] as const) {
      quiet.world.exchange.mode = mode;
      quiet.world.exchange.modeUntilMs = quiet.clock.now() + 79 * SECOND;
      const { placement } = await our.place({ price: '0.35' });
      const retryAfter = mode === 'post-only' ? 79 : expect.any(Number);
      expect(placement).toMatchObject({ result: 'rejected', httpStatus: 503, refusal: { status: 503, retryAfter } });
    }
    expect(held(our.account)).toEqual([]);
  });

  test('an API key that was deleted: the next order has a new one', async () => {
    const our = member();
    await our.place({ price: '0.35' });
    const [key] = quiet.world.exchange.keys.listOf(our.account.owner);
    quiet.world.exchange.keys.drop(key!);
    expect((await our.place({ price: '0.34' })).placement).toMatchObject({
      result: 'rejected',
      httpStatus: 401,
      refusal: { status: 503, retryAfter: 1, resolution: expect.stringContaining('derives another API key') },
    });
    expect(accepted(await our.place({ price: '0.33' })).status).toBe('open');
  });

  test('an API key that was deleted: reads and cancels go on with a new one', async () => {
    const our = member();
    const done = await our.place({ price: '0.35' });
    const drop = () =>
      quiet.world.exchange.keys.listOf(our.account.owner).forEach((key) => quiet.world.exchange.keys.drop(key));
    drop();
    await expect(our.adapter.list({ market: null, sinceMs: 0 }, our.access)).resolves.toMatchObject({ complete: true });
    drop();
    expect(await our.adapter.cancel([accepted(done)], our.access)).toMatchObject([{ httpStatus: 200 }]);
  });

  test('nothing of a new, funded wallet, as the balance is read before its first order', async () => {
    const our = member();
    our.account.unread.add('COLLATERAL');
    expect(accepted(await our.place({ price: '0.35' })).status).toBe('open');
    const before = balanceReads();
    await our.place({ price: '0.34' });
    expect(balanceReads()).toBe(before);
  });

  test('nothing of shares that the wallet has got: they are read before their first sale, and again after a purchase', async () => {
    const our = member();
    await our.place({ price: '0.35' });
    our.account.unread.add(market.tokenIds[1] ?? '');
    const sale = { price: '0.7', side: 'sell', outcomeIndex: 1 } as const;
    expect(accepted(await our.place(sale)).status).toBe('open');
    const before = balanceReads();
    await our.place(sale);
    expect(balanceReads()).toBe(before);
    await our.place({ price: '0.5', outcomeIndex: 1 });
    our.account.unread.add(market.tokenIds[1] ?? '');
    expect(accepted(await our.place(sale)).status).toBe('open');
  });

  test('an order by an old reading of the wallet: it is read again, and nothing is sent twice', async () => {
    const our = member();
    await our.place({ price: '0.35' });
    our.account.unread.add('COLLATERAL');
    const before = attempts();
    expect((await our.place({ price: '0.34' })).placement).toMatchObject({
      result: 'rejected',
      refusal: { status: 422, resolution: expect.stringContaining('now reads 10000 pUSD') },
    });
    expect(attempts() - before).toBe(1);
    expect(accepted(await our.place({ price: '0.34' })).status).toBe('open');
    const sale = { price: '0.7', side: 'sell', outcomeIndex: 1 } as const;
    await our.place(sale);
    our.account.unread.add(market.tokenIds[1] ?? '');
    expect((await our.place(sale)).placement).toMatchObject({
      refusal: { resolution: expect.stringContaining('now reads 2000 shares of the outcome') },
    });
  });

  test('a purchase that crosses the book for less than a dollar, and one with post_only that crosses', async () => {
    quiet.world
      .book(market)
      ?.rest({ wallet: quiet.world.wallets[0]!, at: 'ask', price: parsePrice('0.1'), left: shares('50'), own: null });
    const our = member();
    const refusal = async (wanted: Wanted) => (await our.place(wanted)).placement;
    expect(await refusal({ price: '0.1', size: '9.99' })).toMatchObject({
      refusal: { resolution: expect.stringContaining('spends at least 1 pUSD') },
    });
    expect(await refusal({ price: '0.1', postOnly: true, size: '20' })).toMatchObject({
      refusal: { status: 422, errorText: 'invalid post-only order: order crosses book' },
    });
    expect(accepted(await our.place({ price: '0.09', postOnly: true, size: '20' })).status).toBe('open');
    expect(held(our.account)).toMatchObject([{ postOnly: true }]);
  });
});

describe('when the answer is lost', () => {
  test.each([
    ['reset', 'after the order was taken', 'after'],
    ['cut', 'in the middle of the answer', 'cut'],
  ] as const)('a connection %s %s leaves an order that is found, and placed once', async (_, __, kind) => {
    const our = member();
    await our.place({ price: '0.34' });
    const before = attempts();
    quiet.sim.inject({ match: /POST \/clob\/order$/, times: 1, kind });
    for (const wanted of [{ price: '0.35' }, { price: '0.41', timeInForce: 'fok' }] as const) {
      const { placement, record } = await our.place(wanted);
      if (wanted.price === '0.35') expect(placement.result).toBe('unknown');
      expect(await our.adapter.find([record], our.access)).toMatchObject([
        { orderId: record.orderId, status: wanted.price === '0.35' ? 'open' : 'filled' },
      ]);
    }
    expect(attempts() - before).toBe(2);
    expect(held(our.account)).toHaveLength(3);
  });

  test('a purchase that spent its dollars is found as filled, though no reply said so', async () => {
    const our = member();
    await our.place({ price: '0.34' });
    quiet.sim.inject({ match: /POST \/clob\/order$/, times: 1, kind: 'after' });
    const { placement, record } = await our.place({
      price: '0.45',
      type: 'market',
      timeInForce: 'fok',
      walk: { size: '10', cost: '4.1' },
    });
    expect(placement).toMatchObject({ result: 'unknown', httpStatus: 0 });
    expect(await our.adapter.find([record], our.access)).toMatchObject([
      {
        status: 'filled',
        filledSize: parseSize('10'),
        averageFillPrice: parsePrice('0.41'),
        takerFee: parseUsd('0.12095'),
      },
    ]);
  });

  test.each([
    ['a reset before it arrived', { kind: 'reset' }],
    ['an engine that restarts', { kind: 'status', status: 425, body: '' }],
    ['a failure inside', { kind: 'status', status: 500, body: '{"error":"could not insert order"}' }],
    ['a gateway’s page', { kind: 'status', status: 502, body: '<html><title>Bad gateway</title></html>' }],
  ] as const)('%s leaves it unknown, and nothing is sent again', async (_, fault) => {
    const our = member();
    await our.place({ price: '0.34' });
    const before = attempts();
    quiet.sim.inject({ match: /POST \/clob\/order$/, times: 5, ...fault });
    const { placement, record } = await our.place({ price: '0.35' });
    expect(placement.result).toBe('unknown');
    expect(attempts() - before).toBe(1);
    expect(await our.adapter.find([record], our.access)).toEqual([null]);
    expect(held(our.account)).toHaveLength(1);
  });

  test.each([
    ['could not insert order', 500],
    ['could not insert order: context canceled', 400],
    ['context canceled', 400],
    ['could not insert order: row not found', 404],
    ['could not insert order: unauthorized', 401],
  ])('a failure inside, "%s" (%i), leaves an order that was taken unknown, and it is found', async (words, status) => {
    const our = member();
    await our.place({ price: '0.34' });
    quiet.world.exchange.failure = words;
    const { placement, record } = await our.place({ price: '0.35' });
    expect(placement).toMatchObject({ result: 'unknown', httpStatus: status, detail: words });
    expect(await our.adapter.find([record], our.access)).toMatchObject([{ orderId: record.orderId, status: 'open' }]);
  });

  test('the same signed order sent twice by mistake is one order, and found', async () => {
    const our = member();
    const { prepared, record } = await our.sign({ price: '0.35' });
    expect(await prepared.place()).toMatchObject({ result: 'accepted' });
    expect(await prepared.place()).toMatchObject({ result: 'unknown', detail: expect.stringContaining('Duplicated') });
    expect(held(our.account)).toHaveLength(1);
    expect(await our.adapter.find([record], our.access)).toMatchObject([{ status: 'open' }]);
  });

  test('no error, no order and no log line carries a secret', async () => {
    const lines: unknown[] = [];
    const shared = await openShared({ REDIS_URL: undefined }, silent, { clock: systemClock });
    const note = (...args: unknown[]): void => void lines.push(args);
    const log = { debug: note, info: note, warn: note, error: note };
    const way = createPlatformHttp({ shared, log, clock: systemClock });
    const our = member(0, way);
    const reported: unknown[] = [await our.place({ price: '0.35' })];
    for (const fault of [
      { kind: 'reset' },
      { kind: 'status', status: 429, body: '{"error":"Too Many Requests"}' },
    ] as const) {
      quiet.sim.inject({ match: /POST \/clob\/order$/, times: 1, ...fault });
      reported.push(await our.place({ price: '0.36' }));
    }
    const [key] = quiet.world.exchange.keys.listOf(our.account.owner);
    quiet.world.exchange.keys.drop(key!);
    reported.push(await our.place({ price: '0.36' }).catch((error: unknown) => error));
    await way.close();
    await shared.close();
    const text = inspect([reported, lines], { depth: 20 }).toLowerCase();
    const secrets = [our.access.credential.private_key.slice(2), key!.secret, key!.passphrase];
    for (const secret of secrets) expect(text).not.toContain(secret.toLowerCase());
    expect(text).not.toMatch(/0x[0-9a-f]{130}/);
  });
});
