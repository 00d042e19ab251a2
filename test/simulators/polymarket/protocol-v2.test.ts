import { OrderType, Side } from '@polymarket/clob-client-v2';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ManualClock } from '../lib/index.ts';
import type { PolymarketWorld } from '../polymarket.ts';
import type { Reader, Row } from './reader.ts';
import { startQuiet, type TradingRig } from './trading-rig.ts';
import { bookHash, type WireBook } from './world/book.ts';
import type { SimMarket } from './world/model.ts';
import { SECOND, shares } from './world/units.ts';
import type { Simulator } from '../simulator.ts';

const EXCHANGE_V3 = '0xe3333700cA9d93003F00f0F71f8515005F6c00Aa';

let clock: ManualClock;
let sim: Simulator<PolymarketWorld>;
let world: PolymarketWorld;
let reader: Reader;
let rig: TradingRig;
let market: SimMarket;
let yes: string;
let no: string;

beforeAll(async () => {
  ({ clock, sim, world, reader, rig } = await startQuiet());
});
afterAll(() => sim.close());
beforeEach(() => {
  world.exchange.conditionDigits = 64;
  market = rig.flat({ version: 'v2' });
  [yes = '', no = ''] = market.tokenIds;
});

describe('a market of Protocol V2', () => {
  test('lists positions in place of tokens, and Gamma writes its condition with two digits fewer', async () => {
    const row = await reader.gamma<Row>(`/markets/${market.id}`);
    expect(row).toMatchObject({ version: 'v2', clobTokenIds: null, positionIds: [yes, no] });
    expect(row.conditionId).toBe(market.conditionId.slice(0, 64));
    expect(await reader.gamma(`/markets?condition_ids=${market.conditionId}`)).toEqual([]);
    expect(await reader.gamma(`/markets?condition_ids=${String(row.conditionId)}`)).toMatchObject([{ id: market.id }]);
  });

  test('has positions that are its condition with the outcome behind it', () => {
    expect(market.conditionId).toMatch(/^0x01[0-9a-f]{32}0{30}$/);
    expect(market.tokenIds.map((id) => BigInt(id))).toEqual([
      BigInt(market.conditionId),
      BigInt(market.conditionId) + 1n,
    ]);
    expect(yes.length).toBeGreaterThanOrEqual(75);
    expect(yes.length).toBeLessThanOrEqual(76);
  });

  test('is known to the CLOB by the longer spelling only', async () => {
    expect(await reader.clob(`/clob-markets/${market.conditionId}`)).toMatchObject({ c: market.conditionId, v: 'v2' });
    const short = await reader.ask('CLOB', `/clob-markets/${market.conditionId.slice(0, 64)}`);
    expect([short.status, await short.json()]).toEqual([404, { error: 'market not found' }]);
  });

  test('has books that name the version, which is part of their hash', async () => {
    const book = await reader.clob<WireBook>(`/book?token_id=${yes}`);
    expect(Object.keys(book).at(-1)).toBe('version');
    expect([book.version, book.hash]).toEqual(['v2', bookHash(book)]);
    const old = await reader.clob<WireBook>(`/book?token_id=${rig.flat().tokenIds[0]}`);
    expect(old).not.toHaveProperty('version');
  });

  test('is not in lists of books unless the world says so', async () => {
    const body = JSON.stringify([{ token_id: yes }, { token_id: rig.flat().tokenIds[0] }]);
    const books = async (): Promise<unknown> => (await reader.ask('CLOB', '/books', { method: 'POST', body })).json();
    expect(await books()).toHaveLength(1);
    world.exchange.listsKnowPositions = true;
    expect(await books()).toHaveLength(2);
    world.exchange.listsKnowPositions = false;
  });

  test('has no books on v1 where Gamma lists positions beside the tokens', async () => {
    const twins = Array.from({ length: 20 }, () => rig.flat()).filter(({ positionIds }) => positionIds);
    expect(twins.length).toBeGreaterThan(0);
    for (const { id, positionIds } of twins) {
      expect(await reader.gamma(`/markets/${id}`)).toMatchObject({ version: 'v1', positionIds });
      expect((await reader.ask('CLOB', `/book?token_id=${positionIds?.[0]}`)).status).toBe(404);
    }
  });

  test('takes orders for Exchange V3 alone, whatever the exchange version the CLOB announces', async () => {
    const who = await rig.trader();
    expect(await reader.clob('/version')).toEqual({ version: 2 });
    // The official client believes that announcement unless it is configured otherwise.
    const wrong = { error: expect.stringContaining('invalid order version') };
    expect(await rig.limit(who, { token: yes, at: 0.3, size: 10 })).toMatchObject(wrong);
    expect(await rig.limit(who, { token: yes, at: 0.3, size: 10, version: 3 })).toMatchObject({ status: 'live' });
    const [old = ''] = rig.flat().tokenIds;
    expect(await rig.limit(who, { token: old, at: 0.3, size: 10, version: 3 })).toMatchObject(wrong);
  });

  test.each([1, 2, 3] as const)('takes the orders of wallets of type %i', async (signatureType) => {
    const who = await rig.trader({ signatureType });
    expect(await rig.limit(who, { token: no, at: 0.3, size: 10, version: 3 })).toMatchObject({ status: 'live' });
  });

  test('wants a date at least three minutes ahead, and ends the order a minute before it', async () => {
    const who = await rig.trader();
    const dated = (seconds: number) =>
      rig.limit(who, {
        token: yes,
        at: 0.3,
        size: 10,
        version: 3,
        type: OrderType.GTD,
        expiration: Math.floor(clock.now() / SECOND) + seconds,
      });
    expect(await dated(179)).toMatchObject({ error: 'invalid expiration' });
    expect(await dated(180)).toMatchObject({ status: 'live' });
    clock.advance(119 * SECOND);
    expect(await who.client.getOpenOrders()).toHaveLength(1);
    clock.advance(2 * SECOND);
    expect(await who.client.getOpenOrders()).toHaveLength(0);
  });

  test.each([62, 64] as const)('is named with %i digits on the private side', async (digits) => {
    world.exchange.conditionDigits = digits;
    const who = await rig.trader();
    await rig.limit(who, { token: yes, at: 0.41, size: 5, version: 3 });
    await rig.limit(who, { token: yes, at: 0.3, size: 10, version: 3 });
    const name = market.conditionId.slice(0, digits + 2);
    const other = market.conditionId.slice(0, 2 + (digits === 62 ? 64 : 62));
    expect(await who.client.getOpenOrders()).toMatchObject([{ market: name }]);
    expect(await who.client.getOpenOrders({ market: name })).toHaveLength(1);
    expect(await who.client.getTrades({ market: name })).toMatchObject([{ market: name }]);
    expect(await who.client.getOpenOrders({ market: other })).toEqual([]);
    expect(await who.client.getTrades({ market: other })).toEqual([]);
  });

  test('counts shares as an asset type of its own, which Exchange V3 alone may move', async () => {
    const who = await rig.trader();
    world.giveShares(who.account.wallet, market, shares('7'));
    const ask = async (type: string) => {
      const reply = await rig.send(who, 'GET', `/balance-allowance?asset_type=${type}&token_id=${yes}`);
      return [reply.status, await reply.json()];
    };
    expect(await ask('CONDITIONAL-V2')).toMatchObject([200, { balance: '7000000' }]);
    expect(await ask('CONDITIONAL')).toEqual([400, { error: 'Invalid token id' }]);
    who.account.approved.v2 = false;
    expect(await ask('CONDITIONAL-V2')).toMatchObject([200, { allowances: { [EXCHANGE_V3]: '0' } }]);
    const [, { allowances }] = (await ask('COLLATERAL')) as [number, { allowances: Record<string, string> }];
    expect(Object.values(allowances).filter((allowance) => allowance === '0')).toHaveLength(1);
    const order = { token: yes, at: 0.41, size: 5, side: Side.SELL, version: 3 } as const;
    expect(await rig.limit(who, order)).toMatchObject({
      error: expect.stringContaining('not enough balance / allowance'),
    });
  });
});
