import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../../src/core/time.ts';
import { parsePrice, priceText, sizeText } from '../../../src/core/decimal.ts';
import type { StoredMarket } from '../../../src/platforms/contract.ts';
import { MarketSession } from '../../../src/platforms/polymarket/stream/market-session.ts';
import { BadFrame, type SocketEvent } from '../../../src/platforms/sockets/contract.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

const CONDITION = `0x${'86'.repeat(32)}`;
const [YES, NO] = ['891', '819'];
const market = { ref: CONDITION, outcomes: [{ tokenId: YES }, { tokenId: NO }] } as StoredMarket;
type Level = [price: string, size: string];
const levels = (given: readonly Level[]) => given.map(([price, size]) => ({ price, size }));
const head = { market: CONDITION, timestamp: '1789156497002' };

/** Levels best last, as they are sent. */
const book = (bids: Level[], asks: Level[], hash = 'h') => ({
  ...head,
  event_type: 'book',
  asset_id: YES,
  bids: levels(bids),
  asks: levels(asks),
  hash,
});
/** One change of the first token with its mirror on the second; `best` is what both sides are after the whole step. */
const change = (hash: string, side: 'BUY' | 'SELL', price: string, size: string, best: [string, string]) => ({
  ...head,
  event_type: 'price_change',
  price_changes: [
    { asset_id: YES, price, size, side, hash, best_bid: best[0], best_ask: best[1] },
    {
      asset_id: NO,
      price: String(1 - Number(price)),
      size,
      side: side === 'BUY' ? 'SELL' : 'BUY',
      hash: `${hash}n`,
      best_bid: String(1 - Number(best[1])),
      best_ask: String(1 - Number(best[0])),
    },
  ],
});

/** An open session, what it sent, and what it says of books. */
function start() {
  const sent: { operation?: string; assets_ids: string[]; initial_dump?: boolean }[] = [];
  const send = (text: string): void => void sent.push(JSON.parse(text) as (typeof sent)[number]);
  const session = new MarketSession([market], send, systemClock);
  const news: string[] = [];
  const emit = (event: SocketEvent): void => {
    if (event.kind === 'book') news.push(`book ${textOf(event.book.bids)} | ${textOf(event.book.asks)}`);
    else if (event.kind === 'book_change')
      news.push(event.changes.map((one) => `${one.side} ${textOf([one])}`).join(', '));
    else if (event.kind === 'book_lost') news.push('lost');
    else if (event.kind === 'market') news.push(`market ${event.id}`);
  };
  session.start();
  sent.length = 0;
  return {
    sent,
    session,
    take: (...frames: object[]) => {
      for (const frame of frames) session.take(JSON.stringify(frame), emit);
    },
    after(ms: number) {
      vi.advanceTimersByTime(ms);
      return session.settle(emit);
    },
    news: () => news.splice(0),
  };
}
const textOf = (given: readonly { price: bigint; size: bigint }[]): string =>
  given.map(({ price, size }) => `${priceText(price)} × ${sizeText(size)}`).join(' ');

test('changes of one step are one event, and the crossed book between them is never seen', () => {
  const { take, news, after } = start();
  take([book([['0.63', '91']], [['0.64', '5']])]);
  expect(news()).toEqual(['book 0.63 × 91 | 0.64 × 5']);
  // As recorded: the remainder of the taker appears before the level of the maker is gone.
  take(change('a', 'SELL', '0.63', '9', ['0', '0.63']));
  after(9);
  expect(news()).toEqual([]);
  take(change('a', 'BUY', '0.63', '0', ['0', '0.63']));
  expect(after(9)).not.toBeNull();
  expect(news()).toEqual([]);
  expect(after(1)).toBeNull();
  expect(news()).toEqual(['ask 0.63 × 9, bid 0.63 × 0']);
});

test('a step ends with the first frame of another, though both have one time, and with a whole book', () => {
  const { take, news, after } = start();
  take([book([['0.4', '1']], [['0.5', '2']])]);
  take(change('a', 'BUY', '0.4', '3', ['0.4', '0.5']), change('a', 'BUY', '0.4', '3', ['0.4', '0.5']));
  take(change('b', 'BUY', '0.41', '1', ['0.41', '0.5']));
  expect(news().slice(1)).toEqual(['bid 0.4 × 3']);
  take(book([['0.41', '1']], [['0.5', '7']], 'b'));
  after(200);
  expect(news()).toEqual(['book 0.41 × 1 | 0.5 × 7']);
});

test('a lost change shows in the best prices of the step: the book is lost, and asked for again alone', () => {
  const { take, news, sent, after } = start();
  take([
    book(
      [
        ['0.39', '4'],
        ['0.4', '1'],
      ],
      [['0.5', '2']],
    ),
  ]);
  news();
  // That 0.4 went was not received.
  take(change('b', 'BUY', '0.38', '3', ['0.39', '0.5']));
  after(20);
  expect(news()).toEqual([]);
  after(100);
  expect(news()).toEqual(['lost']);
  expect(sent).toMatchObject([
    { operation: 'unsubscribe', assets_ids: [YES] },
    { operation: 'subscribe', assets_ids: [YES], initial_dump: true },
  ]);
  // What changes meanwhile is part of the book that comes.
  take(change('c', 'BUY', '0.39', '5', ['0.39', '0.5']), book([['0.39', '5']], [['0.5', '2']]));
  take(change('d', 'BUY', '0.39', '6', ['0.39', '0.5']));
  after(10);
  expect(news()).toEqual(['book 0.39 × 5 | 0.5 × 2', 'bid 0.39 × 6']);
});

test('a change that is lost is noticed at the next step, also behind the best prices that a third one states', () => {
  const { take, news } = start();
  take([book([['0.4', '1']], [['0.5', '2']])]);
  take(change('a', 'BUY', '0.41', '3', ['0.42', '0.5']));
  take({ ...head, event_type: 'best_bid_ask', asset_id: YES, best_bid: '0.41', best_ask: '0.5' });
  take(change('b', 'BUY', '0.42', '0', ['0.41', '0.5']));
  expect(news()).toEqual(['book 0.4 × 1 | 0.5 × 2', 'lost']);
});

test('a book that does not come, or is wrong again at once, is asked for ever less often', () => {
  const { take, news, sent, after } = start();
  const crossed = book([['0.6', '1']], [['0.5', '2']]);
  take([crossed]);
  expect(news()).toEqual(['lost']);
  for (let second = 0; second < 60; second += 1) {
    take(crossed);
    after(1000);
  }
  // At 0, 5, 15 and 35 s.
  expect(sent.filter(({ operation }) => operation === 'subscribe')).toHaveLength(4);
});

test('books that never came after the subscription are asked for again, together', () => {
  const { session, take, news, sent, after } = start();
  const other = { ref: `0x${'87'.repeat(32)}`, outcomes: [{ tokenId: '5' }, { tokenId: '6' }] } as StoredMarket;
  session.setMarkets([market, other]);
  sent.length = 0;
  // Other frames come: the connection is not silent.
  take({ ...head, event_type: 'best_bid_ask', asset_id: YES, best_bid: '0.4', best_ask: '0.5' });
  expect(after(14_999)).not.toBeNull();
  expect(sent).toEqual([]);
  after(1);
  expect(sent).toMatchObject([
    { operation: 'unsubscribe', assets_ids: [YES, '5'] },
    { operation: 'subscribe', assets_ids: [YES, '5'], initial_dump: true },
  ]);
  take(book([['0.4', '1']], [['0.5', '2']]), { ...book([['0.1', '1']], []), asset_id: '5' });
  expect(news()).toEqual(['book 0.4 × 1 | 0.5 × 2', 'book 0.1 × 1 | ']);
  expect(after(60_000)).toBeNull();
  expect(sent).toHaveLength(2);
});

const readable = book([['0.4', '1']], [['0.5', '2']]);
const odd = (entry: object) => ({ ...head, event_type: 'price_change', price_changes: [entry] });
const level = { asset_id: YES, price: '0.39', size: '5', side: 'BUY', hash: 'x', best_bid: '0.4', best_ask: '0.5' };

test.each([
  ['a change without a size', odd({ ...level, size: 'many' })],
  ['a change with a size below 0', odd({ ...level, size: '-5' })],
  ['a change of an unknown side', odd({ ...level, side: 'HOLD' })],
  ['a change without a token', odd({ ...level, asset_id: 'which?' })],
  ['a list that is none', { ...head, event_type: 'price_change', price_changes: 'all' }],
  ['a whole book', book([['0.41', 'many']], [['0.5', '2']])],
])('a book of which a frame cannot be read is unknown and asked for: %s', (_name, frame) => {
  const { take, news, sent, session } = start();
  take([readable]);
  news();
  expect(() => take(frame)).toThrow(BadFrame);
  expect(news()).toEqual(['lost']);
  expect(sent).toMatchObject([{ operation: 'unsubscribe' }, { operation: 'subscribe', assets_ids: [YES] }]);
  expect(session.failure()).toBeNull();
  take(readable);
  expect(news()).toEqual(['book 0.4 × 1 | 0.5 × 2']);
});

test('a change of the second token that cannot be read costs no change of the first, and no book', () => {
  const { take, news, after } = start();
  take([readable]);
  news();
  const price_changes = [{ ...level, asset_id: NO, size: 'many' }, level];
  expect(() => take({ ...head, event_type: 'price_change', price_changes })).toThrow(BadFrame);
  after(10);
  expect(news()).toEqual(['bid 0.39 × 5']);
});

test('a connection with a change of which the market cannot be read is of no use', () => {
  const { take, session } = start();
  expect(() => take({ event_type: 'price_change', price_changes: 'all' })).toThrow(BadFrame);
  expect(session.failure()).toBe('a frame could not be read');
});

test('a book with null as a side has no orders there', () => {
  const { take, news } = start();
  take({ ...book([['0.4', '1']], []), asks: null });
  expect(news()).toEqual(['book 0.4 × 1 | ']);
});

test('markets that are added to an open connection are asked for with their books', () => {
  const { session, sent } = start();
  const other = { ref: `0x${'87'.repeat(32)}`, outcomes: [{ tokenId: '5' }, { tokenId: '6' }] } as StoredMarket;
  session.setMarkets([market, other]);
  expect(sent).toMatchObject([{ operation: 'subscribe', assets_ids: ['5', '6'], initial_dump: true }]);
});

test('a market without tokens, or without one of them, is not asked for', () => {
  const none = { ref: `0x${'87'.repeat(32)}`, outcomes: [{ tokenId: '' }, { tokenId: '' }] } as StoredMarket;
  const half = { ref: `0x${'88'.repeat(32)}`, outcomes: [{ tokenId: '' }, { tokenId: '6' }] } as StoredMarket;
  const sent: unknown[] = [];
  const session = new MarketSession([none, half], (text) => void sent.push(JSON.parse(text)), systemClock);
  session.start();
  expect(sent).toEqual([]);
  session.setMarkets([none, market, half]);
  session.setMarkets([none]);
  expect(sent).toMatchObject([
    { type: 'market', assets_ids: [YES, NO] },
    { operation: 'unsubscribe', assets_ids: [YES, NO] },
  ]);
});

test.each(['new_market', 'market_resolved', 'tick_size_change'])('a market is read again after %s', (event_type) => {
  const { take, news } = start();
  take({ ...head, event_type, asset_id: YES, old_tick_size: '0.01', new_tick_size: '0.001' });
  expect(news()).toEqual([`market ${CONDITION}`]);
});

test('a frame with a new tick size states it, and one with an odd value still announces the change', () => {
  const events: SocketEvent[] = [];
  const { session } = start();
  const frame = { ...head, event_type: 'tick_size_change', asset_id: YES, old_tick_size: '0.0001' };
  for (const new_tick_size of ['0.001', 0.01, {}, '7', undefined]) {
    session.take(JSON.stringify({ ...frame, new_tick_size }), (event) => void events.push(event));
  }
  const named = { kind: 'market', id: CONDITION };
  expect(events).toEqual([
    { ...named, tickSize: parsePrice('0.001') },
    { ...named, tickSize: parsePrice('0.01') },
    named,
    named,
    named,
  ]);
});

test('a change of a market is announced by the id that can be read, and is bad without one', () => {
  const { take, news } = start();
  const frame = { ...head, event_type: 'new_market' };
  take({ ...frame, condition_id: '' }, { ...frame, market: 'odd', condition_id: CONDITION });
  expect(news()).toEqual([`market ${CONDITION}`, `market ${CONDITION}`]);
  expect(() => take({ ...frame, market: undefined, condition_id: 7 })).toThrow(BadFrame);
});

test('what is not known is counted as bad, and a connection without markets asks for none', () => {
  const { take, session, sent } = start();
  expect(() => take({ ...head, event_type: 'something_new' })).toThrow(BadFrame);
  session.setMarkets([]);
  expect(sent).toMatchObject([{ operation: 'unsubscribe', assets_ids: [YES, NO] }]);
  const empty: string[] = [];
  const idle = new MarketSession([], (text) => void empty.push(text), systemClock);
  idle.start();
  expect(empty).toEqual([]);
  idle.setMarkets([market]);
  expect(JSON.parse(empty[0] ?? '')).toMatchObject({ type: 'market', assets_ids: [YES, NO] });
});

test('a trade has a quote only once the best prices of its market are known, which are no empty sides before', () => {
  const { session } = start();
  const quotes: unknown[] = [];
  const take = (frame: object): void => {
    session.take(JSON.stringify(frame), (event) => {
      if (event.kind === 'quote') quotes.push([event.quote.price, event.quote.bid, event.quote.ask]);
    });
  };
  const traded = { ...head, event_type: 'last_trade_price', asset_id: YES, price: '0.63', size: '5', side: 'BUY' };
  take({ ...traded, fee_rate_bps: '0', transaction_hash: '0x1' });
  expect(quotes).toEqual([]);
  take({ ...head, event_type: 'best_bid_ask', asset_id: YES, best_bid: '0.62', best_ask: '0.64', spread: '0.02' });
  take([book([['0.61', '1']], [])]);
  expect(quotes).toEqual([
    [parsePrice('0.63'), parsePrice('0.62'), parsePrice('0.64')],
    [parsePrice('0.63'), parsePrice('0.61'), null],
  ]);
});
