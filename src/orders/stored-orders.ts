import { and, asc, desc, eq, inArray, isNotNull, isNull, lte, or, type SQL, sql } from 'drizzle-orm';
import type { Platform } from '../core/model.ts';
import type { Database } from '../stores/postgres/client.ts';
import { rowsOf } from '../stores/postgres/json-row.ts';
import { whereAccount, type Account } from './account.ts';
import type { OrderRow } from './order-row.ts';
import { orders } from './tables.ts';

export type StoredOrders = ReturnType<typeof createStoredOrders>;

/** Reads single stored orders, and those due for a recheck. */
export function createStoredOrders(db: Database) {
  const one = async (where: SQL | undefined): Promise<OrderRow | null> => {
    const [row] = await db
      .select()
      .from(orders)
      .where(where)
      .orderBy(desc(orders.origin), desc(orders.createdAt))
      .limit(1);
    return row ?? null;
  };

  return {
    one,

    byId: (id: string): Promise<OrderRow | null> => one(eq(orders.id, id)),

    /** A user's order by the platform's id or `client:<client order id>`; one sent by us takes precedence over one found in the account. */
    named: (
      userId: string,
      platform: Platform,
      name: string,
      credentialId: number | undefined,
    ): Promise<OrderRow | null> =>
      one(
        and(
          eq(orders.userId, userId),
          eq(orders.platform, platform),
          credentialId === undefined ? undefined : eq(orders.credentialId, credentialId),
          name.startsWith('client:')
            ? and(eq(orders.clientOrderId, name.slice('client:'.length)), eq(orders.origin, 'service'))
            : eq(orders.orderId, name),
        ),
      ),

    /** Rows that may match listed orders: by the platform's id, or ours by client order id while the platform's id is unknown. */
    matching: (account: Account, orderIds: string[], clientIds: string[]): Promise<OrderRow[]> =>
      db
        .select()
        .from(orders)
        .where(
          and(
            whereAccount(account),
            or(
              inArray(orders.orderId, orderIds),
              and(isNull(orders.orderId), eq(orders.origin, 'service'), inArray(orders.clientOrderId, clientIds)),
            ),
          ),
        ),

    /** The current rows of these orders. */
    byIds: (ids: string[]): Promise<OrderRow[]> => db.select().from(orders).where(inArray(orders.id, ids)),

    /** Platforms with orders due for a recheck, and whether the operator's kill switch is on. */
    async work(nowMs: number): Promise<{ due: Platform[]; isHalted: boolean }> {
      const [row] = rowsOf(
        await db.execute(sql`
          SELECT ARRAY(SELECT DISTINCT platform FROM orders WHERE next_check_at <= ${new Date(nowMs)}) AS due,
            EXISTS (SELECT FROM default_client_settings WHERE NOT trading_enabled) AS is_halted`),
      );
      return { due: (row?.['due'] as Platform[] | undefined) ?? [], isHalted: row?.['is_halted'] === true };
    },

    /** Orders of a platform due for a recheck, longest overdue first. */
    due: (platform: Platform, nowMs: number, limit: number): Promise<OrderRow[]> =>
      db
        .select()
        .from(orders)
        .where(and(eq(orders.platform, platform), isNotNull(orders.recheckAt), lte(orders.recheckAt, new Date(nowMs))))
        .orderBy(asc(orders.recheckAt))
        .limit(limit),
  };
}
