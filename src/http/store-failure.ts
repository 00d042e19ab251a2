import { DrizzleQueryError } from 'drizzle-orm/errors';
import { PoolFullError } from '../stores/postgres/bounded-pool.ts';
import { StoreError } from '../stores/clickhouse/errors.ts';
import { ApiError } from '../core/errors.ts';

/**
 * Connection lost, refused or timed out; server starting, stopping or out of connections; login or database rejected (28, 3D,
 * 55000); or writes rejected, for example by a standby (25006).
 */
const UNREACHABLE = /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOST|08|53|57P|57014|28|3D|55000|25006)/;
/** Messages of errors of the `pg` package that have no code. */
const LOST =
  /^(timeout exceeded when trying to connect|Connection terminated|Query read timeout|Client has encountered a connection error)/;

/** 503 if a store cannot be reached or has too much to do, without the store's own text; null for other failures. */
export function storeFailure(error: unknown): ApiError | null {
  if (isBusy(error))
    return new ApiError(503, 'Too many requests wait for the data store', {
      resolution: 'Retry in a second.',
      retryAfter: 1,
      cause: error,
    });
  // `failed` is an error in our own query: 500.
  const clickhouseLost = error instanceof StoreError && error.kind !== 'failed';
  if (!clickhouseLost && !isPostgresLost(error)) return null;
  return new ApiError(503, 'The data store is unavailable', {
    resolution: 'Retry in a few seconds.',
    retryAfter: 5,
    cause: error,
  });
}

/** Whether too many reads of this process wait for a store already. */
const isBusy = (error: unknown): boolean =>
  error instanceof StoreError ? error.kind === 'busy' : causeOf(error) instanceof PoolFullError;

const causeOf = (error: unknown): unknown => (error instanceof DrizzleQueryError ? error.cause : error);

/** true if PostgreSQL could not be reached; false if it rejected the statement. */
function isPostgresLost(error: unknown): boolean {
  const cause = causeOf(error);
  if (!(cause instanceof Error)) return false;
  const { code = '', syscall } = cause as NodeJS.ErrnoException;
  // The embedded PostgreSQL has no socket while it starts.
  return UNREACHABLE.test(code) || LOST.test(cause.message) || (code === 'ENOENT' && syscall === 'connect');
}
