import { and, eq, isNull, type SQL } from 'drizzle-orm';
import type { Platform } from '../core/model.ts';
import { orders } from './tables.ts';

/** A user's account on a platform; credentialId null = the operator's default client. */
export interface Account {
  userId: string;
  platform: Platform;
  credentialId: number | null;
}

/** Condition that selects the orders of an account. */
export const whereAccount = ({ userId, platform, credentialId }: Account): SQL | undefined =>
  and(
    eq(orders.userId, userId),
    eq(orders.platform, platform),
    credentialId === null ? isNull(orders.credentialId) : eq(orders.credentialId, credentialId),
  );
