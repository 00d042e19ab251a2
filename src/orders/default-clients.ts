import { and, eq, isNull, sql } from 'drizzle-orm';
import { defaultClientRules } from '../accounts/default-clients.ts';
import type { Platform } from '../core/model.ts';
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
