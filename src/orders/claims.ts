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
/** `limited`: nothing was claimed, because there may be limits; read them and claim again with them. */
export type Claim = { kind: 'claimed' | 'key_used' | 'client_id_used' | 'limited' } | { kind: 'over_day'; spent: Usd };

/** An order to claim. `notional` is the row's, parsed; `previous` is the order that gives up its idempotency key. */
export interface ToClaim {
  row: OrderRow;
  notional: Usd;
  previous: string | null;
}

/** Lifetime of an idempotency key. */
const KEY_MS = 86_400_000;
/** The limits on one order are checked in the claim itself, so that the user's kill switch stops orders that have read them before. */
const WITHIN_LIMITS = sql`NOT EXISTS (SELECT FROM ${orderSettings} AS s WHERE s.user_id = given.user_id
  AND (NOT s.trading_enabled OR given.notional > s.max_order_notional))`;
const WITHOUT_LIMITS = sql`NOT EXISTS (SELECT FROM ${orderSettings} AS s WHERE s.user_id = given.user_id
  AND (NOT s.trading_enabled OR s.max_order_notional IS NOT NULL OR s.max_day_notional IS NOT NULL))`;
/** The operator's limits on default clients are checked in the claim itself, so that a change applies to orders being placed. */
const OPERATOR_ALLOWS = sql`(given.credential_id IS NOT NULL OR EXISTS (SELECT FROM ${defaultClientSettings} AS d
  WHERE d.trading_enabled AND (d.max_order_notional IS NULL OR given.notional <= d.max_order_notional)))`;

/** Claims idempotency keys and client order ids before an order is sent. */
export function createClaims(db: Database) {
  // Prepared once: building the statement's text takes as long as running it.
  const idOfKey = db
    .select({ id: orders.id })
    .from(orders)
    .where(and(eq(orders.userId, sql.placeholder('userId')), eq(orders.idempotencyKey, sql.placeholder('key'))))
    .prepare('');

  return {
    /** The order that claimed a key; `kept`: the key has not expired. */
    async byKey(userId: string, key: string, nowMs: number): Promise<{ row: OrderRow; kept: boolean } | null> {
      // Most keys are new; selecting only the id is the fastest check.
      const [found] = await idOfKey.execute({ userId, key });
      const row = found ? ((await db.select().from(orders).where(eq(orders.id, found.id)))[0] ?? null) : null;
      return row && { row, kept: row.createdAt.getTime() > nowMs - KEY_MS };
    },

    /**
     * Claims key and client order id and records that the order is about to be sent, in one INSERT. Without `limits` it claims only
     * for a user who has none. With a daily limit the user's claims are serialized, so that two cannot spend the same remainder.
     */
    async claim({ row, notional, previous }: ToClaim, limits: OrderLimits | null): Promise<Claim> {
      const insert = async (tx: Pick<Database, 'execute' | 'select' | 'update'>): Promise<Claim> => {
        if (previous !== null) await tx.update(orders).set({ idempotencyKey: null }).where(eq(orders.id, previous));
        const made = await tx.execute(
          sql`INSERT INTO ${orders} SELECT given.* FROM jsonb_populate_record(NULL::orders, ${orderJson.value(row)}) AS given
            WHERE ${OPERATOR_ALLOWS} AND ${limits === null ? WITHOUT_LIMITS : WITHIN_LIMITS} ON CONFLICT DO NOTHING RETURNING id`,
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

    /** Withdraws the claim of an order that was never sent: its key and client order id are free again. `previous` gets its key back. */
    async withdraw({ id, idempotencyKey }: OrderRow, previous: string | null, attempt: Attempt): Promise<void> {
      await db.transaction(async (tx) => {
        await tx.execute(sql`WITH audited AS (${audit(attempt)}) DELETE FROM ${orders} WHERE ${eq(orders.id, id)}`);
        if (previous !== null) await tx.update(orders).set({ idempotencyKey }).where(eq(orders.id, previous));
      });
    },
  };
}
