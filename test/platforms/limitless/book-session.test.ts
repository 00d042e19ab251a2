import { describe, expect, test } from 'vitest';
import type { Clock } from '../../../src/core/time.ts';
import { decimalNumber, parsePrice } from '../../../src/core/decimal.ts';
import type { StoredMarket } from '../../../src/platforms/contract.ts';
import { BookSession } from '../../../src/platforms/limitless/stream/book-session.ts';
import { LifecycleSession } from '../../../src/platforms/limitless/stream/lifecycle-session.ts';
import { BadFrame, type SocketEvent, type SocketSession } from '../../../src/platforms/sockets/contract.ts';
import { storedMarket } from '../../fixtures/stored-market.ts';
import { virtualClock } from '../../helpers/virtual-clock.ts';

const OTTER = 'will-the-otter-win-1790108004599';
const BADGER = 'will-the-badger-win-1790108004600';
const marketOf = (ref: string, metadata = {}): StoredMarket =>
  storedMarket({ platform: 'limitless', ref, title: ref, metadata });

const event = (name: string, payload: unknown): string => `42/markets,${JSON.stringify([name, payload])}`;
const at = (second: number): string => `2026-11-23T10:00:${String(second).padStart(2, '0')}.000Z`;
const rows = (levels: readonly [number, number][], side: string) =>
  levels.map(([price, size]) => ({ price, size, side }));
/** Levels as [price, base units]. */
function book(bids: [number, number][], asks: [number, number][], version = 1, second = version, marketSlug = OTTER) {
  const orderbook = {
    bids: rows(bids, 'BUY'),
    asks: rows(asks, 'SELL'),
    tokenId: '1',
    midpoint: 0.5,
    adjustedMidpoint: 0.205,
    maxSpread: 0.035,
  };
  return event('orderbookUpdate', { marketSlug, orderbook, version, timestamp: at(second) });
}
const ack = (...markets: string[]): string => event('system', { message: 'Successfully subscribed', markets });

/** A session that has been opened and joined, what it sent, and what its frames say. */
function start(make: (send: (text: string) => void, clock: Clock) => SocketSession) {
  const sent: string[] = [];
  const clock = virtualClock();
  const session = make((text) => sent.push(text), clock);
  /** The next subscription, for which its time has come. */
  const subscribes = (): string[] | undefined => {
    clock.stall(session.settle?.(() => {}) ?? 0);
    session.settle?.(() => {});
    return asked(sent);
  };
  const take = (...frames: string[]): SocketEvent[] => {
    const events: SocketEvent[] = [];
    for (const frame of frames) session.take(frame, (one) => events.push(one));
    return events;
  };
  session.start();
  take(
    '0{"sid":"a","upgrades":[],"pingInterval":25000,"pingTimeout":60000,"maxPayload":1000000}',
    '40/markets,{"sid":"b"}',
  );
  return { session, sent, take, subscribes, clock };
}
const startBooks = (...refs: string[]) =>
  start(
    (send, clock) =>
      new BookSession(
        refs.map((ref) => marketOf(ref)),
        send,
        clock,
      ),
  );
const asked = (sent: string[]): string[] | undefined =>
  (JSON.parse(sent.at(-1)?.slice('42/markets,'.length) ?? '[]') as [string, { marketSlugs: string[] }])[1]?.marketSlugs;
const kinds = (events: SocketEvent[]): string[] => events.map(({ kind }) => kind);

describe('a connection for books', () => {
  test('joins the namespace, asks for all its markets but pools at once, and answers pings', () => {
    const markets = [marketOf(OTTER), marketOf('0xpool', { trade_type: 'amm' }), marketOf(BADGER)];
    const { session, sent, take } = start((send, clock) => new BookSession(markets, send, clock));
    expect(sent[0]).toBe('40/markets,');
    expect(asked(sent)).toEqual([OTTER, BADGER]);
    take('2');
    expect(sent.at(-1)).toBe('3');
    // 25 s between pings, and 60 s for one that is late.
    expect(session.silentMs).toBe(85_000);
  });

  test.each([
    ['0{"pingInterval":30000,"pingTimeout":10000}', 40_000],
    ['0{"pingInterval":30000}', 90_000],
    ['0{"pingInterval":30000,"pingTimeout":"soon"}', 90_000],
  ])(
    'is dead after what the server announces, with 60 s where it does not say for how long a ping may be late: %s',
    (open, ms) => {
      const session = new BookSession([marketOf(OTTER)], () => {}, virtualClock());
      session.take(open, () => {});
      expect(session.silentMs).toBe(ms);
    },
  );

  test('asks for the whole new set when its markets change, as each subscription replaces the one before', () => {
    const { session, take, subscribes } = startBooks(OTTER);
    session.setMarkets([marketOf(OTTER), marketOf(BADGER)]);
    expect(subscribes()).toEqual([OTTER, BADGER]);
    session.setMarkets([marketOf(BADGER)]);
    expect(subscribes()).toEqual([BADGER]);
    // A frame of the set before.
    expect(take(book([[0.4, 5_000_000]], []))).toEqual([]);
  });

  test('subscribes once for changes that come together, and again after half a second at the earliest', () => {
    const { session, sent, take, clock } = startBooks(OTTER, BADGER);
    take(book([[0.4, 5_000_000]], [], 1), book([[0.4, 5_000_000]], [], 2, 2, BADGER));
    const settled = () => session.settle?.(() => {});
    clock.stall(100);
    session.doubt?.(OTTER);
    session.doubt?.(BADGER);
    session.setMarkets([marketOf(BADGER), marketOf(OTTER)]);
    const before = sent.length;
    expect(settled()).toBe(400);
    clock.stall(399);
    expect(settled()).toBe(1);
    expect(sent).toHaveLength(before);
    clock.stall(1);
    expect([settled(), settled()]).toEqual([null, null]);
    expect(sent).toHaveLength(before + 1);
    expect(asked(sent)).toEqual([BADGER, OTTER]);
  });

  test('takes the book of a doubted market again though its version is the same, and no copy of the database for it', () => {
    const { session, take, subscribes } = startBooks(OTTER);
    const whole = book([[0.4, 5_000_000]], [], 7, 20);
    take(whole);
    session.doubt?.(OTTER);
    expect(subscribes()).toEqual([OTTER]);
    expect(take(book([], [], 0, 30), book([], [], 6, 19))).toEqual([]);
    expect(kinds(take(whole, whole))).toEqual(['book', 'quote']);
  });

  test('a market that is added before the subscription without it is answered stays subscribed', () => {
    const { session, take, subscribes } = startBooks(OTTER);
    const both = [marketOf(OTTER), marketOf(BADGER)];
    session.setMarkets(both);
    expect(subscribes()).toEqual([OTTER, BADGER]);
    expect(take(ack(OTTER))).toEqual([]);
    session.setMarkets(both);
    expect(subscribes()).toEqual([OTTER, BADGER]);
    expect(take(ack(OTTER, BADGER), ack(OTTER, BADGER))).toEqual([]);
    session.setMarkets(both);
    expect(subscribes()).toEqual([OTTER, BADGER]);
    // The platform does not know it any more.
    expect(take(ack(OTTER))).toEqual([{ kind: 'market', id: BADGER }]);
    session.setMarkets(both);
    expect(subscribes()).toEqual([OTTER]);
  });

  test('gives each book whole, with sizes in shares and the time of the platform, and no price, as a book has no trade', () => {
    const { take } = startBooks(OTTER);
    const [whole, quote] = take(
      book(
        [
          [0.4, 5_000_000],
          [0.391, 250_000],
        ],
        [[0.5, 83_334_000]],
      ),
    );
    expect(whole).toMatchObject({ kind: 'book', ref: OTTER, exchangeAtMs: Date.parse(at(1)) });
    expect(quote).toMatchObject({ kind: 'quote' });
    if (whole?.kind !== 'book' || quote?.kind !== 'quote') throw new Error('other events');
    const shown = whole.book.bids.map(({ price, size }) => [decimalNumber(price, 10), decimalNumber(size, 6)]);
    expect(shown).toEqual([
      [0.4, 5],
      [0.391, 0.25],
    ]);
    expect(whole.book.adjustedMidpoint).toBe(parsePrice('0.205'));
    expect(quote.quote).not.toHaveProperty('price');
    expect(decimalNumber(quote.quote.askSize!, 6)).toBe(83.334);
  });

  test('half a book has one best price, an empty one none, and both are books', () => {
    const { take } = startBooks(OTTER);
    expect(take(book([[0.4, 5_000_000]], []))).toMatchObject([{}, { quote: { ask: null, askSize: null } }]);
    expect(take(book([], [], 2))).toMatchObject([{ book: { bids: [], asks: [] } }, { quote: { bid: null } }, {}]);
    const absent = event('orderbookUpdate', {
      marketSlug: OTTER,
      orderbook: { bids: rows([[0.4, 5_000_000]], 'BUY'), asks: null },
      version: 3,
      timestamp: at(3),
    });
    expect(take(absent)).toMatchObject([{ book: { asks: [] } }, { quote: { ask: null } }]);
  });

  test.each([
    ['the best bid shrinks', [[0.4, 4_000_000]], [[0.5, 6_000_000]], true],
    ['the best bid goes', [[0.39, 9_000_000]], [[0.5, 6_000_000]], true],
    ['the best ask shrinks', [[0.4, 5_000_000]], [[0.5, 1]], true],
    ['the best ask goes', [[0.4, 5_000_000]], [], true],
    ['a best level grows', [[0.4, 5_000_001]], [[0.5, 6_000_001]], false],
    ['better orders come', [[0.41, 1]], [[0.499, 1]], false],
  ] as [string, [number, number][], [number, number][], boolean][])(
    'may show a trade only where a best level loses: %s',
    (_name, bids, asks, isHint) => {
      const { take } = startBooks(OTTER);
      take(book([[0.4, 5_000_000]], [[0.5, 6_000_000]]));
      expect(kinds(take(book(bids, asks, 2)))).toEqual(['book', 'quote', ...(isHint ? ['trade'] : [])]);
    },
  );

  test('takes no older book, no repeated one, and no copy of the database after a live one', () => {
    const { take } = startBooks(OTTER);
    expect(take(book([], [], 0, 9))).toHaveLength(2);
    expect(take(book([[0.4, 5_000_000]], [], 7, 20))).toHaveLength(2);
    for (const old of [book([], [], 7, 20), book([], [], 6, 19), book([], [], 0, 30)]) expect(take(old)).toEqual([]);
    // The platform began to count anew.
    expect(take(book([[0.4, 6_000_000]], [], 1, 21))).toHaveLength(2);
  });

  test('asks once about a market that is not acknowledged, and takes it as soon as it is', () => {
    const { session, take, subscribes } = startBooks(OTTER, BADGER);
    expect(take(ack(OTTER))).toEqual([{ kind: 'market', id: BADGER }]);
    expect(take(ack(OTTER))).toEqual([]);
    session.setMarkets([marketOf(OTTER), marketOf(BADGER)]);
    expect(subscribes()).toEqual([OTTER]);
    take(ack(OTTER, BADGER));
    session.setMarkets([marketOf(OTTER), marketOf(BADGER)]);
    expect(subscribes()).toEqual([OTTER, BADGER]);
  });

  test('whose markets are all resolved has them read, and asks no more until it gets others', () => {
    const { session, sent, take, subscribes } = startBooks(OTTER);
    const refusal = event('error', { message: 'All requested markets are resolved' });
    expect(take(refusal)).toEqual([{ kind: 'market', id: OTTER }]);
    expect(session.failure?.()).toBeNull();
    const before = sent.length;
    session.setMarkets([marketOf(OTTER)]);
    subscribes();
    expect(sent).toHaveLength(before);
    session.setMarkets([marketOf(OTTER), marketOf(BADGER)]);
    expect(subscribes()).toEqual([BADGER]);
  });

  test.each([
    '42/markets,["no_such_event",{}]',
    '42/markets,["orderbookUpdate"]',
    '42/markets,["orderbookUpdate",{"marketSlug":7}]',
    '42/markets,[7]',
    '42/markets,{"orderbookUpdate":1}',
    '42/markets',
    'hello',
    '0{"pingInterval":"soon","pingTimeout":60000}',
    book([[4, 5_000_000]], []),
    book([[0.4, -5]], []),
    book([[0.4, 1e30]], []),
    book([], []).replace('2026', 'soon'),
  ])('calls a frame that it cannot read bad: %s', (frame) => {
    const { take } = startBooks(OTTER);
    expect(() => take(frame)).toThrow(BadFrame);
  });

  test('a book that cannot be read is unknown until the next frame of its market, and the others stay', () => {
    const { session, take } = startBooks(OTTER, BADGER);
    take(book([[0.4, 5_000_000]], [], 1), book([[0.4, 5_000_000]], [], 2, 2, BADGER));
    const events: SocketEvent[] = [];
    const odd = book([[0.41, -5]], [], 3);
    for (const frame of [odd, odd]) expect(() => session.take(frame, (one) => events.push(one))).toThrow(BadFrame);
    expect(events).toMatchObject([{ kind: 'book_lost', ref: OTTER }]);
    expect(kinds(take(book([[0.41, 5_000_000]], [], 3)))).toEqual(['book', 'quote']);
  });

  test.each([
    '42/markets,["live_sports_update",{"7":{}}]',
    '42/markets,["oraclePriceData",{}]',
    '43/markets,1[]',
    '40{}',
    '6',
  ])('passes over what is not for it: %s', (frame) => {
    const { session, take } = startBooks(OTTER);
    expect(take(frame)).toEqual([]);
    expect(session.failure?.()).toBeNull();
  });

  test.each([
    ['41/markets,', 'unsubscribed by the server'],
    ['44/markets,{"message":"no"}', 'refused: no'],
    ['1', 'ended by the server'],
    [event('error', { message: 'Too many' }), 'error: {"message":"Too many"}'],
    ['42/markets,["exception"]', 'exception: '],
  ])('is of no use any more after %s', (frame, reason) => {
    const { session, take } = startBooks(OTTER);
    take(frame);
    expect(session.failure?.()).toBe(reason);
  });

  test('is of no use any more when a subscription is not answered within 15 s', () => {
    const { session, take, subscribes, clock } = startBooks(OTTER);
    clock.stall(14_000);
    expect(session.failure?.()).toBeNull();
    clock.stall(2000);
    expect(session.failure?.()).toBe('no answer');
    take(ack(OTTER));
    expect(session.failure?.()).toBeNull();
    session.setMarkets([marketOf(BADGER)]);
    subscribes();
    clock.stall(16_000);
    expect(session.failure?.()).toBe('no answer');
  });
});

test('beginnings and ends of markets are announced once, children of a group not at all', () => {
  const { sent, take } = start((send, clock) => new LifecycleSession(send, clock));
  expect(sent.at(-1)).toBe('42/markets,["subscribe_market_lifecycle"]');
  expect(take(event('system', { message: 'Subscribed to market lifecycle events' }))).toEqual([]);
  expect(take(event('marketCreated', { slug: OTTER, title: 'x', type: 'CLOB' }))).toEqual([
    { kind: 'market', id: OTTER },
  ]);
  expect(take(event('marketCreated', { slug: 'group-1', groupSlug: 'group-1', type: 'CLOB' }))).toEqual([]);
  const resolved = event('marketResolved', { slug: OTTER, type: 'CLOB', winningIndex: 1, resolutionDate: at(1) });
  expect(take(resolved, resolved, resolved)).toEqual([
    { kind: 'market', id: OTTER, status: 'settled', resolvedAt: at(1) },
    { kind: 'trade', ref: OTTER },
  ]);
  const undated = event('marketResolved', { slug: BADGER, type: 'CLOB', winningIndex: null, resolutionDate: null });
  expect(take(undated, undated)).toEqual([
    { kind: 'market', id: BADGER, status: 'settled' },
    { kind: 'trade', ref: BADGER },
  ]);
});
