import { expect, onTestFinished, test } from 'vitest';
import { pino } from 'pino';
import { systemClock } from '../../src/core/time.ts';
import type { AnnouncedBook } from '../../src/books/announcer.ts';
import { MOST_STREAMED, StreamedBooks, wantBooks } from '../../src/books/wanted.ts';
import type { StoredMarket } from '../../src/platforms/contract.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { createLocalShared } from '../../src/stores/shared/local.ts';
import { BookFeed } from '../../src/streams/books/book-feed.ts';
import { BookFollower } from '../../src/streams/books/books.ts';
import type { StreamFilter } from '../../src/streams/filter.ts';
import { ALL, MARKET } from '../helpers/market-of-streams.ts';

const log = pino({ level: 'silent' });

/** A follower of a store that holds nothing but gaps; books come by announcement alone. */
async function rigOf(market: StoredMarket = MARKET) {
  const shared = createLocalShared(log, systemClock);
  const store: { from: string; to: string; reason: string }[] = [];
  const gapRow = ({ from, to, reason }: (typeof store)[number]) => ({
    market_key: '1',
    sequence: 0,
    begins: false,
    exchange_at: null,
    received_at: to,
    levels: [],
    gap_from: from,
    reason,
  });
  const query = async (name: string) => (name === 'book_updates' ? store.map(gapRow) : []);
  const clickhouse = { query } as unknown as ClickHouse;
  const follower = new BookFollower({ clock: systemClock, clickhouse, shared, log });
  await follower.listen(shared);
  onTestFinished(() => follower.close());
  const filter: StreamFilter = {
    ...ALL,
    channels: ['books'],
    platforms: ['kalshi'],
    markets: new Map([['kalshi', new Set([market.ref])]]),
    books: { markets: [{ market, key: '1' }], depth: null },
  };
  const open = () => {
    const events: { name: string; data: Record<string, unknown> }[] = [];
    const feed = new BookFeed(follower, filter, {
      isBehind: () => false,
      event: (name, data) => events.push({ name, data: JSON.parse(data) as Record<string, unknown> }),
      flush: () => true,
    });
    onTestFinished(() => feed.close());
    return { feed, events, names: () => events.map(({ name }) => name) };
  };
  const announce = (
    sequence: number,
    size: string,
    begins = sequence === 1,
    given: Partial<AnnouncedBook> = {},
  ): Promise<void> => {
    const [exchange_at, received_at] = [null, new Date().toISOString()];
    const levels: AnnouncedBook['levels'] = [['bid', '0.4', size]];
    const names = { platform: market.platform, ref: market.ref };
    const message = { ...names, sequence, begins, exchange_at, received_at, levels, ...given };
    return shared.publish('book_messages', JSON.stringify([message]));
  };
  return { open, announce, store };
}

test('a stream that is closed twice does not end the one that came in its place', async () => {
  const { open, announce } = await rigOf();
  const first = open();
  await new Promise((resolve) => setImmediate(resolve));
  await announce(1, '5');
  await expect.poll(first.names).toEqual(['book']);
  first.feed.close();
  const second = open();
  await new Promise((resolve) => setImmediate(resolve));
  await announce(1, '5');
  await expect.poll(second.names).toEqual(['book']);
  first.feed.close();
  await announce(2, '6');
  await expect.poll(second.names).toEqual(['book', 'book_change']);
});

test('a gap is sent when the book is lost, and its whole stretch with the book that follows', async () => {
  const { open, announce, store } = await rigOf();
  const { events, names } = open();
  await new Promise((resolve) => setImmediate(resolve));
  await announce(1, '5');
  await expect.poll(names).toEqual(['book']);
  const lostAt = new Date(Date.now() + 5).toISOString();
  store.push({ from: new Date(Date.now() - 1000).toISOString(), to: lostAt, reason: 'socket closed' });
  await expect.poll(names).toEqual(['book', 'gap']);
  expect(events[1]?.data).toMatchObject({ market_id: MARKET.platformId, to: lostAt, reason: 'socket closed' });
  await new Promise((resolve) => setTimeout(resolve, 20));
  await announce(1 + 2 ** 32, '7', true);
  await expect.poll(names).toEqual(['book', 'gap', 'gap', 'book']);
  await new Promise((resolve) => setTimeout(resolve, 1200));
  expect(names()).toHaveLength(4);
  expect(events.at(-1)?.data['sequence']).toBe(2);
});

const ago = (seconds: number): string => new Date(Date.now() - seconds * 1000).toISOString();

test('a gap is sent again before the next book with its start, its end and its reason', async () => {
  const { open, announce } = await rigOf();
  const { events, names } = open();
  await new Promise((resolve) => setImmediate(resolve));
  // The last change was two hours ago, and the connection was open until five seconds ago.
  await announce(1, '5', true, { received_at: ago(7200) });
  await expect.poll(names).toEqual(['book']);
  const gap = { from: ago(5), reason: 'socket closed with 1006' };
  const [lostAt, foundAt] = [ago(3), ago(1)];
  await announce(1, '5', false, { received_at: lostAt, levels: [], gap });
  await expect.poll(names).toEqual(['book', 'gap']);
  await announce(2, '6', true, { received_at: foundAt });
  await expect.poll(names).toEqual(['book', 'gap', 'gap', 'book']);
  expect(events.filter(({ name }) => name === 'gap').map(({ data }) => data)).toEqual([
    { platform: 'kalshi', market_id: MARKET.platformId, ...gap, to: lostAt },
    { platform: 'kalshi', market_id: MARKET.platformId, ...gap, to: foundAt },
  ]);
});

test('a book that begins anew states the gap before it, also if no other message did', async () => {
  const { open, announce } = await rigOf();
  const { events, names } = open();
  await new Promise((resolve) => setImmediate(resolve));
  await announce(1, '5', true, { received_at: ago(7200) });
  await expect.poll(names).toEqual(['book']);
  const ends_gap = { from: ago(5), reason: 'not recorded' };
  const received_at = ago(1);
  await announce(1 + 2 ** 32, '6', true, { received_at, ends_gap });
  await expect.poll(names).toEqual(['book', 'gap', 'book']);
  expect(events[1]?.data).toMatchObject({ ...ends_gap, to: received_at });
});

test('a market without trading has an empty book at once', async () => {
  const { open } = await rigOf({ ...MARKET, status: 'settled' });
  const { events, names } = open();
  await expect.poll(names).toEqual(['book']);
  expect(events[0]?.data).toMatchObject({ sequence: 1, yes: { bids: [], asks: [] } });
});

test('a book that does not come is announced as a gap', async () => {
  const { open } = await rigOf();
  const { events, names } = open();
  await expect.poll(names, { timeout: 20_000 }).toEqual(['gap']);
  expect(events[0]?.data).toMatchObject({ platform: 'kalshi', market_id: MARKET.platformId });
});

test('as many books of each platform are streamed as one user may name, and a subscription to more is refused', async () => {
  const shared = createLocalShared(log, systemClock);
  const streamed = new StreamedBooks(systemClock);
  await streamed.listen(shared);
  const clickhouse = { query: async () => [] } as unknown as ClickHouse;
  const follower = new BookFollower({ clock: systemClock, clickhouse, shared, log });
  await follower.listen(shared);
  const refs = Array.from({ length: MOST_STREAMED }, (_, n) => `K${n}`);
  const names = (['kalshi', 'polymarket'] as const).flatMap((platform) => refs.map((ref) => [platform, ref] as const));
  await wantBooks(
    shared,
    names.map(([platform, ref]) => [platform, ref]),
  );
  for (const platform of ['kalshi', 'polymarket'] as const) {
    expect(streamed.refs(platform)).toEqual(refs);
    follower.allow(platform, refs.slice(-50));
    expect(() => follower.allow(platform, ['OTHER'])).toThrow(expect.objectContaining({ status: 429 }));
  }
  follower.allow('limitless', ['OTHER']);
});
