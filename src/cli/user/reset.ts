import { systemClock, HOUR_MS } from '../../core/time.ts';
import { issueReset, PRINTED_MS, resetLink } from '../../accounts/password-resets.ts';
import { recordEvent, type User } from '../../accounts/users.ts';
import type { Config } from '../../core/config.ts';
import { runningAddress } from '../../core/data-dir.ts';
import type { Database } from '../../stores/postgres/client.ts';
import { accountOf, isEmail, print, type UserCommand } from './command.ts';
import { urlHost } from '../../core/text.ts';

export const HOURS = PRINTED_MS / HOUR_MS;

export const reset: UserCommand = {
  takes: 'EMAIL',
  does: `prints a link that sets a new password once, for ${HOURS} hours`,
  accepts: ([email, ...more]) => isEmail(email) && more.length === 0,
  async run({ db, config }, [email]) {
    print(await linkFor(db, config, await accountOf(db, email)));
  },
};

/** A link for the operator to hand over; without PUBLIC_URL it leads to where the service listens, or will listen. */
export async function linkFor(db: Database, config: Config, user: User): Promise<string> {
  const token = await issueReset(db, { userId: user.id, mailed: false, now: systemClock.now() });
  await recordEvent(db, 'password_reset_requested', user.id, '', { by: 'operator' });
  return resetLink(config.PUBLIC_URL ?? (await listeningAt(config)), token ?? '');
}

async function listeningAt({ DATABASE_URL, dataDir, HOST, PORT }: Config): Promise<string> {
  const running = DATABASE_URL === undefined ? await runningAddress(dataDir, 'api_url') : null;
  // A browser cannot open the address of all networks.
  const host = ['0.0.0.0', '::'].includes(HOST) ? 'localhost' : urlHost(HOST);
  return running ?? `http://${host}:${PORT}`;
}
