import type { FastifyBaseLogger } from 'fastify';
import type { Clock } from '../core/time.ts';
import type { Credentials } from '../accounts/credentials.ts';
import type { Config } from '../core/config.ts';
import type { BookSide, Platform } from '../core/model.ts';
import type { BadRow, MarketDirectory, PlatformData, StoredMarket } from '../platforms/contract.ts';
import { MANIFESTS } from '../platforms/manifests.ts';
import type { OrderAdapters } from '../platforms/registry.ts';
import type { SocketObserver } from '../platforms/sockets/contract.ts';
import { StoreError } from '../stores/clickhouse/errors.ts';
import type { Database } from '../stores/postgres/client.ts';
import type { Shared } from '../stores/shared/shared.ts';
import { orderAnnouncer } from './announce.ts';
import { createOrderClients, defaultClients, type OrderClients } from './clients.ts';
import { defaultClientAccess } from './default-clients.ts';
import type { OrderRow } from './order-row.ts';
import { createOrderStore, type OrderStore } from './store.ts';

/** What the service provides to orders. */
export interface OrdersDeps {
  config: Config;
  db: Database;
  shared: Shared;
  log: FastifyBaseLogger;
  clock: Clock;
  credentials: Credentials;
  adapters: OrderAdapters;
  platforms: Partial<Record<Platform, PlatformData>>;
  markets: MarketDirectory;
  /** The market for any id that a user may send; throws 404. */
  market(wanted: { platform: Platform; id: string; user: string }): Promise<StoredMarket>;
  onBadRow: (row: BadRow) => void;
  /** Counts events of private sockets; absent: none are opened. */
  sockets?: SocketObserver;
}

/** Shared by all order operations; one instance per service. */
export interface OrderContext extends Pick<OrdersDeps, 'db' | 'shared' | 'log' | 'clock' | 'credentials' | 'market'> {
  /** The time of `clock`, Unix ms. */
  now: () => number;
  store: OrderStore;
  clients: OrderClients;
  /** The order book of an outcome, read from the platform now; null if there is none. */
  book(
    market: StoredMarket,
    outcomeIndex: number,
    user: string,
  ): Promise<{ side: BookSide; tickSize: bigint | null } | null>;
  /** How long the platform holds an order of this market before it matches it; 0 if the market cannot be read. */
  matchDelayMs(of: Pick<OrderRow, 'platform' | 'marketRef'>): Promise<number>;
}

/** Throws ConfigError if a default client in the settings is incomplete or invalid. */
export function orderContext(deps: OrdersDeps): OrderContext {
  const { config, db, shared, log, clock, credentials, adapters, platforms, markets, market, onBadRow } = deps;
  const clients = createOrderClients({
    adapters,
    credentials,
    defaults: defaultClients(config),
    markets,
    onBadRow,
    mayUseDefault: defaultClientAccess(db),
  });
  return {
    db,
    shared,
    log,
    clock,
    now: clock.now,
    credentials,
    market,
    store: createOrderStore(db, orderAnnouncer(shared)),
    clients,
    async book(wanted, outcomeIndex, user) {
      const read = platforms[wanted.platform]?.orderBook(wanted, { priority: 'live', user, forOrder: true, onBadRow });
      const book = (await read) ?? null;
      const side = [book?.yes, book?.no][outcomeIndex];
      return book && side ? { side, tickSize: book.tickSize } : null;
    },
    async matchDelayMs({ platform, marketRef }) {
      const known = await markets.byRef(platform, [marketRef]).catch((error: unknown) => {
        if (error instanceof StoreError) return null;
        throw error;
      });
      const { metadata } = known?.get(marketRef) ?? {};
      return metadata === undefined ? 0 : (MANIFESTS[platform].matchDelayMs?.(metadata) ?? 0);
    },
  };
}
