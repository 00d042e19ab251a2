import type { FastifyBaseLogger } from 'fastify';
import type { AddressInfo } from 'node:net';
import { type Ingestion, startIngestion } from '../ingest/main.ts';
import { buildApp } from './app.ts';
import { openClickHouse } from './clickhouse.ts';
import { notListening, type Config } from './config.ts';
import type { KeyCheck } from './embedded/clickhouse.ts';
import { closeSqlPort, openSqlPort } from './embedded/sql-port.ts';
import { ingestionHealth } from './ingestion-health.ts';
import { StoredMarkets } from './market-directory.ts';
import { MarketWriter } from './market-writer.ts';
import { createMetrics, meteredClickHouse, meteredShared, observeAttempt, observeBadRow, watch } from './metrics.ts';
import { serveMetrics } from './metrics-server.ts';
import { createPlatformHttp } from './platforms/http.ts';
import { createPlatforms } from './platforms/index.ts';
import { createPlatformOrders } from './platforms/orders-index.ts';
import type { BadRow, PlatformData } from './platforms/platform.ts';
import { migratePostgres, openPostgres } from './postgres.ts';
import { openShared } from './redis.ts';
import type { Platform } from './schemas.ts';
import { prepareClickHouse } from './store-setup.ts';

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

/** Opens the stores, brings their schemas up to date, and starts what the role asks for. */
export async function startService(config: Config, role: Role, log: FastifyBaseLogger): Promise<Service> {
  const closers: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const end of closers.toReversed()) {
      await end().catch((error: unknown) => log.error({ err: error }, 'a part did not close cleanly'));
    }
  };
  try {
    const metrics = createMetrics();
    const shared = meteredShared(await openShared(config, log), metrics);
    closers.push(() => shared.close());
    const clickhouse = meteredClickHouse(await openClickHouse(config, log), metrics);
    closers.push(() => clickhouse.close());
    await prepareClickHouse(clickhouse, config, log);
    // Before anything polls: the embedded PostgreSQL's first start takes the whole process for some seconds.
    const postgres = role === 'ingest' ? null : await openPostgres(config, log);
    if (postgres) {
      closers.push(() => postgres.close());
      await migratePostgres(postgres, log);
    }

    const http = createPlatformHttp({ shared, log, onRequest: (report) => observeAttempt(metrics, report) });
    closers.push(() => http.close());
    const adapters = createPlatforms({ http, urls: config.platformUrls, now: Date.now });
    const platforms: Partial<Record<Platform, PlatformData>> = Object.fromEntries(
      config.platforms.map((platform) => [platform, adapters[platform]]),
    );
    const onBadRow = (row: BadRow): void => {
      observeBadRow(metrics, row);
      log.warn({ row }, 'a row of a platform was skipped');
    };
    const marketWriter = new MarketWriter(clickhouse, (platform, ref) => markets.forget(platform, ref));
    const markets = new StoredMarkets(clickhouse, async (platform, id) => {
      const market = await platforms[platform]?.market(id, { priority: 'live', onBadRow });
      if (!market) return null;
      await marketWriter.write(platform, [market]);
      return market.info.ref;
    });

    let ingestion: Ingestion | null = null;
    if (role !== 'api') {
      const data = config.platforms.map((platform) => adapters[platform]);
      ingestion = await startIngestion({ config, log, clickhouse, shared, platforms: data, markets, marketWriter });
      closers.push(() => ingestion?.stop() ?? Promise.resolve());
    }
    const openSql = async (isKeyKnown: KeyCheck): Promise<void> => {
      if (!clickhouse.embedded) return;
      closers.push(async () => closeSqlPort(config.dataDir));
      const port = await openSqlPort(clickhouse.embedded, config, log, isKeyKnown);
      if (port !== null) log.info({ host: config.SQL_HOST, port }, 'SQL port open');
    };
    const watched = {
      queues: () => http.queues(),
      ingestionHealth: () => ingestionHealth(clickhouse, config),
      stores: async () => ({ clickhouse: await clickhouse.ping(), redis: shared.healthy() }),
    };
    const urlOf = (port: number): string =>
      `http://${config.HOST.includes(':') ? `[${config.HOST}]` : config.HOST}:${port}`;
    if (!postgres) {
      let metricsUrl = '';
      if (config.METRICS && config.METRICS_PORT !== undefined) {
        const { HOST, METRICS_PORT, METRICS_TOKEN } = config;
        const served = await serveMetrics(watch(metrics, watched), HOST, METRICS_PORT, METRICS_TOKEN);
        closers.push(() => served.close());
        metricsUrl = `${urlOf(served.port)}/metrics`;
      }
      // Keys are in PostgreSQL, which this role does not open.
      await openSql(async () => false);
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
      orderAdapters: createPlatformOrders({ http, urls: config.platformUrls, now: Date.now }),
      markets,
      onBadRow,
      ingestionHealth: watched.ingestionHealth,
      ...(config.METRICS ? { watch: watch(metrics, { ...watched, stores: allStores }) } : {}),
    });
    closers.push(() => app.close());
    const { HOST, PORT } = config;
    await app.listen({ host: HOST, port: PORT }).catch((error: unknown) => {
      throw notListening('PORT', PORT, HOST, error);
    });
    const { port } = app.server.address() as AddressInfo;
    await openSql(async (key, address) => (await app.apiKeys.find(key, address)) !== null);
    return { url: urlOf(port), metricsUrl: config.METRICS ? `${urlOf(port)}/metrics` : '', ingestion, close };
  } catch (error) {
    await close();
    throw error;
  }
}
