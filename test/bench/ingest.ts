import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { Agent, request } from 'undici';
import { systemClock } from '../../src/core/time.ts';
import { backfillTrades } from '../../ingest/backfill.ts';
import { Watermarks } from '../../ingest/watermarks.ts';
import type { JobRun } from '../../ingest/job-runner.ts';
import { Spool } from '../../ingest/spool/spool.ts';
import type { PlatformError } from '../../src/core/errors.ts';
import { FailureBackoff } from '../../ingest/failure-backoff.ts';
import { type ClickHouse, openClickHouse } from '../../src/stores/clickhouse/client.ts';
import { migrateClickHouse } from '../../src/stores/clickhouse/migrations.ts';
import { createPlatformHttp } from '../../src/platforms/http/client.ts';
import { createKalshiData } from '../../src/platforms/kalshi/data.ts';
import { loadConfig } from '../../src/core/config.ts';
import { createLocalShared } from '../../src/stores/shared/local.ts';
import type { Lease, Shared } from '../../src/stores/shared/shared.ts';
import type { TradeRecord } from '../../src/core/model.ts';
import { TRADE_COLUMNS, tradeLine } from '../../src/stores/clickhouse/insert-rows.ts';
import { startPlatform } from './platform.ts';
import { noCopier, noListeners, tradeWriter } from '../helpers/trade-writer.ts';

const DAYS = 20;
const ROUNDS = 3;
/** As many rows a batch as the backfill's. */
const BATCH_PAGES = 20;
const log = pino({ level: 'silent' });

export interface IngestResult {
  trades: number;
  /** Rows a second of fetch, parse, check, map, de-duplicate, spool and insert with every roll-up. */
  oursPerSecond: number;
  /** Rows a second of fetch, JSON.parse and insert of ready-made rows into the same tables. */
  ceilingPerSecond: number;
  /** oursPerSecond / ceilingPerSecond. */
  ofCeiling: number;
  /** Rows a second of ours without any roll-up, and what the roll-ups cost. */
  withoutRollupsPerSecond: number;
  rollupCost: number;
}

/** Ingestion end to end against its ceiling, in one run over one simulated tape. */
export async function benchIngestion(markets: number, tradesPerMarket: number): Promise<IngestResult> {
  const { url, close } = await startPlatform({
    seed: 3,
    markets,
    tradesPerMarket,
    historyDays: DAYS,
    cutoffDays: DAYS + 2,
  });
  try {
    const { trades, lines } = await readOnce(url);
    const times = { ceiling: Infinity, ours: Infinity, bare: Infinity };
    // The best of three rounds of each: what else the machine did is not ours.
    for (let round = 0; round < ROUNDS; round++) {
      times.ceiling = Math.min(times.ceiling, await withStore(true, (store) => pump(url, store, lines)));
      times.ours = Math.min(times.ours, await withStore(true, (store, directory) => ingest(url, store, directory)));
      times.bare = Math.min(times.bare, await withStore(false, (store, directory) => ingest(url, store, directory)));
    }
    const { ceiling, ours, bare } = times;
    return {
      trades,
      oursPerSecond: Math.round(trades / ours),
      ceilingPerSecond: Math.round(trades / ceiling),
      ofCeiling: ceiling / ours,
      withoutRollupsPerSecond: Math.round(trades / bare),
      rollupCost: 1 - bare / ours,
    };
  } finally {
    close();
  }
}

/** Trades a second into an empty store, and after `begin` into this one, which gets the trades of 200 more markets. */
export async function ingestInto(
  store: ClickHouse,
  directory: string,
  begin: () => void,
): Promise<{ tradesPerSecond: number; emptyTradesPerSecond: number }> {
  const { url, close } = await startPlatform({
    seed: 4,
    markets: 200,
    tradesPerMarket: 500,
    historyDays: DAYS,
    cutoffDays: DAYS + 2,
  });
  try {
    const { trades } = await readOnce(url);
    const empty = await withStore(true, (fresh, folder) => ingest(url, fresh, folder));
    begin();
    const full = await ingest(url, store, directory);
    return { tradesPerSecond: Math.round(trades / full), emptyTradesPerSecond: Math.round(trades / empty) };
  } finally {
    close();
  }
}

/** Runs `run` on a fresh store and returns the seconds it measured. */
async function withStore(
  rollups: boolean,
  run: (store: ClickHouse, directory: string) => Promise<number>,
): Promise<number> {
  const directory = await mkdtemp(join(tmpdir(), 'forecastle-bench-'));
  const store = await openClickHouse(
    { dataDir: directory, CLICKHOUSE_MEMORY_MB: 3000 } as Parameters<typeof openClickHouse>[0],
    log,
  );
  try {
    await migrateClickHouse(store, log);
    if (!rollups) {
      const views = await store.sql<{ name: string }>(
        `SELECT name FROM system.tables WHERE database = currentDatabase() AND engine = 'MaterializedView' AND create_table_query LIKE '%trades%'`,
      );
      for (const { name } of views) await store.command(`DROP VIEW ${name}`);
    }
    return await run(store, directory);
  } finally {
    await store.close();
    await rm(directory, { recursive: true, force: true });
  }
}

/** The rows of the tape, serialised page by page: what the ceiling inserts. */
async function readOnce(url: string): Promise<{ trades: number; lines: Buffer[] }> {
  const data = kalshi(url);
  const lines: Buffer[] = [];
  let page: string[] = [];
  let trades = 0;
  const query = { sinceUs: (Date.now() - (DAYS + 1) * 86_400_000) * 1000, untilUs: null, market: null };
  for await (const { trades: rows } of data.trades(
    query,
    { byRef: async () => new Map() },
    { priority: 'poll', onBadRow: () => {} },
  )) {
    trades += rows.length;
    page.push(...rows.map((row: TradeRecord) => tradeLine(row)));
    if (page.length < BATCH_PAGES * 1000) continue;
    lines.push(Buffer.from(`${page.join('\n')}\n`));
    page = [];
  }
  if (page.length > 0) lines.push(Buffer.from(`${page.join('\n')}\n`));
  return { trades, lines };
}

async function pump(url: string, store: ClickHouse, batches: Buffer[]): Promise<number> {
  const agent = new Agent({ keepAliveTimeout: 10_000 });
  const started = performance.now();
  let cursor = '';
  let storing: Promise<unknown> = Promise.resolve();
  for (const batch of batches) {
    for (let page = 0; page < BATCH_PAGES; page++) {
      const reply = await request(`${url}/markets/trades?limit=1000&cursor=${encodeURIComponent(cursor)}`, {
        dispatcher: agent,
      });
      const parsed = JSON.parse(await reply.body.text()) as { cursor: string };
      cursor = parsed.cursor;
      if (cursor === '') break;
    }
    await storing;
    storing = store.insert(TRADE_COLUMNS, batch, { token: `bench-${performance.now()}` });
  }
  await storing;
  await agent.close();
  return (performance.now() - started) / 1000;
}

async function ingest(url: string, store: ClickHouse, directory: string): Promise<number> {
  const lease: Lease = { name: 'bench', renew: async () => true, remainingMs: () => 60_000, release: async () => {} };
  const writer = tradeWriter({
    clickhouse: store,
    spool: await Spool.open(join(directory, 'spool')),
    log,
    platform: 'kalshi',
    clock: systemClock,
  });
  await writer.open(lease, null);
  const run: JobRun = {
    lease,
    signal: new AbortController().signal,
    context: (priority) => ({ priority, onBadRow: () => {} }),
  };
  const deps = {
    clickhouse: store,
    log,
    writer,
    watermarks: new Watermarks(store, 'kalshi', systemClock, noCopier),
    directory: { byRef: async () => new Map() },
    backfillDays: DAYS + 1,
    clock: { now: Date.now },
    backoff: new FailureBackoff<PlatformError>(systemClock),
    ...noListeners,
  };
  const nowUs = Date.now() * 1000;
  await deps.watermarks.move('', lease, () => ({ fromUs: nowUs, toUs: nowUs, marker: '' }));
  const started = performance.now();
  await backfillTrades(deps, kalshi(url), run, () => {});
  return (performance.now() - started) / 1000;
}

/** The adapter without its budgets: the machine is measured, not the platform's patience. */
function kalshi(url: string) {
  const shared: Shared = { ...createLocalShared(log, systemClock), takeBudget: async () => 0 };
  const settings = loadConfig({ KALSHI_API_URL: url }, 'stores');
  return createKalshiData({ http: createPlatformHttp({ shared, log, clock: systemClock }), settings, now: Date.now });
}
