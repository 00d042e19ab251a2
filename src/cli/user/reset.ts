import { systemClock } from '../../core/time.ts';
import { issueReset, PRINTED_MS, resetLink } from '../../accounts/password-resets.ts';
import { recordEvent, type User } from '../../accounts/users.ts';
import type { Config } from '../../core/config.ts';
import type { Database } from '../../stores/postgres/client.ts';
import { accountOf, isEmail, print, type UserCommand } from './command.ts';
import { urlHost } from '../../core/text.ts';

export const HOURS = PRINTED_MS / 3_600_000;

export const reset: UserCommand = {
  takes: 'EMAIL',
  does: `prints a link that sets a new password once, for ${HOURS} hours`,
  accepts: ([email, ...more]) => isEmail(email) && more.length === 0,
  async run({ db, config }, [email]) {
    print(await linkFor(db, config, await accountOf(db, email)));
  },
};

/** A link for the operator to hand over; without PUBLIC_URL it leads to where this service listens. */
export async function linkFor(db: Database, { PUBLIC_URL, HOST, PORT }: Config, user: User): Promise<string> {
  const token = await issueReset(db, { userId: user.id, mailed: false, now: systemClock.now() });
  await recordEvent(db, 'password_reset_requested', user.id, '', { by: 'operator' });
  const host = urlHost(HOST);
  return resetLink(PUBLIC_URL ?? `http://${host}:${PORT}`, token ?? '');
}
