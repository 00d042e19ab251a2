import { ClickHouseError } from '@clickhouse/client';
import { ConfigError } from '../../core/config-error.ts';

/**
 * unreachable: no answer, or the store is too busy to accept the request; a repeat may work. busy: too many reads of this process wait
 * already. timeout: the time limit passed. memory: the query needs more than its limit. failed: the store rejected the query, or the query
 * failed. aborted: the caller disconnected.
 */
export type StoreErrorKind = 'unreachable' | 'busy' | 'timeout' | 'memory' | 'failed' | 'aborted';

/** A failure of the analytical store. The message contains no SQL; `cause` does, and belongs in the log only. */
export class StoreError extends Error {
  override name = 'StoreError';
  readonly kind: StoreErrorKind;
  /** ClickHouse's error code, e.g. '60'; undefined when the store did not answer. */
  readonly code: string | undefined;

  constructor(kind: StoreErrorKind, options: { code?: string; cause?: unknown } = {}) {
    super(`ClickHouse: ${kind}${options.code === undefined ? '' : ` (code ${options.code})`}`, {
      cause: options.cause,
    });
    this.kind = kind;
    this.code = options.code;
  }
}

/** TIMEOUT_EXCEEDED, TOO_SLOW. */
const TIMEOUT_CODES = new Set(['159', '160']);
/** MEMORY_LIMIT_EXCEEDED. */
const MEMORY_CODES = new Set(['241']);
/** TOO_MANY_SIMULTANEOUS_QUERIES, SOCKET_TIMEOUT, NETWORK_ERROR, table in readonly mode, UNKNOWN_STATUS_OF_INSERT, KEEPER_EXCEPTION. */
const UNREACHABLE_CODES = new Set(['202', '209', '210', '242', '319', '999']);
const NETWORK_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'UND_ERR_SOCKET',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** `signal` is the caller's own, to distinguish an abort from our deadline. */
export function toStoreError(error: unknown, signal?: AbortSignal): StoreError {
  if (error instanceof StoreError) return error;
  if (error instanceof ClickHouseError) {
    const { code } = error;
    return new StoreError(kindOf(code), { code, cause: error });
  }
  if (signal?.aborted) return new StoreError('aborted', { cause: error });
  const { name, message = '', code = '' } = error as NodeJS.ErrnoException;
  if (NETWORK_CODES.has(code) || /socket hang up|aborted$/i.test(message))
    return new StoreError('unreachable', { cause: error });
  if (name === 'TimeoutError' || /user aborted a request|timeout error/i.test(message))
    return new StoreError('timeout', { cause: error });
  return new StoreError('failed', { cause: error });
}

function kindOf(code: string): StoreErrorKind {
  if (TIMEOUT_CODES.has(code)) return 'timeout';
  if (MEMORY_CODES.has(code)) return 'memory';
  return UNREACHABLE_CODES.has(code) ? 'unreachable' : 'failed';
}

/** The message of a failure at the shell, in one line except for a list of settings. Unlike the API it shows the store's own text. */
export function cliMessage(error: unknown): string {
  if (error instanceof ConfigError) return error.message;
  const cause = error instanceof StoreError && error.cause instanceof ClickHouseError ? error.cause : error;
  const words = cause instanceof Error ? cause.message : String(cause);
  const [line = ''] = words.trim().split('\n', 1);
  return cause instanceof ClickHouseError ? `${line.trim()} (code ${cause.code})` : line;
}

/** The store did not accept the call: nothing listened, or it was full (202). */
export const neverRan = (error: StoreError): boolean =>
  error.code === '202' || (error.cause as NodeJS.ErrnoException | undefined)?.code === 'ECONNREFUSED';
