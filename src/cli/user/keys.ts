import { asc, eq } from 'drizzle-orm';
import { revokeKeys } from '../../accounts/api-keys.ts';
import { apiKeys } from '../../accounts/tables.ts';
import { recordEvent } from '../../accounts/users.ts';
import { ConfigError } from '../../core/config-error.ts';
import { accountOf, isEmail, print, timeText, type UserCommand } from './command.ts';

export const keys: UserCommand = {
  takes: 'EMAIL',
  does: 'lists the API keys of an account with their ids',
  accepts: ([email, ...more]) => isEmail(email) && more.length === 0,
  async run({ db }, [email]) {
    const { id } = await accountOf(db, email);
    const rows = await db.select().from(apiKeys).where(eq(apiKeys.userId, id)).orderBy(asc(apiKeys.createdAt));
    for (const row of rows) {
      const ended = row.revokedAt ? `revoked ${timeText(row.revokedAt)}` : `expires ${timeText(row.expiresAt)}`;
      print(row.id, row.prefix, row.scopes.join(','), `last used ${timeText(row.lastUsedAt)}`, ended, row.name);
    }
  },
};

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export const revoke: UserCommand = {
  takes: 'EMAIL KEY_ID|all',
  does: 'revokes an API key, or every key of an account',
  accepts: ([email, key = '', ...more]) => isEmail(email) && (key === 'all' || UUID.test(key)) && more.length === 0,
  async run({ db }, [email, key = '']) {
    const { id } = await accountOf(db, email);
    const revoked = await revokeKeys(db, id, key === 'all' ? undefined : key);
    if (key !== 'all' && revoked.length === 0)
      throw new ConfigError(`KEY_ID: must be the id of a key of EMAIL, received ${key}`);
    for (const one of revoked) await recordEvent(db, 'key_revoked', id, '', { id: one, by: 'operator' });
    print(`${revoked.length} revoked`);
  },
};
