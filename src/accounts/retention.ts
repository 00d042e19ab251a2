import { lt, or, sql } from 'drizzle-orm';
import type { Database } from '../stores/postgres/client.ts';
import { KNOWN_SECONDS } from './known-devices.ts';
import { accountEvents, apiKeys, knownNetworks, passwordResets } from './tables.ts';
import { DAY_MS } from '../core/time.ts';

/** Above this the oldest are dropped regardless of age, so that logins and new keys cannot fill the store. */
const MAX_EVENTS_PER_USER = 10_000;
const MAX_EVENTS_OF_NOBODY = 100_000;
/** Revoked and expired ones. */
const MAX_ENDED_KEYS_PER_USER = 100;

/** Drops security events and ended keys that are old or too many, and expired links and networks. */
export async function dropOldAccountRecords(db: Database, days: number, now: number): Promise<void> {
  const before = new Date(now - days * DAY_MS);
  await db.delete(accountEvents).where(lt(accountEvents.at, before));
  await db.delete(accountEvents).where(
    sql`${accountEvents.id} IN (
      SELECT id FROM (
        SELECT id, user_id, row_number() OVER (PARTITION BY user_id ORDER BY id DESC) AS place FROM account_events
      ) AS ranked
      WHERE place > CASE WHEN user_id IS NULL THEN ${MAX_EVENTS_OF_NOBODY}::int ELSE ${MAX_EVENTS_PER_USER}::int END
    )`,
  );
  await db.delete(apiKeys).where(or(lt(apiKeys.revokedAt, before), lt(apiKeys.expiresAt, before)));
  await db.delete(apiKeys).where(
    sql`${apiKeys.id} IN (
      SELECT id FROM (
        SELECT id, row_number() OVER (PARTITION BY user_id ORDER BY least(revoked_at, expires_at) DESC) AS place
        FROM api_keys WHERE revoked_at IS NOT NULL OR expires_at <= ${new Date(now).toISOString()}::timestamptz
      ) AS ranked
      WHERE place > ${MAX_ENDED_KEYS_PER_USER}::int
    )`,
  );
  await db.delete(passwordResets).where(lt(passwordResets.expiresAt, new Date(now)));
  await db.delete(knownNetworks).where(lt(knownNetworks.seenAt, new Date(now - KNOWN_SECONDS * 1000)));
}
