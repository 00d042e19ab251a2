import { afterAll, beforeAll, expect, test } from 'vitest';
import { pino } from 'pino';
import { systemClock } from '../../../src/core/time.ts';
import { announceBooks } from '../../../src/books/announcer.ts';
import { BookRecorder } from '../../../src/books/recorder.ts';
import { parsePrice, parseSize } from '../../../src/core/decimal.ts';
import type { BookSide } from '../../../src/core/model.ts';
import type { ClickHouse } from '../../../src/stores/clickhouse/client.ts';
import { createLocalShared } from '../../../src/stores/shared/local.ts';
import { BookFollower, type BookGap } from '../../../src/streams/books/books.ts';
import { watched } from '../../helpers/at-work.ts';
import { flowingClock } from '../../helpers/flowing-clock.ts';
import { LEASE } from '../../helpers/market-store.ts';
import { MARKET } from '../../helpers/market-of-streams.ts';
import { startStreamRig, type StreamRig } from '../../helpers/stream-rig.ts';
import { eventually } from '../../oracle/pipeline.ts';

const log = pino({ level: 'silent' });
const clock = flowingClock();
const shared = createLocalShared(log, clock);
/** While true, announcements are lost, as with a Redis that is away. */
let areLost = false;
/** How often stored messages were read. */
let reads = 0;
/** Inserts of changes wait for it. */
let held = Promise.resolve();
let release = (): void => {};

let rig: StreamRig;
let recorder: BookRecorder;
let follower: BookFollower;
let key = '';
let seen: BookSide | null = null;
const gaps: BookGap[] = [];

beforeAll(async () => {
  rig = await startStreamRig();
  const clickhouse = watched(rig.clickhouse);
  const slow: ClickHouse = {
    ...clickhouse,
    async insert(table, ...given) {
      if (table.startsWith('book_changes')) await held;
      return clickhouse.insert(table, ...given);
    },
  };
  const counted: ClickHouse = {
    ...clickhouse,
    query(name, ...given) {
      if (name === 'book_updates') reads += 1;
      return clickhouse.query(name, ...given);
    },
  };
  const publish: typeof shared.publish = async (...message) => (areLost ? undefined : shared.publish(...message));
  const { streamed, announce } = await announceBooks({ ...shared, publish }, clock);
  recorder = new BookRecorder({ clock, clickhouse: slow, log, platform: 'kalshi', announce });
  await recorder.open(LEASE);
  recorder.want([MARKET]);
  const book = { bids: [{ price: parsePrice('0.4'), size: parseSize('5') }], asks: [] };
  recorder.snapshot(MARKET.ref, book, null, new Date(clock.now()).toISOString());
  await recorder.flush();
  follower = new BookFollower({ clock, clickhouse: counted, shared, log });
  await follower.listen(shared);
  const [row] = await clickhouse.sql<{ key: string }>(`SELECT toString(sipHash64('kalshi', {ref:String})) AS key`, {
    ref: MARKET.ref,
  });
  key = row?.key ?? '';
  follower.watch(MARKET, key, (followed, gap) => {
    seen = followed.book;
    if (gap) gaps.push(gap);
  });
  const known = async () => (seen && streamed.has('kalshi', MARKET.ref) ? [] : ['the book is not followed yet']);
  expect(await eventually(known, 60, clock)).toEqual([]);
}, 120_000);

afterAll(async () => {
  release();
  follower?.close();
  await recorder?.close();
  await rig?.close();
});

const bid = (size: number): void => {
  const change = { side: 'bid' as const, price: parsePrice('0.4'), size: parseSize(String(size)) };
  recorder.change(MARKET.ref, [change], null, new Date(clock.now()).toISOString());
};
const shows = (size: number) => async (): Promise<unknown[]> =>
  seen?.bids[0]?.size === parseSize(String(size)) ? [] : [seen];
const storedChanges = async (): Promise<number> => {
  const [row] = await rig.clickhouse.sql<{ n: string }>('SELECT toString(count()) AS n FROM book_changes');
  return Number(row?.n);
};

test('changes of a book reach streams before the store has them', async () => {
  held = new Promise((resolve) => (release = resolve));
  for (const size of [6, 7, 8]) bid(size);
  expect(await eventually(shows(8), 10, clock)).toEqual([]);
  expect(await storedChanges()).toBe(0);
});

test('what was not announced comes from the store, and what follows it too, without a gap', async () => {
  areLost = true;
  bid(9);
  await clock.sleep(50);
  areLost = false;
  bid(10);
  await clock.sleep(50);
  // The one behind the hole waits for it.
  expect(seen?.bids[0]?.size).toBe(parseSize('8'));
  release();
  expect(await eventually(shows(10), 20, clock)).toEqual([]);
  bid(11);
  expect(await eventually(shows(11), 10, clock)).toEqual([]);
  expect(gaps).toEqual([]);
  await recorder.flush();
  expect(await storedChanges()).toBe(6);
});

test('while every change is announced the store is read every five seconds', async () => {
  // Behind something that was missed it is read more often.
  await clock.sleep(5000);
  const before = reads;
  for (let size = 20; size < 80; size += 1) {
    bid(size);
    await clock.sleep(100);
  }
  expect(await eventually(shows(79), 10, clock)).toEqual([]);
  expect(reads - before).toBeLessThanOrEqual(2);
});

test('a book that is lost is none at once, and the one behind it comes with the whole gap', async () => {
  held = new Promise((resolve) => (release = resolve));
  const from = new Date(clock.now()).toISOString();
  await clock.sleep(20);
  recorder.gap(MARKET.ref, from, new Date(clock.now()).toISOString(), 'socket frozen');
  expect(await eventually(async () => (seen === null ? [] : [seen]), 10, clock)).toEqual([]);
  expect(gaps.splice(0)).toEqual([expect.objectContaining({ from, reason: 'socket frozen' })]);
  const book = { bids: [{ price: parsePrice('0.4'), size: parseSize('3') }], asks: [] };
  recorder.snapshot(MARKET.ref, book, null, new Date(clock.now()).toISOString());
  expect(await eventually(shows(3), 10, clock)).toEqual([]);
  release();
  await recorder.flush();
  await clock.sleep(6000);
  expect(await shows(3)()).toEqual([]);
  expect(gaps).toHaveLength(1);
});

test('a client that comes right behind a gap has the book that ended it', async () => {
  const late = new BookFollower({
    clock,
    clickhouse: watched(rig.clickhouse),
    shared: createLocalShared(log, systemClock),
    log,
  });
  const states: (BookSide | null)[] = [];
  const unwatch = late.watch(MARKET, key, ({ book }) => states.push(book));
  await clock.sleep(2000);
  unwatch();
  expect(states.map((book) => book?.bids[0]?.size)).toEqual([parseSize('3')]);
});

test('a gap announced while the book behind it is being loaded does not take that book away', async () => {
  let load!: () => void;
  const isDue = new Promise<void>((resolve) => (load = resolve));
  const clickhouse = watched(rig.clickhouse);
  const waiting: ClickHouse = {
    ...clickhouse,
    async query(name, ...given) {
      if (name === 'book_snapshot_at') await isDue;
      return clickhouse.query(name, ...given);
    },
  };
  const late = new BookFollower({ clock, clickhouse: waiting, shared, log });
  await late.listen(shared);
  const states: (BookSide | null)[] = [];
  const unwatch = late.watch(MARKET, key, ({ book }) => states.push(book));
  const at = new Date(clock.now()).toISOString();
  await clock.sleep(20);
  recorder.gap(MARKET.ref, at, new Date(clock.now()).toISOString(), 'socket frozen');
  const book = { bids: [{ price: parsePrice('0.4'), size: parseSize('4') }], asks: [] };
  recorder.snapshot(MARKET.ref, book, null, new Date(clock.now()).toISOString());
  await recorder.flush();
  // Announcements follow within milliseconds.
  await clock.sleep(100);
  load();
  await clock.sleep(1000);
  unwatch();
  expect(states.map((state) => state?.bids[0]?.size)).toEqual([parseSize('4')]);
});
