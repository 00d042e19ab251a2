import { Side } from '@polymarket/clob-client-v2';
import { beforeEach, describe, expect, test } from 'vitest';
import { parsePrice, parseSize, parseUsd } from '../../../src/core/decimal.ts';
import { readContext } from '../../fixtures/canned-http.ts';
import type { Wanted } from '../../fixtures/polymarket/orders.ts';
import { acceptedOrder, polymarketMember } from '../../helpers/polymarket-member.ts';
import { quietPolymarket } from '../../helpers/quiet-polymarket.ts';
import type { SimMarket } from '../../simulators/polymarket/world/model.ts';
import { shares } from '../../simulators/polymarket/world/units.ts';

const FEE = { rateBps: 500, exponent: 1, rebateBps: 2500, type: 'general_fees' };
const SECOND = 1000;
const EXCHANGE = '0xe3333700cA9d93003F00f0F71f8515005F6c00Aa';
const POSITION_MANAGER = '0x006F54F7f9A22e0000CC2AB60031000000ae9fEF';

const quiet = quietPolymarket();
let market: SimMarket;

/** 1000 positions wanted at 0.40, 1000 offered at 0.41. */
beforeEach(() => {
  quiet.world.exchange.conditionDigits = 64;
  market = quiet.rig.flat({ version: 'v2', fee: FEE });
});

const member = (type: 0 | 1 | 2 | 3 = 0) => polymarketMember(quiet.sim, { http: quiet.http }, () => market, type);
const gtd = { timeInForce: 'gtd', expirationMs: Date.parse('2026-11-20T18:00:00Z') } as const;
const fok = { type: 'market', timeInForce: 'fok' } as const;

describe('an order on a market of Protocol V2', () => {
  test.each<[wanted: Wanted, status: string, filled: string, average: string | null]>([
    [{ price: '0.35' }, 'open', '0', null],
    [{ price: '0.35', ...gtd }, 'open', '0', null],
    [{ price: '0.35', outcomeIndex: 1, side: 'sell' }, 'filled', '10', '0.59'],
    [{ price: '0.41' }, 'filled', '10', '0.41'],
    [{ price: '0.41', size: '1200' }, 'partially_filled', '1000', '0.41'],
    [{ price: '0.41', timeInForce: 'ioc', size: '1200' }, 'cancelled', '1000', '0.41'],
    [{ price: '0.35', timeInForce: 'fok' }, 'cancelled', '0', null],
    [{ price: '0.41', ...fok, walk: { size: '10', cost: '4.1' } }, 'filled', '10', '0.41'],
    [{ price: '0.6', outcomeIndex: 1, ...fok, walk: { size: '10', cost: '6' } }, 'filled', '10', '0.6'],
    [{ price: '0.4', side: 'sell', ...fok }, 'filled', '10', '0.4'],
    [{ price: '0.45', side: 'sell' }, 'open', '0', null],
  ])('%o comes back %s', async (wanted, status, filled, average) => {
    const our = member();
    const done = await our.place(wanted);
    expect(acceptedOrder(done)).toMatchObject({
      orderId: done.record.orderId,
      status,
      filledSize: parseSize(filled),
      averageFillPrice: average === null ? null : parsePrice(average),
    });
    const killed = status === 'cancelled' && filled === '0';
    expect(quiet.world.ordersOf(our.account)).toMatchObject(killed ? [] : [{ id: done.record.orderId, market }]);
    quiet.clock.advance(11 * SECOND);
    const placed = { ...done.record, placed: true };
    await our.adapter.find([placed], our.access);
    quiet.clock.advance(6 * SECOND);
    expect(await our.adapter.find([placed], our.access)).toMatchObject([{ status, filledSize: parseSize(filled) }]);
  });

  test.each([0, 1, 2, 3] as const)('is taken from a wallet of type %i', async (type) => {
    const our = member(type);
    expect(acceptedOrder(await our.place({ price: '0.35' })).status).toBe('open');
    expect(quiet.world.ordersOf(our.account)).toMatchObject([{ account: { signatureType: type } }]);
  });

  test.each([62, 64] as const)('is read, listed and cancelled where conditions have %i digits', async (digits) => {
    quiet.world.exchange.conditionDigits = digits;
    const our = member();
    const elsewhere = quiet.rig.flat();
    const [mine, part, other] = [
      await our.place({ price: '0.35' }),
      await our.place({ price: '0.41', size: '1200' }),
      await our.place({ price: '0.35' }, { market: await our.keys(elsewhere) }),
    ];
    const own = { marketRef: market.conditionId, marketId: market.id };
    expect(await our.adapter.get(mine.record.orderId ?? '', our.access)).toMatchObject({ ...own, status: 'open' });
    const found = await our.adapter.find([mine.record, part.record, other.record], our.access);
    expect(found).toMatchObject([
      { status: 'open', filledSize: 0n },
      { status: 'partially_filled', filledSize: parseSize('1000'), averageFillPrice: parsePrice('0.41') },
      { status: 'open' },
    ]);
    const listing = await our.adapter.list({ market: await our.keys(market), sinceMs: 0 }, our.access);
    expect(listing.orders.map(({ orderId }) => orderId)).toEqual([mine.record.orderId, part.record.orderId]);
    expect(listing).toMatchObject({ complete: true, orders: [own, own] });
    expect((await our.adapter.list({ market: null, sinceMs: 0 }, our.access)).orders).toHaveLength(3);
    const target = { orderId: mine.record.orderId ?? '', marketRef: market.conditionId };
    expect(await our.adapter.cancel([target], our.access)).toMatchObject([{ result: 'cancelled' }]);
    expect(await our.adapter.cancel([target], our.access)).toMatchObject([{ result: 'not_open' }]);
  });

  test('meets those of Polymarket’s own client, as taker and as maker, minted as well', async () => {
    const our = member();
    const bob = await quiet.rig.trader();
    const [yes = '', no = ''] = market.tokenIds;
    quiet.world.book(market)?.remove(() => true);
    // Two buyers: positions are minted at 0.55 and 0.45.
    await quiet.rig.limit(bob, { token: no, at: 0.45, size: 50, version: 3 });
    expect(acceptedOrder(await our.place({ price: '0.6', size: '50' }))).toMatchObject({
      status: 'filled',
      averageFillPrice: parsePrice('0.55'),
      takerFee: parseUsd('0.61875'),
    });
    const resting = await our.place({ price: '0.3', size: '50' });
    quiet.world.giveShares(bob.account.wallet, market, shares('100'));
    await quiet.rig.limit(bob, { token: yes, side: Side.SELL, at: 0.3, size: 20, version: 3 });
    expect(await quiet.rig.now(bob, { token: no, side: Side.BUY, amount: 7, at: 0.7, version: 3 })).toMatchObject({
      success: true,
      status: 'matched',
    });
    expect(await our.adapter.find([resting.record], our.access)).toMatchObject([
      { status: 'partially_filled', filledSize: parseSize('30'), takerFee: 0n },
    ]);
    expect(await bob.client.getTrades({ asset_id: yes })).not.toEqual([]);
  });

  test('without an answer is found under its own id', async () => {
    const our = member();
    quiet.sim.inject({ match: /POST \/clob\/order$/, times: 1, kind: 'after' });
    const lost = await our.place({ price: '0.35' });
    expect(lost.placement.result).toBe('unknown');
    expect(await our.adapter.find([lost.record], our.access)).toMatchObject([
      { orderId: lost.record.orderId, status: 'open' },
    ]);
  });

  test('is bounded by the book that is read one outcome at a time, as lists do not know positions', async () => {
    const our = member();
    const book = await our.data.orderBook(await our.keys(market), readContext());
    expect(book?.yes.asks[0]).toEqual({ price: parsePrice('0.41'), size: parseSize('1000') });
    expect(book?.no.asks[0]).toEqual({ price: parsePrice('0.6'), size: parseSize('1000') });
  });
});

describe('what the wallet lacks on a market of Protocol V2', () => {
  test.each<[wanted: Wanted, words: string[]]>([
    [{ price: '0.35', size: '90000' }, ['Fund the wallet', 'holds 10000 pUSD']],
    [{ price: '0.45', side: 'sell', size: '2001' }, ['Fund the wallet', 'holds 2000 shares']],
  ])('%o is explained with what it holds', async (wanted, words) => {
    const { placement } = await member().place(wanted);
    expect(placement).toMatchObject({ result: 'rejected', refusal: { status: 422 } });
    for (const word of words)
      expect(placement).toMatchObject({ refusal: { resolution: expect.stringContaining(word) } });
  });

  test.each<[wanted: Wanted, spender: string]>([
    [{ price: '0.35' }, "spend the wallet's pUSD"],
    [{ price: '0.45', side: 'sell' }, POSITION_MANAGER],
  ])('%o names the approval, as those of version 1 do not carry over', async (wanted, words) => {
    const our = member();
    our.account.approved.v2 = false;
    const { placement } = await our.place(wanted);
    for (const word of [EXCHANGE, words]) {
      expect(placement).toMatchObject({ refusal: { resolution: expect.stringContaining(word) } });
    }
    market = quiet.rig.flat();
    expect(acceptedOrder(await our.place({ price: '0.35' })).status).toBe('open');
  });

  test('is explained by its text where the platform does not answer in time', async () => {
    quiet.sim.inject({ match: /GET \/clob\/balance-allowance/, times: 9, kind: 'status', status: 503, body: '' });
    const { placement } = await member().place({ price: '0.35', size: '90000' });
    expect(placement).toMatchObject({
      result: 'rejected',
      refusal: { resolution: expect.stringContaining('it holds 10000 pUSD, and 31500 are needed') },
    });
  });
});
