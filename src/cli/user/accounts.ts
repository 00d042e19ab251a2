import { asc, count, eq, max } from 'drizzle-orm';
import { forgetKeys, insertKey } from '../../accounts/api-keys.ts';
import { apiKeys, users, type Tier } from '../../accounts/tables.ts';
import type { Scope } from '../../core/model.ts';
import { createUser, findByEmail, recordEvent, setTier } from '../../accounts/users.ts';
import { ConfigError } from '../../core/config-error.ts';
import { accountOf, emailOf, isEmail, print, timeText, type UserCommand } from './command.ts';
import { HOURS, linkFor } from './reset.ts';

export const list: UserCommand = {
  takes: '',
  does: 'lists accounts with their tiers and keys',
  accepts: () => true,
  async run({ db }) {
    const rows = await db
      .select({
        email: users.email,
        tier: users.tier,
        created: users.createdAt,
        keys: count(apiKeys.id),
        used: max(apiKeys.lastUsedAt),
      })
      .from(users)
      .leftJoin(apiKeys, eq(apiKeys.userId, users.id))
      .groupBy(users.id)
      .orderBy(asc(users.createdAt));
    for (const { email, tier, created, keys, used } of rows) {
      print(email, tier, `since ${timeText(created)}`, `${keys} keys`, `last used ${timeText(used)}`);
    }
  },
};

const TRADE = '--trade';

export const create: UserCommand = {
  takes: 'EMAIL [NAME] [--trade]',
  does: 'creates an account and an API key that reads (and trades), printed once; stderr gets a link to set the password',
  accepts: ([email]) => isEmail(email),
  async run({ db, config }, words) {
    const [word, name = ''] = words.filter((given) => given !== TRADE);
    const scopes: Scope[] = words.includes(TRADE) ? ['read', 'trade'] : ['read'];
    const email = emailOf(word);
    if (await findByEmail(db, email)) throw new ConfigError(`EMAIL: must be new, received ${email}`);
    const user = await createUser(db, email, name, null);
    const { key } = await insertKey(db, user.id, 'first', { scopes, expiresAt: null, allowedAddresses: [] });
    await recordEvent(db, 'registered', user.id, '', { by: 'operator' });
    print(key);
    // On stderr: scripts take the key from stdout.
    process.stderr.write(`To set a password, within ${HOURS} hours: ${await linkFor(db, config, user)}\n`);
  },
};

const isTier = (word: string): word is Tier => word === 'free' || word === 'pro';

export const tier: UserCommand = {
  takes: 'EMAIL free|pro',
  does: 'sets the limit: 250 or 500 requests a minute',
  accepts: ([email, wanted = '']) => isEmail(email) && isTier(wanted),
  async run({ db, shared }, [email, wanted = '']) {
    if (!isTier(wanted)) return;
    // Opened first: without it, running services would keep the old tier until their cached keys expire.
    const state = await shared();
    const { id } = await accountOf(db, email);
    await setTier(db, emailOf(email), wanted);
    await recordEvent(db, 'tier_changed', id, '', { tier: wanted });
    await forgetKeys(state, [id]);
    print(`${emailOf(email)} is ${wanted}`);
  },
};
