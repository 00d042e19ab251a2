import { DrizzleQueryError } from 'drizzle-orm/errors';
import { StoreError } from '../stores/clickhouse/errors.ts';
import { ApiError } from '../core/errors.ts';

/**
 * Connection lost, refused or timed out; server starting, stopping or out of connections; login or database refused (28, 3D,
 * 55000), or no writes taken, as by a standby (25006).
 */
const UNREACHABLE = /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOST|08|53|57P|57014|28|3D|55000|25006)/;
/** Messages of errors of the `pg` package that have no code. */
const LOST =
  /^(timeout exceeded when trying to connect|Connection terminated|Query read timeout|Client has encountered a connection error)/;

/** 503 when a store cannot be reached, with nothing of the store's own text; null when the failure is something else. */
export function storeFailure(error: unknown): ApiError | null {
  // `failed` is a query of ours that is wrong: 500.
  const clickhouseLost = error instanceof StoreError && error.kind !== 'failed';
  if (!clickhouseLost && !isPostgresLost(error)) return null;
  return new ApiError(503, 'The data store is unavailable', {
    resolution: 'Retry in a few seconds.',
    retryAfter: 5,
    cause: error,
  });
}

/** true when PostgreSQL could not be asked, as opposed to having refused what it was asked. */
export function isPostgresLost(error: unknown): boolean {
  const cause = error instanceof DrizzleQueryError ? error.cause : error;
  if (!(cause instanceof Error)) return false;
  const { code = '', syscall } = cause as NodeJS.ErrnoException;
  // The embedded PostgreSQL has no socket while it starts.
  return UNREACHABLE.test(code) || LOST.test(cause.message) || (code === 'ENOENT' && syscall === 'connect');
}
