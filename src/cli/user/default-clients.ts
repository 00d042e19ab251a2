import { grantDefaultClients, revokeDefaultClients } from '../../accounts/default-clients.ts';
import { recordEvent } from '../../accounts/users.ts';
import { accountOf, emailOf, isEmail, print, type UserCommand } from './command.ts';

/** Names who may place orders through the operator's default clients. */
export const defaultClients: UserCommand = {
  takes: 'EMAIL grant|revoke',
  does: "lets an account place orders through the operator's default clients",
  accepts: ([email, change, ...more]) =>
    isEmail(email) && (change === 'grant' || change === 'revoke') && more.length === 0,
  async run({ db }, [email, change]) {
    const { id } = await accountOf(db, email);
    const granted = change === 'grant';
    await (granted ? grantDefaultClients(db, id) : revokeDefaultClients(db, id));
    await recordEvent(db, granted ? 'default_clients_granted' : 'default_clients_revoked', id, '', { by: 'operator' });
    print(`${emailOf(email)} ${granted ? 'may' : 'may not'} place orders through the default clients`);
  },
};
