import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { openClickHouse, type ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { migrateClickHouse } from '../../src/stores/clickhouse/migrations.ts';
import type { Platform } from '../../src/core/model.ts';
import { fromCache, type CachedResult } from './cached-lists.ts';
import { CASES, type Case } from './endpoint-cases.ts';
import { fillStore } from './fill.ts';
import { type Grown, measureGrown } from './grown-store.ts';
import { quantile } from './quantile.ts';
import { benchSelectOne, type SelectOne } from './select-one.ts';
import { type StatementRecorder, underWayMs } from './statements.ts';
import { mergesEnd, startUncached, timeMs } from './uncached-service.ts';

const log = pino({ level: 'silent' });
const TURNS = 100;
/** Calls that are not timed: a service that runs has its code compiled. */
const WARM_UP = 100;

/** One endpoint at one size of the store, in milliseconds of one call after another. */
export interface EndpointResult {
  endpoint: string;
  trades: number;
  /** Nothing cached, the market not known to the process. */
  uncachedP50: number;
  uncachedP99: number;
  /** The same statements through the same client with nothing around them, turn about with the calls. */
  sqlP50: number;
  sqlP99: number;
  /** uncachedP50 in times of SELECT 1 through the client, and what it may be. */
  ofSelectOne: number;
  atMost?: number;
  /** Median of what a call took while none of its own statements was under way: free of the noise of two runs. */
  addedP50: number;
}

export interface ApiResult {
  trades: number;
  markets: number;
  /** Bytes on disk per trade, after merges: the trades, and they with every roll-up. */
  rawBytesPerTrade: number;
  allBytesPerTrade: number;
  /** What every read costs at least, in the same run. */
  selectOne: SelectOne;
  endpoints: EndpointResult[];
  cached: CachedResult[];
  grown?: Grown;
}

/**
 * What a bench asks for: endpoints whose name begins like one of these, whether requests a second of cached lists are counted too, and what a
 * large store costs beside answers.
 */
interface Asked {
  endpoints?: readonly string[];
  cached?: boolean;
  grown?: boolean;
}

/** Latency of endpoints over stored data, disk use, and requests a second of cached lists, over `trades` in `markets`. */
export async function benchApi(
  trades: number,
  markets: number,
  { endpoints: named = [''], cached: withCached = false, grown: withGrown = false }: Asked = {},
): Promise<ApiResult> {
  const directory = await mkdtemp(join(tmpdir(), 'forecastle-bench-'));
  const open = (): Promise<ClickHouse> =>
    openClickHouse({ dataDir: directory, CLICKHOUSE_MEMORY_MB: 6000 } as Parameters<typeof openClickHouse>[0], log);
  let store = await open();
  try {
    await migrateClickHouse(store, log);
    const refs = await fillStore(store, { trades, markets });
    const mergesMs = await timeMs(() => mergesEnd(store));
    const disk = await bytesPerTrade(store, trades);
    const cases = CASES.filter(({ endpoint }) => named.some((name) => endpoint.startsWith(name)));
    const selectOne = await benchSelectOne(store);
    const endpoints = await uncached(store, refs, trades, cases, selectOne.clientMs);
    const cached = withCached ? await fromCache(store) : [];
    const result = { trades, markets, ...disk, selectOne, endpoints, cached };
    if (!withGrown) return result;
    await store.close();
    let startMs = performance.now();
    store = await open();
    await store.sql('SELECT count() FROM trades');
    startMs = performance.now() - startMs;
    return { ...result, grown: { mergesMs, startMs, ...(await measureGrown(store, directory, refs)) } };
  } finally {
    await store.close();
    await rm(directory, { recursive: true, force: true });
  }
}

async function bytesPerTrade(store: ClickHouse, trades: number) {
  const tables = await store.sql<{ table: string; bytes: string }>(
    `SELECT table, sum(bytes_on_disk) AS bytes FROM system.parts WHERE active AND database = currentDatabase()
     AND table IN ('trades', 'candles_1m', 'candles_1h', 'volume_1h', 'market_totals', 'whales', 'whale_sizes', 'market_windows')
     GROUP BY table`,
  );
  const all = tables.reduce((sum, { bytes }) => sum + Number(bytes), 0);
  const raw = Number(tables.find(({ table }) => table === 'trades')?.bytes ?? 0);
  return { rawBytesPerTrade: raw / trades, allBytesPerTrade: all / trades };
}

async function uncached(
  store: ClickHouse,
  refs: Record<Platform, string[]>,
  trades: number,
  cases: Case[],
  selectOneMs: number,
): Promise<EndpointResult[]> {
  const { recorder, get, close } = await startUncached(store);
  const results: EndpointResult[] = [];
  for (const one of cases) {
    const path = (turn: number): string => one.path(refs[one.platform][(turn * 7) % 500] ?? '', turn);
    for (let turn = 0; turn < WARM_UP; turn++) await get(path(turn));
    const { endpoint, atMost } = one;
    const times = await turns(recorder, (turn) => get(path(turn)));
    const target = atMost === undefined ? {} : { atMost };
    results.push({ endpoint, trades, ...times, ofSelectOne: times.uncachedP50 / selectOneMs, ...target });
  }
  await close();
  return results;
}

/** A call untimed, so that both find the same pages in memory; then the call and its statements, each first every other turn. */
async function turns(recorder: StatementRecorder, call: (turn: number) => Promise<void>) {
  const calls: number[] = [];
  const added: number[] = [];
  const statements: number[] = [];
  for (let turn = 0; turn < TURNS; turn++) {
    recorder.take();
    await call(turn);
    const noted = recorder.take();
    const ask = async (): Promise<void> => {
      const ms = await timeMs(() => call(turn));
      calls.push(ms);
      added.push(ms - underWayMs(recorder.take()));
    };
    const replay = async (): Promise<void> => void statements.push(await timeMs(() => recorder.replay(noted)));
    for (const run of turn % 2 === 0 ? [ask, replay] : [replay, ask]) await run();
  }
  return {
    uncachedP50: quantile(calls, 0.5),
    uncachedP99: quantile(calls, 0.99),
    sqlP50: quantile(statements, 0.5),
    sqlP99: quantile(statements, 0.99),
    addedP50: quantile(added, 0.5),
  };
}
