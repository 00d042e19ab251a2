import { ConfigError } from '../core/config-error.ts';
import { loadConfig } from '../core/config.ts';
import { requireStore } from '../core/data-dir.ts';
import { createCredentials } from '../accounts/credentials.ts';
import { createLog } from '../core/log.ts';
import { migratePostgres, openPostgres } from '../stores/postgres/client.ts';
import { readWords, runCommand } from './command.ts';

const USAGE = `npm run credentials -- rotate
Re-encrypts every stored platform credential with the first key of CREDENTIALS_KEY. Put the new key first and keep the old ones
after it, restart the service, run this, then remove the old keys. A credential that cannot be opened stays as it is: it is named,
and the command ends with 1. With embedded stores the service must be stopped.`;

await runCommand(USAGE, async (args) => {
  const [action] = readWords(USAGE, args, 1);
  if (action !== 'rotate') throw new ConfigError(USAGE);
  const { DATABASE_URL, dataDir } = loadConfig(process.env, 'stores');
  if (DATABASE_URL === undefined) requireStore(dataDir, 'postgresql');
  // Only now, as it may generate secrets into DATA_DIR.
  const config = loadConfig();
  const log = createLog({ LOG_LEVEL: 'warn' });
  const postgres = await openPostgres(config, log);
  try {
    await migratePostgres(postgres, log);
    const { sealed, failed } = await createCredentials(postgres.db, config.credentialKeys).rotate();
    process.stdout.write(`${sealed} credentials re-encrypted with key ${config.credentialKeys[0]?.id}\n`);
    for (const reason of failed) process.stderr.write(`${reason}\n`);
    if (failed.length > 0) process.exitCode = 1;
  } finally {
    await postgres.close();
  }
});
