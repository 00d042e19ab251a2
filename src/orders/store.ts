import { and, eq, inArray, isNull, lte, ne, type SQL, sql } from 'drizzle-orm';
import { whereAccount, type Account } from './account.ts';
import { announceChange, type AnnounceOrder, BEFORE, isNews, isShownChange, SHOWN } from './announce.ts';
import { audit, cut, type Attempt } from './attempts.ts';
import { createClaims } from './claims.ts';
import { createOrderLists } from './order-lists.ts';
import { createStoredOrders } from './stored-orders.ts';
import { orderAttempts, orderJson, orders, orderSyncs } from './tables.ts';
import type { Database } from '../stores/postgres/client.ts';
import { rowsOf } from '../stores/postgres/json-row.ts';
import type { OrderFacts, OrderRow } from './order-row.ts';
import { partsOf } from '../core/parts.ts';

/** Columns that may change after the claim. */
const CHANGING_NAMES = ['state', ...SHOWN, 'refusal', 'updated_at', 'asked_at', 'next_check_at'];
const CHANGING = sql.raw(CHANGING_NAMES.join(', '));
/** The same columns of a new row `r`. If callers see no difference, `updated_at` stays: two reads of one change may both store it. */
const CHANGES = sql.raw(
  CHANGING_NAMES.map((name) =>
    name === 'updated_at'
      ? `CASE WHEN ${isShownChange('before', 'r')} THEN r.updated_at ELSE before.updated_at END`
      : `r.${name}`,
  ).join(', '),
);
const CHANGED = sql.raw(CHANGING_NAMES.map((name) => `o.${name}`).join(', '));
/** Columns that a change is computed from: if one of them has changed since, it is computed again. */
const BASES = [
  'state',
  'status',
  'filledSize',
  'averageFillPrice',
  'receivedSize',
  'receivedUsd',
  'makerFee',
  'takerFee',
] as const;
const basesOf = (table: string): string => BASES.map((key) => `${table}.${orders[key].name}`).join(', ');
const IS_AS_KNOWN = sql.raw(`(${basesOf('o')}) IS NOT DISTINCT FROM (${basesOf('k')})`);
const basesIn = (row: OrderRow): SQL => orderJson.value(Object.fromEntries(BASES.map((key) => [key, row[key]])));
export type Change = Partial<OrderFacts> &
  Pick<OrderRow, 'recheckAt'> &
  Partial<Pick<OrderRow, 'refusal' | 'unknownReason'>>;
/** The platform reports what is stored: the time of the read alone is written, so that no earlier report changes the row any more. */
export const CONFIRMED: Record<string, never> = {};
/** The change of a row as it is stored now; null: none. */
export type ChangeOf = (row: OrderRow) => Change | typeof CONFIRMED | null;
export type OrderStore = ReturnType<typeof createOrderStore>;

/** Stored orders. Every change to an order's result goes through `record`. */
export function createOrderStore(db: Database, announce: AnnounceOrder) {
  const stored = createStoredOrders(db);
  const dropForeign = async (ourId: string, orderId: string): Promise<void> => {
    const ours = await stored.one(eq(orders.id, ourId));
    if (!ours) return;
    const foreign = and(whereAccount(ours), eq(orders.orderId, orderId), eq(orders.origin, 'platform'));
    await db.delete(orders).where(foreign);
  };

  /**
   * Writes the result of an order, and the attempt that returned it, in one statement; no result if the stored one is from a later read.
   * If another answer has changed the order since it was read as `known`, the change is computed again from the stored row. Returns the
   * current row; null if the platform's order belongs to another of our orders.
   */
  async function record(
    known: OrderRow,
    changeOf: ChangeOf,
    askedAt: Date,
    attempt?: Attempt,
  ): Promise<OrderRow | null> {
    const { id } = known;
    const facts: Partial<Change> | null = changeOf(known);
    if (!facts) return known;
    const update = sql`UPDATE ${orders} AS o SET (${CHANGING}) = (SELECT ${CHANGES} FROM jsonb_populate_record(o, ${orderJson.value({ ...facts, askedAt })}) AS r)
      FROM (SELECT * FROM ${orders} WHERE id = ${id} FOR UPDATE) AS before, jsonb_populate_record(NULL::orders, ${basesIn(known)}) AS k
      WHERE o.id = before.id AND o.asked_at <= ${askedAt.toISOString()} AND ${IS_AS_KNOWN} RETURNING ${CHANGED}, ${BEFORE}`;
    const write = async (): Promise<OrderRow | null> => {
      const written = await db.execute(attempt ? sql`WITH audited AS (${audit(attempt)}) ${update}` : update);
      const [returned] = rowsOf(written);
      if (!returned) {
        const current = await stored.one(eq(orders.id, id));
        const hasChanged = current !== null && BASES.some((key) => current[key] !== known[key]);
        return hasChanged && current.askedAt <= askedAt ? record(current, changeOf, askedAt) : current;
      }
      const row = { ...known, ...orderJson.read(returned) };
      announceChange(row, returned, announce);
      return row;
    };
    try {
      return await write();
    } catch (error) {
      if (!isUniqueViolation(error)) throw error;
    }
    // A listing stored this order as placed elsewhere, before it was known to be ours.
    if (facts.orderId) await dropForeign(id, facts.orderId);
    return write().catch(async (error: unknown) => {
      if (!isUniqueViolation(error)) throw error;
      if (attempt) await db.insert(orderAttempts).values(cut(attempt));
      return null;
    });
  }

  return {
    ...stored,
    ...createOrderLists(db),
    ...createClaims(db, stored),
    ...createSyncs(db),

    record,

    /** Records when these orders were rechecked, except those in flight, whose own answer would be ignored as older. */
    async rechecked(ids: readonly string[], askedAt: Date): Promise<void> {
      if (ids.length === 0) return;
      await db
        .update(orders)
        .set({ askedAt })
        .where(and(inArray(orders.id, [...ids]), lte(orders.askedAt, askedAt), ne(orders.state, 'sending')));
    },

    async insertForeign(rows: OrderRow[]): Promise<void> {
      for (const part of partsOf(rows, 200)) {
        const made = await db.insert(orders).values(part).onConflictDoNothing().returning();
        for (const row of made) if (isNews(row)) announce(row, null);
      }
    },

    /** Sets the time of the next recheck, unless it was changed since the row was read, e.g. by a cancel. */
    async recheckLater({ id, recheckAt }: Pick<OrderRow, 'id' | 'recheckAt'>, at: Date | null): Promise<void> {
      const isSame = recheckAt === null ? isNull(orders.recheckAt) : eq(orders.recheckAt, recheckAt);
      await db
        .update(orders)
        .set({ recheckAt: at })
        .where(and(eq(orders.id, id), isSame));
    },

    /** Schedules an immediate recheck of orders left in flight by a process that ended. */
    async adoptOrphans(nowMs: number): Promise<void> {
      await db
        .update(orders)
        .set({ recheckAt: new Date(nowMs) })
        .where(inArray(orders.state, ['sending', 'unknown']));
    },

    async attempted(attempt: Attempt): Promise<void> {
      await db.insert(orderAttempts).values(cut(attempt));
    },

    /** The same, unless an attempt of this order has recorded this result. */
    async attemptedOnce(attempt: Attempt): Promise<void> {
      const { userId, rowId, result, detail } = cut(attempt);
      const known = await db
        .select({ id: orderAttempts.id })
        .from(orderAttempts)
        .where(
          and(
            eq(orderAttempts.userId, userId),
            eq(orderAttempts.rowId, rowId ?? ''),
            eq(orderAttempts.result, result),
            eq(orderAttempts.detail, detail),
          ),
        )
        .limit(1);
      if (known.length === 0) await db.insert(orderAttempts).values(cut(attempt));
    },
  };
}

/** Time up to which each account's orders were read from its platform, Unix ms; 0 = never. */
function createSyncs(db: Database) {
  return {
    async syncedAt({ userId, platform, credentialId }: Account): Promise<number> {
      const key = [
        eq(orderSyncs.userId, userId),
        eq(orderSyncs.platform, platform),
        eq(orderSyncs.credentialId, credentialId ?? 0),
      ];
      const [row] = await db
        .select()
        .from(orderSyncs)
        .where(and(...key));
      return row?.syncedAt.getTime() ?? 0;
    },

    async synced({ userId, platform, credentialId }: Account, at: Date): Promise<void> {
      await db
        .insert(orderSyncs)
        .values({ userId, platform, credentialId: credentialId ?? 0, syncedAt: at })
        .onConflictDoUpdate({
          target: [orderSyncs.userId, orderSyncs.platform, orderSyncs.credentialId],
          set: { syncedAt: at },
        });
    },
  };
}

function isUniqueViolation(error: unknown): boolean {
  const cause = (error as { cause?: unknown }).cause ?? error;
  return (cause as { code?: unknown }).code === '23505';
}
