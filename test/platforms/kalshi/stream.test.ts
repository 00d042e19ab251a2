import { afterEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../../src/core/time.ts';
import { parsePrice, parseSize } from '../../../src/core/decimal.ts';
import { BookFeed } from '../../../src/platforms/kalshi/stream/books.ts';
import { tapeFeed } from '../../../src/platforms/kalshi/stream/tape.ts';
import { tickerFeed } from '../../../src/platforms/kalshi/stream/tickers.ts';
import { BadFrame } from '../../../src/platforms/sockets/contract.ts';
import { delta, error, life, list, markets, open, openBooks, snapshot, subscribed, ticker } from './socket-frames.ts';

afterEach(() => void vi.restoreAllMocks());

test('a book is what its changes add up to, in prices of yes, and a level of 0 is gone', () => {
  const books = open(new BookFeed(markets('A'), systemClock));
  books.session.start();
  expect(books.sent).toMatchObject([
    { cmd: 'subscribe', params: { channels: ['orderbook_delta'], market_tickers: ['A'], use_yes_price: true } },
  ]);
  books.take(subscribed('orderbook_delta'));
  books.take(
    snapshot(
      1,
      'A',
      [
        ['0.0100', '7.00'],
        ['0.4000', '10.00'],
      ],
      [
        ['0.9900', '3.50'],
        ['0.4500', '5.00'],
      ],
    ),
  );
  books.take(delta(2, 'A', 'yes', '0.4000', '-2.50'));
  books.take(delta(3, 'A', 'no', '0.4500', '-5.00'));
  books.take(delta(4, 'A', 'no', '0.4375', '0.01'));
  // The market has ended: an empty book, unasked.
  books.take(snapshot(5, 'A'));
  const empty = snapshot(6, 'A');
  books.take({ ...empty, msg: { ...empty.msg, yes_dollars_fp: null, no_dollars_fp: null } });
  expect(books.news()).toEqual([
    'A 0.4 × 10,0.01 × 7 | 0.45 × 5,0.99 × 3.5',
    'A bid 0.4 × 7.5',
    'A ask 0.45 × 0',
    'A ask 0.4375 × 0.01',
    'A  | ',
    'A  | ',
  ]);
  expect(books.session.failure()).toBeNull();
});

test('answers of a subscription count in its numbers, repeated frames do not', () => {
  const books = openBooks('A');
  expect(books.take({ type: 'ok', id: 2, sid: 1, seq: 2, msg: { market_tickers: ['A'] } })).toBe(false);
  expect(() => books.take({ type: 'error', sid: 1, seq: 3, msg: { code: 13, msg: 'Unsupported action' } })).toThrow(
    BadFrame,
  );
  expect(books.take(delta(3, 'A', 'yes', '0.4000', '1.00'))).toBe(false);
  // Without the list of markets, as it was asked for.
  expect(books.take({ type: 'ok', id: 3, sid: 1, seq: 4 })).toBe(false);
  books.take(delta(5, 'A', 'yes', '0.4000', '1.00'));
  expect(books.news()).toEqual(['A bid 0.4 × 11']);
  expect(books.session.failure()).toBeNull();
  expect(books.sent).toHaveLength(1);
});

test('a gap makes every book unknown until its own snapshot, and a second one ends the connection', () => {
  const books = openBooks('A', 'B');
  books.take(delta(9, 'A', 'yes', '0.4000', '1.00'));
  expect(books.news()).toEqual(['A lost since a frame', 'B lost since a frame']);
  expect(books.sent.at(-1)).toMatchObject({
    cmd: 'update_subscription',
    params: { sids: [1], action: 'get_snapshot', market_tickers: ['A', 'B'] },
  });
  books.take(snapshot(10, 'B', [['0.3000', '1.00']]));
  books.take(delta(11, 'A', 'yes', '0.4000', '1.00'));
  books.take(delta(12, 'B', 'yes', '0.3000', '1.00'));
  expect(books.news()).toEqual(['B 0.3 × 1 | ', 'B bid 0.3 × 2']);
  expect(books.session.failure()).toBeNull();
  books.take(delta(20, 'B', 'yes', '0.3000', '1.00'));
  expect(books.session.failure()).toBe('frames were lost again');
});

test('a level below 0, or a change without a book, has that book asked for alone', () => {
  const books = openBooks('A', 'B');
  books.take(delta(3, 'A', 'yes', '0.4000', '-10.01'));
  books.take(delta(4, 'A', 'yes', '0.4000', '1.00'));
  books.take(delta(5, 'B', 'yes', '0.4000', '1.00'));
  expect(books.news()).toEqual(['A lost', 'B bid 0.4 × 11']);
  expect(books.sent.slice(1)).toMatchObject([{ params: { action: 'get_snapshot', market_tickers: ['A'] } }]);
});

test('a book of which a frame cannot be read is unknown, and its market alone', () => {
  const books = openBooks('A', 'B');
  expect(() => books.take(delta(3, 'A', 'yes', 'a lot', '1.00'))).toThrow(BadFrame);
  expect(books.sent.at(-1)).toMatchObject({ params: { action: 'get_snapshot', market_tickers: ['A'] } });
  // Another one like it is not asked for at once.
  expect(() => books.take(snapshot(4, 'A', [['1.5000', '1.00']]))).toThrow(BadFrame);
  expect(books.sent).toHaveLength(2);
  books.take(delta(5, 'A', 'yes', '0.4000', '1.00'));
  books.take(delta(6, 'B', 'yes', '0.4000', '1.00'));
  expect(books.news()).toEqual(['A lost since a frame', 'B bid 0.4 × 11']);
  expect(books.sent).toHaveLength(3);
  expect(books.session.failure()).toBeNull();
  expect(() => books.take({ type: 'orderbook_delta', sid: 1, seq: 7, msg: 'of what?' })).toThrow(BadFrame);
  expect(books.session.failure()).toBe('a frame could not be read');
});

test('markets that change before the socket is open, or before it answers, are subscribed all the same', () => {
  const books = open(new BookFeed([], systemClock));
  books.session.setMarkets(markets('A', 'B'));
  expect(books.sent).toEqual([]);
  books.session.start();
  books.session.setMarkets(markets('B', 'C'));
  expect(books.sent).toMatchObject([{ cmd: 'subscribe', params: { market_tickers: ['A', 'B'] } }]);
  books.take(subscribed('orderbook_delta', 4));
  expect(books.sent.slice(1)).toMatchObject([
    { params: { sids: [4], action: 'add_markets', market_tickers: ['C'] } },
    { params: { sids: [4], action: 'delete_markets', market_tickers: ['A'] } },
  ]);
  const late = open(new BookFeed([], systemClock));
  late.session.start();
  late.session.setMarkets(markets('A'));
  expect(late.sent).toMatchObject([{ cmd: 'subscribe', params: { market_tickers: ['A'] } }]);
});

test('a connection is of no use without an answer, after errors 10 and 25, or once its subscription is not listed', () => {
  const listed = openBooks('A');
  expect(listed.take(list(1))).toBe(true);
  expect(listed.session.failure()).toBeNull();
  expect(listed.take(list(2))).toBe(false);
  expect(listed.session.failure()).toBe('a subscription has ended');
  for (const code of [10, 25]) {
    const ended = openBooks('A');
    expect(() => ended.take({ type: 'error', sid: 1, seq: 2, msg: { code, msg: 'over' } })).toThrow(BadFrame);
    expect(ended.session.failure()).toBe(`error ${code} over`);
  }
  const refused = open(tapeFeed());
  refused.session.start();
  expect(() => refused.take({ type: 'error', id: 1, msg: { code: 9, msg: 'Authentication required' } })).toThrow(
    BadFrame,
  );
  expect(refused.session.failure()).toBe('error 9 Authentication required');
  const mute = open(tapeFeed());
  mute.session.start();
  expect(mute.session.failure()).toBeNull();
  const now = performance.now();
  vi.spyOn(performance, 'now').mockReturnValue(now + 10_100);
  expect(mute.session.failure()).toBe('the subscription was not answered');
});

test('a connection of which one channel is refused, or not answered, is of no use', () => {
  const refused = open(tapeFeed());
  refused.session.start();
  refused.take(subscribed('trade', 1));
  refused.take(subscribed('trade', 1));
  expect(() => refused.take(error(9, {}, { id: 1 }))).toThrow(BadFrame);
  expect(refused.session.failure()).toMatch(/^error 9 /);
  const half = open(tapeFeed());
  half.session.start();
  half.take(subscribed('trade', 1));
  expect(half.take({ type: 'ok', id: 0, msg: [{ channel: 'trade', sid: 1 }] })).toBe(false);
  const now = performance.now();
  vi.spyOn(performance, 'now').mockReturnValue(now + 10_100);
  expect(half.session.failure()).toBe('the subscription was not answered');
});

test('the list of subscriptions proves tickers too, but no subscription that was not answered', () => {
  const tickers = open(tickerFeed());
  tickers.session.start();
  expect(tickers.take({ type: 'ok', id: 0, msg: [] })).toBe(false);
  expect(tickers.session.failure()).toBeNull();
  tickers.take(subscribed('ticker', 1));
  expect(tickers.take({ type: 'ok', id: 0, msg: [{ channel: 'ticker', sid: 1 }] })).toBe(true);
  expect(tickers.session.failure()).toBeNull();
  expect(tickers.take({ type: 'ok', id: 0, msg: [] })).toBe(false);
  expect(tickers.session.failure()).toBe('a subscription has ended');
});

test('trades and changes of markets are announced, and a lost one ends the connection', () => {
  const tape = open(tapeFeed());
  tape.session.start();
  tape.take(subscribed('trade', 1));
  tape.take(subscribed('market_lifecycle_v2', 2));
  const trade = { trade_id: '879217f6-553e-7222-2304-fb05558d63d0', market_ticker: 'KXA-26.5', ts: 1, ts_ms: 1000 };
  expect(tape.take({ type: 'trade', sid: 1, seq: 1, msg: trade, sending_ts_ms: 1001 })).toBe(true);
  for (const [index, event] of ['created', 'metadata_updated', 'price_level_structure_updated', 'determined'].entries())
    tape.take(life(index + 1, event));
  tape.take({ type: 'trade', sid: 1, seq: 2, msg: { market_ticker: 'KXC', trade_id: null } });
  tape.take({ type: 'event_fee_update', sid: 2, seq: 5, msg: { event_ticker: 'KXE' } });
  expect(tape.events).toEqual([
    { kind: 'trade', ref: 'KXA-26.5' },
    ...Array.from({ length: 4 }, () => ({ kind: 'market', id: 'KXB' })),
    { kind: 'trade', ref: 'KXC' },
  ]);
  expect(tape.session.failure()).toBeNull();
  tape.take({ type: 'trade', sid: 1, seq: 4, msg: trade });
  expect(tape.session.failure()).toBe('frames were lost');
});

test('a quote has no price on an empty side, and an older one does not replace a newer', () => {
  const tickers = open(tickerFeed());
  tickers.session.start();
  tickers.take(ticker(2000, '0.4100', '1.0000', '0.0000'));
  tickers.take(ticker(1000, '0.4000', '0.5000', '0.4500'));
  tickers.take(ticker(3000, '0.0000', '0.5000', '0.4500'));
  const [bidSize, askSize, bid, ask] = [parseSize('3.25'), parseSize('7'), parsePrice('0.41'), parsePrice('0.5')];
  expect(tickers.events).toEqual([
    { kind: 'quote', quote: { ref: 'A', bid, ask: null, bidSize, askSize: null, exchangeAtMs: 2000 } },
    {
      kind: 'quote',
      quote: { ref: 'A', bid: null, ask, bidSize: null, askSize, price: parsePrice('0.45'), exchangeAtMs: 3000 },
    },
  ]);
});

test('a ticker that states no last price, or no sizes, quotes the prices that it states', () => {
  const tickers = open(tickerFeed());
  tickers.session.start();
  const frame = ticker(2000, '0.4100', '0.5000', '0.4500');
  const [bid, ask] = [parsePrice('0.41'), parsePrice('0.5')];
  const { price_dollars: _, yes_bid_size_fp: _bidSize, ...less } = frame.msg;
  tickers.take({ ...frame, msg: less });
  tickers.take({ ...frame, msg: { ...frame.msg, price_dollars: null, yes_ask_size_fp: null } });
  const [bidSize, askSize] = [parseSize('3.25'), parseSize('7')];
  expect(tickers.events).toEqual([
    { kind: 'quote', quote: { ref: 'A', bid, ask, bidSize: null, askSize, exchangeAtMs: 2000 } },
    { kind: 'quote', quote: { ref: 'A', bid, ask, bidSize, askSize: null, exchangeAtMs: 2000 } },
  ]);
});

test('a ticker with a size below 0 is unreadable', () => {
  const tickers = open(tickerFeed());
  tickers.session.start();
  const frame = ticker(2000, '0.4100', '0.5000', '0.4500');
  expect(() => tickers.take({ ...frame, msg: { ...frame.msg, yes_bid_size_fp: '-3.25' } })).toThrow(BadFrame);
  expect(tickers.events).toEqual([]);
});

test('markets that the server does not know are left out, whether it took the others or not', () => {
  const books = open(new BookFeed(markets('A', 'B', 'C'), systemClock));
  books.session.start();
  expect(() => books.take(error(28, { market_tickers: ['B'] }, { id: 1 }))).toThrow(BadFrame);
  expect(books.sent.at(-1)).toMatchObject({ cmd: 'subscribe', params: { market_tickers: ['A', 'C'] } });
  expect(books.news()).toEqual(['market']);
  books.take(subscribed('orderbook_delta'));
  books.take(snapshot(1, 'A'));
  expect(() => books.take(error(28, { market_ticker: 'C' }, { sid: 1, seq: 2 }))).toThrow(BadFrame);
  books.session.setMarkets(markets('A', 'B', 'C', 'D'));
  expect(books.sent.slice(2)).toMatchObject([{ params: { action: 'add_markets', market_tickers: ['D'] } }]);
  const now = performance.now();
  vi.spyOn(performance, 'now').mockReturnValue(now + 9000);
  books.take(snapshot(3, 'D'));
  vi.spyOn(performance, 'now').mockReturnValue(now + 20_000);
  expect(books.session.failure()).toBeNull();
});

test('an error that is not known refuses no subscription: the missing answer does', () => {
  const tape = open(tapeFeed());
  tape.session.start();
  for (const code of [28, 99]) expect(() => tape.take(error(code, {}, { id: 1 }))).toThrow(BadFrame);
  expect(tape.session.failure()).toBeNull();
});

test('a side of size 0 has no price in a ticker, as in the list of markets, nor has an ask of 0', () => {
  const tickers = open(tickerFeed());
  tickers.session.start();
  const frame = ticker(1000, '0.4000', '0.5000', '0.4500');
  for (const sizes of [{ yes_bid_size_fp: '0.00' }, { yes_ask_size_fp: '0.00' }, { yes_ask_dollars: '0.0000' }])
    tickers.take({ ...frame, msg: { ...frame.msg, ...sizes } });
  const [bid, ask] = [parsePrice('0.4'), parsePrice('0.5')];
  expect(tickers.events).toMatchObject([
    { quote: { bid: null, bidSize: null, ask } },
    { quote: { bid, ask: null, askSize: null } },
    { quote: { bid, ask: null, askSize: null } },
  ]);
});

test.each([26, 27])('books that error %i keeps out are asked for again later, over the same connection', (code) => {
  const books = openBooks('A');
  books.session.setMarkets(markets('A', 'B'));
  expect(() => books.take(error(code, {}, { sid: 1, seq: 2 }))).toThrow(BadFrame);
  const now = performance.now();
  const clock = vi.spyOn(performance, 'now').mockReturnValue(now + 20_000);
  books.session.settle();
  expect(books.session.failure()).toBeNull();
  expect(books.sent).toHaveLength(2);
  clock.mockReturnValue(now + 31_000);
  books.session.settle();
  expect(books.sent.slice(2)).toMatchObject([
    { params: { action: 'add_markets', market_tickers: ['B'] } },
    { params: { action: 'get_snapshot', market_tickers: ['B'] } },
  ]);
  books.take(snapshot(3, 'B'));
  books.take(delta(4, 'A', 'yes', '0.4000', '1.00'));
  expect(books.news()).toEqual(['B  | ', 'A bid 0.4 × 11']);
});

test('a frame says when Kalshi sent it; one that does not, or says something else, says nothing', () => {
  const { session, take } = openBooks('A');
  take({ ...snapshot(2, 'A'), sending_ts_ms: 1_790_000_000_123 });
  expect(session.sentMs).toBe(1_790_000_000_123);
  take(delta(3, 'A', 'yes', '0.4000', '1.00'));
  expect(session.sentMs).toBeUndefined();
  take({ ...delta(4, 'A', 'yes', '0.4000', '1.00'), sending_ts_ms: 'soon' });
  expect(session.sentMs).toBeUndefined();
});
