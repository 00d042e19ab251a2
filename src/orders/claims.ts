import { and, eq, sql } from 'drizzle-orm';
import { z } from 'zod';
import { parseUsd, type Usd } from '../core/decimal.ts';
import { orderJson, orders } from './tables.ts';
import type { Database } from '../stores/postgres/client.ts';
import { rowsOf } from '../stores/postgres/json-row.ts';
import { audit, type Attempt } from './attempts.ts';
import type { OrderRow } from './order-row.ts';
import type { StoredOrders } from './stored-orders.ts';

/** Which limit forbids an order: of the user (trading_off, order, day) or of the operator's default clients. */
const LimitedRow = z.object({
  reason: z.enum(['trading_off', 'order', 'day', 'operator_off', 'operator_order']),
  most: z.string().nullable(),
  spent: z.string().nullable(),
});

/** A limit that forbids an order: `most` is the limit, `spent` what the day's orders cost, in USD. */
export interface Limited {
  kind: 'limited';
  reason: z.output<typeof LimitedRow>['reason'];
  most: Usd;
  spent: Usd;
}

/** The answer of the one statement that claims an order; sql/postgres/functions/claim_order.sql documents it. `row` is null if that order was withdrawn since. */
type Claim = { kind: 'claimed' | 'used' } | { kind: 'replay'; row: OrderRow | null } | Limited;

/** Claims idempotency keys and client order ids before an order is sent. */
export function createClaims(db: Database, { byId }: Pick<StoredOrders, 'byId'>) {
  // Prepared once: building the statement's text takes as long as running it.
  const idOfKey = db
    .select({ id: orders.id })
    .from(orders)
    .where(and(eq(orders.userId, sql.placeholder('userId')), eq(orders.idempotencyKey, sql.placeholder('key'))))
    .prepare('');

  const ask = (row: OrderRow, isDryRun: boolean): Promise<unknown> =>
    db.execute(
      sql`SELECT c.answer, c.reason, c.most, c.spent, (c.known).id AS known_id FROM claim_order(${orderJson.value(row)}, ${isDryRun}) AS c`,
    );

  return {
    /** The order that claimed a key. */
    async byKey(userId: string, key: string): Promise<OrderRow | null> {
      // Most keys are new; selecting only the id is the fastest check.
      const [found] = await idOfKey.execute({ userId, key });
      return found ? byId(found.id) : null;
    },

    /** Claims key and client order id, checks every limit, and records that the order is about to be sent, in one statement. */
    async claim(row: OrderRow): Promise<Claim> {
      const answer = await ask(row, false);
      const { answer: kind, known_id: knownId } = rowsOf(answer)[0] ?? {};
      if (kind === 'claimed' || kind === 'used') return { kind };
      if (kind === 'limited') return limitedOf(answer);
      if (kind !== 'replay') throw new Error(`claim_order answered ${String(kind)}`);
      // Repeats are rare, so the claim returns the id of the other order alone: all its columns would make every claim slower.
      return { kind, row: await byId(String(knownId)) };
    },

    /** The limit that forbids the order, if any; nothing is stored. */
    async limitOn(row: OrderRow): Promise<Limited | null> {
      const answer = await ask(row, true);
      return rowsOf(answer)[0]?.['answer'] === 'limited' ? limitedOf(answer) : null;
    },

    /** Withdraws the claim of an order that was never sent: its key and client order id are free again. */
    async withdraw({ id }: OrderRow, attempt: Attempt): Promise<void> {
      await db.execute(sql`WITH audited AS (${audit(attempt)}) DELETE FROM ${orders} WHERE ${eq(orders.id, id)}`);
    },
  };
}

function limitedOf(answer: unknown): Limited {
  const { reason, most, spent } = LimitedRow.parse(rowsOf(answer)[0]);
  return { kind: 'limited', reason, most: parseUsd(most ?? '0'), spent: parseUsd(spent ?? '0') };
}
