import { grantDefaultClients, revokeDefaultClients } from '../../accounts/default-clients.ts';
import { recordEvent } from '../../accounts/users.ts';
import { ConfigError } from '../../core/config-error.ts';
import { accountOf, emailOf, isEmail, print, timeText, type UserCommand } from './command.ts';

/** Grants also an account whose e-mail nobody has proven. */
const UNVERIFIED = '--unverified';

/** Names who may place orders through the operator's default clients. */
export const defaultClients: UserCommand = {
  takes: `EMAIL grant|revoke [${UNVERIFIED}]`,
  does: "lets an account place orders through the operator's default clients",
  accepts: ([email, change, option, ...more]) =>
    isEmail(email) &&
    (change === 'grant'
      ? option === undefined || option === UNVERIFIED
      : change === 'revoke' && option === undefined) &&
    more.length === 0,
  async run({ db }, [word, change, option]) {
    const { id, emailVerifiedAt, createdAt } = await accountOf(db, word);
    const email = emailOf(word);
    const granted = change === 'grant';
    // Anyone can register any e-mail where registration is open.
    if (granted && emailVerifiedAt === null && option !== UNVERIFIED) {
      throw new ConfigError(
        `EMAIL: must be proven, by a mailed reset link or a sign-in with Google, received ${email}, registered ${timeText(createdAt)}. ` +
          `Ask its owner whether the account is theirs, e.g. by the time; then add ${UNVERIFIED}`,
      );
    }
    await (granted ? grantDefaultClients(db, id) : revokeDefaultClients(db, id));
    await recordEvent(db, granted ? 'default_clients_granted' : 'default_clients_revoked', id, '', { by: 'operator' });
    const since = granted ? [`account since ${timeText(createdAt)}`] : [];
    print(`${email} ${granted ? 'may' : 'may not'} place orders through the default clients`, ...since);
  },
};
