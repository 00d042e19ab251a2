import { DrizzleQueryError } from 'drizzle-orm/errors';
import type { FastifyBaseLogger } from 'fastify';
import { pino, type DestinationStream } from 'pino';
import pretty from 'pino-pretty';
import type { Config } from './config.ts';

/** Names whose value is never written, wherever in a log line they stand (one level down too). */
const SECRETS = ['password', 'key', 'secret', 'token', 'cookie', 'authorization', 'private_key', 'fields', 'x-api-key'];

/** Secrets by their form, wherever in a line they stand: API keys, signed cookies, private keys. */
const FORMS = /pk_[\w-]{8,}|eyJ[\w-]{8,}\.[\w-]+\.[\w-]+|-----BEGIN[^-]*PRIVATE KEY-----[^-]*/g;

/** JSON lines, pretty on a terminal; secrets are cut out by name and by form. */
export function createLog(config: Pick<Config, 'LOG_LEVEL'>, destination?: DestinationStream): FastifyBaseLogger {
  const target = destination ?? (process.stdout.isTTY ? pretty({ colorize: true }) : pino.destination(1));
  return pino(
    {
      level: config.LOG_LEVEL,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: SECRETS.flatMap((name) => [`["${name}"]`, `*["${name}"]`]), censor: '[redacted]' },
      serializers: { err: errorLine },
      hooks: { streamWrite: (line) => line.replaceAll(FORMS, '[redacted]') },
    },
    target,
  );
}

/** An error without what it was called with: drizzle and drivers put statements and their values into theirs. */
function errorLine(error: Error): object {
  const { name, message, stack = '', cause } = error;
  const { code } = error as NodeJS.ErrnoException;
  const frames = stack
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 8);
  return {
    type: name,
    message: error instanceof DrizzleQueryError ? 'statement failed' : message,
    stack: frames.join('\n'),
    ...(code === undefined ? {} : { code }),
    ...(cause instanceof Error ? { cause: errorLine(cause) } : {}),
  };
}
