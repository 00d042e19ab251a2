import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/core/time.ts';
import { BookPoller } from '../../ingest/books/poller.ts';
import type { AnnouncedBook } from '../../src/books/announcer.ts';
import { bookAt } from '../../src/books/book-at.ts';
import { BookRecorder } from '../../src/books/recorder.ts';
import type { BookChange, BookSide } from '../../src/core/model.ts';
import { parsePrice, parseSize } from '../../src/core/decimal.ts';
import { StoredMarkets } from '../../src/markets/directory.ts';
import type { PlatformData } from '../../src/platforms/contract.ts';
import { type IngestRig, startIngestRig } from '../helpers/ingest-rig.ts';
import { virtualClock } from '../helpers/virtual-clock.ts';
import { startKalshi } from '../simulators/kalshi.ts';

const PLATFORM = 'kalshi';
let sim: Awaited<ReturnType<typeof startKalshi>>;
let rig: IngestRig;
let recorder: BookRecorder;
let onMessage: (message: AnnouncedBook) => unknown = () => {};
let refs: string[];

beforeAll(async () => {
  sim = await startKalshi({ seed: 5, markets: 20, tradesPerMarket: 6, historyDays: 1 });
  rig = await startIngestRig(sim, PLATFORM);
  await rig.list();
  const open = await rig.clickhouse.sql<{ ref: string }>("SELECT ref FROM v_markets WHERE status = 'open' LIMIT 2");
  refs = open.map(({ ref }) => ref);
  const directory = new StoredMarkets(rig.clickhouse, async () => null);
  recorder = new BookRecorder({
    clock: systemClock,
    clickhouse: rig.clickhouse,
    log: pino({ level: 'silent' }),
    platform: PLATFORM,
    announce: (message) => onMessage(message),
  });
  await recorder.open(rig.run.lease);
  recorder.want([...(await directory.storedByRef(PLATFORM, refs)).values()]);
});
afterAll(async () => {
  await recorder.close();
  await rig.close();
  await sim.close();
});

const at = (second: number): string => `2026-11-23T10:00:${String(second).padStart(2, '0')}.000Z`;
const level = (price: string, size: string) => ({ price: parsePrice(price), size: parseSize(size) });
const bid = (price: string, size: string): BookSide => ({ bids: [level(price, size)], asks: [] });
const bidNow = (price: string, size: string): BookChange[] => [{ side: 'bid', ...level(price, size) }];

/** What is stored of a market: its changes and where a book begins, in order. */
async function stored(ref: string): Promise<string[]> {
  await recorder.flush();
  const rows = await rig.clickhouse.sql<{ line: string }>(
    `SELECT line FROM (
       SELECT sequence, 1 AS place, concat(toString(side), ' ', toString(price), ' ', toString(size)) AS line
       FROM v_book_changes WHERE market_key = sipHash64({platform:String}, {ref:String})
       UNION ALL
       SELECT sequence, 0, concat('begins with ', toString(tupleElement(bids[1], 'size'))) FROM v_books
       WHERE begins AND market_key = sipHash64({platform:String}, {ref:String})
     ) ORDER BY sequence, place, line`,
    { platform: PLATFORM, ref },
  );
  return rows.map(({ line }) => line);
}

test('two jobs that open the books at once begin one epoch', async () => {
  const epochs = async () =>
    (
      await rig.clickhouse.sql("SELECT epoch FROM log_epochs WHERE feed = 'books' AND platform = {platform:String}", {
        platform: PLATFORM,
      })
    ).length;
  const before = await epochs();
  const books = new BookRecorder({
    clock: systemClock,
    clickhouse: rig.clickhouse,
    log: pino({ level: 'silent' }),
    platform: PLATFORM,
    announce: () => {},
  });
  await Promise.all([books.open(rig.run.lease), books.open(rig.run.lease)]);
  expect(await epochs()).toBe(before + 1);
  await books.close();
});

test('a poll that is answered after one that was sent later does not bring the older book back', async () => {
  const [ref = ''] = refs;
  const polled = (size: string, askedMs: number, second: number): void =>
    recorder.polled(ref, { yes: bid('0.4', size), exchangeAt: null }, at(second), askedMs);
  polled('10', 100, 1);
  polled('30', 300, 3);
  polled('20', 200, 4);
  polled('40', 400, 5);
  expect(await stored(ref)).toEqual(['begins with 10', 'bid 0.4 30', 'bid 0.4 40']);
});

test('what a live feed sends is stored change by change, no poll under way replaces it, and a gap begins a new book', async () => {
  const [, ref = ''] = refs;
  const askedMs = performance.now();
  recorder.snapshot(ref, bid('0.4', '10'), at(1), at(1));
  recorder.change(ref, bidNow('0.4', '12'), at(2), at(2));
  recorder.polled(ref, { yes: bid('0.4', '11'), exchangeAt: null }, at(3), askedMs);
  recorder.change(ref, bidNow('0.4', '0'), at(4), at(4));
  recorder.gap(ref, at(4), at(6), 'cut');
  expect(recorder.change(ref, bidNow('0.4', '13'), at(6), at(6))).toBe(false);
  recorder.snapshot(ref, bid('0.4', '14'), at(7), at(7));
  expect(recorder.change(ref, bidNow('0.4', '16'), at(8), at(8))).toBe(true);
  expect(await stored(ref)).toEqual(['begins with 10', 'bid 0.4 12', 'bid 0.4 0', 'begins with 14', 'bid 0.4 16']);
  const gaps = await rig.clickhouse.sql<{ reason: string }>(
    'SELECT DISTINCT reason FROM v_book_gaps WHERE market_key = sipHash64({platform:String}, {ref:String})',
    { platform: PLATFORM, ref },
  );
  expect(gaps.map(({ reason }) => reason)).toEqual(['cut']);
});

test('an instant in a gap that has not ended, or behind the end of a recording, is answered with a gap', async () => {
  const [, ref = ''] = refs;
  const market = (await new StoredMarkets(rig.clickhouse, async () => null).storedByRef(PLATFORM, [ref])).get(ref)!;
  const gapAt = async (second: number) =>
    (await bookAt(rig.clickhouse, market, Date.parse(at(0)) + second * 1000)).recorded.gap;
  await recorder.flush();
  expect(await gapAt(5)).toMatchObject({ from: at(4), to: at(7), reason: 'cut' });
  expect(await gapAt(30)).toBeNull();
  expect(await gapAt(300)).toMatchObject({ from: at(8), to: '2026-11-23T10:05:00.000Z', reason: 'not recorded' });
  recorder.gap(ref, at(20), at(22), 'socket silent');
  await recorder.flush();
  expect(await gapAt(15)).toBeNull();
  expect(await gapAt(21)).toMatchObject({ from: at(20), reason: 'socket silent' });
  expect(await gapAt(50)).toMatchObject({ from: at(20), to: at(50), reason: 'socket silent' });
  recorder.snapshot(ref, bid('0.4', '17'), at(55), at(55));
  await recorder.flush();
  expect(await gapAt(50)).toMatchObject({ from: at(20), to: at(55) });
  expect(await gapAt(56)).toBeNull();
});

test('a feed continues a polled book only after its own whole book', async () => {
  const [ref = ''] = refs;
  const now = new Date().toISOString();
  recorder.gap(ref, now, now, 'cut');
  recorder.polled(ref, { yes: bid('0.4', '50'), exchangeAt: null }, now, performance.now());
  expect(recorder.change(ref, [], null, now)).toBe(false);
  recorder.snapshot(ref, bid('0.4', '51'), null, now);
  expect(recorder.change(ref, bidNow('0.4', '52'), null, now)).toBe(true);
  expect((await stored(ref)).slice(-3)).toEqual(['begins with 50', 'bid 0.4 51', 'bid 0.4 52']);
});

test('a polled book is only compared with a live one, and recorded once that is lost or found wrong', async () => {
  const { clickhouse } = rig;
  const books = new Map(refs.map((ref) => [ref, bid('0.4', '60')]));
  const read: string[] = [];
  let isWrong = false;
  const poller = new BookPoller({
    lists: clickhouse,
    recorder,
    data: {
      platform: PLATFORM,
      orderBooks: async () => new Map(refs.map((ref) => [ref, { yes: bid('0.4', '55'), exchangeAt: null }])),
    } as unknown as PlatformData,
    directory: new StoredMarkets(clickhouse, async () => null),
    config: { BOOKS_RECORD: 0, BOOKS_MARKETS: [] },
    clock: systemClock,
    streamed: { refs: () => refs },
    liveBooks: {
      book: (ref) => books.get(ref) ?? null,
      compare(ref) {
        read.push(ref);
        if (isWrong) books.delete(ref);
        return false;
      },
    },
  });
  const [lost = '', wrong = ''] = refs;
  const now = new Date().toISOString();
  const announced: unknown[] = [];
  for (const ref of refs) recorder.snapshot(ref, bid('0.4', '60'), null, now);
  onMessage = ({ ref, levels }) => announced.push([ref, levels]);
  const polledAt = recorder.polledAt(wrong) ?? 0;
  await poller.readStreamed(rig.run);
  expect([read.toSorted(), announced]).toEqual([refs.toSorted(), []]);
  expect(recorder.polledAt(wrong)).toBeGreaterThan(polledAt);
  books.delete(lost);
  await poller.readStreamed(rig.run);
  expect(announced.splice(0)).toEqual([[lost, [['bid', '0.4', '55']]]]);
  isWrong = true;
  await poller.readStreamed(rig.run);
  expect(announced).toEqual([[wrong, [['bid', '0.4', '55']]]]);
});

test('the book of a market that closes ends empty, and one that is no longer recorded ends as a gap', async () => {
  const [closes = '', goes = ''] = refs;
  const { clickhouse } = rig;
  const directory = new StoredMarkets(clickhouse, async () => null);
  recorder.want([...(await directory.storedByRef(PLATFORM, refs)).values()]);
  for (const ref of refs) recorder.snapshot(ref, bid('0.4', '5'), null, new Date().toISOString());
  const announced: AnnouncedBook[] = [];
  onMessage = (message) => announced.push(message);
  const poller = new BookPoller({
    lists: clickhouse,
    recorder,
    data: { platform: PLATFORM, orderBooks: async () => new Map() } as unknown as PlatformData,
    directory: {
      storedByAnyIds: async () => new Map(),
      async storedByRef(...asked: Parameters<StoredMarkets['storedByRef']>) {
        const found = await directory.storedByRef(...asked);
        found.delete(goes);
        return new Map([...found].map(([ref, market]) => [ref, { ...market, status: 'closed' }]));
      },
    } as unknown as StoredMarkets,
    config: { BOOKS_RECORD: 0, BOOKS_MARKETS: [] },
    clock: systemClock,
    streamed: { refs: () => refs },
    liveBooks: { book: () => null, compare: () => false },
  });
  await poller.readStreamed(rig.run);
  expect(announced.map(({ ref, levels, gap }) => [ref, levels, gap?.reason])).toEqual([
    [closes, [['bid', '0.4', '0']], undefined],
    [goes, [], 'no longer recorded'],
  ]);
  expect((await stored(closes)).at(-1)).toBe('bid 0.4 0');
});

test('a streamed book that polls no longer bring is a gap after a minute, once, and begins anew with the next poll', async () => {
  const [ref = ''] = refs;
  const { clickhouse } = rig;
  const clock = virtualClock(Date.now());
  const announced: unknown[] = [];
  const books = new BookRecorder({
    clock,
    clickhouse,
    log: pino({ level: 'silent' }),
    platform: PLATFORM,
    announce: ({ begins, gap }) => announced.push(gap ?? begins),
  });
  let isAway = false;
  const poller = new BookPoller({
    lists: clickhouse,
    recorder: books,
    data: {
      platform: PLATFORM,
      async orderBooks() {
        if (isAway) throw new Error('the platform is away');
        return new Map([[ref, { yes: bid('0.4', '5'), exchangeAt: null }]]);
      },
    } as unknown as PlatformData,
    directory: new StoredMarkets(clickhouse, async () => null),
    config: { BOOKS_RECORD: 0, BOOKS_MARKETS: [] },
    clock,
    streamed: { refs: () => [ref] },
    liveBooks: { book: () => null, compare: () => false },
  });
  await clock.advance(1000);
  await poller.readStreamed(rig.run);
  const from = new Date(clock.now()).toISOString();
  expect(announced.splice(0)).toEqual([true]);
  isAway = true;
  for (const [waitMs, expected] of [
    [55_000, []],
    [10_000, [{ from, reason: 'no book was received' }]],
    [600_000, []],
  ] as const) {
    await clock.advance(waitMs);
    await expect(poller.readStreamed(rig.run)).rejects.toThrow('the platform is away');
    expect(announced.splice(0)).toEqual(expected);
  }
  isAway = false;
  await poller.readStreamed(rig.run);
  expect(announced).toEqual([true]);
  await books.close();
  const gaps = await clickhouse.sql<{ to: string }>(
    `SELECT to_at AS to FROM v_book_gaps
     WHERE market_key = sipHash64({platform:String}, {ref:String}) AND reason = 'no book was received' ORDER BY to`,
    { platform: PLATFORM, ref },
  );
  expect(gaps.at(-1)?.to).toContain(new Date(clock.now()).toISOString().slice(11, 19));
});

test('after the clock is set back, every streamed book is polled in turn, and one that does not come is a gap', async () => {
  const { clickhouse } = rig;
  const open = await clickhouse.sql<{ ref: string }>("SELECT ref FROM v_markets WHERE status = 'open' LIMIT 16");
  const streamed = open.map(({ ref }) => ref);
  expect(streamed.length).toBeGreaterThan(8);
  const clock = virtualClock(Date.now());
  const lost: string[] = [];
  const books = new BookRecorder({
    clock,
    clickhouse,
    log: pino({ level: 'silent' }),
    platform: PLATFORM,
    announce: ({ ref, gap }) => void (gap && lost.push(ref)),
  });
  let isAway = false;
  const read: string[] = [];
  const poller = new BookPoller({
    lists: clickhouse,
    recorder: books,
    data: {
      platform: PLATFORM,
      async orderBook({ ref }: { ref: string }) {
        if (isAway) throw new Error('the platform is away');
        read.push(ref);
        return { yes: bid('0.4', '5'), exchangeAt: null };
      },
    } as unknown as PlatformData,
    directory: new StoredMarkets(clickhouse, async () => null),
    config: { BOOKS_RECORD: 0, BOOKS_MARKETS: [] },
    clock,
    streamed: { refs: () => streamed },
    liveBooks: { book: () => null, compare: () => false },
  });
  /** The markets that two runs poll, eight each. */
  const readAll = async (): Promise<string[]> => {
    read.splice(0);
    for (let round = 0; round < 2; round += 1) {
      await clock.advance(5000);
      await poller.readStreamed(rig.run);
    }
    return [...new Set(read)].toSorted();
  };
  expect(await readAll()).toEqual(streamed.toSorted());
  clock.correct(-3_600_000);
  expect(await readAll()).toEqual(streamed.toSorted());
  isAway = true;
  await clock.advance(70_000);
  await poller.readStreamed(rig.run).catch(() => null);
  expect(lost.toSorted()).toEqual(streamed.toSorted());
  await books.close();
});
