import { eq, sql } from 'drizzle-orm';
import { complement, notionalUsd, parseUsd, usdText, type Usd } from '../core/decimal.ts';
import { orderSettings } from './tables.ts';
import type { OrderTerms } from '../platforms/order-contract.ts';
import type { Database } from '../stores/postgres/client.ts';

/** A user's own limits, USD of notional; null = no limit. */
export interface OrderLimits {
  tradingEnabled: boolean;
  maxOrder: Usd | null;
  /** Limit of the sum of a UTC day's orders, without rejected ones. */
  maxDay: Usd | null;
}

/**
 * Maximum cost of an order in USD, which limits apply to. Buy: `budget`, the amount if the platform itself spends it, else worst price ×
 * size. Sell: max(p, 1 − p) × size with the worst price p, because it gives up contracts or, on Kalshi, buys the other outcome.
 */
export function orderNotional(
  { side, price, size }: Pick<OrderTerms, 'side' | 'price' | 'size'>,
  budget: Usd | null = null,
): Usd {
  const other = complement(price);
  return budget ?? notionalUsd(side === 'sell' && other > price ? other : price, size);
}

const usdOrNull = (text: string | null): Usd | null => (text === null ? null : parseUsd(text));
const textOrNull = (usd: Usd | null): string | null => (usd === null ? null : usdText(usd));

/** Reads limits with a prepared statement, because every order needs them. */
export function limitsReader(db: Database): (userId: string) => Promise<OrderLimits> {
  const ofUser = db
    .select()
    .from(orderSettings)
    .where(eq(orderSettings.userId, sql.placeholder('userId')))
    .prepare('');
  return async (userId) => {
    const [row] = await ofUser.execute({ userId });
    if (!row) return { tradingEnabled: true, maxOrder: null, maxDay: null };
    return {
      tradingEnabled: row.tradingEnabled,
      maxOrder: usdOrNull(row.maxOrderNotional),
      maxDay: usdOrNull(row.maxDayNotional),
    };
  };
}

/** Changes the given limits and returns all of them. */
export async function changeLimits(db: Database, userId: string, change: Partial<OrderLimits>): Promise<OrderLimits> {
  const set = {
    ...(change.tradingEnabled === undefined ? {} : { tradingEnabled: change.tradingEnabled }),
    ...(change.maxOrder === undefined ? {} : { maxOrderNotional: textOrNull(change.maxOrder) }),
    ...(change.maxDay === undefined ? {} : { maxDayNotional: textOrNull(change.maxDay) }),
  };
  const insert = db.insert(orderSettings).values({ userId, ...set });
  await (Object.keys(set).length === 0
    ? insert.onConflictDoNothing()
    : insert.onConflictDoUpdate({ target: orderSettings.userId, set }));
  return limitsReader(db)(userId);
}
