import { changeDefaultClients, defaultClientRules, type DefaultClientLimits } from '../accounts/default-clients.ts';
import { recordEvent } from '../accounts/users.ts';
import { ConfigError } from '../core/config-error.ts';
import { parseUsd, usdText } from '../core/decimal.ts';
import { besideService } from './beside.ts';
import { runCommand } from './command.ts';

const USAGE = `npm run default-clients -- show             shows the operator's limits on the default order clients
npm run default-clients -- off              rejects orders through them, and makes the service cancel their working orders
npm run default-clients -- on               allows orders again
npm run default-clients -- limit USD|none   sets the maximum cost of one order through them
Who may use them: npm run user -- default-clients EMAIL grant|revoke. Both work beside a running service, also with embedded
stores; working orders are cancelled when it runs.`;

const USD = /^\d{1,12}(\.\d{1,6})?$/;

/** The change that the arguments ask for; {} only shows, null if they are invalid. */
function changeOf([action, word = '', ...rest]: string[]): Partial<DefaultClientLimits> | null {
  if (rest.length > 0 || (action !== 'limit' && word !== '')) return null;
  if (action === 'show') return {};
  if (action === 'on' || action === 'off') return { tradingEnabled: action === 'on' };
  if (action === 'limit' && word === 'none') return { maxOrder: null };
  return action === 'limit' && USD.test(word) ? { maxOrder: parseUsd(word) } : null;
}

await runCommand(USAGE, async (words) => {
  const change = changeOf(words);
  if (change === null) throw new ConfigError(USAGE);
  await besideService(async (db) => {
    if (Object.keys(change).length > 0) {
      await changeDefaultClients(db, change);
      await recordEvent(db, 'default_clients_changed', null, '', { by: 'operator', change: words.join(' ') });
    }
    const { tradingEnabled, maxOrder } = await defaultClientRules(db).limits();
    const most = maxOrder === null ? 'no limit' : `at most ${usdText(maxOrder)} USD`;
    process.stdout.write(`default clients: ${tradingEnabled ? 'on' : 'off'}, ${most} for one order\n`);
  });
});
