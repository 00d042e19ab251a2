import { systemClock } from '../core/time.ts';
import { loadConfig } from '../core/config.ts';
import { createLog } from '../core/log.ts';
import { startEmbeddedPostgres } from '../embedded/postgres/supervisor.ts';
import { readWords, runCommand } from './command.ts';

const USAGE = `npm run postgres
Runs only the embedded PostgreSQL of DATA_DIR, so that several processes of this machine and user can share one store. Prints the
DATABASE_URL for the others, which stays the same over restarts.`;

await runCommand(USAGE, async (args) => {
  readWords(USAGE, args, 0);
  const config = loadConfig(process.env, 'stores');
  const postgres = await startEmbeddedPostgres({
    dataDir: config.dataDir,
    log: createLog(config, process.stderr),
    clock: systemClock,
  });
  process.stdout.write(`DATABASE_URL=${postgres.url}\n`);
  const stop = () => void postgres.close();
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
});
