import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { EngineError } from './clickhouse-errors.ts';
import { credentialsOf, readRequest, type ClickHouseRequest, type Credentials } from './clickhouse-request.ts';
import { sendError, sendWhole, setCommonHeaders, StreamedBody } from './clickhouse-response.ts';
import type { CallContext, EngineSession, SessionPool } from './clickhouse-sessions.ts';
import { readStatement, type Statement } from './clickhouse-statement.ts';

/** What one listening face of the engine lets in. */
export interface FrontPolicy {
  database: string;
  maxBodyBytes: number;
  /** Bodies held at the same time, all requests together. */
  maxBodiesBytes: number;
  admits(credentials: Credentials | null): boolean;
  /** Throws for a statement this face does not run. */
  check(statement: Statement): void;
}

const digest = (text: string) => createHash('sha256').update(text).digest();

/** One user name with one password, compared in constant time. */
export function exactly(user: string, password: string): FrontPolicy['admits'] {
  const expected = digest(`${user}\n${password}`);
  return (given) => given !== null && timingSafeEqual(digest(`${given.user}\n${given.password}`), expected);
}

/** Formats whose blocks can be sent one after the other; all others are made whole. */
const STREAMED_FORMATS = new Set(['JSONEachRow', 'JSONCompactEachRow', 'CSV', 'TabSeparated', 'TSV', 'Native']);

/** ClickHouse's HTTP interface over the embedded engine, as far as clients of ClickHouse use it. */
export function createFront(pool: SessionPool, policy: FrontPolicy): Server {
  const held = { bytes: 0 };
  // A URL may carry a megabyte of parameters, as on a server.
  const server = createServer({ maxHeaderSize: 1_048_576, keepAliveTimeout: 10_000 }, (request, response) => {
    void handle(pool, policy, held, request, response);
  });
  server.requestTimeout = 120_000;
  return server;
}

async function handle(
  pool: SessionPool,
  policy: FrontPolicy,
  held: { bytes: number },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://localhost');
  if (url.pathname === '/ping' || (request.method === 'GET' && !url.searchParams.has('query'))) {
    response.end('Ok.\n');
    return;
  }
  const gone = new AbortController();
  response.on('close', () => gone.abort(new Error('client disconnected')));
  response.on('error', () => gone.abort(new Error('client disconnected')));
  let reserved = 0;
  try {
    const credentials = credentialsOf(request, url);
    if (!policy.admits(credentials)) {
      request.resume();
      await refuse(response, credentials);
      return;
    }
    reserved = Number(request.headers['content-length'] ?? policy.maxBodyBytes);
    if (held.bytes + reserved > policy.maxBodiesBytes)
      throw EngineError.of('TOO_MANY_SIMULTANEOUS_QUERIES', 'Too many large requests at the same time.');
    held.bytes += reserved;
    const asked = await readRequest(request, url, policy.maxBodyBytes);
    const statement = readStatement(asked.sql, asked.params, asked.defaultFormat);
    if (request.method === 'GET' && !statement.reads)
      throw EngineError.of('READONLY', 'Cannot execute query in readonly mode. Method GET implies readonly, use POST.');
    policy.check(statement);
    await pool.use(gone.signal, (session) => execute(session, policy, asked, statement, response, gone.signal));
  } catch (error) {
    if (gone.signal.aborted) return;
    request.resume();
    if (response.headersSent) response.destroy();
    else await sendError(response, EngineError.from(error));
  } finally {
    held.bytes -= reserved;
  }
}

async function refuse(response: ServerResponse, credentials: Credentials | null): Promise<void> {
  if (credentials === null) response.setHeader('WWW-Authenticate', 'Basic realm="ClickHouse server HTTP API"');
  const error = EngineError.of(
    'AUTHENTICATION_FAILED',
    `${JSON.stringify(credentials?.user ?? 'default')}: Authentication failed: password is incorrect, or there is no user with such name.`,
  );
  await sendError(response, error, credentials === null ? 401 : 403);
}

async function execute(
  session: EngineSession,
  policy: FrontPolicy,
  asked: ClickHouseRequest,
  statement: Statement,
  response: ServerResponse,
  gone: AbortSignal,
): Promise<void> {
  const context: CallContext = {
    settings: asked.settings,
    params: asked.params,
    database: asked.database ?? policy.database,
  };
  setCommonHeaders(response, asked.queryId ?? randomUUID(), statement.format);
  if (statement.insert && asked.data) {
    // Not stopped when the client goes: the rows are here, and the client repeats them with the same token.
    const startedAt = performance.now();
    const written = await session.insert(context, statement.insert, asked.data);
    const elapsedMs = performance.now() - startedAt;
    await sendWhole(
      response,
      new Uint8Array(),
      { writtenRows: written.rows, writtenBytes: written.bytes, elapsedMs },
      false,
    );
    return;
  }
  const stop = () => void session.kill();
  gone.addEventListener('abort', stop, { once: true });
  try {
    const streamed = (statement.verb === 'SELECT' || statement.verb === 'WITH') && !asked.waitEnd;
    if (statement.reads && streamed && STREAMED_FORMATS.has(statement.format))
      await sendStream(session.stream(context, statement.sql, statement.format), response, asked.gzip, gone);
    else {
      const startedAt = performance.now();
      const sql = asked.data ? `${asked.sql}\n${asked.data.toString()}` : statement.sql;
      const result = await session.run(context, sql, statement.format);
      const elapsedMs = performance.now() - startedAt;
      await sendWhole(response, result.bytes, { readRows: result.rowsRead, elapsedMs }, asked.gzip);
    }
  } finally {
    gone.removeEventListener('abort', stop);
    if (statement.taints) session.renew();
  }
}

async function sendStream(
  blocks: AsyncGenerator<Uint8Array>,
  response: ServerResponse,
  packed: boolean,
  gone: AbortSignal,
): Promise<void> {
  // Whatever fails before the first block still gets its own status.
  let next = await blocks.next();
  const body = new StreamedBody(response, packed);
  try {
    while (!next.done && !gone.aborted) {
      await body.write(next.value);
      next = await blocks.next();
    }
    body.end();
  } catch (error) {
    if (!gone.aborted) await body.fail(EngineError.from(error));
  } finally {
    await blocks.return(undefined);
  }
}
