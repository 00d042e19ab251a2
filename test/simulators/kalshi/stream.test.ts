import { once } from 'node:events';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { kalshiSigner } from '../../../src/platforms/kalshi/sign.ts';
import { KalshiFields } from '../../../src/platforms/kalshi/credential.ts';
import { type KalshiSimulator, type Member, startKalshi } from '../kalshi.ts';
import { PLAIN } from './desk.ts';

interface Frame {
  type: string;
  id?: number;
  sid?: number;
  seq?: number;
  msg?: { [key: string]: unknown };
}
type Levels = [string, string][];

let sim: KalshiSimulator;
let member: Member;
let tickers: string[];
const open: WebSocket[] = [];

beforeEach(async () => {
  sim = await startKalshi({ seed: 12, markets: 30, tradesPerMarket: 5, historyDays: 2, pingMs: 50 });
  member = sim.world.addAccount({ scopes: ['read'], keyType: 'rsa' });
  tickers = sim.world.markets.filter(({ status, combo }) => status === 'active' && !combo).map(({ ticker }) => ticker);
});
afterEach(async () => {
  for (const socket of open.splice(0)) socket.terminate();
  await sim.close();
});

const url = (): string => sim.env['KALSHI_WS_URL'] ?? '';
const signed = (pem = member.privateKeyPem, now = Date.now): Promise<Record<string, string>> => {
  const key = KalshiFields.parse({ api_key_id: member.apiKeyId, private_key: pem });
  return kalshiSigner(key, now)('GET', 'https://kalshi/trade-api/ws/v2');
};

/** A connection with the frames that came. */
async function connect() {
  const socket = new WebSocket(url(), { headers: await signed() });
  open.push(socket);
  const frames: Frame[] = [];
  socket.on('message', (data: Buffer) => void frames.push(JSON.parse(data.toString()) as Frame));
  await once(socket, 'open');
  let id = 0;
  const send = (cmd: string, params?: object): void => socket.send(JSON.stringify({ id: (id += 1), cmd, params }));
  const until = (test: (frame: Frame) => boolean): Promise<Frame> =>
    vi.waitFor(() => {
      const found = frames.findLast(test);
      if (!found) throw new Error(`not among ${JSON.stringify(frames).slice(0, 1000)}`);
      return found;
    }, 5000);
  const errors = (): unknown[] => frames.filter(({ type }) => type === 'error').map(({ msg }) => msg?.['code']);
  return { socket, frames, send, until, errors };
}

/** Status and code of a refused upgrade. */
async function refusal(headers: Record<string, string>): Promise<string> {
  const socket = new WebSocket(url(), { headers });
  const [, response] = (await once(socket, 'unexpected-response')) as [
    unknown,
    AsyncIterable<Buffer> & { statusCode: number },
  ];
  let text = '';
  for await (const chunk of response) text += chunk.toString();
  const { code, details } = (JSON.parse(text) as { error: { code: string; details?: string } }).error;
  return `${response.statusCode} ${code} ${details ?? ''}`.trim();
}

test('only an upgrade that a key has signed now is let in; others are refused with a code', async () => {
  const another = sim.world.addAccount().privateKeyPem;
  expect(await refusal({})).toBe('401 token_authentication_failure');
  expect(await refusal(await signed(another))).toBe('401 authentication_error INCORRECT_API_KEY_SIGNATURE');
  expect(await refusal(await signed(undefined, () => Date.now() - 120_000))).toBe(
    '401 authentication_error header_timestamp_expired',
  );
  expect(await refusal({ ...(await signed()), 'kalshi-access-key': 'another' })).toBe(
    '401 authentication_error NOT_FOUND',
  );
  const { socket } = await connect();
  const [heartbeat] = (await once(socket, 'ping')) as [Buffer];
  expect(heartbeat.toString()).toBe('heartbeat');
});

test('books begin whole, by ticker, and their changes add up to the book of the world in either scale', async () => {
  const [plain, flagged] = [await connect(), await connect()];
  const wanted = tickers.slice(0, 3).toReversed();
  const params = { channels: ['orderbook_delta'], market_tickers: wanted };
  plain.send('subscribe', params);
  flagged.send('subscribe', { ...params, use_yes_price: true });
  for (const one of [plain, flagged]) await one.until(({ seq }) => seq === 3);
  expect(flagged.frames.map(({ type, seq, msg }) => [type, seq, msg?.['market_ticker']])).toEqual([
    ['subscribed', undefined, undefined],
    ...wanted.toSorted().map((ticker, index) => ['orderbook_snapshot', index + 1, ticker]),
  ]);
  sim.trade(60);
  // Among the changes of any market there is a whole book now and then, unasked.
  await vi.waitFor(
    () => {
      sim.trade(10);
      const whole = flagged.frames.find(({ type, seq }) => type === 'orderbook_snapshot' && Number(seq) > 3);
      expect(whole).toBeDefined();
    },
    { timeout: 5000, interval: 5 },
  );
  for (const ticker of wanted) sim.world.takeOn(ticker, { takerSide: 'no', yesPrice: '0.0100', count: '1.00' });
  const last = await vi.waitFor(() => {
    const seqs = [plain, flagged].map(({ frames }) => frames.at(-1)?.seq ?? 0);
    expect(seqs[0]).toBe(seqs[1]);
    expect(seqs[0]).toBeGreaterThan(6);
    return seqs[0] ?? 0;
  });
  for (const { frames } of [plain, flagged]) {
    expect(frames.slice(1).map(({ seq }) => seq)).toEqual(Array.from({ length: last }, (_, index) => index + 1));
  }
  await vi.waitFor(() => {
    for (const ticker of wanted) {
      const book = sim.world.bookOf(ticker);
      const asks = book.levels('ask').map(({ price, size }) => [price, size]);
      const bids = book.levels('bid').map(({ price, size }) => [price, size]);
      expect(sum(flagged.frames, ticker, 'no')).toEqual(asks.toSorted(byPrice));
      expect(sum(plain.frames, ticker, 'no')).toEqual(
        asks.map(([price = 0, size]) => [10_000 - price, size]).toSorted(byPrice),
      );
      expect(sum(plain.frames, ticker, 'yes')).toEqual(bids.toSorted(byPrice));
    }
  });
});

const byPrice = ([a = 0]: (number | undefined)[], [b = 0]: (number | undefined)[]): number => a - b;
const units = (text: string, scale: number): number => Math.round(Number(text) * scale);

/** The levels of a side after its snapshot and changes, in units of the world. */
function sum(frames: readonly Frame[], ticker: string, side: 'yes' | 'no'): number[][] {
  const levels = new Map<number, number>();
  for (const { type, msg = {} } of frames) {
    if (msg['market_ticker'] !== ticker) continue;
    if (type === 'orderbook_snapshot') {
      levels.clear();
      for (const [price, size] of (msg[`${side}_dollars_fp`] ?? []) as Levels)
        levels.set(units(price, 1e4), units(size, 100));
    } else if (msg['side'] === side) {
      const price = units(String(msg['price_dollars']), 1e4);
      levels.set(price, (levels.get(price) ?? 0) + units(String(msg['delta_fp']), 100));
    }
  }
  return [...levels].filter(([, size]) => size !== 0).toSorted(byPrice);
}

test('every trade is sent once with the numbers of its subscription, whose answers take numbers too', async () => {
  const { frames, send, until } = await connect();
  send('subscribe', { channels: ['trade', 'market_lifecycle_v2'] });
  await until(({ type, msg }) => type === 'subscribed' && msg?.['channel'] === 'market_lifecycle_v2');
  const before = sim.world.trades.length;
  sim.trade(20);
  send('update_subscription', { sids: [1], action: 'get_snapshot', market_tickers: [tickers[0]] });
  const refused = await until(({ type }) => type === 'error');
  expect(refused).toMatchObject({ sid: 1, seq: 21, msg: { code: 13 } });
  expect(refused.id).toBeUndefined();
  const trades = frames.filter(({ type }) => type === 'trade');
  expect(trades.map(({ msg }) => msg?.['trade_id']).toSorted()).toEqual(
    sim.world.trades
      .slice(before)
      .map(({ tradeId }) => tradeId)
      .toSorted(),
  );
  expect(trades.map(({ seq }) => seq)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
  sim.world.rename(tickers[1] ?? '', 'above $95,000');
  sim.world.settle(tickers[0] ?? '', 'yes');
  await until(({ msg }) => msg?.['event_type'] === 'settled');
  expect(frames.filter(({ sid }) => sid === 2).map(({ seq, msg }) => [seq, msg?.['event_type']])).toEqual([
    [1, 'metadata_updated'],
    [2, 'close_date_updated'],
    [3, 'determined'],
    [4, 'settled'],
  ]);
});

test('of two channels the one that a key may not have is refused, and the other one brings its frames', async () => {
  sim.stream.faults.forbidden.add('market_lifecycle_v2');
  const { frames, send, until } = await connect();
  send('subscribe', { channels: ['trade', 'market_lifecycle_v2'] });
  await until(({ type }) => type === 'error');
  expect(frames).toMatchObject([
    { type: 'subscribed', id: 1, msg: { channel: 'trade', sid: 1 } },
    { type: 'error', id: 1, msg: { code: 9 } },
  ]);
  sim.trade(1);
  await until(({ type }) => type === 'trade');
});

test('a channel that is held takes further markets, and shows a held one again only to get_snapshot', async () => {
  const { frames, send, until } = await connect();
  const [a = '', b = ''] = tickers;
  send('subscribe', { channels: ['orderbook_delta'], market_tickers: [a] });
  await until(({ seq }) => seq === 1);
  send('subscribe', { channels: ['orderbook_delta'], market_tickers: [a, b] });
  await until(({ seq }) => seq === 3);
  send('update_subscription', { sids: [1], action: 'get_snapshot', market_tickers: [a] });
  await until(({ seq }) => seq === 4);
  send('unsubscribe', { sids: [1] });
  await until(({ type }) => type === 'unsubscribed');
  send('list_subscriptions');
  await until(({ id }) => id === 5);
  expect(frames.map(({ type, id, seq, msg }) => [type, id, seq, msg?.['market_ticker']])).toEqual([
    ['subscribed', 1, undefined, undefined],
    ['orderbook_snapshot', undefined, 1, a],
    ['ok', 2, 2, undefined],
    ['orderbook_snapshot', undefined, 3, b],
    ['orderbook_snapshot', 3, 4, a],
    ['unsubscribed', 4, 5, undefined],
    ['ok', 5, undefined, undefined],
  ]);
});

test('tickers come once a second, of what has moved; a command that makes no sense gets its code', async () => {
  const { socket, frames, send, until, errors } = await connect();
  send('subscribe', { channels: ['ticker'] });
  const [ticker = ''] = tickers;
  sim.world.takeOn(ticker, { takerSide: 'yes', yesPrice: '0.9900', count: '1.00' });
  sim.world.takeOn(ticker, { takerSide: 'yes', yesPrice: '0.9900', count: '1.00' });
  await until(({ type, msg }) => type === 'ticker' && msg?.['market_ticker'] === ticker);
  expect(frames.filter(({ msg }) => msg?.['market_ticker'] === ticker)).toHaveLength(1);
  socket.send('{');
  send('subscribe');
  send('subscribe', { channels: ['ticker_v2'] });
  send('subscribe', { channels: ['orderbook_delta'] });
  send('update_subscription', { sids: [9], action: 'add_markets', market_tickers: [ticker] });
  send('dance', {});
  await vi.waitFor(() => expect(errors()).toEqual([1, 2, 8, 14, 7, 5]));
});

test('fills and orders are told to their own member, without numbers: placement, trade, cancel, expiry', async () => {
  const stranger = sim.world.addAccount();
  const { send, frames, until } = await connect();
  send('subscribe', { channels: ['user_orders', 'fill'] });
  await until(({ type, msg }) => type === 'subscribed' && msg?.['channel'] === 'fill');
  const ticker = sim.world.createMarket('rate');
  const { desk, exchange } = sim.world;
  const [own, other] = [member, stranger].map(({ userId }) => desk.accounts.find((one) => one.userId === userId)!);
  const market = exchange.marketByTicker.get(ticker)!;
  for (const side of ['bid', 'ask'] as const)
    for (const { order } of Array.from(sim.world.bookOf(ticker).orders(side)))
      sim.world.bookOf(ticker).remove(side, order);
  const place = (by: typeof own, side: 'bid' | 'ask', expirationMs: number | null = null) =>
    desk.place(by!, {
      ...PLAIN,
      ticker,
      side,
      price: 1000,
      count: 500,
      timeInForce: 'good_till_canceled',
      expirationMs,
    });
  const resting = place(own, 'bid');
  desk.take(other!, market, 'ask', 1000, 200);
  desk.cancel(resting);
  place(own, 'bid', exchange.nowMs - 1);
  exchange.onTick();
  await until(({ msg }) => msg?.['last_update_reason'] === 'ExpiryCancel');
  const told = frames.filter(({ type }) => type === 'fill' || type === 'user_order');
  expect(told.map(({ seq }) => seq).filter(Boolean)).toEqual([]);
  expect(told.filter(({ type }) => type === 'fill').map(({ msg }) => msg)).toEqual([
    expect.objectContaining({ order_id: resting.orderId, market_ticker: ticker, count_fp: '2.00', is_taker: false }),
  ]);
  const orders = told.filter(({ type }) => type === 'user_order').map(({ msg }) => msg!);
  expect(orders.map((msg) => [msg['ticker'], msg['status'], msg['fill_count_fp'], msg['last_update_reason']])).toEqual([
    [ticker, 'resting', '0.00', undefined],
    [ticker, 'resting', '2.00', 'Trade'],
    [ticker, 'canceled', '2.00', undefined],
    [ticker, 'resting', '0.00', undefined],
    [ticker, 'canceled', '0.00', 'ExpiryCancel'],
  ]);
});
