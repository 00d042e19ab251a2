import { and, asc, eq, isNotNull, isNull, sql } from 'drizzle-orm';
import { cancelOrders } from './cancel.ts';
import type { OrderContext } from './context.ts';
import type { Platform } from '../core/model.ts';
import type { OrderRow } from './order-row.ts';
import { MAY_REST } from './order-lists.ts';
import { orders } from './tables.ts';

/** Orders cancelled per pass; each is tried once a round. */
const BATCH = 500;
/** Wait before the next round, which retries failed cancels. */
const AGAIN_MS = 5000;

/** The operator's kill switch: cancels working orders of a platform's default client while trading through them is switched off. */
export function createHalt(context: OrderContext, platform: Platform) {
  const { db, clients, clock, log } = context;
  const switchedOff = sql`EXISTS (SELECT FROM default_client_settings AS d WHERE NOT d.trading_enabled)`;
  const atWork = db
    .select()
    .from(orders)
    .where(
      and(
        switchedOff,
        eq(orders.platform, platform),
        isNull(orders.credentialId),
        MAY_REST,
        isNotNull(orders.orderId),
        sql`${orders.id} <> ALL(${sql.placeholder('tried')}::uuid[])`,
      ),
    )
    .orderBy(asc(orders.askedAt))
    .limit(BATCH)
    .prepare('');
  /** Orders of this round so far. Without it, the oldest orders that a platform fails to cancel would fill every pass. */
  const tried = new Set<string>();
  let nextAt = 0;

  async function cancel(rows: readonly OrderRow[]): Promise<void> {
    const [first] = rows;
    if (!first) return;
    const { userId } = first;
    const client = await clients.reopen(first, 'live');
    if (!client) throw new Error(`the default client of ${platform} is no longer configured`);
    const done = await cancelOrders(context, client, rows, '');
    const left = done.filter(({ cancelled }) => !cancelled).length;
    log.warn({ platform, user: userId, cancelled: done.length - left, left }, 'Cancelled orders of a default client');
  }

  return {
    /** Orders to cancel now; [] while trading is on. */
    async due(): Promise<OrderRow[]> {
      if (clock.elapsed() < nextAt) return [];
      const rows = await atWork.execute({ tried: [...tried] });
      if (rows.length === BATCH) {
        for (const { id } of rows) tried.add(id);
      } else if (rows.length + tried.size > 0) {
        tried.clear();
        nextAt = clock.elapsed() + AGAIN_MS;
      }
      return rows;
    },

    /** Cancels each user's orders separately; a failure is logged and retried. */
    async cancel(rows: readonly OrderRow[]): Promise<void> {
      const users = [...new Set(rows.map(({ userId }) => userId))];
      const results = await Promise.allSettled(
        users.map((userId) => cancel(rows.filter((row) => row.userId === userId))),
      );
      for (const one of results) {
        if (one.status === 'rejected')
          log.error({ err: one.reason as unknown }, 'Failed to cancel orders of a default client');
      }
    },
  };
}
