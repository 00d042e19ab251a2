import { systemClock } from '../../../src/core/time.ts';
import { priceText, sizeText } from '../../../src/core/decimal.ts';
import type { StoredMarket } from '../../../src/platforms/contract.ts';
import { BookFeed } from '../../../src/platforms/kalshi/stream/books.ts';
import { type Feed, KalshiSession } from '../../../src/platforms/kalshi/stream/session.ts';
import type { SocketEvent } from '../../../src/platforms/sockets/contract.ts';

export const markets = (...refs: string[]): StoredMarket[] => refs.map((ref) => ({ ref }) as StoredMarket);

/** A session with what it sent and what it made of frames; levels of books as texts. */
export function open(feed: Feed) {
  const sent: { cmd: string; params: Record<string, unknown> }[] = [];
  const events: SocketEvent[] = [];
  const send = (text: string): void => void sent.push(JSON.parse(text) as (typeof sent)[number]);
  const session = new KalshiSession(feed, send, systemClock);
  return {
    session,
    sent,
    events,
    take: (frame: object) => session.take(JSON.stringify(frame), (event) => void events.push(event)),
    /** The events since the last call. */
    news: () => events.splice(0).map(shown),
  };
}

const levels = (given: readonly { price: bigint; size: bigint }[]): string[] =>
  given.map(({ price, size }) => `${priceText(price)} × ${sizeText(size)}`);

function shown(event: SocketEvent): string {
  if (event.kind === 'book') return `${event.ref} ${levels(event.book.bids)} | ${levels(event.book.asks)}`;
  if (event.kind === 'book_change') {
    return event.changes.map((change) => `${event.ref} ${change.side} ${levels([change])}`).join();
  }
  return event.kind === 'book_lost' ? `${event.ref} lost${event.sinceFrame ? ' since a frame' : ''}` : event.kind;
}

export const subscribed = (channel: string, sid = 1) => ({ type: 'subscribed', id: 1, msg: { channel, sid } });
export const snapshot = (seq: number, ticker: string, yes?: [string, string][], no?: [string, string][]) => ({
  type: 'orderbook_snapshot',
  sid: 1,
  seq,
  msg: {
    market_ticker: ticker,
    market_id: '',
    ...(yes && { yes_dollars_fp: yes }),
    ...(no && { no_dollars_fp: no }),
  },
});
export const delta = (seq: number, ticker: string, side: 'yes' | 'no', price: string, by: string) => ({
  type: 'orderbook_delta',
  sid: 1,
  seq,
  msg: {
    market_ticker: ticker,
    market_id: 'c0a2743e-777b-488b-92bf-ab1a5b0cd6e4',
    price_dollars: price,
    delta_fp: by,
    side,
    ts: '2026-08-20T00:36:01.2345Z',
    ts_ms: 1_787_186_161_234,
  },
});

export const life = (seq: number, event: string) => ({
  type: 'market_lifecycle_v2',
  sid: 2,
  seq,
  msg: { market_ticker: 'KXB', event_type: event },
});
export const ticker = (atMs: number, bid: string, ask: string, price: string) => ({
  type: 'ticker',
  sid: 1,
  msg: {
    market_ticker: 'A',
    price_dollars: price,
    yes_bid_dollars: bid,
    yes_ask_dollars: ask,
    yes_bid_size_fp: '3.25',
    yes_ask_size_fp: ask === '1.0000' ? '0.00' : '7.00',
    ts_ms: atMs,
  },
});

export const list = (sid: number) => ({ type: 'ok', id: 0, msg: [{ channel: 'orderbook_delta', sid }] });

/** A session that follows books, subscribed and whole. */
export function openBooks(...refs: string[]) {
  const books = open(new BookFeed(markets(...refs), systemClock));
  books.session.start();
  books.take(subscribed('orderbook_delta'));
  for (const [index, ref] of refs.entries()) {
    books.take(snapshot(index + 1, ref, [['0.4000', '10.00']], [['0.4500', '5.00']]));
  }
  books.news();
  return books;
}

export const error = (code: number, more: object = {}, head: object = {}) => ({
  type: 'error',
  ...head,
  msg: { code, msg: 'refused', ...more },
});
