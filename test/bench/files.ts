import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { type Platform, PLATFORMS } from '../../src/core/model.ts';
import { MANIFEST, readManifest } from '../../src/files/manifest.ts';
import { type ClickHouse, openClickHouse } from '../../src/stores/clickhouse/client.ts';
import { migrateClickHouse } from '../../src/stores/clickhouse/migrations.ts';
import { startCommand, startProcess, startStore } from '../helpers/process.ts';
import { mergesEnd, startUncached, timeMs } from './uncached-service.ts';
import { fillStore } from './fill.ts';
import { startPlatform } from './platform.ts';
import { quantile } from './quantile.ts';

/** Trades a second that the simulated platform makes while files are written. */
const TRADES_PER_SECOND = 50;
const DAYS = 10;
const MARKETS = 10_000;
const IDLE_MS = 20_000;
/** What was traded before this is stored, however slow ingestion is. */
const ARRIVED_MS = 15_000;
const BATCH = 100;
const WARM_UP = 20;
const TURNS = 60;

/** Milliseconds from a trade to its row in the store. */
interface Lag {
  trades: number;
  p50: number;
  p99: number;
}

export interface FilesResult {
  trades: number;
  /** `npm run export --dataset trades`, the start of the process included. */
  tradesSeconds: number;
  /** The other datasets, after it. */
  othersSeconds: number;
  /** Bytes of a row of trades on average, and of each platform; trades whose ids are random bytes take at least these. */
  bytesPerRow: number;
  bytesByPlatform: { platform: Platform; rows: number; bytesPerRow: number }[];
  /** Of ingestion beside nothing else, and beside the export of the trades. */
  idle: Lag;
  exporting: Lag;
  /** A page of 50 markets, 100 markets by their ids, and a page of 50 events. */
  reads: ReadResult[];
}

/** Milliseconds of uncached answers, and p50 as a share of that of the page of markets. */
interface ReadResult {
  read: string;
  p50: number;
  p99: number;
  ofPage: number;
}

/** Day files of `trades` with ingestion beside it, then batches and lists of events against pages of markets, in one store. */
export async function benchFiles(trades: number): Promise<FilesResult> {
  const directory = await mkdtemp(join(tmpdir(), 'forecastle-bench-'));
  const log = pino({ level: 'silent' });
  const config = { dataDir: directory, CLICKHOUSE_MEMORY_MB: 3000 } as Parameters<typeof openClickHouse>[0];
  const store = await openClickHouse(config, log);
  try {
    await migrateClickHouse(store, log);
    const refs = await fillStore(store, { trades, markets: MARKETS, days: DAYS });
    await mergesEnd(store);
    const written = await exported(store, directory);
    await mergesEnd(store);
    return { trades, ...written, reads: await readsOf(store, refs) };
  } finally {
    await store.close();
    await rm(directory, { recursive: true, force: true });
  }
}

async function exported(store: ClickHouse, directory: string) {
  const CLICKHOUSE_URL = store.embedded?.url ?? '';
  const to = join(directory, 'tree');
  const platform = await startPlatform(
    { seed: 5, markets: 200, tradesPerMarket: 20, historyDays: 1 },
    TRADES_PER_SECOND,
  );
  const postgres = startStore('postgres', { DATA_DIR: directory });
  const ingest = startProcess('ingest', {
    CLICKHOUSE_URL,
    DATABASE_URL: await postgres.ready,
    DATA_DIR: join(directory, 'ingest'),
    KALSHI_API_URL: platform.url,
    PLATFORMS: 'kalshi',
    TRADES_SECONDS: '1',
    BACKFILL_DAYS: '1',
    FILES_SECONDS: '0',
  });
  const write = async (datasets: string[]): Promise<number> => {
    const started = performance.now();
    const named = datasets.flatMap((name) => ['--dataset', name]);
    const run = startCommand('export', ['--to', to, ...named], { CLICKHOUSE_URL, TMPDIR: directory });
    if ((await run.ended) !== 0) throw new Error(`the export failed:\n${run.output()}`);
    return (performance.now() - started) / 1000;
  };
  try {
    await ingest.ready;
    await sleep(IDLE_MS);
    const idleFrom = Date.now();
    await sleep(IDLE_MS);
    const exportFrom = Date.now();
    const tradesSeconds = await write(['trades']);
    const exportTo = Date.now();
    await sleep(ARRIVED_MS);
    const [idle, exporting] = [await lag(store, idleFrom, exportFrom), await lag(store, exportFrom, exportTo)];
    const othersSeconds = await write(['candles_1m', 'candles_1h', 'markets', 'quotes', 'book_changes']);
    return { tradesSeconds, othersSeconds, ...(await bytesOf(to)), idle, exporting };
  } finally {
    ingest.kill('SIGTERM');
    await ingest.ended;
    postgres.kill('SIGTERM');
    await postgres.ended;
    platform.close();
  }
}

/** Of what was traded in this span, Unix ms: the filled trades are all older. */
async function lag(store: ClickHouse, fromMs: number, toMs: number): Promise<Lag> {
  const [row] = await store.sql<Record<'n' | 'p50' | 'p99', string>>(
    `SELECT count() AS n, quantile(0.5)(ms) AS p50, quantile(0.99)(ms) AS p99
     FROM (SELECT toUnixTimestamp64Milli(ingested_at) - intDiv(toUnixTimestamp64Micro(executed_at), 1000) AS ms FROM trades
       WHERE executed_at >= fromUnixTimestamp64Milli({from:Int64}) AND executed_at < fromUnixTimestamp64Milli({to:Int64}))`,
    { from: fromMs, to: toMs },
  );
  return { trades: Number(row?.n), p50: Number(row?.p50), p99: Number(row?.p99) };
}

async function bytesOf(tree: string) {
  const all = [...readManifest(await readFile(join(tree, MANIFEST), 'utf8')).files.values()];
  const files = all.filter(({ dataset }) => dataset === 'trades');
  const sum = (some: typeof files) => ({
    rows: some.reduce((rows, file) => rows + file.rows, 0),
    bytes: some.reduce((bytes, file) => bytes + file.bytes, 0),
  });
  const whole = sum(files);
  const bytesByPlatform = PLATFORMS.map((platform) => {
    const { rows, bytes } = sum(files.filter((file) => file.platform === platform));
    return { platform, rows, bytesPerRow: bytes / rows };
  });
  return { bytesPerRow: whole.bytes / whole.rows, bytesByPlatform };
}

/** One call of each after another, so that what else the machine does is the same for all. */
async function readsOf(store: ClickHouse, refs: Record<Platform, string[]>): Promise<ReadResult[]> {
  const service = await startUncached(store);
  const results: ReadResult[] = [];
  for (const platform of ['kalshi', 'polymarket'] as const) {
    const ids = (turn: number): string => refs[platform].slice(turn * 10, turn * 10 + BATCH).join();
    const reads = [
      { name: 'markets, a page of 50', times: [] as number[], path: () => `markets?provider=${platform}&limit=50` },
      {
        name: `markets, ${BATCH} by their ids`,
        times: [] as number[],
        path: (turn: number) => `markets?provider=${platform}&market_ids=${ids(turn)}`,
      },
      { name: 'events, a page of 50', times: [] as number[], path: () => `events?provider=${platform}&limit=50` },
    ];
    for (let turn = -WARM_UP; turn < TURNS; turn++) {
      for (const { path, times } of reads) {
        const ms = await timeMs(() => service.get(path(turn + WARM_UP)));
        if (turn >= 0) times.push(ms);
      }
    }
    const page = quantile(reads[0]?.times ?? [], 0.5);
    for (const { name, times } of reads) {
      const p50 = quantile(times, 0.5);
      results.push({ read: `${platform}: ${name}`, p50, p99: quantile(times, 0.99), ofPage: p50 / page });
    }
  }
  await service.close();
  return results;
}
