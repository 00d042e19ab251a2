import { parseArgs } from 'node:util';
import { asc, count, eq, max } from 'drizzle-orm';
import { insertKey } from '../../accounts/api-keys.ts';
import { apiKeys, users, type Tier } from '../../accounts/tables.ts';
import { SCOPES, type Scope } from '../../core/model.ts';
import { createUser, findByEmail, recordEvent, setRequestLimit, setTier } from '../../accounts/users.ts';
import { ConfigError } from '../../core/config-error.ts';
import { accountOf, emailOf, isEmail, print, timeText, type UserCommand } from './command.ts';
import { HOURS, linkFor } from './reset.ts';

export const list: UserCommand = {
  takes: '',
  does: 'lists accounts with their tiers and keys',
  accepts: (words) => words.length === 0,
  async run({ db }) {
    const rows = await db
      .select({
        email: users.email,
        tier: users.tier,
        perMinute: users.requestsPerMinute,
        created: users.createdAt,
        keys: count(apiKeys.id),
        used: max(apiKeys.lastUsedAt),
      })
      .from(users)
      .leftJoin(apiKeys, eq(apiKeys.userId, users.id))
      .groupBy(users.id)
      .orderBy(asc(users.createdAt));
    for (const { email, tier, perMinute, created, keys, used } of rows) {
      const limited = perMinute === null ? [] : [`${perMinute} a minute`];
      print(email, tier, ...limited, `since ${timeText(created)}`, `${keys} keys`, `last used ${timeText(used)}`);
    }
  },
};

/** The arguments of `create`; null if they are invalid. Without --scopes a key may do what its user may, as at POST api-keys. */
function askedFor(words: string[]): { word: string; name: string; scopes: Scope[] } | null {
  try {
    const { values, positionals } = parseArgs({
      args: words,
      options: { scopes: { type: 'string', default: SCOPES.join(',') } },
      allowPositionals: true,
    });
    const [word = '', name = ''] = positionals;
    const given = values.scopes.split(',');
    const scopes = SCOPES.filter((scope) => given.includes(scope));
    const isValid = isEmail(word) && positionals.length <= 2 && scopes.length === given.length;
    return isValid ? { word, name, scopes } : null;
  } catch {
    return null;
  }
}

export const create: UserCommand = {
  takes: 'EMAIL [NAME] [--scopes read]',
  does: 'creates an account and an API key that reads and trades (or has these scopes only), printed once; stderr gets a link to set the password',
  accepts: (words) => askedFor(words) !== null,
  async run({ db, config }, words) {
    const asked = askedFor(words);
    if (!asked) return;
    const { word, name, scopes } = asked;
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
  does: 'sets the limit: FREE_PER_MINUTE or PRO_PER_MINUTE requests a minute',
  accepts: ([email, wanted = '', ...more]) => isEmail(email) && isTier(wanted) && more.length === 0,
  async run({ db }, [email, wanted = '']) {
    if (!isTier(wanted)) return;
    const { id } = await accountOf(db, email);
    await setTier(db, emailOf(email), wanted);
    await recordEvent(db, 'tier_changed', id, '', { tier: wanted });
    print(`${emailOf(email)} is ${wanted}`);
  },
};

const MOST_PER_MINUTE = 1_000_000;
/** A limit as an operator writes it; undefined if it is none. */
function perMinuteOf(word = ''): number | null | undefined {
  if (word === 'none') return null;
  return /^[1-9]\d{0,6}$/.test(word) && Number(word) <= MOST_PER_MINUTE ? Number(word) : undefined;
}

export const limit: UserCommand = {
  takes: 'EMAIL PER_MINUTE|none',
  does: "sets a user's own limit of requests a minute, 1 to 1000000; none: that of the tier again",
  accepts: ([email, word, ...more]) => isEmail(email) && perMinuteOf(word) !== undefined && more.length === 0,
  async run({ db }, [email, word]) {
    const perMinute = perMinuteOf(word) ?? null;
    const { id } = await accountOf(db, email);
    await setRequestLimit(db, id, perMinute);
    await recordEvent(db, 'request_limit_changed', id, '', { per_minute: word ?? '' });
    print(`${emailOf(email)} may make ${perMinute === null ? "its tier's" : perMinute} requests a minute`);
  },
};
