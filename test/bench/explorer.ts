import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CDPSession, Page } from 'playwright-core';
import { pino } from 'pino';
import { systemClock } from '../../src/core/time.ts';
import { BookRecorder } from '../../src/books/recorder.ts';
import { parsePrice, parseSize } from '../../src/core/decimal.ts';
import { startEmbeddedClickHouse } from '../../src/embedded/clickhouse/supervisor.ts';
import { StoredMarkets } from '../../src/markets/directory.ts';
import { type ClickHouse, connect } from '../../src/stores/clickhouse/client.ts';
import { migrateClickHouse } from '../../src/stores/clickhouse/migrations.ts';
import { openBrowser, signIn, watchedPage } from '../explorer/chromium.ts';
import { startTestApp } from '../helpers/app.ts';
import { LEASE } from '../helpers/market-store.ts';
import { copyAll } from './copy-all.ts';
import { fillStore } from './fill.ts';

const log = pino({ level: 'silent' });
/** The market is half as old: 15 minutes a bucket fill one answer of the API. */
const DAYS = 102;
const BUCKETS = 4896;
/** An open market of Kalshi among those that fillStore makes. */
const REF = 'KXBENCH-3';
const CHANGES_PER_SECOND = 50;
const LEVELS = 20;
const SETTLE_MS = 10_000;
const PATIENT = { timeout: 120_000 };

export interface ExplorerResult {
  markets: number;
  /** Document, style and scripts of the first page, as they are sent. */
  firstPageBytes: number;
  /** From the call for the first page, with nothing in the browser's cache, to its rows; the median of five. */
  usableMs: number;
  candles: number;
  minutes: number;
  changesPerSecond: number;
  /** Of the market page, and of an empty page in the same browser before it. */
  framesPerSecond: number;
  emptyFramesPerSecond: number;
  /** Of the page, after a collection: when it had settled, and at the end. */
  heapBeforeMb: number;
  heapAfterMb: number;
}

/** The explorer in headless Chromium: the first page over many markets, and a market that moves for some minutes. */
export async function benchExplorer(markets: number, minutes: number): Promise<ExplorerResult> {
  const directory = await mkdtemp(join(tmpdir(), 'forecastle-bench-explorer-'));
  const engine = await startEmbeddedClickHouse({ dataDir: directory, memoryMb: 2000, log, clock: systemClock });
  const clickhouse = connect(engine.url, () => engine.close());
  await migrateClickHouse(clickhouse, log);
  await fillStore(clickhouse, { trades: 100_000, markets, days: DAYS });
  await fillCandles(clickhouse);
  const service = await startTestApp({
    clickhouse,
    checked: false,
    env: { LOG_LEVEL: 'error' },
    ingestionHealth: async () => [
      {
        platform: 'kalshi',
        status: 'ok',
        lagSeconds: 1,
        feed: 'live',
        socket: null,
        detail: '',
        leftOut: [],
        jobs: [],
      },
    ],
  });
  await copyAll({ clickhouse, postgres: service.postgres, log });
  await service.app.listen({ host: '127.0.0.1', port: 0 });
  const browser = await openBrowser();
  const { port } = service.app.server.address() as AddressInfo;
  const { context, page } = await watchedPage(browser, `http://127.0.0.1:${port}`);
  await signIn(page);
  const devtools = await context.newCDPSession(page);
  await devtools.send('HeapProfiler.enable');
  const first = await firstPage(page, devtools);
  await page.goto('about:blank');
  const emptyFramesPerSecond = await framesOf(page, 5000);

  const book = await movingBook(clickhouse);
  let changes = 0;
  page.on('websocket', (socket) =>
    socket.on('framereceived', ({ payload }) => {
      const { event, data } = JSON.parse(String(payload)) as { event?: string; data: { changes: unknown[] } };
      if (event === 'book_change') changes += data.changes.length;
    }),
  );
  await page.goto(`/market/${encodeURIComponent(`kalshi:${REF}`)}?range=all&interval=15m`);
  await page.locator('.ladder tr.bid').first().waitFor(PATIENT);
  await page.locator('.chart canvas').first().waitFor(PATIENT);
  await sleep(SETTLE_MS);
  const heapBeforeMb = await heapOf(devtools);
  const [begun, before] = [performance.now(), changes];
  const framesPerSecond = await framesOf(page, minutes * 60_000);
  const changesPerSecond = ((changes - before) * 1000) / (performance.now() - begun);
  const heapAfterMb = await heapOf(devtools);
  await browser.close();
  await book.close();
  await service.close();
  await clickhouse.close();
  await rm(directory, { recursive: true, force: true });
  const moving = { framesPerSecond, emptyFramesPerSecond, changesPerSecond, heapBeforeMb, heapAfterMb };
  return { markets, ...first, candles: BUCKETS, minutes, ...moving };
}

/** A trade in each bucket of 15 minutes. */
const fillCandles = (clickhouse: ClickHouse): Promise<unknown> =>
  clickhouse.command(
    `INSERT INTO trades (platform, ref, executed_at, trade_order, id_form, id_text, tx_text, outcome, outcome_index, series, side, price, size, quote_usd, trader_text, is_block)
     SELECT 'kalshi', {ref:String}, fromUnixTimestamp64Micro(toInt64(({to:UInt64} - number * 900) * 1000000), 'UTC'), number, 'uuid', toString(generateUUIDv4()), '',
       'yes', 0, 0, 'buy', toDecimal64(0.3 + 0.4 * (sipHash64(number) % 1000) / 1000, 3), toDecimal64(10, 6), NULL, '', false
     FROM numbers({buckets:UInt64})`,
    { ref: REF, to: Math.floor(Date.now() / 1000) - 60, buckets: BUCKETS },
  );

async function firstPage(page: Page, devtools: CDPSession): Promise<{ firstPageBytes: number; usableMs: number }> {
  let bytes = 0;
  const files = new Set<string>();
  devtools.on('Network.responseReceived', ({ requestId, response }) => {
    if (!new URL(response.url).pathname.startsWith('/v1/')) files.add(requestId);
  });
  devtools.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (files.has(requestId)) bytes += encodedDataLength;
  });
  await devtools.send('Network.enable');
  await devtools.send('Network.setCacheDisabled', { cacheDisabled: true });
  const times: number[] = [];
  for (let turn = 0; turn < 5; turn += 1) {
    bytes = 0;
    const begun = performance.now();
    await page.goto('/', { waitUntil: 'commit' });
    await page.locator('table.list tbody tr').nth(10).waitFor(PATIENT);
    times.push(performance.now() - begun);
  }
  await devtools.send('Network.disable');
  return { firstPageBytes: bytes, usableMs: times.toSorted((a, b) => a - b)[2] ?? NaN };
}

/** Frames a second that the page draws. */
const framesOf = (page: Page, ms: number): Promise<number> =>
  page.evaluate(`new Promise((done) => {
    let frames = 0;
    const begun = performance.now();
    const step = (now) => {
      frames += 1;
      if (now - begun < ${ms}) requestAnimationFrame(step);
      else done((frames * 1000) / (now - begun));
    };
    requestAnimationFrame(step);
  })`);

async function heapOf(devtools: CDPSession): Promise<number> {
  await devtools.send('HeapProfiler.collectGarbage');
  const { usedSize } = await devtools.send('Runtime.getHeapUsage');
  return usedSize / 1e6;
}

const now = (): string => new Date().toISOString();
const priceAt = (side: 'bid' | 'ask', level: number) =>
  parsePrice(((side === 'bid' ? 49 - level : 51 + level) / 100).toFixed(2));
const levels = (side: 'bid' | 'ask') =>
  Array.from({ length: LEVELS }, (_, level) => ({ price: priceAt(side, level), size: parseSize('100') }));

/** Records changes of the market's book, evenly, until it is closed. */
async function movingBook(clickhouse: ClickHouse): Promise<{ close: () => Promise<void> }> {
  const markets = new StoredMarkets(clickhouse, async () => null);
  const market = (await markets.storedByRef('kalshi', [REF])).get(REF);
  if (!market) throw new Error(`no market ${REF}`);
  const recorder = new BookRecorder({ clock: systemClock, clickhouse, log, platform: 'kalshi', announce: () => {} });
  await recorder.open(LEASE);
  recorder.want([market]);
  recorder.snapshot(REF, { bids: levels('bid'), asks: levels('ask') }, now(), now());
  let n = 0;
  const timer = setInterval(() => {
    n += 1;
    const side = n % 2 === 0 ? 'bid' : 'ask';
    const change = { side, price: priceAt(side, n % LEVELS), size: parseSize(String(1 + ((n * 7919) % 997))) } as const;
    recorder.change(REF, [change], now(), now());
  }, 1000 / CHANGES_PER_SECOND);
  return {
    async close() {
      clearInterval(timer);
      await recorder.close();
    },
  };
}
