import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { type Dispatcher, Pool } from 'undici';
import { type Stop, systemClock } from '../../core/time.ts';
import { EngineError } from './errors.ts';

/** One statement and its context. */
export interface Call {
  sql: string;
  /** Output format of a statement that names none. */
  format: string;
  settings: ReadonlyMap<string, string>;
  /** Values of {name:Type} in ClickHouse's TSV-escaped form, as they came over HTTP. */
  params: ReadonlyMap<string, string>;
  /** Parameters of the HTTP interface itself, such as client_protocol_version. */
  transport?: ReadonlyMap<string, string>;
  /** Whether the reply is packed. */
  gzip?: boolean;
}

/** Rows as they come; a failure on the way ends the body with ClickHouse's mark. */
export interface Reply {
  headers: IncomingHttpHeaders;
  body: Dispatcher.ResponseData['body'];
}

/** Below the time after which the engine drops an idle connection. */
const IDLE_MS = 8000;
const KILL_TIMEOUT_MS = 5000;
const KILL_EVERY_MS = 250;
const CUT_MS = 5000;

/** Statements over the HTTP interface of the embedded engine, as one of its users. Failures are EngineErrors. */
export class EngineClient {
  readonly #pool: Pool;
  readonly #headers: Record<string, string>;

  /** `url` has the user and the password. */
  constructor(url: string) {
    const { origin, username, password } = new URL(url);
    const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    // The signal of each call is its time limit.
    this.#pool = new Pool(origin, {
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: IDLE_MS,
    });
    this.#headers = { authorization: `Basic ${Buffer.from(login).toString('base64')}` };
  }

  /** Runs a statement. At `signal` the engine stops it; the promise or the body fails once it has, or after CUT_MS. */
  async run({ sql, format, settings, params, transport, gzip }: Call, signal: AbortSignal): Promise<Reply> {
    signal.throwIfAborted();
    const id = randomUUID();
    const search = new URLSearchParams([...(transport ?? []), ...settings]);
    for (const [name, value] of params) search.set(`param_${name}`, value);
    search.set('default_format', format);
    search.set('query_id', id);
    const headers = gzip ? { ...this.#headers, 'accept-encoding': 'gzip' } : this.#headers;
    const cut = new AbortController();
    let stops: Stop[] = [];
    const kill = (): void => {
      const options = { signal: systemClock.deadline(KILL_TIMEOUT_MS) };
      this.#send(`KILL QUERY WHERE query_id = '${id}' ASYNC`, options).then(
        ({ body }) => body.dump(),
        () => {},
      );
    };
    const stop = (): void => {
      kill();
      // Repeated, because a query that is just starting is not found.
      stops = [systemClock.every(KILL_EVERY_MS, kill), systemClock.timeout(CUT_MS, () => cut.abort(signal.reason))];
    };
    const over = (): void => {
      signal.removeEventListener('abort', stop);
      for (const end of stops) end();
    };
    signal.addEventListener('abort', stop, { once: true });
    const reply = await this.#send(sql, { search, headers, signal: cut.signal }).catch((error: unknown) => {
      over();
      throw error;
    });
    reply.body.once('close', over);
    return reply;
  }

  async text(call: Call, signal: AbortSignal): Promise<string> {
    const { body } = await this.run(call, signal);
    return body.text();
  }

  /** Whether the engine answers at all. */
  async ping(signal: AbortSignal): Promise<boolean> {
    try {
      const { statusCode, body } = await this.#pool.request({ method: 'GET', path: '/ping', signal });
      await body.dump();
      return statusCode === 200;
    } catch {
      return false;
    }
  }

  /** Resolves once the running statements have ended. */
  close(): Promise<void> {
    return this.#pool.close();
  }

  async #send(
    sql: string,
    {
      search,
      headers,
      signal,
    }: { search?: URLSearchParams; headers?: Record<string, string>; signal?: AbortSignal } = {},
  ): Promise<Reply> {
    const reply = await this.#pool
      .request({
        method: 'POST',
        path: `/?${String(search ?? '')}`,
        headers: headers ?? this.#headers,
        body: sql,
        ...(signal ? { signal } : {}),
      })
      .catch((error: unknown) => {
        signal?.throwIfAborted();
        throw EngineError.of(
          'ALL_CONNECTION_TRIES_FAILED',
          'The engine does not respond; retry in a few seconds.',
          error,
        );
      });
    if (reply.statusCode === 200 && reply.headers['x-clickhouse-exception-code'] === undefined) return reply;
    const text = Buffer.from(await reply.body.arrayBuffer());
    throw EngineError.read((reply.headers['content-encoding'] === 'gzip' ? gunzipSync(text) : text).toString());
  }
}
