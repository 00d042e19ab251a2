import { and, eq, gte, ne, sql } from 'drizzle-orm';
import { parseUsd, type Usd } from '../core/decimal.ts';
import { defaultClientSettings } from '../accounts/tables.ts';
import { orders, orderSettings } from './tables.ts';
import type { Database } from '../stores/postgres/client.ts';
import type { OrderLimits } from './spending-limits.ts';
import { rowJson, rowsOf } from '../stores/postgres/json-row.ts';
import { audit, type Attempt } from './attempts.ts';
import type { OrderRow } from './order-row.ts';

const orderJson = rowJson(orders);
/** `limited`: nothing is claimed, and there may be limits: they have to be read, and the claim made with them. */
export type Claim = { kind: 'claimed' | 'key_used' | 'client_id_used' | 'limited' } | { kind: 'over_day'; spent: Usd };

/** An order to claim; `notional`: USD of the row's; `previous`: the order that gives its key up for it. */
export interface ToClaim {
  row: OrderRow;
  notional: Usd;
  previous: string | null;
}

/** An idempotency key is kept this long. */
const KEY_MS = 86_400_000;
const WITHOUT_LIMITS = sql`NOT EXISTS (SELECT FROM ${orderSettings} AS s WHERE s.user_id = given.user_id
  AND (NOT s.trading_enabled OR s.max_order_notional IS NOT NULL OR s.max_day_notional IS NOT NULL))`;
/** What the operator allows through the default clients holds at the claim, so that no order passes a switch just turned. */
const OPERATOR_ALLOWS = sql`(given.credential_id IS NOT NULL OR EXISTS (SELECT FROM ${defaultClientSettings} AS d
  WHERE d.trading_enabled AND (d.max_order_notional IS NULL OR given.notional <= d.max_order_notional)))`;

/** Claims of idempotency keys and client ids, before an order is sent. */
export function createClaims(db: Database) {
  // Prepared once: building the text of a statement takes as long as running it.
  const idOfKey = db
    .select({ id: orders.id })
    .from(orders)
    .where(and(eq(orders.userId, sql.placeholder('userId')), eq(orders.idempotencyKey, sql.placeholder('key'))))
    .prepare('');

  return {
    /** The order that claimed a key, and whether the key is still kept. */
    async byKey(userId: string, key: string, nowMs: number): Promise<{ row: OrderRow; kept: boolean } | null> {
      // Most keys are new, and that shows fastest without the columns.
      const [found] = await idOfKey.execute({ userId, key });
      const row = found ? ((await db.select().from(orders).where(eq(orders.id, found.id)))[0] ?? null) : null;
      return row && { row, kept: row.createdAt.getTime() > nowMs - KEY_MS };
    },

    /**
     * Claims key and client id and records that the order is about to be sent, in one INSERT. Without `limits` it claims for a user
     * who has none. With one of a day the user's claims queue up behind each other, so that two cannot share what is left.
     */
    async claim({ row, notional, previous }: ToClaim, limits: OrderLimits | null): Promise<Claim> {
      const insert = async (tx: Pick<Database, 'execute' | 'select' | 'update'>): Promise<Claim> => {
        if (previous !== null) await tx.update(orders).set({ idempotencyKey: null }).where(eq(orders.id, previous));
        const made = await tx.execute(
          sql`INSERT INTO ${orders} SELECT given.* FROM jsonb_populate_record(NULL::orders, ${orderJson.value(row)}) AS given
            WHERE ${OPERATOR_ALLOWS} AND ${limits === null ? WITHOUT_LIMITS : sql`true`} ON CONFLICT DO NOTHING RETURNING id`,
        );
        if (rowsOf(made).length > 0) return { kind: 'claimed' };
        const { userId, idempotencyKey: key } = row;
        const used = key === null ? null : and(eq(orders.userId, userId), eq(orders.idempotencyKey, key));
        const [taken] = used ? await tx.select({ id: orders.id }).from(orders).where(used) : [];
        if (taken) return { kind: 'key_used' };
        return { kind: limits === null ? 'limited' : 'client_id_used' };
      };
      const dayLimit = limits?.maxDay ?? null;
      if (dayLimit === null) return previous === null ? insert(db) : db.transaction(insert);
      return db.transaction(async (tx) => {
        await tx.execute(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`orders ${row.userId}`}, 0))`);
        const day = new Date(row.createdAt);
        day.setUTCHours(0, 0, 0, 0);
        const [sum] = await tx
          .select({ spent: sql<string>`coalesce(sum(${orders.notional}), 0)` })
          .from(orders)
          .where(
            and(
              eq(orders.userId, row.userId),
              eq(orders.origin, 'service'),
              ne(orders.state, 'rejected'),
              gte(orders.createdAt, day),
            ),
          );
        const spent = parseUsd(sum?.spent ?? '0');
        return spent + notional > dayLimit ? { kind: 'over_day', spent } : insert(tx);
      });
    },

    /** Takes a claim back whose order was never sent: its key and its client id may be used again. `previous` gets its key back. */
    async withdraw({ id, idempotencyKey }: OrderRow, previous: string | null, attempt: Attempt): Promise<void> {
      await db.transaction(async (tx) => {
        await tx.execute(sql`WITH audited AS (${audit(attempt)}) DELETE FROM ${orders} WHERE ${eq(orders.id, id)}`);
        if (previous !== null) await tx.update(orders).set({ idempotencyKey }).where(eq(orders.id, previous));
      });
    },
  };
}
