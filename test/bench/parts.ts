import { CHROMIUM } from '../helpers/chromium-path.ts';
import { type ApiResult, benchApi } from './api.ts';
import { benchAnalysts } from './analysts/analysts.ts';
import { benchAuth } from './auth.ts';
import { benchExplorer } from './explorer.ts';
import { benchFiles } from './files.ts';
import { benchIngestion } from './ingest.ts';
import { benchLive } from './live.ts';
import { benchMatches } from './matches/matches.ts';
import { benchMemory } from './memory.ts';
import { benchOrders, type OrderTimes } from './orders.ts';
import { benchMixed, printMixed } from './reads/mixed.ts';
import { benchReads, type ReadsSize } from './reads/reads.ts';
import { printReads } from './reads/report.ts';
import { benchStart } from './start.ts';
import { benchSweeps, type SweepCost } from './sweeps.ts';

/** One thing that is measured by itself: prints its tables and returns its figures. */
interface Part {
  /** Whether a run without --only holds it. */
  byDefault: boolean;
  run(quick: boolean, size: Partial<ReadsSize>): Promise<unknown>;
}

const fixed = (value: number, digits = 1): string => value.toFixed(digits);
const title = (text: string): boolean => process.stdout.write(`\n${text}\n`);

async function ingestion(quick: boolean) {
  const result = await benchIngestion(quick ? 200 : 1000, quick ? 200 : 500);
  title(`Ingestion of ${result.trades} trades, end to end with every roll-up`);
  console.table({
    'rows/s': { ours: result.oursPerSecond, ceiling: result.ceilingPerSecond, ratio: fixed(result.ofCeiling, 2) },
    'without roll-ups': {
      ours: result.withoutRollupsPerSecond,
      ceiling: '',
      ratio: `roll-ups cost ${fixed(result.rollupCost * 100, 0)} %`,
    },
  });
  return result;
}

async function auth() {
  const result = await benchAuth();
  title('Identification and limits on a cached answer (milliseconds, p50)');
  console.table({
    'cached rows': {
      'bare route': fixed(result.bareMs, 3),
      'behind a key': fixed(result.keyedMs, 3),
      added: fixed(result.keyedMs - result.bareMs, 3),
    },
  });
  return result;
}

async function orders(quick: boolean) {
  const result = await benchOrders(quick ? 10 : 60);
  title('Orders at 50 a second, at platforms that take 100 ms (milliseconds)');
  const figures = (times: OrderTimes) => ({
    ...Object.fromEntries(Object.entries(times).map(([name, value]) => [name, fixed(value)])),
    'beyond the relay, p50': fixed(times.addedP50 - result.relay.addedP50),
  });
  console.table({
    'a bare relay': figures(result.relay),
    ...Object.fromEntries(result.platforms.map(({ platform, ...times }) => [platform, figures(times)])),
  });
  return result;
}

async function live(quick: boolean) {
  const result = await benchLive(quick);
  const { latency, idle, resume, recording, bookAt } = result;
  title("From the platform's frame to 100 clients (milliseconds)");
  const figures = (seen: { eventsPerSecond: number; p50: number; p99: number }) => ({
    'events/s of a client': fixed(seen.eventsPerSecond, 0),
    p50: fixed(seen.p50, 0),
    p99: fixed(seen.p99, 0),
  });
  for (const { channel, ours, relay } of latency) {
    console.table({ [channel]: figures(ours), [`${channel}, a bare relay`]: figures(relay) });
  }
  title('Streams on which nothing happens (the process of the API)');
  console.table({
    'one stream': { MB: fixed(idle.beforeMb, 0), 'of a core': `${fixed(idle.coreBefore * 100)} %` },
    [`${idle.clients} streams`]: { MB: fixed(idle.withMb, 0), 'of a core': `${fixed(idle.coreWith * 100)} %` },
  });
  title(`A client that comes back behind ${resume.events} events`);
  console.table({ 'events/s': { ours: resume.oursPerSecond, 'the store alone': resume.storePerSecond } });
  title(`${recording.changes} changes of books recorded, ${fixed(recording.bytesPerChange)} bytes each on disk`);
  console.table({
    'changes/s': {
      recorded: fixed(recording.recordedPerSecond, 0),
      'of a core of its own': fixed(recording.perCoreSecond, 0),
      'inserted, ready-made': fixed(recording.insertedPerSecond, 0),
    },
  });
  title(`Books at ${bookAt.instants} instants among ${bookAt.changes} changes, all as they were (milliseconds)`);
  console.table({
    'GET orderbook?at': { p50: fixed(bookAt.p50), p99: fixed(bookAt.p99) },
    'its SQL': { p50: fixed(bookAt.sqlP50), p99: fixed(bookAt.sqlP99) },
  });
  return result;
}

const megabytes = (figures: Record<string, number>) =>
  Object.fromEntries(Object.entries(figures).map(([name, mb]) => [name, fixed(mb, 0)]));

async function memory(quick: boolean) {
  const result = await benchMemory(quick ? 1 : 30);
  title('Memory (proportional set size, MB)');
  const { idle, loaded, loadMinutes, api, ingest } = result;
  console.table({
    'npm start, first start, idle': megabytes(idle),
    [`npm start, after ${loadMinutes} min of load`]: megabytes(loaded),
    'npm run api, on servers': megabytes(api),
    'npm run ingest, on servers': megabytes(ingest),
  });
  return result;
}

async function matches(quick: boolean, { markets = quick ? 20_000 : 200_000 }: Partial<ReadsSize>) {
  const result = await benchMatches(markets);
  title(`${result.markets} markets of three platforms matched for the first time: ${result.pairs} pairs`);
  console.table({
    'first time, s': { now: fixed(result.firstSeconds), target: 600 },
    'of it this process computes, s': { now: fixed(result.firstCoreSeconds), target: '' },
    'memory more, MB': { now: fixed(result.moreMb, 0), target: 300 },
    'at its peak, MB': { now: fixed(result.peakMb, 0), target: '' },
    'a look that finds nothing, ms': { now: fixed(result.idleMs, 0), target: '' },
    'a new market to its matches, ms': { now: fixed(result.newMarketMs, 0), target: 30_000 },
    'GET matches of a market, p50, ms': { now: fixed(result.getP50), target: 30 },
    'GET matches of a market, p99, ms': { now: fixed(result.getP99), target: '' },
    'GET gaps of a market, p50, ms': { now: fixed(result.gapsP50), target: '' },
    'GET gaps of a market, p99, ms': { now: fixed(result.gapsP99), target: '' },
    'GET gaps of the newest pairs, p50, ms': { now: fixed(result.newestGapsP50), target: '' },
  });
  return result;
}

async function sweeps(quick: boolean, { markets = quick ? 10_000 : 100_000 }: Partial<ReadsSize>) {
  const result = await benchSweeps(markets);
  title(
    `Sweeps of ${result.markets} markets of one platform into both stores (seconds); ${fixed(result.memoryMb, 0)} MB after them`,
  );
  const figures = ({ clockSeconds, node, clickhouse, postgres }: SweepCost, target: number | string) => ({
    'by the clock': fixed(clockSeconds),
    Node: fixed(node),
    ClickHouse: fixed(clickhouse),
    PostgreSQL: fixed(postgres),
    'processor in all': fixed(node + clickhouse + postgres),
    target,
  });
  console.table({
    'the first': figures(result.first, '90 by the clock'),
    'nothing changed': figures(result.unchanged, 2),
    '3 % changed': figures(result.changed, 4),
  });
  return result;
}

async function start(quick: boolean) {
  const result = await benchStart(quick ? 1 : 3);
  title('npm run demo, from the command to data of every platform (seconds)');
  console.table({
    seconds: {
      ...Object.fromEntries(result.demoMs.map((ms, i) => [`run ${i + 1}`, fixed(ms / 1000)])),
      'the runtime alone': fixed(result.nodeMs / 1000),
    },
  });
  return result;
}

/** The first store measured in this run: the others are compared with it. */
let first: ApiResult | undefined;
const p50Of = ({ endpoints }: ApiResult, name: string): number =>
  endpoints.find(({ endpoint }) => endpoint === name)?.uncachedP50 ?? NaN;

async function store(trades: number, markets: number, asked: Parameters<typeof benchApi>[2]) {
  const result = await benchApi(trades, markets, asked);
  const smaller = first;
  first ??= result;
  const { rawBytesPerTrade, allBytesPerTrade, selectOne, grown } = result;
  title('SELECT 1 (milliseconds, p50)');
  console.table({
    'SELECT 1': {
      'in the engine': fixed(selectOne.engineMs, 2),
      'through the client': fixed(selectOne.clientMs, 2),
      ratio: fixed(selectOne.ofEngine, 2),
    },
  });
  title(
    `${trades} trades in ${result.markets} markets: ${fixed(rawBytesPerTrade)} bytes a trade on disk, ${fixed(allBytesPerTrade)} with every roll-up\nUncached answers and the same statements alone (milliseconds)`,
  );
  console.table(
    Object.fromEntries(
      result.endpoints.map((r) => [
        r.endpoint,
        {
          p50: fixed(r.uncachedP50),
          p99: fixed(r.uncachedP99),
          'its SQL p50': fixed(r.sqlP50),
          'its SQL p99': fixed(r.sqlP99),
          'added p50': fixed(r.addedP50),
          'of SELECT 1': `${fixed(r.ofSelectOne)} ×`,
          'at most': r.atMost ?? '',
          ...(smaller ? { 'of the first': `${fixed(r.uncachedP50 / p50Of(smaller, r.endpoint), 2)} ×` } : {}),
        },
      ]),
    ),
  );
  if (grown) {
    title('The store beside answers');
    console.table({
      'merged after the last insert, s': { this: fixed(grown.mergesMs / 1000) },
      'opened and asked for its trades, s': { this: fixed(grown.startMs / 1000) },
      'ingestion, trades/s': { this: grown.tradesPerSecond, 'an empty store': grown.emptyTradesPerSecond },
      'GET markets/trades, p50, ms': { this: fixed(grown.aloneP50), 'beside ingestion': fixed(grown.besideP50) },
    });
  }
  if (result.cached.length === 0) return result;
  title('Lists from the cache (requests a second over 16 connections from another process)');
  console.table(
    Object.fromEntries(
      result.cached.map((r) => [
        r.endpoint,
        { bytes: r.bytes, cached: r.cachedPerSecond, 'bare route': r.barePerSecond, ratio: fixed(r.ofBare, 2) },
      ]),
    ),
  );
  return result;
}

/** A size that takes a minute, unless another is asked for: docs/performance.md has that of its figures. */
async function reads(_quick: boolean, { trades = 500_000, markets = 5000, seconds = 5 }: Partial<ReadsSize>) {
  const result = await benchReads({ trades, markets, seconds });
  printReads(result);
  return result;
}

async function mixed(
  quick: boolean,
  { trades = 500_000, markets = 5000, seconds = quick ? 20 : 600 }: Partial<ReadsSize>,
) {
  const result = await benchMixed({ trades, markets, seconds });
  printMixed(result);
  return result;
}

async function files(quick: boolean) {
  const result = await benchFiles(quick ? 500_000 : 5_000_000);
  const { idle, exporting } = result;
  title(`Export of ${result.trades} trades as day files, with ingestion beside it`);
  console.table({
    'trades, seconds': fixed(result.tradesSeconds),
    'other datasets, seconds': fixed(result.othersSeconds),
    'bytes a trade': fixed(result.bytesPerRow),
    ...Object.fromEntries(
      result.bytesByPlatform.map(({ platform, bytesPerRow }) => [`bytes a trade of ${platform}`, fixed(bytesPerRow)]),
    ),
  });
  title('From a trade to its row (milliseconds, trades read every second)');
  console.table({ 'beside nothing': idle, 'beside the export': exporting });
  title('Uncached answers (milliseconds)');
  console.table(
    Object.fromEntries(
      result.reads.map((r) => [
        r.read,
        { p50: fixed(r.p50), p99: fixed(r.p99), 'of the page': `${fixed(r.ofPage, 2)} ×` },
      ]),
    ),
  );
  return result;
}

async function analysts(trades: number, markets = Math.max(1000, Math.round(trades / 200))) {
  const result = await benchAnalysts(trades, markets);
  title(
    `Questions of analysts, ${trades} trades in ${markets} markets (milliseconds of processor, medians, one thread each)`,
  );
  console.table(
    Object.fromEntries(
      result.queries.map(({ name, rows, viewsMs, filesMs, ratio }) => [
        name,
        { rows, 'views on SQL_PORT': fixed(viewsMs), 'DuckDB, day files': fixed(filesMs), ratio: fixed(ratio, 2) },
      ]),
    ),
  );
  title(`Median of the ratios: ${fixed(result.median, 2)}`);
  if (result.failed.length > 0) {
    title('Failed, or with other rows than the files');
    console.table(Object.fromEntries(result.failed.map(({ name, why }) => [name, { why }])));
    process.exitCode = 1;
  }
  return result;
}

async function explorer(quick: boolean) {
  const result = await benchExplorer(quick ? 5000 : 50_000, quick ? 0.5 : 5);
  title(`The explorer in headless Chromium, over ${result.markets} markets`);
  console.table({
    'first page, KB sent': { page: fixed(result.firstPageBytes / 1000), 'at most': 150 },
    'first page, ms to its rows': { page: fixed(result.usableMs, 0), 'at most': 1000 },
  });
  title(
    `A market of ${result.candles} candles with ${fixed(result.changesPerSecond, 0)} changes of its book a second, ${result.minutes} min`,
  );
  console.table({
    'frames a second': { page: fixed(result.framesPerSecond), 'an empty page': fixed(result.emptyFramesPerSecond) },
    'heap, MB': { page: fixed(result.heapAfterMb), 'when it had settled': fixed(result.heapBeforeMb) },
  });
  return result;
}

const MANY_MARKETS = { endpoints: ['GET markets', 'GET search'] };

/** What `npm run bench` measures, by name, in this order. */
export const PARTS: Record<string, Part> = {
  ingestion: { byDefault: true, run: ingestion },
  auth: { byDefault: true, run: auth },
  orders: { byDefault: true, run: orders },
  reads: { byDefault: true, run: reads },
  mixed: { byDefault: true, run: mixed },
  'few-trades': {
    byDefault: true,
    run: (quick) => store(quick ? 200_000 : 1_000_000, quick ? 2000 : 10_000, { cached: true }),
  },
  'many-trades': {
    byDefault: true,
    run: (quick) => store(quick ? 1_000_000 : 20_000_000, quick ? 10_000 : 50_000, {}),
  },
  'many-markets': {
    byDefault: true,
    run: (quick) => store(quick ? 200_000 : 1_000_000, quick ? 200_000 : 2_000_000, MANY_MARKETS),
  },
  // Half an hour of filling, and some 12 GB of disk.
  'hundred-million': { byDefault: false, run: () => store(100_000_000, 200_000, { grown: true }) },
  live: { byDefault: true, run: live },
  files: { byDefault: true, run: files },
  analysts: {
    byDefault: true,
    run: (quick, { trades, markets }) => analysts(trades ?? (quick ? 300_000 : 10_000_000), markets),
  },
  explorer: { byDefault: CHROMIUM !== undefined, run: explorer },
  matches: { byDefault: true, run: matches },
  sweeps: { byDefault: true, run: sweeps },
  memory: { byDefault: true, run: memory },
  start: { byDefault: true, run: start },
};
