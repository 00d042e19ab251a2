import { loadConfig } from '../core/config.ts';
import { backUp } from './embedded-backup.ts';
import { createLog } from '../core/log.ts';
import { readWords, runCommand } from './command.ts';

const USAGE = `npm run backup -- DIR
Writes the embedded stores and generated secrets of DATA_DIR into DIR, which must be empty or new. Stop the service first.
DIR then holds secrets: keep it where only you can read it.`;

await runCommand(USAGE, async (args) => {
  const [folder = ''] = readWords(USAGE, args, 1);
  const config = loadConfig(process.env, 'stores');
  await backUp(config, folder, createLog(config, process.stderr));
  process.stdout.write(`${config.dataDir} is backed up in ${folder}\n`);
});
