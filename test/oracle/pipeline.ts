import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { z } from 'zod';
import { type Clock, systemClock } from '../../src/core/time.ts';
import { startIngestion } from '../../ingest/ingestion.ts';
import type { HistoryItemAnswer } from '../../src/schemas/metrics.ts';
import type { MarketAnswer, MarketTradeAnswer } from '../../src/schemas/markets.ts';
import type { PricePointAnswer } from '../../src/schemas/price-history.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { loadConfig } from '../../src/core/config.ts';
import { ingestionHealth } from '../../src/observability/ingestion-health.ts';
import { type FetchMarket, StoredMarkets } from '../../src/markets/directory.ts';
import { MarketWriter } from '../../src/markets/writer.ts';
import { createPlatformHttp } from '../../src/platforms/http/client.ts';
import { type PlatformHttp } from '../../src/platforms/http/request.ts';
import { createPlatforms, createPlatformSockets } from '../../src/platforms/registry.ts';
import type { SocketObserver } from '../../src/platforms/sockets/contract.ts';
import { SocketStates } from '../../src/platforms/sockets/states.ts';
import { openShared } from '../../src/stores/shared/open.ts';
import { announceStored } from '../../src/stores/shared/stored-changes.ts';
import type { Platform } from '../../src/core/model.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { watched } from '../helpers/at-work.ts';
import { openOwnClickHouse } from '../helpers/own-clickhouse.ts';
import { openPresent } from '../helpers/present.ts';
import { silent } from '../helpers/silent-log.ts';
import type { Simulator } from '../simulators/simulator.ts';

export type ServedMarket = z.output<typeof MarketAnswer>;
const IN_USD = ['volume_24h_usd', 'volume_7d_usd', 'volume_total_usd', 'liquidity_usd', 'usd_basis'] as const;
/** What a world says of a market. Amounts in USD follow from stored trades: test/queries/market-usd.test.ts. */
export type MarketTruth = Omit<ServedMarket, 'last_synced_at' | (typeof IN_USD)[number]>;
/** Facts of metadata that follow from a book as it was read last: test/ingest/live-readings.test.ts. */
const OF_BOOKS = ['liquidity_clob', 'adjusted_midpoint'];
/** What is served beside the truth: when it was read, its amounts in USD, and what its book says. */
export const besideTruth = (row: ServedMarket, truth: MarketTruth): object => ({
  ...Object.fromEntries(['last_synced_at' as const, ...IN_USD].map((name) => [name, row[name]])),
  metadata: {
    ...truth.metadata,
    ...Object.fromEntries(OF_BOOKS.flatMap((name) => (name in row.metadata ? [[name, row.metadata[name]]] : []))),
  },
});
export type ServedTrade = z.output<typeof MarketTradeAnswer>;
export type ServedPoint = z.output<typeof PricePointAnswer>;
export type ServedItem = z.output<typeof HistoryItemAnswer>;
export interface Page {
  total: number;
  limit: number;
  has_more: boolean;
  next_cursor: string | null;
}
interface Check {
  status: string;
  platform?: string;
  detail?: string;
  left_out?: string[];
  feed?: string;
  socket?: {
    connected: boolean;
    reason: string | null;
    subscriptions: number;
    last_message_at: string | null;
    reconnects: number;
  } | null;
}

/** The whole service over simulated platforms: ingestion and HTTP in this process, stores of its own. */
export interface Pipeline {
  /** What it goes by. */
  readonly clock: Clock;
  readonly clickhouse: ClickHouse;
  readonly app: TestApp;
  /** The address of the API, up to /v1/api/. */
  readonly origin: string;
  /** One request; a status other than the one expected fails the test. */
  get<T = Record<string, unknown>>(path: string, status?: number): Promise<T>;
  /** The reply as it came, with an API key. */
  fetch(path: string, headers?: Record<string, string>): Promise<Response>;
  /** Every market of a list, over pages of this size; `between` runs before each further page. */
  markets(query: string, limit: number, between?: () => unknown): Promise<{ rows: ServedMarket[]; pages: Page[] }>;
  trades(query: string, limit: number, between?: () => unknown): Promise<{ rows: ServedTrade[]; pages: Page[] }>;
  /** What /health says of a platform's ingestion. */
  health(platform: Platform): Promise<Check>;
  /** The same, unless it calls it degraded in these words. */
  unlessIll(platform: Platform, words: RegExp): Promise<Check[]>;
  /** Stops ingestion and begins it again, with another BACKFILL_DAYS. */
  reachBack(days: number): Promise<void>;
  /** Stops ingestion: only requests are left. */
  rest(): Promise<void>;
  close(): Promise<void>;
}

/** Answers of simulators arrive in milliseconds; a platform that hangs is given up sooner than in production. */
const PATIENCE_MS = 1200;
const USER_REQUESTS = 480;

/** How it differs from polling every second: sockets followed with time limits multiplied by `pace`, and rare polls. */
export interface LivePipeline {
  pace: number;
  env: Record<string, string>;
  observer: SocketObserver;
}

/** How a pipeline is started. */
export interface PipelineOptions {
  /** Trades of so many days are read first. */
  backfillDays?: number;
  /** The period of sweeps and of polls for trades. */
  everySeconds?: number;
  live?: LivePipeline;
  clock?: Clock;
}

/** Starts it with budgets that never run out; records no books. */
export async function startPipeline(
  simulators: readonly Pick<Simulator<unknown>, 'env'>[],
  platforms: readonly Platform[],
  { backfillDays = 60, everySeconds = 1, live, clock = systemClock }: PipelineOptions = {},
): Promise<Pipeline> {
  const directory = await mkdtemp(join(tmpdir(), 'forecastle-pipeline-'));
  const configOf = (days: number) =>
    loadConfig({
      DATA_DIR: directory,
      NODE_ENV: 'test',
      PLATFORMS: platforms.join(','),
      SWEEP_SECONDS: String(everySeconds),
      TRADES_SECONDS: String(everySeconds),
      BACKFILL_DAYS: String(days),
      BOOKS_RECORD: '0',
      ...Object.assign({}, ...simulators.map(({ env }) => env)),
      ...live?.env,
    });
  const config = configOf(backfillDays);
  const clickhouse = watched((await openOwnClickHouse()).clickhouse);

  const shared = { ...(await openShared({ REDIS_URL: undefined }, silent, { clock })), takeBudget: async () => 0 };
  const http = createPlatformHttp({ shared, log: silent, clock });
  const impatient: PlatformHttp = {
    ...http,
    send: (request) => http.send({ ...request, timeoutMs: Math.min(request.timeoutMs ?? PATIENCE_MS, PATIENCE_MS) }),
  };
  const adapters = createPlatforms({ http: impatient, settings: config, now: clock.now });
  const data = config.platforms.map((platform) => ({ ...adapters[platform], sweepFactor: 1 }));
  const { postgres, present, close: closePresent } = await openPresent(clickhouse, undefined, clock);
  const onChanged = (platform: Platform, refs: string[]): void => {
    markets.forget(platform, refs);
    announceStored(shared, platform, refs);
  };
  const marketWriter = new MarketWriter(clickhouse, clock, { present, onChanged });
  const fetchMarket: FetchMarket = async (platform, id) => {
    const market = await adapters[platform].market(id, { priority: 'live', onBadRow: () => {} });
    if (!market) return null;
    await marketWriter.write(platform, [market], { isUrgent: true });
    return market.info.ref;
  };
  const markets = new StoredMarkets(clickhouse, fetchMarket, clock);
  const socketStates = new SocketStates(clock);
  await socketStates.listen(shared);
  const app = await startTestApp({
    clock,
    clickhouse,
    postgres,
    present,
    shared,
    fetchMarket,
    platforms: Object.fromEntries(data.map((one) => [one.platform, one])),
    ingestionHealth: () => ingestionHealth(clickhouse, config, { sockets: socketStates, clock }),
  });
  const { log } = app.deps;
  const sockets = live && { adapters: createPlatformSockets(config, clock), ...live };
  const ingest = (days: number) => {
    const stores = { config: configOf(days), log, clock, clickhouse, postgres, present, shared };
    return startIngestion({ ...stores, platforms: data, markets, marketWriter, ...(sockets && { sockets }) });
  };
  let ingestion = await ingest(backfillDays);
  await app.app.listen({ host: '127.0.0.1', port: 0 });
  const origin = `http://127.0.0.1:${(app.app.server.address() as AddressInfo).port}/v1/api/`;

  let user = { key: '', left: 0 };
  const keyedFetch: Pipeline['fetch'] = async (path, headers = {}) => {
    if (user.left === 0) user = { key: (await app.newKey('pro')).key, left: USER_REQUESTS };
    user.left -= 1;
    return fetch(`${origin}${path}`, { headers: { 'x-api-key': user.key, ...headers } });
  };
  const get = async <T>(path: string, status = 200): Promise<T> => {
    const reply = await keyedFetch(path);
    const text = await reply.text();
    if (reply.status !== status) throw new Error(`GET ${path} answered ${reply.status} ${text}`);
    return JSON.parse(text) as T;
  };

  const health = async (platform: Platform): Promise<Check> => {
    const { checks } = await get<{ checks: Check[] }>('health');
    const check = checks.find((one) => one.platform === platform);
    if (!check) throw new Error(`/health does not speak of ${platform}`);
    return check;
  };

  /** Follows the cursors of a list. */
  async function walk<Row>(name: string, path: string, limit: number, between: () => unknown = () => {}) {
    const rows: Row[] = [];
    const pages: Page[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const body: Record<string, unknown> = await get(`${path}&limit=${limit}&cursor=${cursor}`);
      const page = body['pagination'] as Page;
      rows.push(...(body[name] as Row[]));
      pages.push(page);
      cursor = page.next_cursor;
      if (cursor !== null) await between();
    }
    return { rows, pages };
  }

  return {
    clock,
    clickhouse,
    app,
    origin,
    get,
    fetch: keyedFetch,
    markets: (query, limit, between) => walk<ServedMarket>('markets', `markets?${query}`, limit, between),
    trades: (query, limit, between) => walk<ServedTrade>('trades', `markets/trades?${query}`, limit, between),
    health,
    async unlessIll(platform, words) {
      const check = await health(platform);
      return check.status === 'degraded' && words.test(check.detail ?? '') ? [] : [check];
    },
    async reachBack(days) {
      await ingestion.stop();
      ingestion = await ingest(days);
    },
    rest: () => ingestion.stop(),
    async close() {
      await ingestion.stop();
      await app.close();
      await closePresent();
      await http.close();
      await shared.close();
      await clickhouse.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** How waits between two looks of `eventually` grow, up to how much, unless a look takes longer. */
const REAL_WAITS = { growth: 1.2, mostMs: 2000 };
/** Where time costs nothing, looks do. */
const VIRTUAL_WAITS = { growth: 1.6, mostMs: 10_000 };

/** Lists of stored markets are read once a minute; what the next reading finds is stored within another. */
const WITHIN_SECONDS = 150;

/** Runs a check until it finds nothing wrong, at most this long; the first things it found last otherwise. */
export async function eventually<T>(
  check: () => Promise<T[]>,
  seconds = WITHIN_SECONDS,
  clock: Clock = systemClock,
): Promise<T[]> {
  const { growth, mostMs } = clock === systemClock ? REAL_WAITS : VIRTUAL_WAITS;
  const deadline = clock.elapsed() + seconds * 1000;
  for (let waitMs = 250; ; waitMs = Math.min(waitMs * growth, mostMs)) {
    const askedMs = clock.elapsed();
    const found = await check();
    if (found.length === 0 || clock.elapsed() > deadline) return found.slice(0, 12);
    // What it waits for shares the processor: it gets as much time as the check took.
    await clock.sleep(Math.max(waitMs, clock.elapsed() - askedMs));
  }
}

/** Page sizes that differ from call to call: an answer of two seconds ago must not answer again. */
let calls = 0;
export const largePage = (): number => 500 - (calls++ % 100);

/** What `work` finds for each item, four of them at a time. */
export async function ofEach<T, R>(items: readonly T[], work: (item: T) => Promise<R[]>): Promise<R[]> {
  const waiting = [...items];
  const found: R[] = [];
  const lane = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) found.push(...(await work(item)));
  };
  await Promise.all(Array.from({ length: 4 }, lane));
  return found;
}
