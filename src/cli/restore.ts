import { loadConfig } from '../core/config.ts';
import { restore } from './embedded-backup.ts';
import { createLog } from '../core/log.ts';
import { readWords, runCommand } from './command.ts';

const USAGE = `npm run restore -- DIR
Puts a backup made by npm run backup into DATA_DIR, which must hold no stores and no day files yet. Starting the service then brings the schema up to date.`;

await runCommand(USAGE, async (args) => {
  const [folder = ''] = readWords(USAGE, args, 1);
  const config = loadConfig(process.env, 'stores');
  const { createdAt } = await restore(config, folder, createLog(config, process.stderr));
  process.stdout.write(`${config.dataDir} holds the backup of ${createdAt}\n`);
});
