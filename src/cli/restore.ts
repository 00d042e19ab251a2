import { ConfigError } from '../core/config-error.ts';
import { loadConfig } from '../core/config.ts';
import { restore } from './embedded-backup.ts';
import { createLog } from '../core/log.ts';
import { runCommand } from './command.ts';

const USAGE = `npm run restore -- DIR
Puts a backup made by npm run backup into DATA_DIR, which must hold no stores yet. Starting the service then brings the schema up to date.`;

await runCommand(USAGE, async ([folder = '']) => {
  if (folder === '') throw new ConfigError(USAGE);
  const config = loadConfig(process.env, 'stores');
  const { createdAt } = await restore(config, folder, createLog(config, process.stderr));
  process.stdout.write(`${config.dataDir} holds the backup of ${createdAt}\n`);
});
