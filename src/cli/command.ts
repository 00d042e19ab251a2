import { cliMessage } from '../stores/clickhouse/errors.ts';
import { settingsHelp } from '../core/settings.ts';

/** Runs a command of the shell: --help prints `usage` and the settings; a failure is one line on stderr and exit code 1. */
export async function runCommand(usage: string, run: (args: string[]) => Promise<void>): Promise<void> {
  const args = process.argv.slice(2);
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(`${usage}\n\nSettings (environment):\n${settingsHelp()}\n`);
    return;
  }
  try {
    await run(args);
  } catch (error) {
    process.stderr.write(`${cliMessage(error)}\n`);
    process.exitCode = 1;
  }
}
