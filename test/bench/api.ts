import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Fastify, { type FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { openClickHouse, type ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { StoredMarkets } from '../../src/markets/directory.ts';
import { migrateClickHouse } from '../../src/stores/clickhouse/migrations.ts';
import type { StoredMarket } from '../../src/platforms/contract.ts';
import type { Shared } from '../../src/stores/shared/shared.ts';
import type { Platform } from '../../src/core/model.ts';
import { createLocalShared } from '../../src/stores/shared/local.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { fillStore } from './fill.ts';
import type { LoadOrder } from './load.ts';
import { askThrough, requestText } from './plain-client.ts';
import { quantile } from './quantile.ts';
import { recordStatements, type StatementRecorder, underWayMs } from './statements.ts';

const log = pino({ level: 'silent' });
const TURNS = 100;
/** Calls that are not timed: a service that runs has its code compiled. */
const WARM_UP = 100;
const ROUNDS = 6;
const ROUND_MS = 1000;
const CONNECTIONS = 16;
const USERS = 300;
const MERGES_MS = 180_000;

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
  /** Median of what a call took while none of its own statements was under way: free of the noise of two runs. */
  addedP50: number;
}

/** A list from the cache: requests a second, and of a bare Fastify route that sends the same bytes. */
export interface CachedResult {
  endpoint: string;
  bytes: number;
  cachedPerSecond: number;
  barePerSecond: number;
  ofBare: number;
}

export interface ApiResult {
  trades: number;
  markets: number;
  /** Bytes on disk per trade, after merges: the trades, and they with every roll-up. */
  rawBytesPerTrade: number;
  allBytesPerTrade: number;
  endpoints: EndpointResult[];
  cached: CachedResult[];
}

interface Case {
  endpoint: string;
  platform: Platform;
  path(market: string, turn: number): string;
}

const NOW_S = Math.floor(Date.now() / 1000);
const DAY_S = 86_400;

const CASES: Case[] = [
  {
    endpoint: 'GET markets',
    platform: 'polymarket',
    path: (_, turn) => `markets?provider=polymarket&limit=${50 + (turn % 50)}`,
  },
  {
    endpoint: 'GET markets, a rare word',
    platform: 'polymarket',
    path: (_, turn) => `markets?provider=polymarket&limit=50&query=number%20${1000 + turn}5`,
  },
  {
    endpoint: 'GET markets, a word of all',
    platform: 'polymarket',
    path: (_, turn) => `markets?provider=polymarket&limit=${50 + (turn % 50)}&query=number`,
  },
  {
    endpoint: 'GET markets/id',
    platform: 'polymarket',
    path: (market) => `markets/id/${market}?provider=polymarket`,
  },
  {
    endpoint: 'GET markets/trades',
    platform: 'polymarket',
    path: (market) => `markets/trades?provider=polymarket&market_id=${market}&limit=100`,
  },
  {
    endpoint: 'GET markets/price-history',
    platform: 'kalshi',
    path: (market) =>
      `markets/price-history?provider=kalshi&market_ids=${market}&start_ts=${NOW_S - 5 * DAY_S}&end_ts=${NOW_S}&interval=60`,
  },
  {
    endpoint: 'GET trades/whales',
    platform: 'kalshi',
    path: (_, turn) => `trades/whales?limit=${50 + (turn % 50)}&sort=${turn % 2 === 0 ? 'time' : 'size'}`,
  },
  {
    endpoint: 'GET analytics/trending',
    platform: 'kalshi',
    path: (_, turn) =>
      `analytics/trending?window=${turn % 2 === 0 ? '24h' : '7d'}&sort_by=${turn % 4 < 2 ? 'volume_change' : 'price_change'}`,
  },
  { endpoint: 'GET analytics/categories', platform: 'kalshi', path: () => 'analytics/categories' },
  {
    endpoint: 'GET metrics/historical',
    platform: 'polymarket',
    path: (market) =>
      `metrics/historical?platform=polymarket&market_id=${market}&interval=1h&start_ts=${NOW_S - 7 * DAY_S}`,
  },
  {
    endpoint: 'GET metrics/snapshot',
    platform: 'polymarket',
    path: (market) => `metrics/snapshot?platform=polymarket&market_id=${market}`,
  },
];

const LISTS = ['markets?provider=polymarket&limit=50', 'trades/whales?limit=50', 'analytics/trending?limit=20'];

/** What a bench asks for: endpoints whose name begins like this, and whether requests a second of cached lists are counted too. */
interface Asked {
  endpoints?: string;
  cached?: boolean;
}

/** Latency of endpoints over stored data, disk use, and requests a second of cached lists, over `trades` in `markets`. */
export async function benchApi(
  trades: number,
  markets: number,
  { endpoints: named = '', cached: withCached = false }: Asked = {},
): Promise<ApiResult> {
  const directory = await mkdtemp(join(tmpdir(), 'forecastle-bench-'));
  const store = await openClickHouse(
    { dataDir: directory, CLICKHOUSE_MEMORY_MB: 6000 } as Parameters<typeof openClickHouse>[0],
    log,
  );
  try {
    await migrateClickHouse(store, log);
    const refs = await fillStore(store, { trades, markets });
    await mergesEnd(store);
    const disk = await bytesPerTrade(store, trades);
    const cases = CASES.filter(({ endpoint }) => endpoint.startsWith(named));
    const endpoints = await uncached(store, refs, trades, cases);
    const cached = withCached ? await fromCache(store) : [];
    return { trades, markets, ...disk, endpoints, cached };
  } finally {
    await store.close();
    await rm(directory, { recursive: true, force: true });
  }
}

/** Waits until the store has no merges under way, within bounds. */
export async function mergesEnd(store: ClickHouse): Promise<void> {
  for (const end = Date.now() + MERGES_MS; Date.now() < end;) {
    const [row] = await store.sql<{ n: string }>('SELECT count() AS n FROM system.merges');
    if (row?.n === '0') return;
    await sleep(500);
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

/** Stored markets of a process that has just started, whenever it is asked to begin anew. */
class NewMarkets extends StoredMarkets {
  readonly #make: () => StoredMarkets;
  #now: StoredMarkets;

  constructor(store: ClickHouse) {
    super(store, async () => null);
    this.#make = () => new StoredMarkets(store, async () => null);
    this.#now = this.#make();
  }

  beginAnew(): void {
    this.#now = this.#make();
  }

  override byAnyId = (platform: Platform, id: string): Promise<StoredMarket | null> => this.#now.byAnyId(platform, id);
  override storedByAnyIds = (platform: Platform, ids: readonly string[]): Promise<Map<string, StoredMarket>> =>
    this.#now.storedByAnyIds(platform, ids);
  override keyOf = (market: StoredMarket): Promise<string> => this.#now.keyOf(market);
}

/** Answers are made anew each time; that the windows exist and up to when trades are complete stay known, as it does in a running service. */
function withoutAnswers(): Shared {
  const local = createLocalShared(log);
  return {
    ...local,
    localCache: { ...local.localCache, get: () => undefined },
    cached: async (key, ttlMs, load) =>
      key.startsWith('windows:') || key === 'freshness'
        ? local.cached(key, ttlMs, load)
        : { value: await load(), hit: false },
  };
}

// Allowances of a second and many users: what is measured must not be the limiter's refusal.
const start = (options: Parameters<typeof startTestApp>[0]): Promise<TestApp> =>
  startTestApp({ checked: false, env: { LOG_LEVEL: 'warn' }, rates: { windowSeconds: 1 }, ...options });
const keysOf = async (service: TestApp): Promise<string[]> =>
  Promise.all(Array.from({ length: USERS }, async () => (await service.newKey('pro')).key));
const portOf = (app: FastifyInstance): number => (app.server.address() as AddressInfo).port;

/** A service over a filled store that answers each call anew, its markets not known to the process. */
export interface UncachedService {
  recorder: StatementRecorder;
  get(path: string): Promise<void>;
  close(): Promise<void>;
}

export async function startUncached(store: ClickHouse): Promise<UncachedService> {
  const recorder = recordStatements(store);
  const markets = new NewMarkets(recorder.store);
  const service = await start({ clickhouse: recorder.store, markets, shared: withoutAnswers() });
  const { key } = await service.newKey('pro');
  await service.app.listen({ host: '127.0.0.1', port: 0 });
  const socket = connect(portOf(service.app), '127.0.0.1');
  return {
    recorder,
    async get(path) {
      markets.beginAnew();
      const requests = [requestText(`/v1/api/${path}`, key)];
      await askThrough(socket, () => requests.pop() ?? null);
    },
    async close() {
      socket.destroy();
      await service.close();
    },
  };
}

async function uncached(
  store: ClickHouse,
  refs: Record<Platform, string[]>,
  trades: number,
  cases: Case[],
): Promise<EndpointResult[]> {
  const { recorder, get, close } = await startUncached(store);
  const results: EndpointResult[] = [];
  for (const one of cases) {
    const path = (turn: number): string => one.path(refs[one.platform][(turn * 7) % 500] ?? '', turn);
    for (let turn = 0; turn < WARM_UP; turn++) await get(path(turn));
    results.push({ endpoint: one.endpoint, trades, ...(await turns(recorder, (turn) => get(path(turn)))) });
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

async function fromCache(store: ClickHouse): Promise<CachedResult[]> {
  const service = await start({ clickhouse: store });
  const keys = await keysOf(service);
  await service.app.listen({ host: '127.0.0.1', port: 0 });
  const results: CachedResult[] = [];
  for (const list of LISTS) {
    const path = `/v1/api/${list}`;
    const first = await service.app.inject({ url: path, headers: { 'x-api-key': keys[0] ?? '' } });
    if (first.statusCode !== 200) throw new Error(`${path}: ${first.statusCode} ${first.body.slice(0, 300)}`);
    const bytes = first.rawPayload;
    const plain = Fastify();
    plain.get('/*', (_request, reply) => reply.type('application/json; charset=utf-8').send(bytes));
    await plain.listen({ host: '127.0.0.1', port: 0 });
    const best = await bestOf(
      { port: portOf(service.app), path, keys, connections: CONNECTIONS, ms: ROUND_MS },
      { port: portOf(plain), path, keys, connections: CONNECTIONS, ms: ROUND_MS },
    );
    const [cachedPerSecond = 0, barePerSecond = 0] = best;
    await plain.close();
    results.push({
      endpoint: `GET ${list.split('?', 1)[0]}`,
      bytes: bytes.length,
      cachedPerSecond,
      barePerSecond,
      ofBare: cachedPerSecond / barePerSecond,
    });
  }
  await service.close();
  return results;
}

/** Answers a second of each in its best round, turn about, asked for by another process. */
async function bestOf(...orders: LoadOrder[]): Promise<number[]> {
  const client = fork(new URL('load.ts', import.meta.url));
  const best = orders.map(() => 0);
  const gone = once(client, 'exit').then(([code]) => {
    throw new Error(`the client ended with ${code}`);
  });
  gone.catch(() => {});
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, order] of orders.entries()) {
      client.send(order);
      const [done] = (await Promise.race([once(client, 'message'), gone])) as [number];
      best[index] = Math.max(best[index] ?? 0, Math.round((done * 1000) / order.ms));
    }
  }
  client.kill();
  return best;
}

export const timeMs = async (run: () => Promise<unknown>): Promise<number> => {
  const started = performance.now();
  await run();
  return performance.now() - started;
};
