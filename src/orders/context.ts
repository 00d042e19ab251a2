import type { FastifyBaseLogger } from 'fastify';
import type { Credentials } from '../accounts/credentials.ts';
import { defaultClientRules, type DefaultClientLimits } from '../accounts/default-clients.ts';
import type { Config } from '../core/config.ts';
import type { BookSide, Platform } from '../core/model.ts';
import type { BadRow, MarketDirectory, PlatformData, StoredMarket } from '../platforms/contract.ts';
import type { OrderAdapters } from '../platforms/order-adapters.ts';
import type { Database } from '../stores/postgres/client.ts';
import type { Shared } from '../stores/shared/shared.ts';
import { createOrderClients, defaultClients, type OrderClients } from './clients.ts';
import { defaultClientAccess } from './default-clients.ts';
import { limitsReader, type OrderLimits } from './spending-limits.ts';
import { createOrderStore, type OrderStore } from './store.ts';

/** What orders need of the service. */
export interface OrdersDeps {
  config: Config;
  db: Database;
  shared: Shared;
  log: FastifyBaseLogger;
  now: () => number;
  credentials: Credentials;
  adapters: OrderAdapters;
  platforms: Partial<Record<Platform, PlatformData>>;
  markets: MarketDirectory;
  /** The market of any id a user may send; throws 404. */
  market(wanted: { platform: Platform; id: string; user: string }): Promise<StoredMarket>;
  onBadRow: (row: BadRow) => void;
}

/** What every operation on orders works with: one for the service, handed from step to step. */
export interface OrderContext extends Pick<OrdersDeps, 'db' | 'shared' | 'log' | 'now' | 'credentials' | 'market'> {
  store: OrderStore;
  clients: OrderClients;
  /** The live book of an outcome, read now; null when there is none. */
  book(
    market: StoredMarket,
    outcomeIndex: number,
    user: string,
  ): Promise<{ side: BookSide; tickSize: bigint | null } | null>;
  limits(userId: string): Promise<OrderLimits>;
  /** What the operator allows through the default clients. */
  operatorLimits(): Promise<DefaultClientLimits>;
}

/** Throws ConfigError when a default client of the settings cannot be used. */
export function orderContext(deps: OrdersDeps): OrderContext {
  const { config, db, shared, log, now, credentials, adapters, platforms, markets, market, onBadRow } = deps;
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
    now,
    credentials,
    market,
    store: createOrderStore(db),
    clients,
    async book(wanted, outcomeIndex, user) {
      const read = platforms[wanted.platform]?.orderBook(wanted, { priority: 'live', user, onBadRow });
      const book = (await read) ?? null;
      const side = [book?.yes, book?.no][outcomeIndex];
      return book && side ? { side, tickSize: book.tickSize } : null;
    },
    limits: limitsReader(db),
    operatorLimits: defaultClientRules(db).limits,
  };
}
