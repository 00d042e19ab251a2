import { and, eq, isNull, sql } from 'drizzle-orm';
import { defaultClientRules, type DefaultClientLimits } from '../accounts/default-clients.ts';
import { usdText, type Usd } from '../core/decimal.ts';
import type { Platform } from '../core/model.ts';
import { orderRefused } from '../platforms/failed-placement.ts';
import type { Database } from '../stores/postgres/client.ts';
import { orders } from './tables.ts';

/** place: new orders. manage: listing, reading and cancelling; also allowed to users who have placed orders through the client. */
export type ClientUse = 'place' | 'manage';

/** Whether a user may use a platform's default client: granted by the operator, or to manage orders placed through it. */
export type MayUseDefault = (userId: string, platform: Platform, use: ClientUse) => Promise<boolean>;

export function defaultClientAccess(db: Database): MayUseDefault {
  const rules = defaultClientRules(db);
  const placed = db
    .select({ id: orders.id })
    .from(orders)
    .where(
      and(
        eq(orders.userId, sql.placeholder('userId')),
        eq(orders.platform, sql.placeholder('platform')),
        isNull(orders.credentialId),
      ),
    )
    .limit(1)
    .prepare('');
  return async (userId, platform, use) =>
    (await rules.isGranted(userId)) || (use === 'manage' && (await placed.execute({ userId, platform })).length > 0);
}

/** 422 if the operator has switched off trading through the default clients, or the order exceeds the operator's limit. */
export function requireOperatorAllows({ tradingEnabled, maxOrder }: DefaultClientLimits, notional: Usd): void {
  const own = 'Store a credential of your own at POST /v1/api/auth/credentials.';
  if (!tradingEnabled) throw orderRefused("Trading through this server's default clients is switched off", own);
  if (maxOrder === null || notional <= maxOrder) return;
  throw orderRefused(
    "The order is over the operator's limit",
    `Place a smaller order. ${own}`,
    `the order is worth ${usdText(notional)} USD, at most ${usdText(maxOrder)} are allowed`,
  );
}
