import { pino } from 'pino';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../../src/core/time.ts';
import { BookPoller } from '../../ingest/books/poller.ts';
import { LiquidityReader } from '../../ingest/books/liquidity.ts';
import { BookRecorder } from '../../src/books/recorder.ts';
import { parsePrice, parseSize, usdText } from '../../src/core/decimal.ts';
import { PlatformError } from '../../src/core/errors.ts';
import type { BookSide } from '../../src/core/model.ts';
import { StoredMarkets } from '../../src/markets/directory.ts';
import { type IngestRig, startIngestRig } from '../helpers/ingest-rig.ts';
import { bestLevelLiquidity } from '../../src/platforms/book-sides.ts';
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
    clock: { now: Date.now },
    liveBooks,
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
      clock: { now: Date.now },
      liveBooks: { book: (ref) => (ref === streamed ? BOOK : null) },
      writer: own.markets,
    });
    expect(await reader.read(own.run)).toMatchObject({ rows: expected.length + 1 });
    const asked = [...whole.requests].filter(([path]) => path.endsWith('/books'));
    expect(asked.map(([, times]) => times)).toEqual([1]);
    await own.list();
    const stored = await own.clickhouse.sql<{ ref: string; usd: string; whole: string }>(
      "SELECT ref, toString(liquidity_usd) AS usd, toString(liquidity) AS whole FROM v_markets WHERE status IN ('open', 'paused') AND liquidity_usd IS NOT NULL",
    );
    const compared = new Map(stored.map(({ ref, usd }) => [ref, Number(usd)]));
    expect(compared.get(streamed)).toBe(14);
    for (const [ref, usd] of expected) expect([ref, compared.get(ref)]).toEqual([ref, usd]);
    expect(stored.some(({ usd, whole: all }) => Number(usd) < Number(all))).toBe(true);
  } finally {
    await own.close();
    await whole.close();
  }
});
