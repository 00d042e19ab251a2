import { ConfigError } from '../core/config-error.ts';
import type { Database } from '../stores/postgres/client.ts';
import type { KeyCaller } from './caller.ts';
import { findByEmail } from './users.ts';

/** The user as whom callers of this machine read without a key. */
export type LoopbackUser = () => Promise<KeyCaller>;

/** The user of LOOPBACK_USER; null without that setting. Throws ConfigError if it names no account. */
export async function openLoopbackUser(db: Database, email: string | undefined): Promise<LoopbackUser | null> {
  if (email === undefined) return null;
  const user = async () => {
    const found = await findByEmail(db, email);
    if (found) return found;
    throw new ConfigError(
      `LOOPBACK_USER: must be the e-mail of an account, received ${email}; run: npm run user -- create ${email}`,
    );
  };
  await user();
  return async () => {
    const { id: userId, tier, requestsPerMinute } = await user();
    return { kind: 'key', keyId: 'loopback', userId, tier, requestsPerMinute, scopes: ['read'] };
  };
}
