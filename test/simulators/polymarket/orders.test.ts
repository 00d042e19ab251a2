import { OrderType, Side } from '@polymarket/clob-client-v2';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ManualClock } from '../lib/index.ts';
import type { PolymarketWorld } from '../polymarket.ts';
import type { Reader, Row } from './reader.ts';
import { startQuiet, type TradingRig } from './trading-rig.ts';
import type { SimMarket } from './world/model.ts';
import { takerFee } from './world/stats.ts';
import { HOUR, price, SECOND, shares, usd } from './world/units.ts';
import type { Simulator } from '../simulator.ts';

/** Somebody else's address: the public Hardhat test key's. */
const HARDHAT_ADDRESS = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';

const SHORT = 'not enough balance / allowance';

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
  market = rig.flat();
  [yes = '', no = ''] = market.tokenIds;
  world.exchange.goneOrders = 'null';
});

describe('orders', () => {
  test('a limit order rests in both tokens’ books, is listed, and is cancelled once', async () => {
    const who = await rig.trader();
    const placed = await rig.limit(who, { token: yes, at: 0.35, size: 20 });
    expect(placed).toEqual({
      success: true,
      errorMsg: '',
      orderID: placed.orderID,
      status: 'live',
      makingAmount: '',
      takingAmount: '',
    });
    const book = await reader.clob<{ asks: unknown[] }>(`/book?token_id=${no}`);
    expect(book.asks).toContainEqual({ price: '0.65', size: '20' });
    const [row] = await who.client.getOpenOrders();
    expect(row).toMatchObject({
      id: placed.orderID,
      status: 'ORDER_STATUS_LIVE',
      original_size: '20',
      size_matched: '0',
      price: '0.35',
      side: 'BUY',
    });
    const id = String(placed.orderID);
    expect(await who.client.cancelOrder({ orderID: id })).toEqual({ canceled: [id], not_canceled: {} });
    expect(await who.client.cancelOrder({ orderID: id })).toEqual({
      canceled: [],
      not_canceled: { [id]: 'Order not found or already canceled' },
    });
    expect(await (await rig.send(who, 'GET', `/data/order/${id}`)).json()).toBeNull();
    world.exchange.goneOrders = 'not found';
    expect((await rig.send(who, 'GET', `/data/order/${id}`)).status).toBe(404);
    world.exchange.goneOrders = 'null';
  });

  test('a market purchase spends its dollars at the makers’ prices, pays its fee on top, and shows in the public feed', async () => {
    market = rig.flat({ fee: { rateBps: 500, exponent: 1, rebateBps: 2500, type: 'general_fees' } });
    [yes = '', no = ''] = market.tokenIds;
    const who = await rig.trader();
    const reply = await rig.now(who, { token: yes, side: Side.BUY, amount: 10, at: 0.45 });
    expect(reply).toMatchObject({ status: 'matched', makingAmount: '10', takingAmount: '24.390243' });
    const held = shares('24.390243');
    expect(world.held(who.account.wallet, market, 0)).toBe(held);
    expect(who.account.cash).toBe(usd('9990') - takerFee(market.fee, price('0.41'), held));
    const { data } = await reader.data<{ data: Row[] }>(`/v2/trades?condition=${market.conditionId}`);
    const [row] = data;
    expect(row).toMatchObject({
      proxy_wallet: who.account.wallet.address,
      size: 24.390243,
      price: 0.41,
      side: 'BUY',
      outcome: 'Yes',
    });
    const [trade] = (await who.client.getTrades({ id: (reply.tradeIDs as string[])[0] ?? '' })) as unknown as Row[];
    expect(trade).toMatchObject({
      status: 'TRADE_STATUS_MATCHED',
      transaction_hash: '',
      trader_side: 'TAKER',
      size: '24.390243',
    });
    clock.advance(5 * SECOND);
    const [later] = (await who.client.getTrades({ market: market.conditionId })) as unknown as Row[];
    expect(later).toMatchObject({ status: 'TRADE_STATUS_CONFIRMED', transaction_hash: row?.transaction_hash });
  });

  test('fill-or-kill fills or leaves no trace, fill-and-kill takes what there is', async () => {
    const who = await rig.trader();
    expect(await rig.now(who, { token: yes, side: Side.BUY, amount: 500, at: 0.41 })).toMatchObject({
      error: expect.stringContaining('FOK orders are fully filled or killed'),
    });
    expect(await rig.now(who, { token: yes, side: Side.BUY, amount: 10, at: 0.3, type: OrderType.FAK })).toMatchObject({
      error: expect.stringContaining('no orders found to match with FAK'),
    });
    expect(who.account.cash).toBe(usd('10000'));
    expect(
      await rig.now(who, { token: yes, side: Side.BUY, amount: 500, at: 0.41, type: OrderType.FAK }),
    ).toMatchObject({
      makingAmount: '410',
      takingAmount: '1000',
    });
    expect(world.ordersOf(who.account).map(({ status }) => status)).toEqual(['CANCELED']);
  });

  test('a limit order matches up to its price and rests the remainder', async () => {
    const who = await rig.trader();
    expect(await rig.limit(who, { token: yes, at: 0.42, size: 1200 })).toMatchObject({
      status: 'matched',
      makingAmount: '410',
      takingAmount: '1000',
    });
    const [row] = await who.client.getOpenOrders({ market: market.conditionId });
    expect(row).toMatchObject({ size_matched: '1000', original_size: '1200', price: '0.42' });
    expect(await reader.clob(`/price?token_id=${yes}&side=BUY`)).toEqual({ price: '0.42' });
  });

  test('two buyers mint a set, two sellers merge one, each at the price of its own token', async () => {
    const [a, b] = [await rig.trader(), await rig.trader()];
    world.book(market)?.remove(() => true);
    await rig.limit(a, { token: yes, at: 0.6, size: 50 });
    const reply = await rig.limit(b, { token: no, at: 0.45, size: 50 });
    expect(reply).toMatchObject({ status: 'matched', makingAmount: '20', takingAmount: '50' });
    expect([world.held(a.account.wallet, market, 0), world.held(b.account.wallet, market, 1), market.sets]).toEqual([
      shares('50'),
      shares('50'),
      shares('50'),
    ]);
    expect([a.account.cash, b.account.cash]).toEqual([usd('9970'), usd('9980')]);
    const [seen] = (await a.client.getTrades()) as unknown as {
      trader_side: string;
      asset_id: string;
      maker_orders: Row[];
    }[];
    expect(seen).toMatchObject({ trader_side: 'MAKER', asset_id: no });
    expect(seen?.maker_orders[0]).toMatchObject({ asset_id: yes, price: '0.6', matched_amount: '50', side: 'BUY' });
    await rig.limit(a, { token: yes, side: Side.SELL, at: 0.5, size: 50 });
    await rig.limit(b, { token: no, side: Side.SELL, at: 0.45, size: 50 });
    expect(market.sets).toBe(0n);
    expect(a.account.cash + b.account.cash).toBe(usd('20000'));
  });

  test.each([true, false])(
    'a match that fails to settle leaves nobody with anything of it (minted: %s)',
    async (mints) => {
      const [a, b] = [await rig.trader(), await rig.trader()];
      market.fee = { rateBps: 500, exponent: 1, rebateBps: 0, type: 'general_fees' };
      for (const { account } of [a, b]) world.giveShares(account.wallet, market, shares('50'));
      world.book(market)?.remove(() => true);
      const state = () => [
        market.sets,
        ...[a, b].flatMap(({ account: { cash, wallet } }) => [
          cash,
          world.held(wallet, market, 0),
          world.held(wallet, market, 1),
        ]),
      ];
      const before = state();
      await rig.limit(a, { token: yes, at: 0.6, size: 50 });
      await rig.limit(
        b,
        mints ? { token: no, at: 0.45, size: 20 } : { token: yes, side: Side.SELL, at: 0.6, size: 20 },
      );
      const match = world.exchange.trades.at(-1)!;
      expect(state()).not.toEqual(before);
      world.exchange.fail(match);
      expect(state()).toEqual(before);
      const [seen] = (await b.client.getTrades()) as unknown as Row[];
      expect(seen).toMatchObject({ id: match.id, status: 'TRADE_STATUS_FAILED' });
    },
  );

  test('at one price the older order is filled first, also by the house', async () => {
    const [a, b] = [await rig.trader(), await rig.trader()];
    world.book(market)?.remove(() => true);
    await rig.limit(a, { token: yes, at: 0.4, size: 10 });
    await rig.limit(b, { token: yes, at: 0.4, size: 10 });
    world.makeTrade(market, false, shares('15'));
    expect([...world.ordersOf(a.account), ...world.ordersOf(b.account)].map(({ matched }) => matched)).toEqual([
      shares('10'),
      shares('5'),
    ]);
    const path = `/v2/trades?condition=${market.conditionId}&taker_only=false`;
    const { data } = await reader.data<{ data: Row[] }>(path);
    const maker = data.find((row) => row.proxy_wallet === a.account.wallet.address);
    expect(maker).toMatchObject({ side: 'BUY', price: expect.closeTo(0.4, 10), size: 10 });
  });

  test('what the rules forbid is refused in the platform’s words', async () => {
    const who = await rig.trader({ cash: '100' });
    const seconds = Math.floor(clock.now() / SECOND);
    const order = await rig.sign(who, { token: yes, at: 0.3, size: 10 });
    const body = (change: object, extra: object = {}) => ({
      deferExec: false,
      postOnly: false,
      order: { ...order, salt: Number(order.salt), side: 'BUY', ...change },
      owner: who.creds.key,
      orderType: 'GTC',
      ...extra,
    });
    const error = async (value: unknown): Promise<string> => {
      const reply = await rig.send(who, 'POST', '/order', value);
      expect(reply.status).toBe(400);
      return ((await reply.json()) as { error: string }).error;
    };
    expect(await rig.limit(who, { token: yes, at: 0.3, size: 400 })).toMatchObject({
      error: `${SHORT}: the balance is not enough -> balance: 100000000, order amount: 120000000`,
    });
    expect(await rig.limit(who, { token: yes, side: Side.SELL, at: 0.6, size: 5 })).toMatchObject({
      error: `${SHORT}: the balance is not enough -> balance: 0, order amount: 5000000`,
    });
    const cent = rig.flat({ tick: price('0.01') });
    world.book(cent)?.rest({ wallet: world.wallets[0]!, at: 'ask', price: price('0.1'), left: shares('9'), own: null });
    const cheap = { token: cent.tokenIds[0] ?? '', at: 0.1, size: 9.9 };
    for (const reply of [
      await rig.limit(who, cheap),
      await rig.now(who, { ...cheap, side: Side.BUY, amount: 0.99 }),
      await rig.now(who, { ...cheap, side: Side.BUY, amount: 0.99, at: 0.05, type: OrderType.FAK }),
    ]) {
      expect(reply).toMatchObject({ error: 'invalid amount for a marketable BUY order ($0.99), min size: $1' });
    }
    expect(await rig.limit(who, { ...cheap, at: 0.09 })).toMatchObject({ status: 'live' });
    expect(await rig.limit(who, { token: yes, at: 0.3, size: 4 })).toMatchObject({
      error: expect.stringMatching(/^order 0x\w{64} is invalid. Size \(4\) lower than the minimum: 5$/),
    });
    expect(await rig.limit(who, { token: yes, at: 0.41, size: 5, postOnly: true })).toMatchObject({
      error: 'invalid post-only order: order crosses book',
    });
    expect(
      await rig.limit(who, { token: yes, at: 0.3, size: 5, type: OrderType.GTD, expiration: seconds + 179 }),
    ).toMatchObject({
      error: 'invalid expiration',
    });
    const other = rig.flat({ negRiskOther: true }, true).tokenIds[0] ?? '';
    expect(await rig.limit(who, { token: other, at: 0.3, size: 5 })).toMatchObject({
      error: 'the market is not yet ready to process new orders',
    });
    expect(await error(body({}, { owner: 'another' }))).toBe('the order owner has to be the owner of the API KEY');
    expect(await error(body({ takerAmount: '10000001' }))).toBe('invalid signature');
    expect(await error(body({ signer: HARDHAT_ADDRESS }))).toBe(
      'the order signer address has to be the address of the API KEY',
    );
    expect(await error(body({ nonce: '0', taker: HARDHAT_ADDRESS }))).toBe(
      'invalid order version, please use the latest clob-client',
    );
    expect(await error({ order: {} })).toBe('Invalid order payload');
    for (const change of [{ timestamp: String(seconds) }, { expiration: String(clock.now() + 600 * SECOND) }]) {
      expect(await error(body(change))).toBe('Invalid order payload');
    }
    expect((await rig.send(who, 'POST', '/order', body({}))).status).toBe(200);
    expect(await error(body({}))).toMatch(/is invalid. Duplicated.$/);
    who.account.depositFlowOnly = true;
    expect(await rig.limit(who, { token: yes, at: 0.3, size: 5 })).toMatchObject({
      error: 'maker address not allowed, please use the deposit wallet flow',
    });
  });

  test('prices and amounts have to fit the tick', async () => {
    const who = await rig.trader();
    const fine = rig.flat({ tick: price('0.001') });
    const offGrid = { tokenID: yes, price: 0.305, size: 10, side: Side.BUY };
    const off = await who.client.orderBuilder.buildOrder(offGrid, { tickSize: '0.001', negRisk: false }, 2);
    expect(await who.client.postOrder(off, OrderType.GTC, false, true)).toMatchObject({
      error: expect.stringMatching(/Price \(0.305\) breaks minimum tick size rule: 0.01$/),
    });
    expect(await rig.limit(who, { token: fine.tokenIds[0] ?? '', at: 0.305, size: 10 })).toMatchObject({
      status: 'live',
    });
    const cents = await rig.sign(who, { token: yes, at: 0.41, size: 7.77 });
    expect(await who.client.postOrder(cents, OrderType.FAK, false, true)).toMatchObject({
      error: expect.stringContaining('market buy orders maker amount supports a max accuracy of 2 decimals'),
    });
  });

  test('an order counts for the contract its market trades on', async () => {
    const who = await rig.trader();
    const negRisk = rig.flat({}, true);
    const [token = ''] = negRisk.tokenIds;
    expect(await rig.limit(who, { token, at: 0.3, size: 10 })).toMatchObject({ status: 'live' });
    expect(await rig.limit(who, { token, at: 0.3, size: 11, version: 2 })).toMatchObject({
      error: 'invalid signature',
    });
    const v3 = rig.flat({ version: 'v2' });
    const [position = ''] = v3.tokenIds;
    expect(await rig.limit(who, { token: position, at: 0.3, size: 10, version: 3 })).toMatchObject({ status: 'live' });
    expect(await rig.limit(who, { token: position, at: 0.3, size: 10, version: 2 })).toMatchObject({
      error: expect.stringContaining('invalid order version'),
    });
  });

  test('a market that is not open takes no orders, a closed one has no book and drops what rests', async () => {
    const who = await rig.trader();
    await rig.limit(who, { token: yes, at: 0.3, size: 10 });
    const late = await rig.sign(who, { token: yes, at: 0.31, size: 10 });
    world.pauseMarket(market);
    expect(await who.client.postOrder(late, OrderType.GTC, false, true)).toMatchObject({
      status: 400,
      error: 'the market is not yet ready to process new orders',
    });
    world.resolveMarket(market, 0);
    expect(await who.client.postOrder(late, OrderType.GTC, false, true)).toMatchObject({ status: 404 });
    expect(world.ordersOf(who.account)[0]?.status).toBe('CANCELED_MARKET_RESOLVED');
  });

  test('a GTD order leaves the book a minute before the expiration it was signed with', async () => {
    const who = await rig.trader();
    const seconds = Math.floor(clock.now() / SECOND);
    await rig.limit(who, { token: yes, at: 0.3, size: 10, type: OrderType.GTD, expiration: seconds + 180 });
    clock.advance(119 * SECOND);
    expect(await who.client.getOpenOrders()).toHaveLength(1);
    clock.advance(2 * SECOND);
    expect(await who.client.getOpenOrders()).toHaveLength(0);
  });

  test('where marketable orders wait they answer delayed, cannot be cancelled, and match later', async () => {
    market = rig.flat({ secondsDelay: 3 });
    [yes = ''] = market.tokenIds;
    const who = await rig.trader();
    const reply = await rig.limit(who, { token: yes, at: 0.41, size: 10 });
    expect(reply).toMatchObject({ success: true, status: 'delayed', takingAmount: '' });
    expect(await who.client.cancelAll()).toEqual({ canceled: [], not_canceled: {} });
    clock.advance(3 * SECOND);
    expect(await who.client.getTrades({ market: market.conditionId })).toHaveLength(1);
    expect(world.ordersOf(who.account)[0]?.status).toBe('MATCHED');
  });

  test('resting orders are cleared when the game starts', async () => {
    world.exchange.goneOrders = 'row';
    const game = rig.flat({ gameStartMs: clock.now() + HOUR });
    const who = await rig.trader();
    await rig.limit(who, { token: game.tokenIds[0] ?? '', at: 0.3, size: 10 });
    clock.advance(HOUR);
    expect(await who.client.getOpenOrders()).toHaveLength(0);
    const [{ id = '' } = {}] = world.ordersOf(who.account);
    expect(await who.client.getOrder(id)).toMatchObject({ status: 'ORDER_STATUS_INVALID', size_matched: '0' });
  });

  test('an order that finds nothing after its wait is killed, and its status says why', async () => {
    world.exchange.goneOrders = 'row';
    market = rig.flat({ secondsDelay: 3 });
    [yes = ''] = market.tokenIds;
    const who = await rig.trader();
    await rig.now(who, { token: yes, side: Side.BUY, amount: 10, at: 0.41 });
    world.book(market)?.remove(() => true);
    clock.advance(3 * SECOND);
    const [{ id = '' } = {}] = world.ordersOf(who.account);
    const { status } = await who.client.getOrder(id);
    expect(status).toMatch(/^ORDER_STATUS_CANCELED_order couldn't be fully filled/);
  });

  test('a batch answers element by element; a refused one may say success', async () => {
    const who = await rig.trader({ cash: '10' });
    const orders = await Promise.all([
      rig.sign(who, { token: yes, at: 0.3, size: 10 }),
      rig.sign(who, { token: yes, at: 0.3, size: 100 }),
      rig.sign(who, { token: yes, at: 0.3, size: 1 }),
    ]);
    const rows = (await who.client.postOrders(
      orders.map((order) => ({ order, orderType: OrderType.GTC })),
      false,
      true,
    )) as unknown as Row[];
    expect(rows.map(({ success, status }) => [success, status])).toEqual([
      [true, 'live'],
      [true, ''],
      [false, ''],
    ]);
    expect(rows[1]).toMatchObject({ errorMsg: expect.stringContaining(SHORT), orderID: '' });
    const many = await rig.send(
      who,
      'POST',
      '/orders',
      Array.from({ length: 20 }, () => ({})),
    );
    expect(await many.json()).toEqual({ error: 'Too many orders in payload: 20, max allowed: 15' });
    expect(await who.client.cancelMarketOrders({ market: market.conditionId, asset_id: yes })).toMatchObject({
      canceled: [rows[0]?.orderID],
    });
  });

  test('money is promised market by market; what it no longer covers after a fill leaves the books', async () => {
    const who = await rig.trader({ cash: '10' });
    const other = rig.flat();
    await rig.limit(who, { token: yes, at: 0.3, size: 30 });
    expect(await rig.limit(who, { token: yes, at: 0.3, size: 5 })).toMatchObject({
      error: `${SHORT}: the balance is not enough -> balance: 10000000, sum of active orders: 9000000, order amount: 1500000`,
    });
    await rig.limit(who, { token: other.tokenIds[0] ?? '', at: 0.41, size: 10 });
    expect(world.ordersOf(who.account).map(({ status }) => status)).toEqual(['CANCELED', 'MATCHED']);
    expect(who.account.cash).toBe(usd('5.9'));
  });

  test('balances are six-decimal integers of the wallet that trades', async () => {
    const who = await rig.trader({ cash: '12.5', signatureType: 2 });
    world.giveShares(who.account.wallet, market, shares('3'));
    const read = async (query: string) =>
      (await (await rig.send(who, 'GET', `/balance-allowance?signature_type=2&${query}`)).json()) as Row;
    expect((await read('asset_type=COLLATERAL')).balance).toBe('12500000');
    expect((await read(`asset_type=CONDITIONAL&token_id=${no}`)).balance).toBe('3000000');
  });

  test('a balance that the CLOB has not read counts as nothing until it is told to', async () => {
    const who = await rig.trader({ cash: '12.5' });
    who.account.unread.add('COLLATERAL');
    expect(await rig.limit(who, { token: yes, at: 0.3, size: 10 })).toMatchObject({
      error: `${SHORT}: the balance is not enough -> balance: 0, order amount: 3000000`,
    });
    const asset = 'asset_type=COLLATERAL&signature_type=0';
    const read = async () => (await (await rig.send(who, 'GET', `/balance-allowance?${asset}`)).json()) as Row;
    expect((await read()).balance).toBe('0');
    await rig.send(who, 'GET', `/balance-allowance/update?${asset}`);
    expect((await read()).balance).toBe('12500000');
    expect(await rig.limit(who, { token: yes, at: 0.3, size: 10 })).toMatchObject({ status: 'live' });
  });

  test('a contract that may not spend enough is named, with what it may spend and what the order needs', async () => {
    const who = await rig.trader();
    const order = { token: yes, at: 0.3, size: 10 };
    who.account.spender = { address: `0x${'0'.repeat(38)}d9`, allowance: 0n };
    expect(await rig.limit(who, order)).toMatchObject({
      error: `${SHORT}: the allowance is not enough -> spender: 0x${'0'.repeat(38)}d9, allowance: 0, sum of matched orders: 0, order amount (inc. fees): 3000000`,
    });
    Object.assign(who.account, { spender: null, approved: { v1: false, v2: true } });
    expect(await rig.limit(who, order)).toMatchObject({
      error: expect.stringContaining('spender: 0xE111180000d2663C0091e4f400237545B87B996B, allowance: 0'),
    });
  });
});
