import { systemClock } from './core/time.ts';
import { cliMessage } from './stores/clickhouse/errors.ts';
import { ConfigError } from './core/config-error.ts';
import { forgetSecrets, loadConfig, misspelt, misspeltLine, readEnvFile } from './core/config.ts';
import { settingsHelp } from './core/settings.ts';
import { createLog } from './core/log.ts';
import type { Role, Service } from './service.ts';

/** Time limit for a clean stop; then the process exits as it is, and the next start repairs. */
const STOP_MS = 10_000;
const PROGRESS_MS = 60_000;

const HELP = `npm start | npm run api | npm run ingest
Serves the API, ingests the platforms, or both in one process. Settings come from the environment and .env:

${settingsHelp()}`;

async function main(): Promise<void> {
  const [role = 'all', ...more] = process.argv.slice(2);
  if ([role, ...more].some((argument) => argument === '--help' || argument === '-h')) {
    process.stdout.write(`${HELP}\n`);
    return;
  }
  readEnvFile();
  const config = loadConfig();
  const unknown = misspelt();
  // Loaded late: help and wrong settings are printed without waiting seconds for the service to load.
  const { ROLES, startService } = await import('./service.ts');
  if (!ROLES.includes(role as Role))
    throw new ConfigError(`role: must be one of ${ROLES.join(', ')}, received ${JSON.stringify(role)}`);
  if (more.length > 0)
    throw new ConfigError(
      `arguments: only --help is accepted, settings come from the environment and .env, received ${more.join(' ')}`,
    );
  forgetSecrets();
  // A terminal gets sentences, a collector of logs gets JSON.
  const isPerson = process.stdout.isTTY && config.LOG_FORMAT !== 'json';
  const log = createLog(isPerson && !config.logLevelChosen ? { ...config, LOG_LEVEL: 'warn' } : config);
  for (const one of unknown) log.warn(misspeltLine(one));
  const service = await startService(config, role as Role, log);
  log.info({ role, url: service.url, platforms: config.platforms }, 'ready');
  if (isPerson) process.stdout.write(service.welcome);
  if (isPerson) systemClock.every(PROGRESS_MS, () => void showProgress(service));
  let stopping = false;
  const stop = (signal: string): void => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, 'Stopping');
    void systemClock.sleep(STOP_MS).then(() => process.exit(1));
    void service.close().then(() => process.exit(0));
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

/** Nothing while the store does not answer: the log says so. */
const showProgress = ({ progress }: Service): Promise<void> =>
  progress().then(
    (line) => void process.stdout.write(line),
    () => {},
  );

// A failed start prints a one-line reason; a stack would hide it.
main().catch((error: unknown) => {
  process.stderr.write(`forecastle: ${cliMessage(error)}\n`);
  process.exit(1);
});
