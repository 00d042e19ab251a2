import { parseArgs, type ParseArgsConfig } from 'node:util';
import { ConfigError } from '../core/config-error.ts';
import { misspelt, misspeltLine, readEnvFile } from '../core/config.ts';
import { cliMessage } from '../stores/clickhouse/errors.ts';
import { settingsHelp } from '../core/settings.ts';

/** Runs a CLI command: --help prints `usage` and the settings; a failure prints one line on stderr and exits with code 1. */
export async function runCommand(usage: string, run: (args: string[]) => Promise<void>): Promise<void> {
  const args = process.argv.slice(2);
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(`${usage}\n\nSettings (environment and .env):\n${settingsHelp()}\n`);
    return;
  }
  try {
    readEnvFile();
    for (const one of misspelt()) process.stderr.write(`${misspeltLine(one)}\n`);
    await run(args);
  } catch (error) {
    process.stderr.write(`${cliMessage(error)}\n`);
    process.exitCode = 1;
  }
}

/** The options of a command; an unknown argument prints `usage` and what is wrong. */
export function readOptions<const O extends NonNullable<ParseArgsConfig['options']>>(
  usage: string,
  args: string[],
  options: O,
) {
  try {
    return parseArgs({ args, options }).values;
  } catch (error) {
    const [what = ''] = error instanceof Error ? error.message.split('. ') : [];
    throw new ConfigError(`${usage}\n${what}`, { cause: error });
  }
}

/** The words of a command that takes no option and this `count` of them; anything else prints `usage` and what was received. */
export function readWords(usage: string, args: string[], count: number): string[] {
  if (args.length !== count || args.some((word) => word.startsWith('-')))
    throw new ConfigError(args.length === 0 ? usage : `${usage}\nReceived ${args.join(' ')}`);
  return args;
}
