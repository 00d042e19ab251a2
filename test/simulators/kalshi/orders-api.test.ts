import { constants, createPrivateKey, sign } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { manualClock } from '../lib/index.ts';
import { roundingFee, tradeFee } from './fees.ts';
import { startKalshi, type KalshiWorld, type Member } from '../kalshi.ts';
import type { Simulator } from '../simulator.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const ORDERS = '/portfolio/events/orders';
type Row = Record<string, string>;
type Reply = { status: number; body: Record<string, Row & Row[]> };

/** 0.01 contracts of a count text, 0.0001 dollars of a price text. */
const units = (text: string | undefined): bigint => BigInt((text ?? '').replace('.', ''));
const priceOf = (value: bigint): string => `0.${String(value).padStart(4, '0')}`;

/** Signs as the platform's guide says: path from the root, no query, no body. */
function signed(member: Member, method: string, path: string, timestamp = String(clock.now())): Record<string, string> {
  const key = createPrivateKey(member.privateKeyPem);
  const message = Buffer.from(timestamp + method + path);
  const pss = { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
  const signature = key.asymmetricKeyType === 'ed25519' ? sign(null, message, key) : sign('sha256', message, pss);
  return {
    'kalshi-access-key': member.apiKeyId,
    'kalshi-access-timestamp': timestamp,
    'kalshi-access-signature': signature.toString('base64'),
  };
}

let sim: Simulator<KalshiWorld>;
let clock: ReturnType<typeof manualClock>;
let member: Member;
let ticker: string;

async function send(method: string, path: string, body?: unknown, who: Member = member): Promise<Reply> {
  const url = new URL(`${sim.env.KALSHI_API_URL}${path}`);
  const reply = await fetch(url, {
    method,
    headers: signed(who, method, url.pathname),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: reply.status, body: (await reply.json()) as Reply['body'] };
}

const order = (change: Record<string, unknown> = {}): Record<string, unknown> => ({
  ticker,
  side: 'bid',
  price: '0.0100',
  count: '1.00',
  time_in_force: 'good_till_canceled',
  self_trade_prevention_type: 'taker_at_cross',
  ...change,
});
const place = (change: Record<string, unknown> = {}, who: Member = member): Promise<Reply> =>
  send('POST', ORDERS, order(change), who);
const read = async (orderId: string | undefined): Promise<Row> =>
  (await send('GET', `/portfolio/orders/${orderId}`, undefined, member)).body.order as Row;

describe('orders of a simulated Kalshi', () => {
  beforeAll(async () => {
    clock = manualClock(NOW);
    sim = await startKalshi({ seed: 3, clock });
    sim.enforceLimits = false;
  });
  afterAll(() => sim.close());
  beforeEach(() => {
    // A market of its own for each test: 0.40 bid for 20, 0.45 asked for 30 contracts.
    ticker = sim.world.createMarket('rate');
    sim.world.tradeOn(ticker, { takerSide: 'yes', yesPrice: '0.4500', count: '1' });
    sim.world.tradeOn(ticker, { takerSide: 'no', yesPrice: '0.4000', count: '1' });
    sim.world.bookOf(ticker).add('bid', 4000, { trader: 0, count: 2000 });
    sim.world.bookOf(ticker).add('ask', 4500, { trader: 0, count: 3000 });
    member = sim.world.addAccount({ balance: '100' });
  });

  describe('signatures', () => {
    const path = '/trade-api/v2/portfolio/balance';
    const balance = async (headers: Record<string, string>, query = ''): Promise<number> =>
      (await fetch(`${new URL(sim.env.KALSHI_API_URL ?? '').origin}${path}${query}`, { headers })).status;

    it.each(['rsa', 'ed25519'] as const)('of an %s key open the portfolio, whatever the query', async (keyType) => {
      const one = sim.world.addAccount({ keyType });
      expect(await balance(signed(one, 'GET', path), '?subaccount=0')).toBe(200);
    });

    it('are refused when absent, of another key, another path, with the query, or at another time', async () => {
      const other = sim.world.addAccount();
      const good = signed(member, 'GET', path);
      expect(await balance({})).toBe(401);
      expect(await balance({ ...good, 'kalshi-access-key': other.apiKeyId })).toBe(401);
      expect(await balance(signed(member, 'POST', path))).toBe(401);
      expect(await balance(signed(member, 'GET', `${path}?limit=1`), '?limit=1')).toBe(401);
      expect(await balance(signed(member, 'GET', path, String(NOW - 31_000)))).toBe(401);
      expect(await balance({ ...good, 'kalshi-access-timestamp': String(NOW + 1) })).toBe(401);
      expect(await balance(good)).toBe(200);
    });

    it('of a key without the scope are 403', async () => {
      const reader = sim.world.addAccount({ scopes: ['read'] });
      expect((await place({}, reader)).status).toBe(403);
    });
  });

  describe('placing', () => {
    const later = { expiration_time: NOW / 1000 + 60, time_in_force: 'immediate_or_cancel' };
    it.each([
      ['no side', { side: undefined }, 'missing_parameters'],
      ['no self-trade rule', { self_trade_prevention_type: undefined }, 'missing_parameters'],
      ['British spelling', { time_in_force: 'good_till_cancelled' }, 'invalid_parameters'],
      ['a price that is a number', { price: 0.4 }, 'invalid_parameters'],
      ['a price off the grid', { price: '0.4050' }, 'invalid_order'],
      ['a third decimal of a contract', { count: '1.001' }, 'invalid_parameters'],
      ['nothing', { count: '0.00' }, 'invalid_order_size'],
      ['an expiration in the past', { expiration_time: NOW / 1000 - 1 }, 'invalid_parameters'],
      ['an expiration of an immediate order', later, 'invalid_parameters'],
      ['post_only across the book', { price: '0.4500', post_only: true }, 'invalid_order'],
      ['reduce_only that may rest', { reduce_only: true }, 'invalid_order'],
      ['more than there is money for', { count: '20000' }, 'available_balance_too_low'],
      ['an unknown market', { ticker: 'NOPE-1' }, 'not_found'],
      ['another shard', { exchange_index: 1 }, 'invalid_parameters'],
      ['a subaccount that cannot be', { subaccount: 64 }, 'invalid_parameters'],
    ])('is refused with %s', async (_, change, code) => {
      const status = code === 'not_found' ? 404 : 400;
      expect(await place(change)).toMatchObject({ status, body: { error: { code } } });
      expect(sim.world.ordersOf(member)).toEqual([]);
    });

    it('is refused for either outcome unless YES costs more than the settlement floor', async () => {
      const { spec } = sim.world.exchange.marketByTicker.get(ticker)!;
      Object.assign(spec.fixed, { settlement_bounds_type: 'floor', settlement_floor_dollars: '0.4100' });
      for (const side of ['bid', 'ask']) {
        const time_in_force = 'immediate_or_cancel';
        expect(await place({ side, price: '0.4100', time_in_force })).toMatchObject({
          status: 400,
          body: { error: { code: 'invalid_order', details: 'price is not above the settlement floor' } },
        });
        expect((await place({ side, price: '0.4200', time_in_force })).status).toBe(201);
      }
    });

    it('rests at its price, shows in the book and answers flat', async () => {
      const { status, body } = await place({ price: '0.41', count: '2.5', client_order_id: 'mine' });
      expect(status).toBe(201);
      expect(body).toEqual({
        order_id: expect.any(String),
        client_order_id: 'mine',
        fill_count: '0.00',
        remaining_count: '2.50',
        ts_ms: NOW,
      });
      const { yesBid, yesBidSize } = sim.world.market(ticker);
      expect([yesBid, yesBidSize]).toEqual(['0.4100', '2.50']);
      expect(await read(String(body.order_id))).toMatchObject({
        status: 'resting',
        outcome_side: 'yes',
        book_side: 'bid',
      });
    });

    it('takes at the makers’ prices and charges 7 % of C·P·(1−P), rounded up', async () => {
      const { body } = await place({ price: '0.5000', count: '8.93', time_in_force: 'immediate_or_cancel' });
      // 0.07 × 8.93 × 0.45 × 0.55 = 0.154711 → 0.1548; cost 4.0185, so that no cent fraction is left to round.
      expect(body).toMatchObject({
        fill_count: '8.93',
        remaining_count: '0.00',
        average_fill_price: '0.4500',
        average_fee_paid: '0.0173',
      });
      expect(await read(String(body.order_id))).toMatchObject({
        status: 'executed',
        taker_fill_cost_dollars: '4.018500',
        taker_fees_dollars: '0.154800',
        maker_fees_dollars: '0.000000',
      });
      expect(sim.world.cashOf(member)).toBe('95.826700');
      const [fill] = (await send('GET', '/portfolio/fills')).body.fills as unknown as [Row];
      expect(fill).toMatchObject({
        count_fp: '8.93',
        yes_price_dollars: '0.4500',
        fee_cost: '0.154800',
        is_taker: true,
      });
      const [print] = sim.world.tradesOf(ticker).toReversed();
      expect(print).toMatchObject({ tradeId: fill.trade_id, count: '8.93', takerSide: 'yes' });
    });

    it('buys NO as an ask: the reply’s price is the YES price, the position negative', async () => {
      const { body } = await place({ side: 'ask', price: '0.4000', count: '10', time_in_force: 'immediate_or_cancel' });
      expect(body).toMatchObject({ fill_count: '10.00', average_fill_price: '0.4000' });
      expect(await read(String(body.order_id))).toMatchObject({
        outcome_side: 'no',
        taker_fill_cost_dollars: '6.000000',
      });
      const { market_positions: rows } = (await send('GET', '/portfolio/positions')).body;
      expect(rows).toMatchObject([{ ticker, position_fp: '-10.00', market_exposure_dollars: '6.000000' }]);
    });

    it('answers 201 with nothing filled where nothing could be taken', async () => {
      for (const time_in_force of ['immediate_or_cancel', 'fill_or_kill']) {
        const { status, body } = await place({ price: '0.4400', time_in_force });
        expect({ status, ...body }).toMatchObject({ status: 201, fill_count: '0.00', remaining_count: '0.00' });
        expect(body).not.toHaveProperty('average_fill_price');
        expect((await read(String(body.order_id))).status).toBe('canceled');
      }
      const kill = await place({ price: '0.4500', count: '31', time_in_force: 'fill_or_kill' });
      expect(kill.body.fill_count).toBe('0.00');
      sim.world.desk.settings.fillOrKill = 'refused';
      expect(await place({ price: '0.4500', count: '31', time_in_force: 'fill_or_kill' })).toMatchObject({
        status: 409,
        body: { error: { code: 'fill_or_kill_insufficient_resting_volume' } },
      });
      sim.world.desk.settings.fillOrKill = 'empty';
    });

    it('happens once per client_order_id', async () => {
      expect((await place({ client_order_id: 'once' })).status).toBe(201);
      expect(await place({ client_order_id: 'once' })).toMatchObject({
        status: 409,
        body: { error: { code: 'order_already_exists' } },
      });
      expect(sim.world.ordersOf(member)).toHaveLength(1);
    });

    it('needs cash on the market’s own shard', async () => {
      const poor = sim.world.addAccount({ balance: { 1: '1000' } });
      expect((await place({}, poor)).body.error).toMatchObject({ code: 'available_balance_too_low' });
      const { body } = await send('GET', '/portfolio/balance', undefined, poor);
      expect(body).toMatchObject({ balance: 100_000, balance_dollars: '1000.0000' });
    });

    it('never trades with itself: the taker stops, or the maker leaves', async () => {
      const mine = await place({ side: 'ask', price: '0.4400', count: '5' });
      const stopped = await place({ price: '0.4500', count: '5', time_in_force: 'immediate_or_cancel' });
      expect(stopped.body.fill_count).toBe('0.00');
      const through = await place({ price: '0.4500', count: '5', self_trade_prevention_type: 'maker' });
      expect(through.body).toMatchObject({ fill_count: '5.00', average_fill_price: '0.4500' });
      expect((await read(String(mine.body.order_id))).status).toBe('canceled');
    });

    it('is refused while trading is paused and after the close, when cancelling is refused too', async () => {
      const { body } = await place();
      sim.world.setExchange({ tradingActive: false });
      expect(await place()).toMatchObject({ status: 409, body: { error: { code: 'trading_is_paused' } } });
      sim.world.setExchange({ tradingActive: true });
      sim.world.close(ticker);
      expect((await place()).body.error).toMatchObject({ code: 'MARKET_INACTIVE' });
      const cancel = await send('DELETE', `${ORDERS}/${String(body.order_id)}?market_ticker=${ticker}`);
      expect(cancel.body.error).toMatchObject({ code: 'MARKET_INACTIVE' });
      expect((await read(String(body.order_id))).status).toBe('canceled');
    });
  });

  describe('after placing', () => {
    it('a waiting order is filled as maker after those before it, at its own price and without a fee', async () => {
      const { body } = await place({ price: '0.4000', count: '3' });
      sim.world.takeOn(ticker, { takerSide: 'no', yesPrice: '0.3900', count: '22' });
      expect(await read(String(body.order_id))).toMatchObject({
        status: 'resting',
        fill_count_fp: '2.00',
        remaining_count_fp: '1.00',
        maker_fill_cost_dollars: '0.800000',
        maker_fees_dollars: '0.000000',
      });
      const [fill] = (await send('GET', `/portfolio/fills?order_id=${String(body.order_id)}`)).body
        .fills as unknown as [Row];
      expect(fill).toMatchObject({ is_taker: false, yes_price_dollars: '0.4000', fee_cost: '0.000000' });
    });

    it('a cancel says how much it took away, and works once', async () => {
      const { body } = await place({ count: '4.25' });
      const path = `${ORDERS}/${String(body.order_id)}?market_ticker=${ticker}`;
      expect((await send('DELETE', path)).body.reduced_by).toBe('4.25');
      expect((await send('DELETE', path)).status).toBe(404);
      expect(await read(String(body.order_id))).toMatchObject({
        status: 'canceled',
        initial_count_fp: '4.25',
        remaining_count_fp: '0.00',
      });
    });

    it('a cancel that names no market looks on shard 0 only', async () => {
      ticker = sim.world.createMarket('coin');
      const { body } = await place({ price: '0.0100' });
      expect((await send('DELETE', `${ORDERS}/${String(body.order_id)}`)).status).toBe(404);
      expect((await send('DELETE', `${ORDERS}/${String(body.order_id)}?exchange_index=2`)).status).toBe(200);
    });

    it('a cancel finds an order in the subaccount that it names, else in the main account', async () => {
      const { body } = await place({ subaccount: 3 });
      const path = `${ORDERS}/${String(body.order_id)}?market_ticker=${ticker}`;
      expect(await read(String(body.order_id))).toMatchObject({ status: 'resting', subaccount_number: 3 });
      expect((await send('DELETE', `${ORDERS}?market_ticker=${ticker}`)).body.orders).toEqual([]);
      for (const where of ['', '&subaccount=0', '&subaccount=2']) {
        expect((await send('DELETE', `${path}${where}`)).status).toBe(404);
      }
      expect((await send('DELETE', `${path}&subaccount=3`)).body.reduced_by).toBe('1.00');
    });

    it('a key that is locked to a subaccount trades there, and may name none', async () => {
      const locked = sim.world.addAccount({ lockedTo: 3 });
      expect((await place({ subaccount: 3 }, locked)).status).toBe(403);
      const { body } = await place({}, locked);
      const { orders } = (await send('GET', '/portfolio/orders', undefined, locked)).body;
      expect(orders).toMatchObject([{ order_id: body.order_id, subaccount_number: 3 }]);
      expect((await send('GET', '/portfolio/balance?subaccount=0', undefined, locked)).status).toBe(403);
      const path = `${ORDERS}/${String(body.order_id)}?market_ticker=${ticker}`;
      expect((await send('DELETE', `${path}&subaccount=3`, undefined, locked)).status).toBe(403);
      expect((await send('DELETE', path, undefined, locked)).status).toBe(200);
    });

    it('amend and decrease change what waits', async () => {
      const { body } = await place({ price: '0.3000', count: '10' });
      const id = String(body.order_id);
      const amended = await send('POST', `${ORDERS}/${id}/amend`, { ticker, side: 'bid', price: '0.3100', count: '8' });
      expect(amended.body).toMatchObject({ order_id: id, remaining_count: '8.00' });
      expect((await read(id)).yes_price_dollars).toBe('0.3100');
      const wrong = { ticker, side: 'ask', price: '0.3100', count: '8' };
      expect((await send('POST', `${ORDERS}/${id}/amend`, wrong)).body.error).toMatchObject({
        code: 'order_side_mismatch',
      });
      const less = { reduce_by: '3', market_ticker: ticker };
      expect((await send('POST', `${ORDERS}/${id}/decrease`, less)).body.remaining_count).toBe('5.00');
      expect((await send('POST', `${ORDERS}/${id}/decrease`, { ...less, reduce_to: '1' })).status).toBe(400);
    });

    it('a batch succeeds item by item', async () => {
      const batch = await send('POST', `${ORDERS}/batched`, { orders: [order(), order({ price: '0.0150' })] });
      expect(batch.status).toBe(201);
      const [good, bad] = batch.body.orders as unknown as [Row, Row];
      expect(good.remaining_count).toBe('1.00');
      expect(bad).toMatchObject({ order_id: null, error: { code: 'invalid_order' } });
      const orders = [{ order_id: good.order_id, market_ticker: ticker }, { order_id: 'nope' }];
      const cancelled = await send('DELETE', `${ORDERS}/batched`, { orders });
      expect(cancelled.body.orders).toMatchObject([{ reduced_by: '1.00' }, { reduced_by: '0.00', error: {} }]);
      await place();
      await send('DELETE', ORDERS);
      expect(sim.world.ordersOf(member).every((one) => one.status === 'canceled')).toBe(true);
    });

    it('an order leaves the book when it expires and says so when it is swept', async () => {
      sim.world.desk.settings.expirySweepMs = 120_000;
      const { body } = await place({ price: '0.4100', expiration_time: clock.now() / 1000 + 60 });
      clock.advance(61_000);
      expect((await read(String(body.order_id))).status).toBe('resting');
      expect(sim.world.market(ticker).yesBid).toBe('0.4000');
      clock.advance(120_000);
      expect(await read(String(body.order_id))).toMatchObject({ status: 'canceled' });
      sim.world.desk.settings.expirySweepMs = 0;
    });

    it('reads may lag behind the 201: the order is 404, its fills come later', async () => {
      Object.assign(sim.world.desk.settings, { orderDelayMs: 500, fillDelayMs: 900 });
      const { body } = await place({ price: '0.4500', count: '2' });
      expect(body.fill_count).toBe('2.00');
      const path = `/portfolio/orders/${String(body.order_id)}`;
      expect((await send('GET', path)).status).toBe(404);
      clock.advance(600);
      expect(await read(String(body.order_id))).toMatchObject({ status: 'resting', fill_count_fp: '0.00' });
      expect((await send('GET', '/portfolio/fills')).body.fills).toEqual([]);
      clock.advance(600);
      expect(await read(String(body.order_id))).toMatchObject({ status: 'executed', fill_count_fp: '2.00' });
      expect((await send('GET', '/portfolio/fills')).body.fills).toHaveLength(1);
      Object.assign(sim.world.desk.settings, { orderDelayMs: 0, fillDelayMs: 0 });
    });

    it('selling what is held nets the position and books the gain', async () => {
      await place({ price: '0.4500', count: '10', time_in_force: 'immediate_or_cancel' });
      await place({
        side: 'ask',
        price: '0.4000',
        count: '4',
        time_in_force: 'immediate_or_cancel',
        reduce_only: true,
      });
      const { market_positions: rows } = (await send('GET', '/portfolio/positions')).body;
      // Bought 10 at 0.45, sold 4 at 0.40.
      expect(rows).toMatchObject([
        { position_fp: '6.00', market_exposure_dollars: '2.700000', realized_pnl_dollars: '-0.200000' },
      ]);
      expect(sim.world.positionOf(member, ticker)).toBe('6.00');
    });

    it('a settlement pays out in integer cents and closes the position', async () => {
      await place({ price: '0.4500', count: '10', time_in_force: 'immediate_or_cancel' });
      const before = units(sim.world.cashOf(member));
      sim.world.settle(ticker, 'scalar', '0.5000');
      expect(units(sim.world.cashOf(member)) - before).toBe(5_000_000n);
      const [row] = (await send('GET', '/portfolio/settlements')).body.settlements as unknown as [Row];
      expect(row).toMatchObject({
        ticker,
        market_result: 'scalar',
        revenue: 500,
        value: 50,
        yes_count_fp: '10.00',
        yes_total_cost_dollars: '4.500000',
      });
      expect((await send('GET', '/portfolio/positions')).body.market_positions).toEqual([]);
    });

    it('orders are listed by status, newest first, page by page', async () => {
      for (let cents = 1n; cents <= 5n; cents++) await place({ price: priceOf(cents * 100n) });
      const page1 = await send('GET', '/portfolio/orders?status=resting&limit=2');
      const page2 = await send('GET', `/portfolio/orders?status=resting&limit=2&cursor=${String(page1.body.cursor)}`);
      const prices = [page1, page2].flatMap(({ body }) => (body.orders ?? []).map((row) => row.yes_price_dollars));
      expect(prices).toEqual(['0.0500', '0.0400', '0.0300', '0.0200']);
    });
  });

  it('answers 410 to the first version’s writes and 404 to reads at the second’s paths', async () => {
    expect(await send('POST', '/portfolio/orders', {})).toMatchObject({
      status: 410,
      body: { error: { code: 'deprecated_v1_order_endpoint' } },
    });
    const reply = await fetch(`${sim.env.KALSHI_API_URL}${ORDERS}/some-id`);
    expect(reply.status).toBe(404);
  });

  it('keeps the tape and the book of members and crowd together: volume, positions and prints agree', async () => {
    await place({ price: '0.4100', count: '50' });
    sim.trade(50);
    const { volume } = sim.world.market(ticker);
    const prints = sim.world.tradesOf(ticker).reduce((sum, trade) => sum + units(trade.count), 0n);
    expect(units(volume)).toBe(prints);
    const filled = sim.world.ordersOf(member).flatMap((one) => one.fills);
    const held = filled.reduce((sum, fill) => sum + units(fill.count), 0n);
    expect(units(sim.world.positionOf(member, ticker))).toBe(held);
    const tape = new Set(sim.world.tradesOf(ticker).map((trade) => trade.tradeId));
    expect(filled.every((fill) => tape.has(fill.tradeId))).toBe(true);
  });

  it('rounds a fill’s fee so that the balance moves by whole hundredths of a cent', () => {
    const { exchange } = sim.world;
    const combo = exchange.markets.find((market) => exchange.eventOf(market).spec.combo);
    if (!combo) throw new Error('the world has no combo');
    // 227.27 contracts at 0.001: fee 0.0159, cost 0.22727, and 0.00003 more.
    const fee = tradeFee(exchange.eventOf(combo).spec, combo, { price: 10, count: 22_727, isTaker: true });
    expect([fee, roundingFee(-227_270n - fee)]).toEqual([15_900n, 30n]);
    const maker = tradeFee(exchange.eventOf(combo).spec, combo, { price: 5000, count: 100, isTaker: false });
    expect(maker).toBe(8_800n);
  });

  it('has a demo member with a nickname, trades and positions', async () => {
    const demo = sim.world.demoAccount;
    expect((await send('GET', '/portfolio/positions', undefined, demo)).body.market_positions?.length).toBeGreaterThan(
      2,
    );
    const url = `${sim.env.KALSHI_SOCIAL_URL}/social/trades?nickname=${demo.nickname}`;
    const { trades } = (await (await fetch(url)).json()) as { trades: Row[] };
    expect(trades.length).toBeGreaterThan(2);
    expect(trades.every((row) => row.taker_nickname === demo.nickname)).toBe(true);
  });
});
