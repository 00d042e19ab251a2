import { randomBytes } from 'node:crypto';
import { ApiError } from '../../core/errors.ts';
import type { Config } from '../../core/config.ts';
import { withStableStatistics } from '../../core/sql-text.ts';
import { urlHost } from '../../core/text.ts';

/** Output formats of a statement; a FORMAT in the statement itself takes precedence. */
export const SQL_FORMATS = { json: 'JSONCompact', csv: 'CSVWithNames', parquet: 'Parquet' } as const;
type SqlFormat = keyof typeof SQL_FORMATS;

/** Rows of a JSON answer; files have no limit. */
export const JSON_ROWS = 1000;
/** Concurrent statements of one user, including waiting ones. */
const PER_USER = 2;

/** Read-only SQL on behalf of a user, through the analysts' access: the SQL port, or SQL_USER on a server. */
export interface AnalystSql {
  /** The owner of a ticket that `run` sent as a password; null for any other text. */
  ownerOfTicket(text: string): string | null;
  /** Called once the SQL port listens. */
  portOpened(host: string, port: number): void;
  /**
   * Rejects with 400 and the engine's message for a rejected statement, 429 for too many at once, 503 if SQL is unavailable. The
   * statement counts until `signal` aborts: once the answer was sent, or its reader is gone.
   */
  run(userId: string, statement: string, format: SqlFormat, signal: AbortSignal): Promise<Response>;
}

type Settings = Pick<Config, 'CLICKHOUSE_URL' | 'SQL_USER' | 'SQL_PASSWORD'>;

export function createAnalystSql(config: Settings): AnalystSql {
  const tickets = new Map<string, string>();
  const running = new Map<string, number>();
  let address = serverAddress(config);

  /** The port asks who owns a password: a ticket per statement applies its user's limits. */
  const credentials = (userId: string) => {
    if (config.CLICKHOUSE_URL !== undefined) return { user: config.SQL_USER, password: config.SQL_PASSWORD ?? '' };
    const password = `pk_${randomBytes(32).toString('base64url')}`;
    tickets.set(password, userId);
    return { user: 'explorer', password };
  };
  const ask = async (userId: string, statement: string, format: SqlFormat, signal: AbortSignal): Promise<Response> => {
    if (address === null) throw noWay(config);
    const url = new URL(address);
    url.searchParams.set('default_format', SQL_FORMATS[format]);
    // On a server the quota of SQL_USER counts each user separately.
    url.searchParams.set('quota_key', userId);
    if (format === 'json') {
      url.searchParams.set('limit', String(JSON_ROWS));
      // Numbers that JavaScript would round are sent as text.
      url.searchParams.set('output_format_json_quote_64bit_integers', '1');
      url.searchParams.set('output_format_json_quote_decimals', '1');
    }
    const { user, password } = credentials(userId);
    try {
      const headers = { 'x-clickhouse-user': user, 'x-clickhouse-key': password };
      return await fetch(url, { method: 'POST', body: withStableStatistics(statement), headers, signal });
    } catch (error) {
      if (signal.aborted) throw error;
      throw new ApiError(503, 'The SQL port does not respond', {
        resolution: 'Retry in a few seconds.',
        retryAfter: 5,
      });
    } finally {
      tickets.delete(password);
    }
  };
  const ended = (userId: string): void => {
    const left = (running.get(userId) ?? 1) - 1;
    if (left === 0) running.delete(userId);
    else running.set(userId, left);
  };
  return {
    ownerOfTicket: (text) => tickets.get(text) ?? null,
    portOpened: (host, port) => {
      const loopback = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
      address = `http://${urlHost(loopback)}:${port}/`;
    },
    async run(userId, statement, format, signal) {
      signal.throwIfAborted();
      const count = running.get(userId) ?? 0;
      if (count >= PER_USER) throw tooManyStatements();
      running.set(userId, count + 1);
      signal.addEventListener('abort', () => ended(userId), { once: true });
      const answer = await ask(userId, statement, format, signal);
      if (!answer.ok) throw refused(answer.status, await answer.text());
      return answer;
    },
  };
}

/** On a server, statements run as SQL_USER in the database of CLICKHOUSE_URL. */
function serverAddress({ CLICKHOUSE_URL, SQL_PASSWORD }: Settings): string | null {
  if (CLICKHOUSE_URL === undefined || SQL_PASSWORD === undefined) return null;
  const url = new URL(CLICKHOUSE_URL);
  const database = url.pathname.slice(1);
  const bare = new URL(url.origin);
  if (database !== '') bare.searchParams.set('database', database);
  return bare.href;
}

const noWay = ({ CLICKHOUSE_URL }: Settings): ApiError =>
  new ApiError(503, 'SQL is not available', {
    resolution:
      CLICKHOUSE_URL === undefined ? 'The operator turned SQL_PORT off.' : 'The operator did not set SQL_PASSWORD.',
  });

const tooManyStatements = (): ApiError =>
  new ApiError(429, 'Too many statements at once', {
    resolution: `Wait for one to end: ${PER_USER} may run.`,
    retryAfter: 1,
  });

const MAX_ERROR = 1000;
const refused = (status: number, text: string): ApiError =>
  status < 500
    ? new ApiError(400, 'The statement was refused', {
        resolution: 'Correct it; GET /docs and docs/sql.md describe what may be read.',
        errorText: text.trim().slice(0, MAX_ERROR),
      })
    : new ApiError(503, 'The statement did not finish', {
        resolution: 'Narrow the statement, or retry.',
        errorText: text.trim().slice(0, MAX_ERROR),
        retryAfter: 5,
      });
