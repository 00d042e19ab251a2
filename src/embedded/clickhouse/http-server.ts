import { isUtf8 } from 'node:buffer';
import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { systemClock, type Stop } from '../../core/time.ts';
import { EngineError } from './errors.ts';
import { BodyBudget, credentialsOf, readRequest, type ClickHouseRequest, type Credentials } from './request.ts';
import { sendError, sendWhole, setCommonHeaders, StreamedBody } from './response.ts';
import type { SessionPool } from './session-pool.ts';
import type { CallContext, EngineSession } from './session.ts';
import { readStatement, type Statement } from './statement.ts';
import { headerSkipper, STREAMED_FORMATS } from './stream-formats.ts';

/** Access rules of one port. */
interface FrontPolicy {
  /** Database of unqualified names if the request names none. */
  database: string;
  maxBodyBytes: number;
  /** Limit on the bytes of all bodies held at the same time. */
  maxHeldBytes: number;
  /** Limit on the headers of a request, including the request line. */
  maxHeaderBytes: number;
  /** The owner whose quota the caller's queries use, null to reject; `address` is the caller's. */
  admits(credentials: Credentials | null, address: string): string | null | Promise<string | null>;
  /** Called with the connection of each admitted caller. */
  onAdmitted?(socket: Socket): void;
  /** Answers a request without the engine; null to run it. */
  answers?(request: ClickHouseRequest): Uint8Array | null;
  /** What to run for a call on its connection; throws an EngineError if this port does not allow it. Absent: the call itself. */
  prepare?(call: Call, session: EngineSession): Promise<Call>;
  /** The error sent to the caller; absent: the engine's error. */
  reword?(error: EngineError): EngineError;
  /** From the first byte to the last, including the queue; default: while the client is connected. */
  deadlineMs?: number;
}

/** One statement and its context. */
export interface Call {
  statement: Statement;
  context: CallContext;
  /** Rows of an INSERT whose statement came in the URL. */
  data: Buffer | null;
}

const KILL_EVERY_MS = 250;

const digest = (text: string) => createHash('sha256').update(text).digest();

/** Accepts one user name with one password, compared in constant time. */
export function exactly(user: string, password: string): FrontPolicy['admits'] {
  const expected = digest(`${user}\n${password}`);
  return (given) =>
    given !== null && timingSafeEqual(digest(`${given.user}\n${given.password}`), expected) ? `account ${user}` : null;
}

/** ClickHouse's HTTP interface to the embedded engine, as far as ClickHouse clients use it. */
export function createFront(pool: SessionPool, policy: FrontPolicy): Server {
  const budget = new BodyBudget(policy.maxHeldBytes);
  // The same keep-alive as on a ClickHouse server.
  const options = { maxHeaderSize: policy.maxHeaderBytes, keepAliveTimeout: 10_000, requestTimeout: 120_000 };
  return createServer(options, (request, response) => {
    void handle(pool, policy, budget, request, response);
  });
}

async function handle(
  pool: SessionPool,
  policy: FrontPolicy,
  budget: BodyBudget,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  response.on('close', () => gone.abort(new Error('the client disconnected')));
  response.on('error', () => gone.abort(new Error('the client disconnected')));
  const { deadlineMs } = policy;
  const stopDeadline = deadlineMs === undefined ? null : systemClock.timeout(deadlineMs, () => expire(gone, response));
  let held = 0;
  const take = (bytes: number) => {
    budget.take(bytes);
    held += bytes;
  };
  try {
    const url = requestUrl(request);
    if (url.pathname === '/ping' || (request.method === 'GET' && !url.searchParams.has('query'))) {
      response.end('Ok.\n');
      return;
    }
    const credentials = credentialsOf(request, url);
    const owner = await policy.admits(credentials, request.socket.remoteAddress ?? '');
    if (owner === null) {
      refuse(request, response, credentials);
      return;
    }
    policy.onAdmitted?.(request.socket);
    const asked = await readRequest(request, url, policy.maxBodyBytes, take);
    const known = policy.answers?.(asked);
    if (known) {
      setCommonHeaders(response, asked.queryId ?? randomUUID(), asked.defaultFormat);
      await sendWhole(response, known, { elapsedMs: 0 }, asked.gzip);
      return;
    }
    const statement = readStatement(asked.sql, asked.params, asked.defaultFormat);
    const readOnly = request.method === 'GET' || (asked.settings.get('readonly') ?? '0') !== '0';
    if (readOnly && !statement.reads)
      throw EngineError.of('READONLY', 'Cannot execute query in readonly mode. Use POST for modifying queries.');
    const { settings, params, data } = asked;
    const call: Call = { statement, context: { settings, params, database: asked.database ?? policy.database }, data };
    await pool.use(owner, gone.signal, async (session) => {
      const checked = policy.prepare ? await policy.prepare(call, session) : call;
      await execute(session, asked, checked, response, gone.signal);
    });
  } catch (error) {
    if (gone.signal.aborted) return;
    if (response.headersSent) response.destroy();
    else {
      // The body may not have been read completely: this connection cannot carry another request.
      if (!request.complete) response.setHeader('Connection', 'close');
      const failure = EngineError.from(error);
      sendError(response, policy.reword?.(failure) ?? failure);
    }
  } finally {
    stopDeadline?.();
    budget.giveBack(held);
  }
}

function requestUrl({ url: asked = '/' }: IncomingMessage): URL {
  if (URL.canParse(asked, 'http://localhost')) return new URL(asked, 'http://localhost');
  throw EngineError.of('BAD_ARGUMENTS', 'Invalid request URL: use /?query=…');
}

/** Responds at once, because a query may take a while to stop. */
function expire(gone: AbortController, response: ServerResponse): void {
  const error = EngineError.of(
    'TIMEOUT_EXCEEDED',
    'Timeout exceeded: the query ran, or waited in the queue, for too long.',
  );
  gone.abort(error);
  if (response.headersSent) response.destroy();
  else sendError(response, error, 503);
}

function refuse(request: IncomingMessage, response: ServerResponse, credentials: Credentials | null): void {
  if (!request.complete) response.setHeader('Connection', 'close');
  if (credentials === null) response.setHeader('WWW-Authenticate', 'Basic realm="ClickHouse server HTTP API"');
  const error = EngineError.of(
    'AUTHENTICATION_FAILED',
    `${credentials?.user ?? 'default'}: Authentication failed: password is incorrect, or there is no user with such name.`,
  );
  sendError(response, error, credentials === null ? 401 : 403);
}

async function execute(
  session: EngineSession,
  asked: ClickHouseRequest,
  { statement, context, data }: Call,
  response: ServerResponse,
  gone: AbortSignal,
): Promise<void> {
  gone.throwIfAborted();
  setCommonHeaders(response, asked.queryId ?? randomUUID(), statement.format);
  const startedAt = systemClock.elapsed();
  const elapsed = () => systemClock.elapsed() - startedAt;
  if (statement.insert && data) {
    // Not cancelled when the client disconnects: the rows have arrived, and a client can retry with the same token.
    const written = await session.insert(context, statement.insert, data);
    const summary = { writtenRows: written.rows, writtenBytes: written.bytes, elapsedMs: elapsed() };
    await sendWhole(response, new Uint8Array(), summary, false);
    return;
  }
  let stopKilling: Stop | undefined;
  const stop = () => {
    // Repeated, because a query that is just starting is not found.
    stopKilling = systemClock.every(KILL_EVERY_MS, () => void session.kill());
    void session.kill();
  };
  // As on a ClickHouse server, only reads are cancelled: half an INSERT … SELECT is useless.
  if (statement.reads) gone.addEventListener('abort', stop, { once: true });
  try {
    if (statement.streams && STREAMED_FORMATS.has(statement.format) && data === null && !asked.waitEnd)
      await sendStream(
        session.stream(context, statement.sql, statement.format),
        statement.format,
        response,
        asked.gzip,
        gone,
      );
    else {
      const sql = withData(statement, data);
      const result = await (statement.reads
        ? session.run(context, sql, statement.format)
        : session.command(context, sql, statement.format));
      await sendWhole(response, result.bytes, { readRows: result.rowsRead, elapsedMs: elapsed() }, asked.gzip);
    }
  } finally {
    gone.removeEventListener('abort', stop);
    stopKilling?.();
    // Neither SET nor readonly can be undone on a connection.
    if (statement.taints || context.settings.has('readonly')) session.renew();
  }
}

/** Appends the rows of an INSERT to its statement; binary formats cannot be passed as text. */
function withData(statement: Statement, data: Buffer | null): string {
  if (data === null) return statement.sql;
  if (!isUtf8(data))
    throw EngineError.of('NOT_IMPLEMENTED', 'Binary input formats are not supported; use JSONEachRow.');
  return `${statement.sql}\n${data.toString()}`;
}

async function sendStream(
  blocks: AsyncGenerator<Uint8Array>,
  format: string,
  response: ServerResponse,
  packed: boolean,
  gone: AbortSignal,
): Promise<void> {
  const strip = headerSkipper(format);
  // A failure before the first block still gets its own status.
  let next = await blocks.next();
  const body = new StreamedBody(response, packed);
  try {
    while (!next.done) {
      await body.write(strip(next.value), gone);
      next = await blocks.next();
    }
    body.end();
  } catch (error) {
    if (error instanceof EngineError && !gone.aborted) body.fail(error);
    else response.destroy();
  } finally {
    await blocks.return(undefined);
  }
}
