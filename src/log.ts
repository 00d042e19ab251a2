import { DrizzleQueryError } from 'drizzle-orm/errors';
import type { FastifyBaseLogger } from 'fastify';
import { pino, type DestinationStream } from 'pino';
import pretty from 'pino-pretty';
import type { Config } from './config.ts';

/** Names whose value is never written, wherever in a log line they stand (one level down too). */
const SECRETS = ['password', 'key', 'secret', 'token', 'cookie', 'authorization', 'private_key', 'fields', 'x-api-key'];

/** JSON lines, pretty on a terminal; secrets are cut out by name, and API keys by their form in error texts. */
export function createLog(config: Pick<Config, 'LOG_LEVEL'>, destination?: DestinationStream): FastifyBaseLogger {
  const target = destination ?? (process.stdout.isTTY ? pretty({ colorize: true }) : pino.destination(1));
  return pino(
    {
      level: config.LOG_LEVEL,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: SECRETS.flatMap((name) => [`["${name}"]`, `*["${name}"]`]), censor: '[redacted]' },
      serializers: { err: errorLine },
    },
    target,
  );
}

/** An error without what it was called with: drizzle and drivers put statements and their values into theirs. */
function errorLine(error: Error): object {
  const { name, message, stack = '', cause } = error;
  const { code } = error as NodeJS.ErrnoException;
  const shown = error instanceof DrizzleQueryError ? 'statement failed' : withoutKeys(message);
  const frames = stack
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 8);
  return {
    type: name,
    message: shown,
    stack: frames.join('\n'),
    ...(code === undefined ? {} : { code }),
    ...(cause instanceof Error ? { cause: errorLine(cause) } : {}),
  };
}

const withoutKeys = (text: string): string => text.replaceAll(/pk_[\w-]{8,}/g, 'pk_…');
