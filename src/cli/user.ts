import { asc, count, eq, max } from 'drizzle-orm';
import { createUser, findByEmail, recordEvent, setTier } from '../accounts.ts';
import { forgetKeys } from '../api-keys.ts';
import { ConfigError, loadConfig } from '../config.ts';
import { hashKey, keyPrefix, newApiKey } from '../key-format.ts';
import { createLog } from '../log.ts';
import { migratePostgres, openPostgres, type Database } from '../postgres.ts';
import { openShared } from '../redis.ts';
import { apiKeys, users, type Tier } from '../tables.ts';
import { runCommand } from './command.ts';

const USAGE = `npm run user -- list                    accounts, their tiers and keys
npm run user -- create EMAIL [NAME]     an account without a password, and an API key, printed once
npm run user -- tier EMAIL free|pro     sets the limit: 250 or 500 requests a minute
With embedded stores the service must be stopped first.`;

await runCommand(USAGE, async ([action, email = '', word = '']) => {
  const mail = email.trim().toLowerCase();
  const wanted = action === 'tier' && (word === 'free' || word === 'pro') ? word : null;
  const isKnown = action === 'list' || (mail.includes('@') && (action === 'create' || wanted !== null));
  if (!isKnown) throw new ConfigError(USAGE);
  const config = loadConfig(process.env, 'stores');
  const log = createLog({ LOG_LEVEL: 'warn' });
  const postgres = await openPostgres(config, log);
  try {
    await migratePostgres(postgres, log);
    const { db } = postgres;
    if (wanted !== null) {
      // Opened first: a tier that changes while services cannot be told of it holds only after their memory of the keys.
      const shared = await openShared(config, log);
      try {
        await forgetKeys(shared, [await tier(db, mail, wanted)]);
      } finally {
        await shared.close();
      }
    } else if (action === 'list') await list(db);
    else await create(db, mail, word);
  } finally {
    await postgres.close();
  }
});

async function list(db: Database): Promise<void> {
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
    process.stdout.write(
      `${[email, tier, `since ${iso(created)}`, `${keys} keys`, `last used ${iso(used)}`].join('  ')}\n`,
    );
  }
}

function iso(time: Date | null): string {
  return time?.toISOString() ?? 'never';
}

async function create(db: Database, email: string, name: string): Promise<void> {
  if (await findByEmail(db, email)) throw new ConfigError(`EMAIL: must be new, received ${email}`);
  const user = await createUser(db, email, name, null);
  const key = newApiKey();
  await db.insert(apiKeys).values({ userId: user.id, name: 'first', prefix: keyPrefix(key), hash: hashKey(key) });
  await recordEvent(db, 'registered', user.id, '', { by: 'operator' });
  process.stdout.write(`${key}\n`);
}

async function tier(db: Database, email: string, wanted: Tier): Promise<string> {
  const user = await setTier(db, email, wanted);
  if (!user) throw new ConfigError(`EMAIL: must be of an account, received ${email}`);
  await recordEvent(db, 'tier_changed', user.id, '', { tier: wanted });
  process.stdout.write(`${email} is ${wanted}\n`);
  return user.id;
}
