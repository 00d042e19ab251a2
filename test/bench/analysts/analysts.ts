import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { pino } from 'pino';
import { DAY_MS, systemClock } from '../../../src/core/time.ts';
import { PLATFORMS } from '../../../src/core/model.ts';
import { type EmbeddedClickHouse, startEmbeddedClickHouse } from '../../../src/embedded/clickhouse/supervisor.ts';
import { serveSql } from '../../../src/embedded/sql-port/server.ts';
import { DATASETS, type Dataset } from '../../../src/files/datasets.ts';
import { writeDayFiles } from '../../../src/files/day-files.ts';
import { directoryTarget } from '../../../src/files/directory-target.ts';
import { type ClickHouse, connect } from '../../../src/stores/clickhouse/client.ts';
import { migrateClickHouse } from '../../../src/stores/clickhouse/migrations.ts';
import { type AnalystQuery, analystQueries } from './queries.ts';
import { fillStore } from '../fill.ts';
import { quantile } from '../quantile.ts';
import { mergesEnd } from '../uncached-service.ts';

/** Days of trades; fewer in a small store, whose time goes into writing many files. */
const daysOf = (trades: number): number => (trades >= 1_000_000 ? 35 : 10);
const TURNS = 3;
const ACCOUNT = { user: 'analyst', password: 'for this run only' };
const MEMORY_MB = 1500;
const READ_DATASETS: readonly Dataset[] = DATASETS.filter((name) => name !== 'book_changes' && name !== 'candles_1h');

export interface AnalystResult {
  trades: number;
  markets: number;
  queries: { name: string; rows: number; viewsMs: number; filesMs: number; ratio: number }[];
  /** Median of the ratios. */
  median: number;
  /** Queries that failed on a side, or whose rows differ, and why. */
  failed: { name: string; why: string }[];
}

type Row = readonly unknown[];

/**
 * The questions of analysts on SQL_PORT and in DuckDB over the day files of the same store, in turn, each with one thread. Nothing is
 * ingested meanwhile. Rows of both must be equal, numbers to the ninth digit. Processor time counts: on SQL_PORT a query waits for
 * whatever else the machine does.
 */
export async function benchAnalysts(trades: number, markets: number): Promise<AnalystResult> {
  const directory = await mkdtemp(join(tmpdir(), 'forecastle-bench-'));
  const log = pino({ level: 'silent' });
  const engine = await startEmbeddedClickHouse({
    dataDir: join(directory, 'store'),
    memoryMb: MEMORY_MB,
    log,
    clock: systemClock,
  });
  const store = connect(engine.url);
  try {
    await migrateClickHouse(store, log);
    const nowMs = Math.floor(Date.now() / 1000) * 1000;
    const refs = await fillStore(store, { trades, markets, nowMs, days: daysOf(trades) });
    await settle(store);
    await mergesEnd(store);
    const tree = join(directory, 'tree');
    const selection = { platforms: PLATFORMS, datasets: READ_DATASETS, fromMs: 0, toMs: nowMs };
    const deps = {
      clickhouse: store,
      target: directoryTarget(tree),
      temporary: directory,
      clock: { now: () => nowMs },
    };
    await writeDayFiles(deps, selection);
    const sqlPort = await openSqlPort(engine);
    const duck = await openFiles(tree);
    const [market = ''] = refs.kalshi;
    const asked = { ...instants(nowMs), market: { platform: 'kalshi', id: market }, wallet: await someWallet(store) };
    const result = await compare(analystQueries(asked), engine.pid() ?? 0, `http://127.0.0.1:${sqlPort.port}/`, duck);
    duck.closeSync();
    await sqlPort.close();
    return { trades, markets, ...result };
  } finally {
    await store.close();
    await engine.close();
    await rm(directory, { recursive: true, force: true });
  }
}

/** The SQL port of an engine, for ACCOUNT. */
export const openSqlPort = (engine: EmbeddedClickHouse): ReturnType<typeof serveSql> =>
  serveSql(engine, {
    host: '127.0.0.1',
    port: 0,
    accounts: [ACCOUNT],
    ownerOfKey: async () => null,
    log: pino({ level: 'silent' }),
  });

const text = (ms: number): string => new Date(ms).toISOString().slice(0, 19).replace('T', ' ');

export function instants(nowMs: number) {
  return {
    monthAgo: text(Math.floor((nowMs - 30 * DAY_MS) / DAY_MS) * DAY_MS),
    weekAgo: text(Math.floor((nowMs - 7 * DAY_MS) / 300_000) * 300_000),
    twoDaysAgo: text(nowMs - 2 * DAY_MS),
    dayAgo: text(nowMs - DAY_MS),
  };
}

/** The files of markets are made from quotes: the last reading of settled markets, which the fill leaves out. */
const settle = (store: ClickHouse): Promise<void> =>
  store.command(`INSERT INTO market_snapshots (platform, market_key, at, status, price, bid, ask, volume_total, liquidity, trading_end_at)
    SELECT platform, market_key, assumeNotNull(resolved_at), status, prices[1], NULL, NULL, volume_total, liquidity, trading_end_at
    FROM market_state FINAL WHERE status = 'settled'`);

/** A wallet with about 100 trades. */
export async function someWallet(store: ClickHouse): Promise<string> {
  const [row] = await store.sql<{ wallet: string }>(
    `SELECT concat('0x', lower(hex(trader))) AS wallet FROM trades WHERE trader != '' GROUP BY trader ORDER BY abs(toInt64(count()) - 100), trader LIMIT 1`,
  );
  return row?.wallet ?? '';
}

/** DuckDB with a view for each dataset, and the markets as last read. */
async function openFiles(tree: string): Promise<DuckDBConnection> {
  const connection = await (await DuckDBInstance.create()).connect();
  await connection.run('SET threads = 1');
  const files = (dataset: Dataset): string =>
    `read_parquet('${tree}/dataset=${dataset}/**/*.parquet', hive_partitioning = true)`;
  for (const dataset of READ_DATASETS.filter((name) => name !== 'markets'))
    await connection.run(`CREATE VIEW ${dataset} AS SELECT * FROM ${files(dataset)}`);
  await connection.run(
    `CREATE VIEW markets AS SELECT * FROM ${files('markets')} QUALIFY row_number() OVER (PARTITION BY platform, market_id ORDER BY read_at DESC) = 1`,
  );
  return connection;
}

const ownMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** Processor time of the engine's threads. */
function engineMs(pid: number): number {
  const tasks = `/proc/${pid}/task`;
  const spent = readdirSync(tasks).map((id) => Number(readFileSync(`${tasks}/${id}/schedstat`, 'utf8').split(' ')[0]));
  return spent.reduce((a, b) => a + b, 0) / 1e6;
}

async function spentMs(clockMs: () => number, work: () => Promise<unknown>): Promise<number> {
  const before = clockMs();
  await work();
  return clockMs() - before;
}

async function compare(queries: readonly AnalystQuery[], pid: number, url: string, duck: DuckDBConnection) {
  const measured: AnalystResult['queries'] = [];
  const failed: AnalystResult['failed'] = [];
  for (const { name, views, files } of queries) {
    const [viewsMs, filesMs]: [number[], number[]] = [[], []];
    let [ours, theirs]: [Row[], Row[]] = [[], []];
    try {
      // The first turn warms both up.
      for (let turn = 0; turn <= TURNS; turn += 1) {
        const ms = [
          await spentMs(
            () => engineMs(pid),
            async () => (ours = await rowsOfViews(url, views)),
          ),
          await spentMs(ownMs, async () => (theirs = (await duck.runAndReadAll(files)).getRowsJson() as Row[])),
        ] as const;
        if (turn > 0) [viewsMs, filesMs].forEach((times, side) => times.push(ms[side] ?? NaN));
      }
    } catch (error) {
      failed.push({ name, why: error instanceof Error ? error.message.slice(0, 300) : String(error) });
      continue;
    }
    const difference = firstDifference(ours, theirs);
    if (difference !== null) failed.push({ name, why: difference });
    const [view, file] = [quantile(viewsMs, 0.5), quantile(filesMs, 0.5)];
    measured.push({ name, rows: ours.length, viewsMs: view, filesMs: file, ratio: view / file });
  }
  const ratios = measured.map(({ ratio }) => ratio);
  return { queries: measured, median: quantile(ratios, 0.5), failed };
}

export async function rowsOfViews(url: string, sql: string): Promise<Row[]> {
  const headers = { 'x-clickhouse-user': ACCOUNT.user, 'x-clickhouse-key': ACCOUNT.password };
  const answer = await fetch(`${url}?default_format=JSONCompact`, { method: 'POST', body: sql, headers });
  if (!answer.ok) throw new Error(await answer.text());
  return ((await answer.json()) as { data: Row[] }).data;
}

/** Where two answers differ first; null where they are equal. */
function firstDifference(ours: readonly Row[], theirs: readonly Row[]): string | null {
  if (ours.length === 0) return 'no rows';
  if (ours.length !== theirs.length) return `${ours.length} rows of the views, ${theirs.length} of the files`;
  for (const [i, row] of ours.entries())
    for (const [column, value] of row.entries()) {
      const other = theirs[i]?.[column];
      if (!isSame(value, other)) return `row ${i + 1}, column ${column + 1}: ${String(value)}, files ${String(other)}`;
    }
  return null;
}

const isNumber = (value: unknown): boolean => typeof value === 'number' || /^-?\d+(\.\d+)?$/.test(String(value));

function isSame(a: unknown, b: unknown): boolean {
  if (!isNumber(a) || !isNumber(b)) return String(a) === String(b);
  const [x, y] = [Number(a), Number(b)];
  return Math.abs(x - y) <= 1e-9 * Math.max(1, Math.abs(x), Math.abs(y));
}
