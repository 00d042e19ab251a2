import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { Clock } from '../core/time.ts';
import type { ApiKeys } from '../accounts/api-keys.ts';
import type { Credentials } from '../accounts/credentials.ts';
import type { KnownDevices } from '../accounts/known-devices.ts';
import type { Mailer } from '../accounts/mailer.ts';
import type { LoopbackUser } from '../accounts/loopback-user.ts';
import type { Sessions } from '../accounts/sessions.ts';
import type { Config } from '../core/config.ts';
import type { Platform } from '../core/model.ts';
import type { Cursors } from '../http/cursors.ts';
import type { FetchMarket } from '../markets/directory.ts';
import type { PresentMarkets } from '../markets/present-markets.ts';
import type { IngestionHealth } from '../observability/ingestion-health.ts';
import type { Watch } from '../observability/metrics.ts';
import type { Orders } from '../orders/orders.ts';
import type { BadRow, PlatformData } from '../platforms/contract.ts';
import type { OrderAdapters } from '../platforms/registry.ts';
import type { SocketObserver } from '../platforms/sockets/contract.ts';
import type { Freshness } from '../queries/freshness.ts';
import type { TraderNames } from '../queries/trader-names.ts';
import type { Projector } from '../present/projector.ts';
import type { AnalystSql } from '../stores/clickhouse/analyst-sql.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import type { Postgres } from '../stores/postgres/client.ts';
import type { Streams } from '../streams/streams.ts';
import type { RateLimitOptions, RateLimits } from '../stores/shared/rate-limits.ts';
import type { Shared } from '../stores/shared/shared.ts';

/** Dependencies of the app; how to declare an endpoint is in CONTRIBUTING.md. */
export interface AppDeps {
  config: Config;
  log: FastifyBaseLogger;
  clickhouse: ClickHouse;
  postgres: Postgres;
  shared: Shared;
  /** The read adapters of config.platforms. */
  platforms: Partial<Record<Platform, PlatformData>>;
  /** The order adapters; without them orders are rejected. */
  orderAdapters?: OrderAdapters;
  /** Counts events of users' private sockets; absent: none are opened. */
  sockets?: SocketObserver;
  /** Copies stored markets to PostgreSQL. */
  present: Projector;
  /** Reads a market that is not stored from its platform, and stores it. */
  fetchMarket: FetchMarket;
  /** Called for each skipped row of a platform. */
  onBadRow: (row: BadRow) => void;
  /** How fresh each platform's data is; [] if this process cannot know. */
  ingestionHealth: () => Promise<IngestionHealth[]>;
  /** This server's clock minus a platform's, as its replies show it; absent if this process calls none. */
  skewMs?: (platform: Platform) => number;
  /** Collects metrics and answers /metrics; absent if METRICS is off. */
  watch?: Watch;
  /** Read-only SQL for users with a session. */
  analystSql: AnalystSql;
  /** Extends the finished app; the demo signs browsers in with it. */
  extend?: (app: FastifyInstance, services: Services) => void;
  clock: Clock;
  /** Tests use their own Redis keys and a shorter window. */
  rates?: Partial<RateLimitOptions>;
}

/** Dependencies of routes. */
export interface Services extends AppDeps {
  /** Markets by any id. */
  markets: PresentMarkets;
  cursors: Cursors;
  apiKeys: ApiKeys;
  sessions: Sessions;
  /** null unless LOOPBACK_USER is set. */
  loopbackUser: LoopbackUser | null;
  devices: KnownDevices;
  /** null if no mail is sent. */
  mailer: Mailer | null;
  credentials: Credentials;
  orders: Orders;
  limits: RateLimits;
  freshness: Freshness;
  streams: Streams;
  traderNames: TraderNames;
}
