import { PlatformError } from '../core/errors.ts';
import type { Platform } from '../core/model.ts';
import type { OrderStatus } from '../core/order-model.ts';
import { createBalances, type BalancesQuery, type ShownBalances } from './balances.ts';
import { cancelAll, type CancelledAll, type CancelScope } from './cancel-all.ts';
import { cancelOrder } from './cancel.ts';
import { orderContext, type OrdersDeps } from './context.ts';
import { findOrder, type OrderName } from './find-order.ts';
import type { OrderRow } from './order-row.ts';
import { createPlacer, type PlaceOrder } from './placing/place.ts';
import { PrivateSockets } from './private/private-sockets.ts';
import { createReconciler } from './reconcile.ts';
import type { OrderPosition } from './order-lists.ts';
import { recheckOrder, syncOrders } from './sync.ts';

interface OrderFilter {
  userId: string;
  platform: Platform;
  credentialId: number | undefined;
  marketId: string | undefined;
  status: OrderStatus | undefined;
}

interface OrderPage {
  rows: OrderRow[];
  total: number;
  next: OrderPosition | null;
}

/** Users' orders on all platforms. */
export interface Orders {
  place: PlaceOrder;
  get(name: OrderName): Promise<OrderRow>;
  /** Newest first. The first page updates the store from the platform; later pages read only the store. */
  list(filter: OrderFilter, after: (OrderPosition & { total: number }) | null, limit: number): Promise<OrderPage>;
  cancel(name: OrderName, requestId: string): Promise<OrderRow>;
  /** Cancels all working orders of a user on a platform, through every credential unless one is given. */
  cancelAll(scope: CancelScope, requestId: string): Promise<CancelledAll>;
  balances(query: BalancesQuery): Promise<ShownBalances>;
  /** Stores changes of a user's orders as soon as the platforms report them, until the returned function is called once. */
  follow(userId: string): () => void;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function createOrders(deps: OrdersDeps): Orders {
  const context = orderContext(deps);
  const { store, clients } = context;
  const reconciler = createReconciler(context);
  const sockets = deps.sockets && new PrivateSockets(context, deps.sockets);

  return {
    place: createPlacer(context),

    async get(name) {
      const { row, client } = await findOrder(context, name);
      return recheckOrder(context, client, row);
    },

    async list({ userId, platform, credentialId, marketId, status }, after, limit) {
      const client = await clients.open(userId, platform, credentialId, 'manage');
      const market = marketId === undefined ? null : await context.market({ platform, id: marketId, user: userId });
      if (after === null) {
        await syncOrders(context, client, market).catch((error: unknown) => {
          if (!(error instanceof PlatformError) || status !== 'unknown') throw error;
        });
      }
      const filter = { marketId: market?.platformId, status };
      const rows = await store.page(client.account, filter, after, limit + 1);
      const last = rows.length > limit ? rows[limit - 1] : undefined;
      const next = last ? { createdAt: last.createdAt.toISOString(), id: last.id } : null;
      return { rows: rows.slice(0, limit), total: after?.total ?? (await store.count(client.account, filter)), next };
    },

    cancel: async (name, requestId) => cancelOrder(context, await findOrder(context, name), requestId),

    cancelAll: (scope, requestId) => cancelAll(context, scope, requestId),
    balances: createBalances(context),

    start: () => reconciler.start(),
    follow: (userId) => sockets?.follow(userId) ?? (() => {}),
    async stop() {
      await Promise.all([reconciler.stop(), sockets?.stop()]);
    },
  };
}
