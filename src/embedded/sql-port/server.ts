import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { clientNetwork } from '../../core/client-address.ts';
import { ApiError } from '../../core/errors.ts';
import { FixedWindows } from '../../core/fixed-windows.ts';
import type { Log } from '../../core/log.ts';
import { MINUTE_MS, systemClock } from '../../core/time.ts';
import { EngineClient } from '../clickhouse/client.ts';
import { EngineError, httpStatus } from '../clickhouse/errors.ts';
import type { EmbeddedClickHouse } from '../clickhouse/supervisor.ts';
import { PureFunctions } from './allowed-functions.ts';
import { MOST } from './allowed-settings.ts';
import { LowThreads } from './low-threads.ts';
import { credentialsOf, readRequest, type SqlCredentials } from './request.ts';
import { SqlCheck } from './statement-check.ts';
import { Turns } from './turns.ts';
import { UnauthenticatedSockets } from './unauthenticated.ts';

const QUEUE = 64;
/** Per user, all keys together. */
const OWNER_QUEUE = 32;
/** From this memory on a user's dashboard runs two queries at once: each may take a fifth of the engine's. */
const ROOMY_MB = 1000;
const MAX_CONNECTIONS = 512;
const MAX_HEADER_BYTES = 16_384;
const MAX_STATEMENT_BYTES = 65_536;
/** Wrong passwords per account and address; then even the right one waits for the next minute. Keys are too long to guess. */
const WRONG_A_MINUTE = 10;
/** Time in the queue, in addition to the time of the query itself. */
const WAIT_MS = 30_000;
const DEADLINE_MS = Number(MOST['max_execution_time']) * 1000 + WAIT_MS;
/** A client that reads nothing for this long is disconnected: it holds one of few places. */
const STALLED_READER_MS = 30_000;
/** A short text can make long rows: what is sent is counted besides the engine's own count of columns. */
const MAX_ANSWER_BYTES = Number(MOST['max_result_bytes']);
const START_MS = 30_000;

/** The user who owns an API key, null for an unknown key; `address` is the caller's. Rejects if the key cannot be looked up. */
export type KeyOwner = (key: string, address: string) => Promise<string | null>;

interface SqlPortOptions {
  host: string;
  /** 0 = any free one. */
  port: number;
  /** The accounts it accepts in addition to API keys. */
  accounts: readonly SqlCredentials[];
  ownerOfKey: KeyOwner;
  log: Log;
}

export interface SqlPort {
  port: number;
  close(): Promise<void>;
}

/**
 * ClickHouse's HTTP interface for analysts: it reads the documented views of the embedded engine. Users are the given accounts, or any
 * name with an API key as password. Rejects if the port is taken.
 */
export async function serveSql(embedded: EmbeddedClickHouse, options: SqlPortOptions): Promise<SqlPort> {
  const engine = new EngineClient(embedded.analystUrl);
  const { database, memoryMb } = embedded;
  const list = { sql: PureFunctions.LIST, format: 'TSVRaw', settings: new Map(), params: new Map() };
  const listed = await engine.text(list, systemClock.deadline(START_MS)).catch(async (error: unknown) => {
    await engine.close();
    throw error;
  });
  const functions = new PureFunctions(listed);
  const size = running(memoryMb);
  const perOwner = { size: size - 1, queue: OWNER_QUEUE };
  const turns: Turns = new Turns({ size, queue: QUEUE, perOwner, onIdle: () => low.ended() });
  const low = new LowThreads({ clock: systemClock, pid: embedded.pid, isIdle: () => turns.isIdle });
  const unauthenticated = new UnauthenticatedSockets();
  const shared: Shared = {
    engine,
    turns,
    check: new SqlCheck({ engine, functions, database, memoryMb }),
    ownerOf: ownerOf(options),
    onAdmitted: (socket) => unauthenticated.admit(socket),
  };
  // The same keep-alive as on a ClickHouse server.
  const limits = { maxHeaderSize: MAX_HEADER_BYTES, keepAliveTimeout: 10_000, requestTimeout: 120_000 };
  const server = createServer(limits, (request, response) => void handle(shared, request, response));
  server.maxConnections = MAX_CONNECTIONS;
  server.on('connection', (socket) => unauthenticated.add(socket));
  const close = async (): Promise<void> => {
    // Queries of connections that close are stopped, for which the client must still be open.
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
    await engine.close();
    low.close();
  };
  try {
    await once(server.listen(options.port, options.host), 'listening');
  } catch (error) {
    await close();
    throw error;
  }
  return { port: (server.address() as AddressInfo).port, close };
}

/** Few queries at once, each with one thread: the rest of the machine ingests and serves. One place is left to other users. */
const running = (memoryMb: number): number => (memoryMb >= ROOMY_MB ? 3 : 2);

interface Shared {
  engine: EngineClient;
  turns: Turns;
  check: SqlCheck;
  /** The owner whose limits the caller's queries use, null for a stranger. */
  ownerOf(credentials: SqlCredentials, address: string): Promise<string | null>;
  onAdmitted(socket: Socket): void;
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

function ownerOf({ accounts, ownerOfKey, log }: SqlPortOptions): Shared['ownerOf'] {
  const passwords = new Map(accounts.map(({ user, password }) => [user, digest(password)]));
  const wrong = new FixedWindows(MINUTE_MS, systemClock);
  const lookUp: KeyOwner = (key, address) =>
    ownerOfKey(key, address).catch((error: unknown) => {
      // An expired key, for example, is refused; it is no failure of the look-up.
      if (error instanceof ApiError && error.status < 500) return null;
      log.warn({ err: error }, 'Failed to look up the API key of an SQL client');
      throw EngineError.of('ALL_CONNECTION_TRIES_FAILED', 'API keys cannot be looked up now.');
    });
  return async ({ user, password }, address) => {
    const owner = password.startsWith('pk_') ? await lookUp(password, address) : null;
    if (owner !== null) return `user ${owner}`;
    const expected = passwords.get(user);
    if (!expected) return null;
    const guesser = `${user} ${clientNetwork(address)}`;
    if (wrong.counted(guesser).requests >= WRONG_A_MINUTE)
      throw EngineError.of('AUTHENTICATION_FAILED', `${user}: Too many wrong passwords; wait a minute.`);
    if (timingSafeEqual(digest(password), expected)) return `account ${user}`;
    wrong.count(guesser);
    return null;
  };
}

async function handle(shared: Shared, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  const leave = (): void => gone.abort(new Error('the client disconnected'));
  response.on('close', leave).on('error', leave);
  const stopDeadline = systemClock.timeout(DEADLINE_MS, () => expire(gone, response));
  try {
    const url = requestUrl(request);
    if (url.pathname === '/ping' || (request.method === 'GET' && !url.searchParams.has('query'))) {
      response.end('Ok.\n');
      return;
    }
    const credentials = credentialsOf(request, url);
    const owner = credentials && (await shared.ownerOf(credentials, request.socket.remoteAddress ?? ''));
    if (owner === null) {
      refuse(request, response, credentials);
      return;
    }
    shared.onAdmitted(request.socket);
    const asked = await readRequest(request, url, MAX_STATEMENT_BYTES);
    await shared.turns.run(owner, gone.signal, async () => {
      const call = await shared.check.prepare(asked, gone.signal);
      const { headers, body } = await shared.engine.run(call, gone.signal);
      for (const [name, value] of Object.entries(headers))
        if (SENT_ON.test(name) && value !== undefined) response.setHeader(name, value);
      if (asked.queryId !== null) response.setHeader('X-ClickHouse-Query-Id', asked.queryId);
      // Read to its end after the caller has left too: the query keeps its place until it has stopped.
      let sentBytes = 0;
      for await (const chunk of body) {
        sentBytes += (chunk as Buffer).length;
        if (sentBytes > MAX_ANSWER_BYTES) response.destroy();
        if (!response.destroyed && !response.write(chunk))
          await drained(response, gone.signal).catch(() => response.destroy());
      }
      response.end();
    });
  } catch (error) {
    if (gone.signal.aborted) return;
    if (response.headersSent) response.destroy();
    else {
      // The body may not have been read completely: this connection cannot carry another request.
      if (!request.complete) response.setHeader('Connection', 'close');
      sendError(response, shared.check.reword(EngineError.from(error)));
    }
  } finally {
    stopDeadline();
  }
}

/** Headers of the engine's answer that its caller gets. */
const SENT_ON = /^(content-(type|encoding|disposition)|x-clickhouse-.+)$/;

const drained = (response: ServerResponse, gone: AbortSignal): Promise<unknown> =>
  once(response, 'drain', { signal: AbortSignal.any([gone, systemClock.deadline(STALLED_READER_MS)]) });

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

/** Asks a caller without credentials for them: 401 instead of 403. */
function refuse(request: IncomingMessage, response: ServerResponse, credentials: SqlCredentials | null): void {
  if (!request.complete) response.setHeader('Connection', 'close');
  if (credentials === null) response.setHeader('WWW-Authenticate', 'Basic realm="ClickHouse server HTTP API"');
  const error = EngineError.of(
    'AUTHENTICATION_FAILED',
    `${credentials?.user ?? 'default'}: Authentication failed: password is incorrect, or there is no user with such name.`,
  );
  sendError(response, error, credentials === null ? 401 : 403);
}

function sendError(response: ServerResponse, error: EngineError, status = httpStatus(error)): void {
  response.setHeader('X-ClickHouse-Exception-Code', String(error.code));
  response.setHeader('Content-Type', 'text/plain; charset=UTF-8');
  response.statusCode = status;
  response.end(`${error.message.trimEnd()}\n`);
}
