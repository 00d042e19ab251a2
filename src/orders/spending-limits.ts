import { eq, sql } from 'drizzle-orm';
import { complement, notionalUsd, parseUsd, usdText, type Usd } from '../core/decimal.ts';
import { ApiError } from '../core/errors.ts';
import { orderSettings } from './tables.ts';
import { orderRefused } from '../platforms/failed-placement.ts';
import type { OrderTerms } from '../platforms/order-contract.ts';
import type { Database } from '../stores/postgres/client.ts';

/** What a user allows themselves, USD of notional; null = no limit. */
export interface OrderLimits {
  tradingEnabled: boolean;
  maxOrder: Usd | null;
  /** Of all orders of a UTC day that the platforms did not refuse. */
  maxDay: Usd | null;
}

/**
 * USD that an order can cost, the value that limits are held against. A purchase costs its worst price. A sale gives up what it sells,
 * or on Kalshi buys the other outcome, so that a low worst price does not make it small: the dearer of both sides counts.
 */
export function orderNotional({ side, price, size }: Pick<OrderTerms, 'side' | 'price' | 'size'>): Usd {
  const other = complement(price);
  return notionalUsd(side === 'sell' && other > price ? other : price, size);
}

const usdOrNull = (text: string | null): Usd | null => (text === null ? null : parseUsd(text));
const textOrNull = (usd: Usd | null): string | null => (usd === null ? null : usdText(usd));

/** Reads limits with a statement that is prepared once: every order asks for them. */
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

/** Changes what is given and returns all of it. */
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

const CHANGE = 'Change it at PATCH /v1/api/auth/order-settings.';

/** 422 when the user has switched trading off, or allows no order this large. */
export function requireAllowed(limits: OrderLimits, notional: Usd): void {
  if (!limits.tradingEnabled) throw orderRefused('Trading is switched off in this account', CHANGE);
  if (limits.maxOrder !== null && notional > limits.maxOrder) {
    const text = `the order is worth ${usdText(notional)} USD, at most ${usdText(limits.maxOrder)} are allowed`;
    throw orderRefused("The order exceeds the account's own limit", CHANGE, text);
  }
}

export function overDay(limits: OrderLimits, notional: Usd, spent: Usd): ApiError {
  const most = usdText(limits.maxDay ?? 0n);
  const text = `orders of ${usdText(spent)} USD today, this one is worth ${usdText(notional)}, at most ${most} are allowed`;
  return orderRefused("The order exceeds the account's daily limit", CHANGE, text);
}
