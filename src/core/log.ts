import { DrizzleQueryError } from 'drizzle-orm/errors';
import type { FastifyBaseLogger } from 'fastify';
import { pino, type DestinationStream } from 'pino';
import pretty from 'pino-pretty';
import type { Config } from './config.ts';

/** What the stores and the embedded engines log to. */
export type Log = Pick<FastifyBaseLogger, 'debug' | 'info' | 'warn' | 'error'>;

/** Fields whose values are never logged, at the top level and one level down. */
const SECRETS = ['password', 'key', 'secret', 'token', 'cookie', 'authorization', 'private_key', 'fields', 'x-api-key'];

/** Secrets recognized by their form, anywhere in a line: API keys, signed cookies, private keys. */
const FORMS = /pk_[\w-]{8,}|eyJ[\w-]{8,}\.[\w-]+\.[\w-]+|-----BEGIN[^-]*PRIVATE KEY-----[^-]*/g;

/** JSON lines, text if LOG_FORMAT is text, or auto on a terminal; secrets are removed by name and by form. */
export function createLog(
  config: Pick<Config, 'LOG_LEVEL'> & Partial<Pick<Config, 'LOG_FORMAT'>>,
  destination?: DestinationStream,
): FastifyBaseLogger {
  const { isTTY } = process.stdout;
  const isText = (config.LOG_FORMAT ?? 'auto') === 'auto' ? isTTY : config.LOG_FORMAT === 'text';
  const target = destination ?? (isText ? pretty({ colorize: isTTY, singleLine: true }) : pino.destination(1));
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

/** The message of an error, without the statement and its values where drizzle puts them there. */
export const messageOf = (error: Error): string =>
  error instanceof DrizzleQueryError ? 'PostgreSQL: statement failed' : String(error.message);

/** An error without its arguments: drizzle and drivers attach statements and their values. */
function errorLine(error: Error): object {
  const { name, stack = '', cause } = error;
  const { code } = error as NodeJS.ErrnoException;
  const frames = stack
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 8);
  return {
    type: name,
    message: messageOf(error),
    stack: frames.join('\n'),
    ...(code === undefined ? {} : { code }),
    ...(cause instanceof Error ? { cause: errorLine(cause) } : {}),
  };
}
