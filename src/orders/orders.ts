import { createCancelAll, type CancelAll } from './cancel-all.ts';
import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '../core/config.ts';
import type { Credentials } from '../accounts/credentials.ts';
import { PlatformError } from '../core/errors.ts';
import type { OrderAdapters } from '../platforms/order-adapters.ts';
import { type OrderStatus } from '../platforms/order-contract.ts';
import type { BadRow, MarketDirectory, StoredMarket, PlatformData } from '../platforms/contract.ts';
import type { Database } from '../stores/postgres/client.ts';
import type { Shared } from '../stores/shared/shared.ts';
import type { Platform } from '../core/model.ts';
import { createCanceller } from './cancel.ts';
import { createOrderClients, defaultClients } from './clients.ts';
import { limitsReader } from './spending-limits.ts';
import { createLocator, type OrderName } from './find-order.ts';
import { createPlacer } from './place.ts';
import { defaultClientAccess } from './default-clients.ts';
import { createHalt } from './halt.ts';
import { createReconciler } from './reconcile.ts';
import { defaultClientRules } from '../accounts/default-clients.ts';
import type { OrderBody } from './request.ts';
import type { OrderRow } from './order-row.ts';
import type { Placed } from './send.ts';
import { createOrderStore } from './store.ts';
import type { OrderPosition } from './stored-orders.ts';
import { createOrderTracker } from './sync.ts';

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

export interface OrderFilter {
  userId: string;
  platform: Platform;
  credentialId: number | undefined;
  marketId: string | undefined;
  status: OrderStatus | undefined;
}

export interface OrderPage {
  rows: OrderRow[];
  total: number;
  next: OrderPosition | null;
}

/** Orders of users on every platform. */
export interface Orders {
  place(userId: string, body: OrderBody, requestId: string): Promise<Placed>;
  get(name: OrderName): Promise<OrderRow>;
  /** Newest first. The first page brings the store up to the platform; later pages continue it. */
  list(filter: OrderFilter, after: (OrderPosition & { total: number }) | null, limit: number): Promise<OrderPage>;
  cancel(name: OrderName, requestId: string): Promise<OrderRow>;
  /** Everything of the user that works on a platform, through every credential unless one is named. */
  cancelAll: CancelAll;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function createOrders(deps: OrdersDeps): Orders {
  const { config, db, shared, log, now, credentials, adapters, platforms, markets, onBadRow } = deps;
  const store = createOrderStore(db);
  const tracker = createOrderTracker({ store, now, log });
  const clients = createOrderClients({
    adapters,
    credentials,
    defaults: defaultClients(config),
    markets,
    onBadRow,
    mayUseDefault: defaultClientAccess(db),
  });
  const locate = createLocator({ store, clients, now });
  const canceller = createCanceller({ store, tracker, now });
  const halt = createHalt({ db, clients, canceller, log });
  const reconciler = createReconciler({ store, tracker, clients, halt, shared, now, log });
  const placer = createPlacer({
    store,
    tracker,
    clients,
    market: deps.market,
    async book(market, outcomeIndex, user) {
      const read = platforms[market.platform]?.orderBook(market, { priority: 'live', user, onBadRow });
      const book = (await read) ?? null;
      const side = [book?.yes, book?.no][outcomeIndex];
      return book && side ? { side, tickSize: book.tickSize } : null;
    },
    limits: limitsReader(db),
    operatorLimits: defaultClientRules(db).limits,
    now,
    log,
  });
  const cancelAll = createCancelAll({ store, tracker, clients, credentials, canceller, log });

  return {
    place: (userId, body, requestId) => placer.place(userId, body, requestId),

    async get(name) {
      const { row, client } = await locate(name);
      return tracker.refreshOne(client, row);
    },

    async list({ userId, platform, credentialId, marketId, status }, after, limit) {
      const client = await clients.open(userId, platform, credentialId, 'manage');
      const market = marketId === undefined ? null : await deps.market({ platform, id: marketId, user: userId });
      if (after === null) {
        await tracker.sync(client, market).catch((error: unknown) => {
          if (!(error instanceof PlatformError) || status !== 'unknown') throw error;
        });
      }
      const filter = { marketId: market?.platformId, status };
      const rows = await store.page(client.account, filter, after, limit + 1);
      const last = rows.length > limit ? rows[limit - 1] : undefined;
      const next = last ? { createdAt: last.createdAt.toISOString(), id: last.id } : null;
      return { rows: rows.slice(0, limit), total: after?.total ?? (await store.count(client.account, filter)), next };
    },

    cancel: async (name, requestId) => canceller.one(await locate(name), requestId),

    cancelAll,

    start: () => reconciler.start(),
    stop: () => reconciler.stop(),
  };
}
