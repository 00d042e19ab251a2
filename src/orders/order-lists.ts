import { and, asc, desc, eq, inArray, isNotNull, notInArray, or, sql } from 'drizzle-orm';
import type { Platform } from '../core/model.ts';
import type { OrderStatus } from '../core/order-model.ts';
import type { Database } from '../stores/postgres/client.ts';
import { ofAccount, type Account } from './account.ts';
import type { OrderRow } from './order-row.ts';
import { orders } from './tables.ts';

/** Filters of an account's orders; undefined = all. */
interface RowFilter {
  marketId: string | undefined;
  status: OrderStatus | undefined;
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

function matches(account: Account, filter: RowFilter) {
  return and(
    ofAccount(account),
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
        .where(and(ofAccount(account), MAY_REST, marketRef === null ? undefined : eq(orders.marketRef, marketRef)))
        .orderBy(asc(orders.askedAt))
        .limit(limit),

    /** The orders of a market whose result is unknown: the platform may have them. */
    unresolved: (account: Account, marketRef: string): Promise<OrderRow[]> =>
      db
        .select()
        .from(orders)
        .where(and(ofAccount(account), eq(orders.marketRef, marketRef), inArray(orders.state, ['sending', 'unknown']))),

    /** Orders that may still change and were placed with none of the `used` credentials; 0 = the operator's client. */
    stray: (userId: string, platform: Platform, used: number[], limit: number): Promise<OrderRow[]> =>
      db
        .select()
        .from(orders)
        .where(
          and(
            eq(orders.userId, userId),
            eq(orders.platform, platform),
            MAY_REST,
            notInArray(sql`coalesce(${orders.credentialId}, 0)`, used),
          ),
        )
        .orderBy(asc(orders.askedAt))
        .limit(limit),

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
