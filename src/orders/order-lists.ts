import { and, asc, desc, eq, inArray, isNotNull, notInArray, or, type SQL, sql } from 'drizzle-orm';
import type { Platform } from '../core/model.ts';
import type { OrderStatus } from '../core/order-model.ts';
import type { Database } from '../stores/postgres/client.ts';
import { whereAccount, type Account } from './account.ts';
import type { OrderRow } from './order-row.ts';
import { orders } from './tables.ts';

/** Filters of an account's orders; undefined = all. */
interface RowFilter {
  marketId: string | undefined;
  status: OrderStatus | undefined;
  /** Also orders that this service placed for the user with other credentials of the platform. */
  withOthers: boolean;
}

/** The last order of a page; the next page starts after it. */
export interface OrderPosition {
  createdAt: string;
  id: string;
}

/** Statuses of orders that may still change. */
const WORKING: OrderStatus[] = ['pending', 'open', 'partially_filled', 'unknown'];
/** Condition that selects the orders for which `mayRest` holds. */
export const MAY_REST = or(
  inArray(orders.status, WORKING),
  and(eq(orders.status, 'expired'), isNotNull(orders.recheckAt)),
);

/** An order that was placed here with one credential may be listed as placed elsewhere with another one of its account. */
const ofUser = (account: Account): SQL | undefined =>
  and(
    eq(orders.userId, account.userId),
    eq(orders.platform, account.platform),
    or(
      eq(orders.origin, 'service'),
      and(
        whereAccount(account),
        sql`NOT EXISTS (SELECT FROM orders AS ours WHERE ours.platform = ${orders.platform} AND ours.order_id = ${orders.orderId}
          AND ours.origin = 'service' AND ours.user_id = ${orders.userId})`,
      ),
    ),
  );

function matches(account: Account, filter: RowFilter) {
  return and(
    filter.withOthers ? ofUser(account) : whereAccount(account),
    filter.marketId === undefined ? undefined : eq(orders.marketId, filter.marketId),
    filter.status === undefined ? undefined : eq(orders.status, filter.status),
  );
}

export function createOrderLists(db: Database) {
  return {
    /** Orders that may still change, least recently read from the platform first. */
    working: (account: Account, marketRef: string | null, limit: number): Promise<OrderRow[]> =>
      db
        .select()
        .from(orders)
        .where(and(whereAccount(account), MAY_REST, marketRef === null ? undefined : eq(orders.marketRef, marketRef)))
        .orderBy(asc(orders.askedAt))
        .limit(limit),

    /** The orders of a market whose result is unknown: the platform may have them. */
    unresolved: (account: Account, marketRef: string): Promise<OrderRow[]> =>
      db
        .select()
        .from(orders)
        .where(
          and(whereAccount(account), eq(orders.marketRef, marketRef), inArray(orders.state, ['sending', 'unknown'])),
        ),

    /**
     * Orders that may still change and were placed with none of the `used` credentials; 0 = the operator's client. `placedHere`: only those
     * that this service placed, in this market unless it is null.
     */
    stray: (
      userId: string,
      platform: Platform,
      used: number[],
      limit: number,
      placedHere?: { marketRef: string | null },
    ): Promise<OrderRow[]> =>
      db
        .select()
        .from(orders)
        .where(
          and(
            eq(orders.userId, userId),
            eq(orders.platform, platform),
            MAY_REST,
            placedHere && eq(orders.origin, 'service'),
            placedHere?.marketRef == null ? undefined : eq(orders.marketRef, placedHere.marketRef),
            notInArray(sql`coalesce(${orders.credentialId}, 0)`, used),
          ),
        )
        .orderBy(asc(orders.askedAt))
        .limit(limit),

    /** Whether this service placed an order for the user on the platform. */
    async hasPlaced(userId: string, platform: Platform): Promise<boolean> {
      const [row] = await db
        .select({ id: orders.id })
        .from(orders)
        .where(and(eq(orders.userId, userId), eq(orders.platform, platform), eq(orders.origin, 'service')))
        .limit(1);
      return row !== undefined;
    },

    /** Newest first. */
    async page(account: Account, filter: RowFilter, after: OrderPosition | null, limit: number): Promise<OrderRow[]> {
      return db
        .select()
        .from(orders)
        .where(
          and(
            matches(account, filter),
            after === null
              ? undefined
              : sql`(${orders.createdAt}, ${orders.id}) < (${after.createdAt}::timestamptz, ${after.id}::uuid)`,
          ),
        )
        .orderBy(desc(orders.createdAt), desc(orders.id))
        .limit(limit);
    },

    async count(account: Account, filter: RowFilter): Promise<number> {
      const [row] = await db
        .select({ n: sql<number>`count(*)::int` })
        .from(orders)
        .where(matches(account, filter));
      return row?.n ?? 0;
    },
  };
}
