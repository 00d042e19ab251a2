import { ConfigError } from '../core/config-error.ts';
import { loadConfig } from '../core/config.ts';
import { requireStore } from '../core/data-dir.ts';
import { createLog } from '../core/log.ts';
import { migratePostgres, openPostgres } from '../stores/postgres/client.ts';
import { openShared } from '../stores/shared/open.ts';
import { type Shared } from '../stores/shared/shared.ts';
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
  const config = loadConfig(process.env, 'stores');
  // The first account may be made before the first start.
  if (command !== create && config.DATABASE_URL === undefined) requireStore(config.dataDir, 'postgresql');
  const log = createLog({ LOG_LEVEL: 'warn' });
  const postgres = await openPostgres(config, log, { beside: true });
  let shared: Promise<Shared> | undefined;
  try {
    await migratePostgres(postgres, log);
    await command.run({ config, db: postgres.db, shared: () => (shared ??= openShared(config, log)) }, words);
  } finally {
    // If Redis could not be opened, the command has already failed.
    await shared?.then((opened) => opened.close()).catch(() => undefined);
    await postgres.close();
  }
});
