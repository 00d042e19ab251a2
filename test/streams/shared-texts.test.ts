import { expect, test } from 'vitest';
import { systemClock } from '../../src/core/time.ts';
import { applyChanges, copyBook } from '../../src/books/book.ts';
import { bookChecksum } from '../../src/books/checksum.ts';
import { parsePrice, parseSize } from '../../src/core/decimal.ts';
import type { BookSide } from '../../src/core/model.ts';
import { BookFeed } from '../../src/streams/books/book-feed.ts';
import type { BookFollower, FollowedBook } from '../../src/streams/books/books.ts';
import { CursorCodec } from '../../src/streams/cursor.ts';
import { makeSlices } from '../../src/streams/log/event-slice.ts';
import type { StreamFilter } from '../../src/streams/filter.ts';
import type { LogRow } from '../../src/streams/log/read.ts';

const row = (sequence: number, size = 1): LogRow => ({
  sequence,
  ref: 'A',
  eventId: '',
  size,
  notional: 1,
  data: `{"trade_id":"${sequence}","pad":"${'x'.repeat(1000)}"}`,
  loggedMs: 1,
});

test('slices hold each wanted event behind a position once, with its cursor, and pass those that are not wanted', () => {
  const codec = new CursorCodec('filters', 2);
  const rows = Array.from({ length: 200 }, (_, n) => row(101 + n, n % 4 === 3 ? 0 : 1));
  const positions = [7, 110];
  const slices = makeSlices(rows, {
    name: 'trade',
    index: 1,
    positions,
    codec,
    nowMs: 0,
    matches: ({ size }) => size > 0,
  });
  const events = slices.flatMap((slice) => slice.events);
  const wanted = rows.filter(({ sequence, size }) => sequence > 110 && size > 0).map(({ sequence }) => sequence);
  expect(events.map(({ data }) => (JSON.parse(data) as { sequence: number }).sequence)).toEqual(wanted);
  expect(events.map(({ cursor }) => codec.decode(cursor))).toEqual(wanted.map((sequence) => [7, sequence]));
  expect(slices.length).toBeGreaterThan(2);
  for (const slice of slices.slice(0, -1)) {
    expect(codec.decode(slice.events.at(-1)?.cursor ?? '')).toEqual([7, slice.position]);
  }
  expect(slices.at(-1)?.position).toBe(300);
  expect(positions).toEqual([7, 110]);
});

const level = (price: string, size: string) => ({ price: parsePrice(price), size: parseSize(size) });
const change = (price: string, size: string) => ({ side: 'bid' as const, ...level(price, size) });
const market = { platform: 'kalshi', ref: 'A', platformId: 'A', title: '', metadata: {}, outcomes: [] };

/** A followed market whose book changes by hand, and the readers that watch it. */
function follow() {
  const listeners = new Set<(followed: FollowedBook, gap: null) => void>();
  const book: BookSide = { bids: [level('0.4', '5'), level('0.3', '2')], asks: [level('0.6', '1')] };
  const followed = { market, key: '1', book, exchangeAt: null, receivedAt: '' } as unknown as FollowedBook;
  const follower = {
    clock: systemClock,
    watch(_market: unknown, _key: string, listener: (followed: FollowedBook, gap: null) => void) {
      listeners.add(listener);
      listener(followed, null);
      return () => listeners.delete(listener);
    },
  } as unknown as BookFollower;
  return {
    read(depth: number | null) {
      const events: Record<string, unknown>[] = [];
      const reader: { events: typeof events; isBehind: boolean; feed?: BookFeed } = { events, isBehind: false };
      const filter = { books: { markets: [{ market, key: '1' }], depth } } as unknown as StreamFilter;
      const event = (name: string, data: string): void => void events.push({ name, ...(JSON.parse(data) as object) });
      reader.feed = new BookFeed(follower, filter, { isBehind: () => reader.isBehind, event, flush: () => true });
      return reader;
    },
    change(price: string, size: string) {
      followed.book = copyBook(followed.book ?? book);
      applyChanges(followed.book, [change(price, size)]);
      for (const listener of listeners) listener(followed, null);
      return bookChecksum(followed.book);
    },
  };
}
const seen = ({ events }: { events: Record<string, unknown>[] }) =>
  events.map(({ name, sequence, changes }) => [name, sequence, changes]);
const bid = (price: number, size: number) => ({ side: 'bid', price, size });
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

test('readers of one book have their own sequences, depths and what they missed', async () => {
  const world = follow();
  const [early, best, slow] = [world.read(null), world.read(1), world.read(null)];
  await nextTurn();
  world.change('0.4', '6');
  await nextTurn();
  const late = world.read(null);
  slow.isBehind = true;
  await nextTurn();
  world.change('0.3', '3');
  await nextTurn();
  slow.isBehind = false;
  const checksum = world.change('0.2', '1');
  await nextTurn();
  expect(seen(early)).toEqual([
    ['book', 1, undefined],
    ['book_change', 2, [bid(0.4, 6)]],
    ['book_change', 3, [bid(0.3, 3)]],
    ['book_change', 4, [bid(0.2, 1)]],
  ]);
  expect(seen(best)).toEqual([
    ['book', 1, undefined],
    ['book_change', 2, [bid(0.4, 6)]],
  ]);
  expect(seen(slow)).toEqual([
    ['book', 1, undefined],
    ['book_change', 2, [bid(0.4, 6)]],
    ['book_change', 3, [bid(0.3, 3), bid(0.2, 1)]],
  ]);
  expect(seen(late)).toEqual([
    ['book', 1, undefined],
    ['book_change', 2, [bid(0.3, 3)]],
    ['book_change', 3, [bid(0.2, 1)]],
  ]);
  for (const { events } of [early, slow, late]) expect(events.at(-1)?.['checksum']).toBe(checksum);
  for (const { events } of [early, best, slow, late]) {
    for (const event of events) expect(Date.parse(String(event['sent_at']))).toBeGreaterThan(0);
  }
});
