import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { systemClock } from '../../src/core/time.ts';
import { LiveBooks } from '../../ingest/live/live-books.ts';
import { LiveFeed, type LiveFeedDeps } from '../../ingest/live/live-feed.ts';
import type { StoredMarket } from '../../src/platforms/contract.ts';
import type { SocketChannel, SocketSession } from '../../src/platforms/sockets/contract.ts';
import { QuotePublisher } from '../../ingest/live/quote-publisher.ts';
import { QuotedMarkets } from '../../ingest/live/quoted-markets.ts';
import { QUOTES_CHANNEL } from '../../src/streams/quotes.ts';
import { type VirtualClock, virtualClock } from '../helpers/virtual-clock.ts';

let server: WebSocketServer;
beforeAll(async () => {
  server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  // Each frame is the references whose books the client subscribed.
  server.on('connection', (socket) => socket.on('message', (refs: Buffer) => socket.send(refs.toString())));
  await once(server, 'listening');
});
afterAll(() => void server.close());

/** Sends a book and a quote of each listed market, and nothing of a market that is no longer listed. */
function session(markets: readonly StoredMarket[], send: (text: string) => void): SocketSession {
  const ask = (listed: readonly StoredMarket[]): void => send(listed.map(({ ref }) => ref).join());
  return {
    start: () => ask(markets),
    setMarkets: ask,
    take(frame, emit) {
      const sides = { bid: null, ask: null, bidSize: null, askSize: null };
      for (const ref of frame.split(',')) {
        emit({ kind: 'book', ref, book: { bids: [], asks: [] }, exchangeAtMs: null });
        emit({ kind: 'quote', quote: { ref, ...sides, exchangeAtMs: null } });
      }
      return true;
    },
  };
}

const outcomes = [{ id: 'yes' }, { id: 'no' }];

/** Follows A and B, the most traded markets, over one channel. */
function start(clock: VirtualClock, channel: Pick<SocketChannel, 'isForBooks'>) {
  const wanted = { refs: ['A', 'B'] };
  const stored = { price: '0.4', volume_total: '7' };
  const quotes: unknown[] = [];
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const shared = { name: 'books', heartbeat: null, silentMs: 60_000, quietMs: null, rotateMs: 3_600_000 };
  const recorder = { wanted: () => wanted.refs, snapshot: () => {}, change: () => true, gap: () => {} };
  const liveBooks = new LiveBooks(recorder, systemClock);
  const log = pino({ level: 'silent' });
  const rows = () => ['A', 'B'].map((ref) => Object.assign({ of_platform: 'kalshi', ref }, stored));
  const clickhouse = { query: async () => rows() } as unknown as LiveFeedDeps['clickhouse'];
  const markets = ['A', 'B'].map((ref) => ({ platform: 'kalshi', ref, outcomes }));
  const storedByRef = async () => new Map(markets.map((market) => [market.ref, market]));
  const directory = { storedByRef } as unknown as LiveFeedDeps['directory'];
  const publish = async (to: string, text: string) => {
    if (to !== QUOTES_CHANNEL) return;
    for (const { data } of JSON.parse(text) as { data: string }[]) quotes.push(JSON.parse(data));
  };
  const publisher = new QuotePublisher({ publish }, clock);
  const feed = new LiveFeed({
    clock,
    sockets: {
      platform: 'kalshi',
      channels: [{ ...shared, ...channel, url, marketsPerSocket: 100, bringsTrades: false, session }],
      markets: 2,
    },
    clickhouse,
    quoted: new QuotedMarkets({ clock, clickhouse, directory, log }, (...known) => publisher.take(...known)),
    directory,
    recorder,
    liveBooks,
    shared: { publish },
    log,
    observer: { messages: () => {}, badFrame: () => {}, delay: () => {}, reconnect: () => {} },
    isHolder: () => true,
  } as unknown as LiveFeedDeps);
  const known = (): string[] => ['A', 'B'].filter((ref) => liveBooks.book(ref) !== null);
  return { feed, wanted, known, stored, quotes };
}

test('a book that is no longer subscribed is not kept; channels without a choice of books go on with it', async () => {
  const clock = virtualClock();
  const [books, all] = [start(clock, { isForBooks: true }), start(clock, {})];
  for (const { known } of [books, all]) await clock.until(() => expect(known()).toEqual(['A', 'B']), 10_000);
  books.wanted.refs = ['B'];
  all.wanted.refs = ['B'];
  await clock.until(() => expect(books.known()).toEqual(['B']), 10_000);
  expect(all.known()).toEqual(['A', 'B']);
  books.wanted.refs = ['A', 'B'];
  await clock.until(() => expect(books.known()).toEqual(['A', 'B']), 10_000);
  await Promise.all([books.feed.stop(), all.feed.stop()]);
});

test('quotes have the price and volume of the store within seconds of their storing, where the socket has neither', async () => {
  const clock = virtualClock();
  const { feed, known, stored, quotes } = start(clock, {});
  await clock.until(() => expect(known()).toEqual(['A', 'B']), 10_000);
  // Followed markets are settled by now: they are selected again in a minute.
  await clock.advance(4000);
  Object.assign(stored, { price: '0.6', volume_total: '9' });
  feed.stored(['A', 'B', 'C']);
  await clock.advance(1000);
  for (const client of server.clients) client.send('A');
  await clock.until(
    () => expect(quotes.at(-1)).toMatchObject({ prices: { yes: { price: 0.6 }, no: { price: 0.4 } }, volume_total: 9 }),
    100,
  );
  await feed.stop();
});
