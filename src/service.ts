import type { FastifyBaseLogger } from 'fastify';
import type { AddressInfo } from 'node:net';
import { type Clock, systemClock } from './core/time.ts';
import { type Ingestion, startIngestion } from '../ingest/ingestion.ts';
import { buildApp } from './app.ts';
import { type AnalystSql, createAnalystSql } from './stores/clickhouse/analyst-sql.ts';
import { type ClickHouse, openClickHouse } from './stores/clickhouse/client.ts';
import { groupedInserts } from './stores/clickhouse/grouped-inserts.ts';
import { listenError } from './core/config-error.ts';
import type { Config } from './core/config.ts';
import { removeAddress, writeAddress } from './core/data-dir.ts';
import type { KeyOwner } from './embedded/sql-port/server.ts';
import { openSqlPort } from './embedded/sql-port/open.ts';
import { ingestionHealth } from './observability/ingestion-health.ts';
import { progressLine, welcome } from './observability/terminal.ts';
import { type FetchMarket, StoredMarkets } from './markets/directory.ts';
import { MarketWriter } from './markets/writer.ts';
import { announceStored, followStored } from './stores/shared/stored-changes.ts';
import {
  createMetrics,
  type Metrics,
  meteredClickHouse,
  meteredShared,
  observeAttempt,
  observeBadRow,
  observeRun,
  observeSockets,
  watch,
  type Watched,
} from './observability/metrics.ts';
import { serveMetrics } from './observability/server.ts';
import { createPlatformHttp } from './platforms/http/client.ts';
import { createPlatformOrders, createPlatforms, createPlatformSockets } from './platforms/registry.ts';
import { SocketStates } from './platforms/sockets/states.ts';
import type { BadRow, PlatformData } from './platforms/contract.ts';
import { buildPresent } from './present/catch-up.ts';
import { Projector } from './present/projector.ts';
import { migratePostgres, openPostgres, type Postgres } from './stores/postgres/client.ts';
import { explorerSite } from './explorer/site.ts';
import type { AppDeps } from './routes/services.ts';
import { openShared } from './stores/shared/open.ts';
import type { Shared } from './stores/shared/shared.ts';
import type { Platform } from './core/model.ts';
import { prepareClickHouse } from './stores/clickhouse/prepare.ts';
import { urlHost } from './core/text.ts';

export const ROLES = ['all', 'api', 'ingest'] as const;
export type Role = (typeof ROLES)[number];

/** A running process: its API (in roles that have one) and its ingestion. */
export interface Service {
  /** http://HOST:PORT; '' in a role without an API. */
  url: string;
  ingestion: Ingestion | null;
  /** URL for Prometheus; '' with METRICS off. */
  metricsUrl: string;
  /** Lines for a terminal after the start; `progress` gives the line that says how far each platform is. */
  welcome: string;
  progress(): Promise<string>;
  /** Stops accepting, lets requests and batches finish (bounded), then closes the stores. */
  close(): Promise<void>;
}

/** Context of every start step. */
interface Start {
  config: Config;
  role: Role;
  log: FastifyBaseLogger;
  clock: Clock;
  metrics: Metrics;
  /** Registers a stop function; a stop, and a failed start, run all of them in reverse order. */
  onStop(stop: () => Promise<unknown>): void;
}

/**
 * Opens the stores, migrates their schemas, and starts the parts of the role. `extend` adds to the API. Engines and stores use the clock of
 * the machine, whatever `clock` is. If a step fails, the previous ones are stopped, and the promise rejects.
 */
export async function startService(
  config: Config,
  role: Role,
  log: FastifyBaseLogger,
  { extend, clock = systemClock }: Partial<Pick<AppDeps, 'extend' | 'clock'>> = {},
): Promise<Service> {
  const stops: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const stop of stops.toReversed()) {
      await stop().catch((error: unknown) => log.error({ err: error }, 'A component failed to close'));
    }
  };
  if (config.REDIS_URL === undefined && (config.CLICKHOUSE_URL ?? config.DATABASE_URL) !== undefined)
    log.info('This must be the only process of its stores: several need REDIS_URL');
  const start: Start = { config, role, log, clock, metrics: createMetrics(), onStop: (stop) => stops.push(stop) };
  try {
    if (role !== 'ingest') bundleExplorer(start);
    const stores = await openStores(start);
    const sources = await openSources(start, stores);
    const sockets = new SocketStates(clock);
    await sockets.listen(stores.shared);
    const ingestion = role === 'api' ? null : await ingest(start, stores, sources);
    const watched: Watched = {
      clock,
      queues: () => sources.http.queues(),
      skewsMs: () => config.platforms.map((platform) => [platform, sources.http.skewMs(platform)]),
      ingestionHealth: () => ingestionHealth(stores.clickhouse, config, { sockets, clock }),
      stores: () => pingStores(stores),
    };
    const urls =
      role === 'ingest'
        ? await serveWithoutApi(start, stores, watched)
        : await serveApi(start, stores, sources, watched, extend);
    const progress = async (): Promise<string> => progressLine(await watched.ingestionHealth());
    return { ...urls, ingestion, welcome: urls.url && welcome(config, urls.url), progress, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** In parallel with steps that take longer; the service does not wait for it. */
function bundleExplorer({ config, log }: Start): void {
  explorerSite(config.production).catch((error: unknown) => log.error({ err: error }, 'The explorer was not bundled'));
}

interface Stores {
  shared: Shared;
  clickhouse: ClickHouse;
  postgres: Postgres;
}

async function openStores({ config, log, clock, metrics, onStop }: Start): Promise<Stores> {
  const shared = meteredShared(await openShared(config, log, { clock }), metrics);
  onStop(() => shared.close());
  const opening = [openClickHouse(config, log), openPostgres(config, log)] as const;
  for (const store of opening) onStop(async () => (await store.catch(() => null))?.close());
  const [ofClickHouse, ofPostgres] = opening;
  // In parallel, because each may start an engine.
  const [clickhouse, postgres] = await Promise.all([
    ofClickHouse.then(async (opened) => {
      const prepared = groupedInserts(meteredClickHouse(opened, metrics), systemClock);
      await prepareClickHouse(prepared, config, log);
      return prepared;
    }),
    ofPostgres.then(async (opened) => {
      await migratePostgres(opened, log);
      return opened;
    }),
  ]);
  await buildPresent({ clickhouse, postgres, log });
  return { shared, clickhouse, postgres };
}

const pingStores = ({ clickhouse, shared, postgres }: Stores): Record<string, Promise<boolean>> => ({
  clickhouse: clickhouse.ping(),
  redis: Promise.resolve(shared.healthy()),
  postgres: postgres.ping(),
});

type Sources = Awaited<ReturnType<typeof openSources>>;

/** The platforms, and what is stored about their markets and traders. */
async function openSources({ config, log, clock, metrics, onStop }: Start, { clickhouse, postgres, shared }: Stores) {
  const http = createPlatformHttp({ shared, log, clock, onRequest: (report) => observeAttempt(metrics, report) });
  onStop(() => http.close());
  const adapters = createPlatforms({
    http,
    now: clock.now,
    settings: config,
    onStalePage: (platform, route) => metrics.stalePages.inc({ platform, route }),
  });
  const platforms: Partial<Record<Platform, PlatformData>> = Object.fromEntries(
    config.platforms.map((platform) => [platform, adapters[platform]]),
  );
  const onBadRow = (row: BadRow): void => {
    observeBadRow(metrics, row);
    log.warn({ row }, 'Left out an invalid row or field of a platform');
  };
  const present = new Projector({ clickhouse, postgres: postgres.forIngestion, log, clock });
  onStop(() => present.close());
  const marketWriter = new MarketWriter(clickhouse, clock, {
    present,
    onChanged: (platform, refs) => announceStored(shared, platform, refs),
  });
  const fetchMarket: FetchMarket = async (platform, id, user) => {
    const priority = user === undefined ? 'poll' : 'live';
    const market = await platforms[platform]?.market(id, { priority, user, onBadRow });
    if (!market) return null;
    await marketWriter.write(platform, [market], { isUrgent: true });
    return market.info.ref;
  };
  return { http, platforms, fetchMarket, marketWriter, present, onBadRow };
}

async function ingest(start: Start, { clickhouse, postgres, shared }: Stores, sources: Sources): Promise<Ingestion> {
  const { config, log, clock, metrics, onStop } = start;
  const { fetchMarket, marketWriter, present } = sources;
  const markets = new StoredMarkets(clickhouse, fetchMarket, clock);
  const stopFollowing = await followStored(shared, markets, clock);
  onStop(async () => stopFollowing());
  const sockets = {
    adapters: createPlatformSockets(config, clock),
    observer: observeSockets(metrics),
  };
  const ingestion = await startIngestion({
    config,
    log,
    clock,
    clickhouse,
    postgres: { ...postgres, ...postgres.forIngestion },
    present,
    shared,
    markets,
    marketWriter,
    onRun: (run) => observeRun(metrics, run),
    platforms: Object.values(sources.platforms),
    ...(config.SOCKETS === 'on' ? { sockets } : {}),
  });
  onStop(() => ingestion.stop());
  return ingestion;
}

/** URLs of the service; '' for parts that it does not serve. */
type Urls = Pick<Service, 'url' | 'metricsUrl'>;
const urlOf = ({ HOST }: Config, port: number): string => `http://${urlHost(HOST)}:${port}`;

async function serveApi(
  start: Start,
  stores: Stores,
  { http, platforms, fetchMarket, present, onBadRow }: Sources,
  watched: Watched,
  extend: AppDeps['extend'],
): Promise<Urls> {
  const { config, log, clock, metrics, onStop } = start;
  const analystSql = createAnalystSql(config);
  const app = await buildApp({
    config,
    log,
    clock,
    ...stores,
    platforms,
    present,
    fetchMarket,
    onBadRow,
    orderAdapters: createPlatformOrders({ http, settings: config, now: clock.now }),
    analystSql,
    ingestionHealth: watched.ingestionHealth,
    skewMs: (platform) => http.skewMs(platform),
    ...(config.SOCKETS === 'on' ? { sockets: observeSockets(metrics) } : {}),
    ...(extend ? { extend } : {}),
    ...(config.METRICS ? { watch: watch(metrics, watched) } : {}),
  });
  onStop(() => app.close());
  await app.listen({ host: config.HOST, port: config.PORT }).catch((error: unknown) => {
    throw listenError('PORT', config.PORT, config.HOST, error);
  });
  const url = urlOf(config, (app.server.address() as AddressInfo).port);
  // Several processes may share the directory of a service with a PostgreSQL server.
  if (config.DATABASE_URL === undefined) {
    writeAddress(config.dataDir, 'api_url', url);
    onStop(async () => removeAddress(config.dataDir, 'api_url'));
  }
  await openSql(start, stores, analystSql, async (key, address) => {
    const owner = analystSql.ownerOfTicket(key);
    if (owner !== null) return owner;
    const caller = await app.apiKeys.find(key, address);
    return caller?.scopes.includes('read') ? caller.userId : null;
  });
  return { url, metricsUrl: config.METRICS ? `${url}/metrics` : '' };
}

/** The role without an API: metrics on their own port, and SQL. */
async function serveWithoutApi(start: Start, stores: Stores, watched: Watched): Promise<Urls> {
  const { config, metrics, onStop } = start;
  let metricsUrl = '';
  if (config.METRICS && config.METRICS_PORT !== undefined) {
    const { HOST, METRICS_PORT, METRICS_TOKEN } = config;
    const served = await serveMetrics(watch(metrics, watched), HOST, METRICS_PORT, METRICS_TOKEN);
    onStop(() => served.close());
    metricsUrl = `${urlOf(config, served.port)}/metrics`;
  }
  // This role takes no keys.
  await openSql(start, stores, createAnalystSql(config), async () => null);
  return { url: '', metricsUrl };
}

/** The SQL port of an embedded ClickHouse; a server has its own. */
async function openSql(
  { config, log, onStop }: Start,
  { clickhouse: { embedded } }: Stores,
  analystSql: AnalystSql,
  ownerOfKey: KeyOwner,
): Promise<void> {
  if (!embedded) return;
  onStop(async () => removeAddress(config.dataDir, 'sql_url'));
  const opened = await openSqlPort(embedded, config, log, ownerOfKey);
  if (opened === null) return;
  onStop(opened.close);
  analystSql.portOpened(config.SQL_HOST, opened.port);
  log.info({ host: config.SQL_HOST, port: opened.port }, 'SQL port open');
}
