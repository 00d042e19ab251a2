import { PlatformError } from '../core/errors.ts';
import type { Platform } from '../core/model.ts';
import type { OrderStatus } from '../core/order-model.ts';
import { createBalances } from './balances.ts';
import { cancelAll, type CancelledAll, type CancelScope } from './cancel-all.ts';
import { cancelOrder } from './cancel.ts';
import { noCredential } from './clients.ts';
import { orderContext, type OrdersDeps } from './context.ts';
import { findOrder, type OrderName } from './find-order.ts';
import type { OrderRow } from './order-row.ts';
import { createPlacer } from './placing/place.ts';
import { PrivateSockets } from './private/private-sockets.ts';
import { createReconciler } from './reconcile.ts';
import type { OrderPosition } from './order-lists.ts';
import { recheckOrder, recheckOthers, syncOrders } from './sync.ts';

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

export type Orders = ReturnType<typeof createOrders>;

/** Users' orders on all platforms. */
export function createOrders(deps: OrdersDeps) {
  const context = orderContext(deps);
  const { store, clients } = context;
  const reconciler = createReconciler(context);
  const most = deps.config.PRIVATE_SOCKETS;
  const sockets = most > 0 ? deps.sockets && new PrivateSockets(context, deps.sockets, most) : undefined;

  return {
    place: createPlacer(context),

    async get(name: OrderName): Promise<OrderRow> {
      const { row, client } = await findOrder(context, name, 'read');
      return client ? recheckOrder(context, client, row) : row;
    },

    /** Newest first. The first page updates the store from the platform if the user has a client; later pages read only the store. */
    async list(
      { userId, platform, credentialId, marketId, status }: OrderFilter,
      after: (OrderPosition & { total: number }) | null,
      limit: number,
    ): Promise<OrderPage> {
      const client = await clients.openIfAny(userId, platform, credentialId, 'manage');
      const account = client?.account ?? { userId, platform, credentialId: null };
      if (!client && !(await store.hasPlaced(userId, platform))) throw noCredential(platform);
      const market = marketId === undefined ? null : await context.market({ platform, id: marketId, user: userId });
      const withOthers = credentialId === undefined;
      if (after === null && client) {
        const own = syncOrders(context, client, market).catch((error: unknown) => {
          if (!(error instanceof PlatformError) || status !== 'unknown') throw error;
        });
        await Promise.all([own, withOthers && recheckOthers(context, client.account, market)]);
      }
      const filter = { marketId: market?.platformId, status, withOthers };
      const rows = await store.page(account, filter, after, limit + 1);
      const last = rows.length > limit ? rows[limit - 1] : undefined;
      const next = last ? { createdAt: last.createdAt.toISOString(), id: last.id } : null;
      return { rows: rows.slice(0, limit), total: after?.total ?? (await store.count(account, filter)), next };
    },

    cancel: async (name: OrderName, requestId: string): Promise<OrderRow> =>
      cancelOrder(context, await findOrder(context, name, 'cancel'), requestId),

    /** Cancels all working orders of a user on a platform, through every credential unless one is given. */
    cancelAll: (scope: CancelScope, requestId: string): Promise<CancelledAll> => cancelAll(context, scope, requestId),
    balances: createBalances(context),

    start: (): Promise<void> => reconciler.start(),
    /** Stores changes of a user's orders as soon as the platforms report them, until the returned function is called once. */
    follow: (userId: string): (() => void) => sockets?.follow(userId) ?? (() => {}),
    async stop(): Promise<void> {
      await Promise.all([reconciler.stop(), sockets?.stop()]);
    },
  };
}
