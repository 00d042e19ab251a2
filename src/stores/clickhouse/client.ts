import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { ClickHouseLogLevel, createClient, type ClickHouseClient, type ClickHouseSettings } from '@clickhouse/client';
import type { z } from 'zod';
import { neverRan, StoreError, toStoreError } from './errors.ts';
import { passOrFail } from './exception-stream.ts';
import { JoinedReads } from './joined-reads.ts';
import { EMBEDDED_SHARES, Lanes, SERVER_SHARES, type Shares } from './lanes.ts';
import { namedStatements, type QueryParams, type StatementOf } from './named-statements.ts';
import { openReader, type Read, type StatementReader } from './reader.ts';
import { RowBinary } from './row-binary.ts';
import { noStore } from '../../core/config-error.ts';
import type { Config } from '../../core/config.ts';
import type { Log } from '../../core/log.ts';
import { retry, waits } from '../../core/retry.ts';
import { systemClock } from '../../core/time.ts';
import { startEmbeddedClickHouse, type EmbeddedClickHouse } from '../../embedded/clickhouse/supervisor.ts';

export { StoreError, type StoreErrorKind } from './errors.ts';
export type { QueryParams } from './named-statements.ts';

interface ReadOptions {
  timeoutMs?: number;
  signal?: AbortSignal;
  /** Whether the cost of a named query grows with the store for these parameters; default: whether `SCANS` has the query. */
  isScan?: boolean;
}

export interface Urgency {
  /** Whether somebody waits for the rows; then they do not wait to be inserted together with others. */
  isUrgent?: boolean;
}

interface InsertOptions extends Urgency {
  token?: string;
}

type StreamFormat = 'CSVWithNames' | 'JSONEachRow' | 'Parquet' | 'ArrowStream';

/**
 * The analytical store: ClickHouse over HTTP, embedded or a server. Writes use the official client, reads the `StatementReader`.
 * Rows are JSONEachRow with 64-bit integers and decimals as text. Every failure is a StoreError.
 */
export interface ClickHouse {
  /** The engine, if this process runs it; absent on a server. */
  embedded?: EmbeddedClickHouse;
  /** Runs sql/queries/<name>.sql and parses each row. Look-ups that `JoinedReads` has take no options: callers share a statement. */
  query<Row>(name: string, row: z.ZodType<Row>, params?: QueryParams, options?: ReadOptions): Promise<Row[]>;
  /** Runs sql/queries/<name>.sql and gives its rows as RowBinary, for many rows with long texts. */
  rowBinary(name: string, params?: QueryParams, options?: ReadOptions): Promise<RowBinary>;
  /** Runs SQL text that is not a file: checks, tests, the shell. */
  sql<Row = Record<string, unknown>>(text: string, params?: QueryParams, options?: ReadOptions): Promise<Row[]>;
  /** Runs sql/queries/<name>.sql and gives its bytes as they come; a failure on the way destroys the stream with a StoreError. */
  stream(name: string, params: QueryParams, format: StreamFormat, options?: ReadOptions): Promise<Readable>;
  /** Runs sql/queries/<name>.sql, a statement without rows. */
  run(name: string, params?: QueryParams): Promise<void>;
  /** A statement without rows that is not a file: DDL, INSERT … SELECT. */
  command(text: string, params?: QueryParams): Promise<void>;
  /** Inserts rows, or lines of JSONEachRow, as one block. The same token twice changes nothing, in the table and in its views. */
  insert(table: string, rows: readonly object[] | Buffer, options?: InsertOptions): Promise<void>;
  ping(): Promise<boolean>;
  close(): Promise<void>;
}

const READ_TIMEOUT_MS = 30_000;
/** Time limit of DDL, of an export up to its last byte, and of statements over all trades. */
export const LONG_MS = 600_000;
/** Connections of one process; sql/server sets a server's limit of queries by it. */
export const MAX_CONNECTIONS = 16;
/** The connections for reads of a page; the others are for inserts, commands and exports. */
const READ_CONNECTIONS = 10;
/** Waits between attempts: together longer than the embedded engine takes to come back. */
const RETRY_WAITS_MS = [100, 200, 400, 800, 1000, 1000, 1000];

/** Times without a zone are in UTC, whatever the zone of a server. */
const ZONE = { session_timezone: 'UTC' } as const satisfies ClickHouseSettings;

/**
 * Reads wait for the end of the query, so that an error has its own HTTP status instead of following half of the rows. `readonly` lets the
 * server stop a read whose connection is closed.
 */
const READ_SETTINGS: ClickHouseSettings = {
  ...ZONE,
  readonly: '2',
  cancel_http_readonly_queries_on_client_close: 1,
  wait_end_of_query: 1,
  output_format_json_quote_64bit_integers: 1,
  output_format_json_quote_decimals: 1,
  date_time_output_format: 'iso',
};

/** An insert is one block, so that its token covers all rows, and is acknowledged when it is written. */
const INSERT_SETTINGS: ClickHouseSettings = {
  async_insert: 0,
  wait_end_of_query: 1,
  date_time_input_format: 'best_effort',
  max_insert_block_size: '10000000',
  min_insert_block_size_rows: '10000000',
  min_insert_block_size_bytes: '1000000000',
};

/** Opens the store that the settings name: a server (CLICKHOUSE_URL), else the engine embedded in DATA_DIR. */
export async function openClickHouse(
  config: Pick<Config, 'CLICKHOUSE_URL' | 'CLICKHOUSE_MEMORY_MB' | 'dataDir'>,
  log: Log,
): Promise<ClickHouse> {
  if (config.CLICKHOUSE_URL)
    return reached(connect(config.CLICKHOUSE_URL, undefined, { shares: SERVER_SHARES }), config.CLICKHOUSE_URL);
  const embedded = await startEmbeddedClickHouse({
    dataDir: config.dataDir,
    memoryMb: config.CLICKHOUSE_MEMORY_MB,
    log,
    clock: systemClock,
  });
  return { ...connect(embedded.url, () => embedded.close()), embedded };
}

/** UNKNOWN_DATABASE: the store answers; the migrations then report this error. */
const UNKNOWN_DATABASE = '81';

/** Resolves with the store once it answers this user; ConfigError if it does not. */
async function reached(store: ClickHouse, url: string): Promise<ClickHouse> {
  try {
    await store.sql('SELECT 1');
    return store;
  } catch (error) {
    const { code, cause, kind } = error as StoreError;
    if (code === UNKNOWN_DATABASE) return store;
    await store.close();
    const silent = kind === 'timeout' && code === undefined;
    const why = silent ? new Error(`no answer within ${READ_TIMEOUT_MS / 1000} s`) : (cause as Error);
    throw noStore('CLICKHOUSE_URL', 'ClickHouse', url, why);
  }
}

interface ConnectOptions {
  /** The folder of named queries; default: sql/queries. */
  queries?: URL;
  /** The time that a statement without rows may take; default: ten minutes. */
  commandMs?: number;
  /** Default: those of the embedded engine. */
  shares?: Shares;
}

/** A store at an address; `closed` runs after its connections are gone. */
export function connect(
  url: string,
  closed = async () => {},
  { queries, commandMs = LONG_MS, shares = EMBEDDED_SHARES }: ConnectOptions = {},
): ClickHouse {
  const client = createClient({
    url,
    application: 'forecastle',
    clickhouse_settings: ZONE,
    // Its log lines contain SQL. The errors that it throws say the same, and go to our log.
    log: { level: ClickHouseLogLevel.OFF },
    request_timeout: commandMs,
    // Below the ten seconds after which servers drop an idle connection. Checked at each use, because a busy event loop delays timers.
    keep_alive: { idle_socket_ttl: 8000, eagerly_destroy_stale_sockets: true },
    max_open_connections: MAX_CONNECTIONS - READ_CONNECTIONS,
    use_multipart_params_auto: true,
  });
  const reader = openReader(url, READ_CONNECTIONS);
  const statementOf = namedStatements(queries);
  return {
    ...reads(reader, statementOf, new Lanes(shares)),
    ...statements(client, statementOf),
    stream: streamFrom(client, statementOf),
    insert: insertInto(client),
    async ping() {
      const result = await client.ping({ select: true, abort_signal: systemClock.deadline(5000) });
      return result.success;
    },
    async close() {
      await Promise.all([client.close(), reader.close()]);
      await closed();
    },
  };
}

function reads(
  reader: StatementReader,
  statementOf: StatementOf,
  lanes: Lanes,
): Pick<ClickHouse, 'query' | 'rowBinary' | 'sql'> {
  type Asked = Pick<Read, 'text' | 'format' | 'params'> & { name?: string };
  const readBytes = ({ name, ...asked }: Asked, options: ReadOptions): Promise<Buffer> => {
    const { abort_signal: signal, clickhouse_settings: settings } = readParams(asked.params, options);
    const read = (): Promise<Buffer> => reader.read({ ...asked, settings, signal });
    const inTurn =
      name === undefined ? read : () => lanes.run({ name, text: asked.text, isScan: options.isScan }, signal, read);
    return attempts(true, options.signal, inTurn);
  };
  const rows = async <Row>(asked: Omit<Asked, 'format'>, options: ReadOptions): Promise<Row[]> =>
    parseLines<Row>((await readBytes({ ...asked, format: 'JSONEachRow' }, options)).toString('utf8'));

  const joined = new JoinedReads(systemClock, READ_TIMEOUT_MS);

  return {
    async query(name, row, params = {}, options = {}) {
      const run = <Raw>(given: QueryParams): Promise<Raw[]> =>
        rows<Raw>({ name, ...statementOf(name, given) }, options);
      const found = await (JoinedReads.has(name) ? joined.read(name, params, run) : run<unknown>(params));
      return found.map((raw) => row.parse(raw));
    },
    async rowBinary(name, params = {}, options = {}) {
      return new RowBinary(await readBytes({ name, ...statementOf(name, params), format: 'RowBinary' }, options));
    },
    sql: (text, params = {}, options = {}) => rows({ text, params }, options),
  };
}

function streamFrom(client: ClickHouseClient, statementOf: StatementOf): ClickHouse['stream'] {
  return (name, params, format, options = {}) => {
    const { text, params: given } = statementOf(name, params);
    const query = `${text}\nFORMAT ${format}`;
    const under = readParams(given, { timeoutMs: LONG_MS, ...options }, { wait_end_of_query: 0 });
    return attempts(true, options.signal, async () => {
      const result = await client.exec({ query, ...under });
      return passOrFail(result.stream, result.response_headers['x-clickhouse-exception-tag']);
    });
  };
}

function statements(client: ClickHouseClient, statementOf: StatementOf): Pick<ClickHouse, 'run' | 'command'> {
  const command: ClickHouse['command'] = async (text, params = {}) => {
    const asked = { query: text, query_params: params, clickhouse_settings: { wait_end_of_query: 1 } as const };
    await attempts(false, undefined, () => client.command(asked));
  };
  const run: ClickHouse['run'] = (name, params = {}) => {
    const { text, params: given } = statementOf(name, params);
    return command(text, given);
  };
  return { command, run };
}

function insertInto(client: ClickHouseClient): ClickHouse['insert'] {
  return async (table, rows, { token } = {}) => {
    const body = Buffer.isBuffer(rows) ? rows : serialiseRows(rows);
    if (body.length === 0) return;
    await attempts(token !== undefined, undefined, async () => {
      const result = await client.exec({
        query: `INSERT INTO ${table} FORMAT JSONEachRow`,
        values: Readable.from([body], { objectMode: false }),
        clickhouse_settings: {
          ...INSERT_SETTINGS,
          ...(token === undefined ? {} : { insert_deduplication_token: token }),
        },
      });
      await finished(result.stream.resume());
    });
  };
}

function readParams(params: QueryParams, options: ReadOptions, settings: ClickHouseSettings = {}) {
  const timeoutMs = options.timeoutMs ?? READ_TIMEOUT_MS;
  const deadline = systemClock.deadline(timeoutMs);
  return {
    query_params: params,
    abort_signal: options.signal ? AbortSignal.any([options.signal, deadline]) : deadline,
    clickhouse_settings: { ...READ_SETTINGS, max_execution_time: Math.ceil(timeoutMs / 1000), ...settings },
  };
}

/** One JSON value a line; a line break inside a value is escaped. */
const parseLines = <Row>(text: string): Row[] => JSON.parse(`[${text.trimEnd().replaceAll('\n', ',')}]`) as Row[];

/** Rows as lines of JSONEachRow. */
export const serialiseRows = (rows: readonly object[]): Buffer =>
  Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));

/** Runs a call again while the store cannot be reached; one that may have run only if it is `repeatable`. */
async function attempts<T>(repeatable: boolean, signal: AbortSignal | undefined, call: () => Promise<T>): Promise<T> {
  const mayPass = (failure: unknown): boolean =>
    failure instanceof StoreError && failure.kind === 'unreachable' && (repeatable || neverRan(failure));
  const step = (): Promise<T> =>
    call().catch((error: unknown) => {
      throw toStoreError(error, signal);
    });
  return retry(step, { waitMs: waits(RETRY_WAITS_MS, mayPass), sleep: (ms) => systemClock.sleep(ms, signal) });
}
