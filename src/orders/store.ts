import {
  and,
  asc,
  desc,
  eq,
  gte,
  inArray,
  isNotNull,
  isNull,
  lte,
  ne,
  notInArray,
  or,
  sql,
  type SQL,
} from 'drizzle-orm';
import { parseUsd, type Usd } from '../decimal.ts';
import { orderAttempts, orders, orderSettings, orderSyncs } from '../order-tables.ts';
import type { OrderStatus } from '../platforms/orders.ts';
import type { Database } from '../postgres.ts';
import type { Platform } from '../schemas.ts';
import type { OrderLimits } from './limits.ts';
import { rowJson, rowsOf } from './row-json.ts';
import type { OrderFacts, OrderRow } from './rows.ts';

/** Whose account on which platform; credentialId null = the operator's default client. */
export interface Account {
  userId: string;
  platform: Platform;
  credentialId: number | null;
}

export type Attempt = Omit<typeof orderAttempts.$inferInsert, 'id' | 'at'>;
const orderJson = rowJson(orders);
const ALL = sql.raw(
  orderJson
    .names()
    .map((name) => `o.${name}`)
    .join(', '),
);
const attemptJson = rowJson(orderAttempts);
/** Columns that change once an order is claimed. */
const CHANGING = sql.raw(
  'state, order_id, status, filled_size, remaining_size, average_fill_price, maker_fee, taker_fee, metadata, refusal, updated_at, asked_at, next_check_at',
);
/** What changes of an order. */
export type Change = Partial<OrderFacts> & Pick<OrderRow, 'nextCheckAt'> & Partial<Pick<OrderRow, 'refusal'>>;
/** `limited`: nothing is claimed, and the user may have limits: they have to be read, and the claim made with them. */
export type Claim = { kind: 'claimed' | 'key_used' | 'client_id_used' | 'limited' } | { kind: 'over_day'; spent: Usd };

/** Which orders of an account; undefined = all. */
interface RowFilter {
  marketId: string | undefined;
  status: OrderStatus | undefined;
}

/** Where a page of a listing begins. */
export interface OrderPosition {
  createdAt: string;
  id: string;
}

/** An idempotency key is kept this long. */
const KEY_MS = 86_400_000;
const WITHOUT_LIMITS = sql`NOT EXISTS (SELECT FROM ${orderSettings} AS s WHERE s.user_id = given.user_id
  AND (NOT s.trading_enabled OR s.max_order_notional IS NOT NULL OR s.max_day_notional IS NOT NULL))`;
const WORKING: OrderStatus[] = ['pending', 'open', 'partially_filled', 'unknown'];

const ATTEMPTED = sql.raw(attemptJson.names('id', 'at').join(', '));
const audit = (attempt: Attempt): SQL =>
  sql`INSERT INTO ${orderAttempts} (${ATTEMPTED}) SELECT ${ATTEMPTED} FROM jsonb_populate_record(NULL::order_attempts, ${attemptJson.value(cut(attempt))})`;

const ofAccount = ({ userId, platform, credentialId }: Account): SQL | undefined =>
  and(
    eq(orders.userId, userId),
    eq(orders.platform, platform),
    credentialId === null ? isNull(orders.credentialId) : eq(orders.credentialId, credentialId),
  );

function matches(account: Account, filter: RowFilter) {
  return and(
    ofAccount(account),
    filter.marketId === undefined ? undefined : eq(orders.marketId, filter.marketId),
    filter.status === undefined ? undefined : eq(orders.status, filter.status),
  );
}

export type OrderStore = ReturnType<typeof createOrderStore>;

/** Orders at rest. Every change of what became of an order goes through `record`. */
export function createOrderStore(db: Database) {
  // Prepared once: building the text of a statement takes as long as running it.
  const idOfKey = db
    .select({ id: orders.id })
    .from(orders)
    .where(and(eq(orders.userId, sql.placeholder('userId')), eq(orders.idempotencyKey, sql.placeholder('key'))))
    .prepare('');
  const dropForeign = async (ourId: string, orderId: string): Promise<void> => {
    const ours = await one(eq(orders.id, ourId));
    if (!ours) return;
    const foreign = and(ofAccount(ours), eq(orders.orderId, orderId), eq(orders.origin, 'platform'));
    await db.delete(orders).where(foreign);
  };
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
    /** The order that claimed a key, and whether the key is still kept. */
    async byKey(userId: string, key: string, nowMs: number): Promise<{ row: OrderRow; kept: boolean } | null> {
      // Most keys are new, and that shows fastest without the columns.
      const [found] = await idOfKey.execute({ userId, key });
      const row = found ? await one(eq(orders.id, found.id)) : null;
      return row && { row, kept: row.createdAt.getTime() > nowMs - KEY_MS };
    },

    /**
     * Claims key and client id and says durably that the order is about to be sent, in one INSERT. Without `limits` it claims for a user
     * who has none. With one of a day the user's claims queue up behind each other, so that two cannot share what is left. `previous`:
     * the order that gives the key up for it.
     */
    async claim(row: OrderRow, limits: OrderLimits | null, previous: string | null): Promise<Claim> {
      const insert = async (tx: Pick<Database, 'execute' | 'select' | 'update'>): Promise<Claim> => {
        if (previous !== null) await tx.update(orders).set({ idempotencyKey: null }).where(eq(orders.id, previous));
        const made = await tx.execute(
          sql`INSERT INTO ${orders} SELECT given.* FROM jsonb_populate_record(NULL::orders, ${orderJson.value(row)}) AS given
            WHERE ${limits === null ? WITHOUT_LIMITS : sql`true`} ON CONFLICT DO NOTHING RETURNING id`,
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
        return spent + parseUsd(row.notional) > dayLimit ? { kind: 'over_day', spent } : insert(tx);
      });
    },

    /**
     * Writes what became of an order, unless what stands there was asked for later, and the attempt that told it, in one statement;
     * the row as it is now. null = the platform's order belongs to another of our orders.
     */
    async record(id: string, facts: Change, askedAt: Date, attempt?: Attempt): Promise<OrderRow | null> {
      const update = sql`UPDATE ${orders} AS o SET (${CHANGING}) = (SELECT ${CHANGING} FROM jsonb_populate_record(o, ${orderJson.value({ ...facts, askedAt })}))
        WHERE o.id = ${id} AND o.asked_at <= ${askedAt.toISOString()} RETURNING ${ALL}`;
      const write = async (): Promise<OrderRow | null> => {
        const written = await db.execute(attempt ? sql`WITH audited AS (${audit(attempt)}) ${update}` : update);
        return orderJson.rows(written)[0] ?? (await one(eq(orders.id, id)));
      };
      try {
        return await write();
      } catch (error) {
        if (!isUniqueViolation(error)) throw error;
      }
      // A listing met the order before it was known to be ours, and took it for one placed elsewhere.
      if (facts.orderId) await dropForeign(id, facts.orderId);
      return write().catch(async (error: unknown) => {
        if (!isUniqueViolation(error)) throw error;
        if (attempt) await db.insert(orderAttempts).values(cut(attempt));
        return null;
      });
    },

    /** An order of a user by the platform's id or `client:<client order id>`; our own before one found in the account. */
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

    /** Rows that listed orders may be: by the platform's id, or ours by client id while the platform's is not known. */
    matching: (account: Account, orderIds: string[], clientIds: string[]): Promise<OrderRow[]> =>
      db
        .select()
        .from(orders)
        .where(
          and(
            ofAccount(account),
            or(
              inArray(orders.orderId, orderIds),
              and(isNull(orders.orderId), eq(orders.origin, 'service'), inArray(orders.clientOrderId, clientIds)),
            ),
          ),
        ),

    /** Orders that may still change, those asked for longest ago first. */
    working: (account: Account, marketRef: string | null, limit: number): Promise<OrderRow[]> =>
      db
        .select()
        .from(orders)
        .where(
          and(
            ofAccount(account),
            inArray(orders.status, WORKING),
            marketRef === null ? undefined : eq(orders.marketRef, marketRef),
          ),
        )
        .orderBy(asc(orders.askedAt))
        .limit(limit),

    /** Orders that may still change, placed with another credential than these; 0 = the operator's client. */
    stray: (userId: string, platform: Platform, used: number[], limit: number): Promise<OrderRow[]> =>
      db
        .select()
        .from(orders)
        .where(
          and(
            eq(orders.userId, userId),
            eq(orders.platform, platform),
            inArray(orders.status, WORKING),
            notInArray(sql`coalesce(${orders.credentialId}, 0)`, used),
          ),
        )
        .orderBy(asc(orders.askedAt))
        .limit(limit),

    /** These orders as they are now. */
    again: (ids: string[]): Promise<OrderRow[]> => db.select().from(orders).where(inArray(orders.id, ids)),

    /** The platform was asked for these orders, and what stands here is what it told. */
    async askedFor(ids: readonly string[], askedAt: Date): Promise<void> {
      if (ids.length === 0) return;
      await db
        .update(orders)
        .set({ askedAt })
        .where(and(inArray(orders.id, [...ids]), lte(orders.askedAt, askedAt)));
    },

    async insertForeign(rows: OrderRow[]): Promise<void> {
      for (let i = 0; i < rows.length; i += 200) {
        await db
          .insert(orders)
          .values(rows.slice(i, i + 200))
          .onConflictDoNothing();
      }
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

    /** Orders whose time to be looked for has come, longest due first. */
    due: (nowMs: number, limit: number): Promise<OrderRow[]> =>
      db
        .select()
        .from(orders)
        .where(and(isNotNull(orders.nextCheckAt), lte(orders.nextCheckAt, new Date(nowMs))))
        .orderBy(asc(orders.nextCheckAt))
        .limit(limit),

    async checkAgain(id: string, at: Date | null): Promise<void> {
      await db.update(orders).set({ nextCheckAt: at }).where(eq(orders.id, id));
    },

    /** What a process that died has left in flight is looked for at once. */
    async adoptOrphans(nowMs: number): Promise<void> {
      await db
        .update(orders)
        .set({ nextCheckAt: new Date(nowMs) })
        .where(inArray(orders.state, ['sending', 'unknown']));
    },

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

    async attempted(attempt: Attempt): Promise<void> {
      await db.insert(orderAttempts).values(cut(attempt));
    },
  };
}

/** An attempt with at most 500 characters of the platform's words; no store takes half a character. */
const cut = (attempt: Attempt): Attempt => ({ ...attempt, detail: attempt.detail.slice(0, 500).toWellFormed() });

function isUniqueViolation(error: unknown): boolean {
  const cause = (error as { cause?: unknown }).cause ?? error;
  return (cause as { code?: unknown }).code === '23505';
}
