import { randomBytes } from 'node:crypto';
import { systemClock } from '../core/time.ts';
import { readWords, runCommand } from './command.ts';
import { loadConfig } from '../core/config.ts';
import { keptSecret } from '../core/data-dir.ts';
import { createLog } from '../core/log.ts';
import { startEmbeddedClickHouse } from '../embedded/clickhouse/supervisor.ts';

const USAGE = `npm run clickhouse
Runs only the embedded ClickHouse, so that several processes on this machine can share one store:
DATA_DIR (its files and password), CLICKHOUSE_PORT, CLICKHOUSE_MEMORY_MB. Prints the CLICKHOUSE_URL for the others.`;

await runCommand(USAGE, async (args) => {
  readWords(USAGE, args, 0);
  const config = loadConfig(process.env, 'stores');
  const log = createLog(config, process.stderr);
  const clickhouse = await startEmbeddedClickHouse({
    dataDir: config.dataDir,
    memoryMb: config.CLICKHOUSE_MEMORY_MB,
    port: config.CLICKHOUSE_PORT,
    // Stays the same over restarts, so that the other processes reconnect.
    password: keptSecret(config.dataDir, 'CLICKHOUSE_PASSWORD', false, () => randomBytes(24).toString('base64url')),
    log,
    clock: systemClock,
  });
  process.stdout.write(`CLICKHOUSE_URL=${clickhouse.url}\n`);
  const stop = () => void clickhouse.close();
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
});
