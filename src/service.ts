import type { FastifyBaseLogger } from 'fastify';
import type { AddressInfo } from 'node:net';
import { type Ingestion, startIngestion } from '../ingest/ingestion.ts';
import { buildApp } from './app.ts';
import { BookRecorder } from './books/recorder.ts';
import { createAnalystSql } from './stores/clickhouse/analyst-sql.ts';
import { openClickHouse } from './stores/clickhouse/client.ts';
import { listenError } from './core/config-error.ts';
import type { Config } from './core/config.ts';
import type { KeyOwner } from './embedded/clickhouse/supervisor.ts';
import { closeSqlPort, openSqlPort } from './embedded/sql-port/open.ts';
import { ingestionHealth } from './observability/ingestion-health.ts';
import { type FetchMarket, StoredMarkets } from './markets/directory.ts';
import { MarketWriter } from './markets/writer.ts';
import {
  createMetrics,
  meteredClickHouse,
  meteredShared,
  observeAttempt,
  observeBadRow,
  observeRun,
  observeSockets,
  watch,
} from './observability/metrics.ts';
import { serveMetrics } from './observability/server.ts';
import { createPlatformHttp } from './platforms/http/client.ts';
import { createPlatforms } from './platforms/registry.ts';
import { createPlatformOrders } from './platforms/order-adapters.ts';
import { createPlatformSockets } from './platforms/socket-adapters.ts';
import { SocketStates } from './platforms/sockets/states.ts';
import type { BadRow, PlatformData } from './platforms/contract.ts';
import { migratePostgres, openPostgres } from './stores/postgres/client.ts';
import { explorerSite } from './explorer/site.ts';
import type { AppDeps } from './routes/services.ts';
import { openShared } from './stores/shared/open.ts';
import type { FinishedRun, Platform } from './core/model.ts';
import { prepareClickHouse } from './stores/clickhouse/prepare.ts';
import { urlHost } from './core/text.ts';

export const ROLES = ['all', 'api', 'ingest'] as const;
export type Role = (typeof ROLES)[number];

/** A running process: its API (in the roles that have one) and its ingestion. */
export interface Service {
  /** http://HOST:PORT; '' in the role without an API. */
  url: string;
  ingestion: Ingestion | null;
  /** Where Prometheus asks; '' with METRICS off. */
  metricsUrl: string;
  /** Stops accepting, lets requests and batches finish (bounded), then closes the stores. */
  close(): Promise<void>;
}

/** Opens the stores, brings their schemas up to date, and starts what the role asks for. `extend` adds to the API. */
export async function startService(
  config: Config,
  role: Role,
  log: FastifyBaseLogger,
  extend?: AppDeps['extend'],
): Promise<Service> {
  const closers: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const end of closers.toReversed()) {
      await end().catch((error: unknown) => log.error({ err: error }, 'A component failed to close'));
    }
  };
  try {
    // Beside what takes longer: opening the stores.
    if (role !== 'ingest')
      explorerSite(config.production).catch((error: unknown) =>
        log.error({ err: error }, 'The explorer was not bundled'),
      );
    const metrics = createMetrics();
    const shared = meteredShared(await openShared(config, log), metrics);
    closers.push(() => shared.close());
    // Side by side, as each may start an engine.
    const opening = [openClickHouse(config, log), role === 'ingest' ? null : openPostgres(config, log)] as const;
    for (const store of opening) closers.push(async () => (await store?.catch(() => null))?.close());
    const [opened, postgres] = await Promise.all(opening);
    const clickhouse = meteredClickHouse(opened, metrics);
    await prepareClickHouse(clickhouse, config, log);
    if (postgres) await migratePostgres(postgres, log);

    const http = createPlatformHttp({ shared, log, onRequest: (report) => observeAttempt(metrics, report) });
    closers.push(() => http.close());
    const adapters = createPlatforms({
      http,
      urls: config.platformUrls,
      now: Date.now,
      settings: config,
      onStalePage: (platform, route) => metrics.stalePages.inc({ platform, route }),
    });
    const platforms: Partial<Record<Platform, PlatformData>> = Object.fromEntries(
      config.platforms.map((platform) => [platform, adapters[platform]]),
    );
    const onBadRow = (row: BadRow): void => {
      observeBadRow(metrics, row);
      log.warn({ row }, 'Skipped an invalid row of a platform');
    };
    const marketWriter = new MarketWriter(clickhouse, (platform, ref) => markets.forget(platform, ref));
    const fetchMarket: FetchMarket = async (platform, id, user) => {
      const priority = user === undefined ? 'poll' : 'live';
      const market = await platforms[platform]?.market(id, { priority, user, onBadRow });
      if (!market) return null;
      await marketWriter.write(platform, [market]);
      return market.info.ref;
    };
    const markets = new StoredMarkets(clickhouse, fetchMarket, (...asked) => shared.cached(...asked));

    const socketStates = new SocketStates();
    await socketStates.listen((...given) => shared.subscribe(...given));
    let ingestion: Ingestion | null = null;
    if (role !== 'api') {
      const data = config.platforms.map((platform) => adapters[platform]);
      const books = new BookRecorder({ clickhouse, log });
      const sockets = {
        adapters: createPlatformSockets({ urls: config.socketUrls, settings: config }),
        observer: observeSockets(metrics),
      };
      const live = config.SOCKETS === 'on' ? { sockets } : {};
      const onRun = (run: FinishedRun): void => observeRun(metrics, run);
      const parts = { config, log, clickhouse, shared, markets, marketWriter, books, onRun, ...live };
      ingestion = await startIngestion({ ...parts, platforms: data });
      closers.push(() => ingestion?.stop() ?? Promise.resolve());
    }
    const analystSql = createAnalystSql(config);
    const openSql = async (ownerOfKey: KeyOwner): Promise<void> => {
      if (!clickhouse.embedded) return;
      closers.push(async () => closeSqlPort(config.dataDir));
      const port = await openSqlPort(clickhouse.embedded, config, log, ownerOfKey);
      if (port === null) return;
      analystSql.portOpened(config.SQL_HOST, port);
      log.info({ host: config.SQL_HOST, port }, 'SQL port open');
    };
    const watched = {
      queues: () => http.queues(),
      ingestionHealth: () => ingestionHealth(clickhouse, config, socketStates),
      stores: async () => ({ clickhouse: await clickhouse.ping(), redis: shared.healthy() }),
    };
    const urlOf = (port: number): string => `http://${urlHost(config.HOST)}:${port}`;
    if (!postgres) {
      let metricsUrl = '';
      if (config.METRICS && config.METRICS_PORT !== undefined) {
        const { HOST, METRICS_PORT, METRICS_TOKEN } = config;
        const served = await serveMetrics(watch(metrics, watched), HOST, METRICS_PORT, METRICS_TOKEN);
        closers.push(() => served.close());
        metricsUrl = `${urlOf(served.port)}/metrics`;
      }
      // Keys are in PostgreSQL, which this role does not open.
      await openSql(async () => null);
      return { url: '', metricsUrl, ingestion, close };
    }

    const allStores = async () => ({ ...(await watched.stores()), postgres: await postgres.ping() });
    const app = await buildApp({
      config,
      log,
      clickhouse,
      postgres,
      shared,
      platforms,
      orderAdapters: createPlatformOrders(
        { http, urls: config.platformUrls, now: Date.now },
        { negativeRiskV2: config.POLYMARKET_V2_NEGATIVE_RISK },
      ),
      markets,
      onBadRow,
      analystSql,
      ingestionHealth: watched.ingestionHealth,
      ...(extend ? { extend } : {}),
      ...(config.METRICS ? { watch: watch(metrics, { ...watched, stores: allStores }) } : {}),
    });
    closers.push(() => app.close());
    const { HOST, PORT } = config;
    await app.listen({ host: HOST, port: PORT }).catch((error: unknown) => {
      throw listenError('PORT', PORT, HOST, error);
    });
    const { port } = app.server.address() as AddressInfo;
    await openSql(async (key, address) => {
      const owner = analystSql.ownerOfTicket(key);
      if (owner !== null) return owner;
      const caller = await app.apiKeys.find(key, address);
      return caller?.scopes.includes('read') ? caller.userId : null;
    });
    return { url: urlOf(port), metricsUrl: config.METRICS ? `${urlOf(port)}/metrics` : '', ingestion, close };
  } catch (error) {
    await close();
    throw error;
  }
}
