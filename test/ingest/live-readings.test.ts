import { pino } from 'pino';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../../src/core/time.ts';
import { BookPoller } from '../../ingest/books/poller.ts';
import { LiquidityReader } from '../../ingest/books/liquidity.ts';
import { BookRecorder } from '../../src/books/recorder.ts';
import {
  decimalNumber,
  midpoint,
  parsePrice,
  parseSize,
  PRICE_SCALE,
  SIZE_SCALE,
  usdText,
} from '../../src/core/decimal.ts';
import { PlatformError } from '../../src/core/errors.ts';
import type { BookLevel, BookSide } from '../../src/core/model.ts';
import { StoredMarkets } from '../../src/markets/directory.ts';
import { type IngestRig, startIngestRig } from '../helpers/ingest-rig.ts';
import { bestLevelLiquidity } from '../../src/platforms/book-sides.ts';
import { startKalshi } from '../simulators/kalshi.ts';
import { startLimitless } from '../simulators/limitless.ts';
import { startPolymarket } from '../simulators/polymarket.ts';

let sim: Awaited<ReturnType<typeof startLimitless>>;
let rig: IngestRig;
let refs: string[];

beforeAll(async () => {
  // A market of five minutes would end in between.
  const startedMs = Date.now();
  sim = await startLimitless({ seed: 7, tradesPerMarket: 2, historyDays: 1, clock: { now: () => startedMs } });
  sim.enforceLimits = false;
  rig = await startIngestRig(sim, 'limitless');
  await rig.list();
  const rows = await rig.clickhouse.query('books_to_read', z.object({ ref: z.string() }), {
    platform: 'limitless',
    limit: 5000,
  });
  refs = rows.map(({ ref }) => ref);
});
afterAll(async () => {
  await rig.close();
  await sim.close();
});

const level = (price: string, size: string) => ({ price: parsePrice(price), size: parseSize(size) });
const BOOK: BookSide = { bids: [level('0.4', '10')], asks: [level('0.5', '20')] };
const recorded = { wanted: () => [], book: () => null };
const isRewarded = ({ size }: BookLevel): boolean => size >= parseSize('20');
const liveBooks = { book: (ref: string): BookSide | null => (ref === refs[0] ? BOOK : null), compare: () => false };
const directory = () => new StoredMarkets(rig.clickhouse, async () => null);
/** Markets whose books were asked for since the last call. */
function asked(): string[] {
  const paths = [...sim.requests.keys()].filter((path) => path.endsWith('/orderbook'));
  for (const path of paths) sim.requests.delete(path);
  return paths.map((path) => path.split('/')[2] ?? '').toSorted();
}
const others = (): string[] => refs.slice(1).toSorted();

test('a book that a socket brings is read once, for its last trade; what rests in it needs no request', async () => {
  const reading = {
    lists: rig.clickhouse,
    data: rig.data,
    directory: directory(),
    clock: systemClock,
    liveBooks,
    recorded,
  };
  const reader = new LiquidityReader({ ...reading, writer: rig.markets });
  const setLastTrade = vi.spyOn(rig.markets, 'setLastTrade');
  asked();
  expect(await reader.read(rig.run)).toMatchObject({ rows: refs.length });
  expect(asked()).toEqual(refs.toSorted());
  expect(setLastTrade.mock.calls.map(([, ref]) => ref)).toContain(refs[0]);
  expect(await reader.read(rig.run)).toMatchObject({ rows: refs.length });
  expect(asked()).toEqual(others());
  await rig.list();
  const [row] = await rig.clickhouse.sql<{ liquidity: string }>(
    'SELECT toString(liquidity) AS liquidity FROM v_markets WHERE ref = {ref:String}',
    { ref: refs[0] },
  );
  // 10 × 0.4 + 20 × (1 − 0.5)
  expect(Number(row?.liquidity)).toBe(14);
});

test('a recorded book is polled until a socket brings it, and again after it was lost', async () => {
  const recorder = new BookRecorder({
    clock: systemClock,
    clickhouse: rig.clickhouse,
    log: pino({ level: 'silent' }),
    platform: 'limitless',
    announce: () => {},
  });
  const poller = new BookPoller({
    lists: rig.clickhouse,
    recorder,
    data: rig.data,
    directory: directory(),
    config: { BOOKS_RECORD: 0, BOOKS_MARKETS: [] },
    clock: systemClock,
    streamed: { refs: () => refs },
    liveBooks,
  });
  const passes = Math.ceil(refs.length / 8);
  const polled = async (): Promise<string[]> => {
    for (let n = 0; n < passes; n += 1) await poller.readStreamed(rig.run);
    return asked();
  };
  asked();
  expect(await polled()).toEqual(refs.toSorted());
  expect(await polled()).toEqual(others());
  const at = new Date().toISOString();
  recorder.gap(refs[0] ?? '', at, at, 'cut');
  expect(await polled()).toEqual(refs.toSorted());
  await recorder.close();
});

test('best levels come from batch calls where a platform counts whole books, and from sockets without a request', async () => {
  const startedMs = Date.now();
  const whole = await startPolymarket({ seed: 7, tradesPerMarket: 2, historyDays: 1, clock: { now: () => startedMs } });
  whole.enforceLimits = false;
  const own = await startIngestRig(whole, 'polymarket');
  try {
    await own.list();
    const rows = await own.clickhouse.query('books_to_read', z.object({ ref: z.string() }), {
      platform: 'polymarket',
      limit: 5000,
    });
    const [streamed = ''] = rows.map(({ ref }) => ref);
    const markets = new StoredMarkets(own.clickhouse, async () => null);
    const known = await markets.byRef(
      'polymarket',
      rows.map(({ ref }) => ref),
    );
    const books = (await own.data.orderBooks?.([...known.values()], own.run.context('backfill'))) ?? new Map();
    const expected = [...books].flatMap(([ref, book]) =>
      book instanceof PlatformError || ref === streamed
        ? []
        : [[ref, Number(usdText(bestLevelLiquidity(book.yes.bids[0], book.yes.asks[0])))] as const],
    );
    expect(expected.length).toBeGreaterThan(10);
    whole.requests.clear();
    const reader = new LiquidityReader({
      lists: own.clickhouse,
      data: own.data,
      directory: markets,
      clock: systemClock,
      liveBooks: { book: (ref) => (ref === streamed ? BOOK : null) },
      recorded,
      writer: own.markets,
    });
    expect(await reader.read(own.run)).toMatchObject({ rows: expected.length + 1 });
    const asked = [...whole.requests].filter(([path]) => path.endsWith('/books'));
    expect(asked.map(([, times]) => times)).toEqual([1]);
    await own.list();
    const stored = await own.clickhouse.sql<{ ref: string; usd: string; whole: string; adjusted: number }>(
      "SELECT m.ref AS ref, toString(liquidity_usd) AS usd, toString(liquidity) AS whole, JSONExtractFloat(metadata, 'adjusted_midpoint') AS adjusted FROM market_state FINAL JOIN (SELECT market_key, ref FROM markets FINAL) AS m USING (market_key) WHERE status IN ('open', 'paused') AND liquidity_usd IS NOT NULL",
    );
    const compared = new Map(stored.map(({ ref, usd }) => [ref, Number(usd)]));
    expect(compared.get(streamed)).toBe(14);
    for (const [ref, usd] of expected) expect([ref, compared.get(ref)]).toEqual([ref, usd]);
    expect(stored.some(({ usd, whole: all }) => Number(usd) < Number(all))).toBe(true);
    // Their rewards begin at 20 shares: smaller best levels do not count.
    const middles = stored.flatMap(({ ref, adjusted }) => {
      const book = books.get(ref);
      if (!book || book instanceof PlatformError) return [];
      const [bid, ask] = [book.yes.bids, book.yes.asks].map((levels) => levels.find(isRewarded)?.price);
      const isPlain = bid === book.yes.bids[0]?.price && ask === book.yes.asks[0]?.price;
      const middle = isPlain ? 0 : (decimalNumber(midpoint(bid ?? null, ask ?? null), PRICE_SCALE) ?? 0);
      return [{ ref, adjusted, expected: known.get(ref)?.metadata['rewards_min_size'] === 20 ? middle : 0 }];
    });
    expect(middles.some(({ expected: middle }) => middle > 0)).toBe(true);
    for (const { adjusted, expected: middle } of middles) expect(adjusted).toBe(middle);
  } finally {
    await own.close();
    await whole.close();
  }
});

test('all that rests in a recorded book of Kalshi stands beside its best levels while it is recorded', async () => {
  const startedMs = Date.now();
  const kalshi = await startKalshi({ seed: 7, markets: 6, tradesPerMarket: 2, clock: { now: () => startedMs } });
  kalshi.enforceLimits = false;
  const own = await startIngestRig(kalshi, 'kalshi');
  const recorder = new BookRecorder({
    clock: systemClock,
    clickhouse: own.clickhouse,
    log: pino({ level: 'silent' }),
    platform: 'kalshi',
    announce: () => {},
  });
  try {
    await own.list();
    const reading = {
      lists: own.clickhouse,
      data: own.data,
      directory: new StoredMarkets(own.clickhouse, async () => null),
      clock: systemClock,
      liveBooks: { book: () => null, compare: () => false },
    };
    const config = { BOOKS_RECORD: 5, BOOKS_MARKETS: [] };
    await new BookPoller({ ...reading, recorder, config, streamed: { refs: () => [] } }).read(own.run);
    const reader = new LiquidityReader({ ...reading, recorded: recorder, writer: own.markets });
    const sums = async () => {
      expect(await reader.read(own.run)).toBeNull();
      await own.list();
      return own.clickhouse.sql<{ ref: string; best: number; all: number }>(
        `SELECT m.ref AS ref, toFloat64(liquidity) AS best, JSONExtractFloat(metadata, 'liquidity_clob') AS all
         FROM market_state FINAL JOIN (SELECT market_key, ref FROM markets FINAL) AS m USING (market_key)
         WHERE JSONHas(metadata, 'liquidity_clob')`,
      );
    };
    const recorded = await sums();
    expect(recorded).toHaveLength(5);
    for (const { ref, all } of recorded) {
      const { bids = [], asks = [] } = recorder.book(ref) ?? {};
      const usd = [...bids, ...asks.map(({ price, size }) => ({ price: parsePrice('1') - price, size }))].map(
        ({ price, size }) => decimalNumber(price, PRICE_SCALE) * decimalNumber(size, SIZE_SCALE),
      );
      expect(all).toBeCloseTo(
        usd.reduce((sum, one) => sum + one, 0),
        6,
      );
    }
    expect(recorded.some(({ best, all }) => all > best)).toBe(true);
    await recorder.close();
    expect(await sums()).toEqual([]);
  } finally {
    await recorder.close();
    await own.close();
    await kalshi.close();
  }
});
