import { ConfigError } from '../core/config-error.ts';
import { besideService } from './beside.ts';
import { runCommand } from './command.ts';
import { create, limit, list, tier } from './user/accounts.ts';
import { defaultClients } from './user/default-clients.ts';
import type { UserCommand } from './user/command.ts';
import { keys, revoke } from './user/keys.ts';
import { reset } from './user/reset.ts';

const COMMANDS: Record<string, UserCommand> = {
  list,
  create,
  tier,
  limit,
  reset,
  keys,
  revoke,
  'default-clients': defaultClients,
};

const callOf = (name: string, { takes }: UserCommand): string => `npm run user -- ${name} ${takes}`.trimEnd();
const calls = Object.entries(COMMANDS).map(([name, command]) => [callOf(name, command), command.does] as const);
const widest = Math.max(...calls.map(([call]) => call.length));
const USAGE = `${calls.map(([call, does]) => `${call.padEnd(widest + 2)}${does}`).join('\n')}
They work beside a running service, also with embedded stores.`;

await runCommand(USAGE, async ([name = '', ...words]) => {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!command) throw new ConfigError(name === '' ? USAGE : `${USAGE}\nNo command ${name}`);
  if (!command.accepts(words))
    throw new ConfigError(`${callOf(name, command)}: ${command.does}; received ${words.join(' ') || 'nothing'}`);
  // The first account may be made before the first start.
  const mayBeNew = command === create;
  await besideService((db, { config }) => command.run({ config, db }, words), { mayBeNew });
});
