import { randomUUID } from 'node:crypto';
import { drainPending, Session } from 'chdb';
import { EngineError } from './clickhouse-errors.ts';

/** What one request runs under; nothing of it may reach the next one. */
export interface CallContext {
  settings: ReadonlyMap<string, string>;
  /** Values of {name:Type} in ClickHouse's TSV-escaped form, as they came over HTTP. */
  params: ReadonlyMap<string, string>;
  database: string;
}

export interface Written {
  rows: number;
  bytes: number;
}

const quote = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\0', '\\0')}'`;
const identifier = (text: string) => `\`${text.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``;

/**
 * One chDB connection. It keeps settings, parameters and the current database between calls, and after a failed
 * query also that query's output: so each call states the difference, and a failure is scrubbed off.
 */
export class EngineSession {
  readonly #pool: SessionPool;
  /** Stands in a comment of the running statement, so that it can be found and stopped. */
  #mark = '';
  #session: Session;
  #settings = new Map<string, string>();
  #database = '';

  constructor(pool: SessionPool) {
    this.#pool = pool;
    this.#session = pool.openSession();
  }

  /** One statement, its whole output at once. */
  async run(context: CallContext, sql: string, format: string): Promise<{ bytes: Uint8Array; rowsRead: number }> {
    const preamble = this.#difference(context);
    this.#mark = randomUUID();
    return this.#guarded(context, async () => {
      const result = await this.#session.queryAsync(`${preamble}/*${this.#mark}*/ ${sql}`, { format });
      return { bytes: result.bytes(), rowsRead: result.rowsRead };
    });
  }

  /** A SELECT, block by block; each block is formatted on its own. Leaving the loop early cancels it. */
  async *stream(context: CallContext, sql: string, format: string): AsyncGenerator<Uint8Array> {
    const preamble = this.#difference(context);
    this.#mark = randomUUID();
    let finished = false;
    try {
      if (preamble) await this.#session.queryAsync(preamble);
      const blocks = this.#session.queryStream(`/*${this.#mark}*/ ${sql}`, { format });
      for await (const block of blocks) yield block.raw();
      finished = true;
    } catch (error) {
      throw EngineError.from(error);
    } finally {
      if (!finished) await this.#scrub(context);
    }
  }

  /** Rows already serialised in `format`: the engine reads the bytes as they are. Settings go with the statement alone. */
  async insert(context: CallContext, target: RawInsert, data: Buffer): Promise<Written> {
    const none: CallContext = { ...context, settings: new Map(), params: new Map() };
    const preamble = this.#difference(none);
    return this.#guarded(context, async () => {
      if (preamble) await this.#session.queryAsync(preamble);
      const summary = await this.#session.insert({
        table: target.table,
        ...(target.columns ? { columns: target.columns } : {}),
        format: target.format,
        values: data,
        settings: Object.fromEntries(context.settings),
      });
      return { rows: summary.rowsWritten, bytes: summary.bytesWritten };
    });
  }

  /** Stops what runs here. ASYNC because SYNC waits for this very connection; the running call then fails with 394. */
  async kill(): Promise<void> {
    // The mark is put together by the engine, so that this statement does not find itself.
    await this.#pool.control(`KILL QUERY WHERE position(query, concat('/*', '${this.#mark}', '*/')) > 0 ASYNC`);
  }

  /** Replaces the connection: for statements that change it in ways that cannot be told (SET, USE, temporary tables). */
  renew(): void {
    this.#session.close();
    this.#session = this.#pool.openSession();
    this.#settings = new Map();
    this.#database = '';
  }

  close(): void {
    this.#session.close();
  }

  /** The SET and USE that turn what the connection has into what the call wants; '' when nothing differs. */
  #difference(context: CallContext): string {
    const changes: string[] = [];
    for (const name of this.#settings.keys()) if (!context.settings.has(name)) changes.push(`${name}=DEFAULT`);
    for (const [name, value] of context.settings)
      if (this.#settings.get(name) !== value) changes.push(`${name}=${quote(value)}`);
    for (const [name, value] of context.params) changes.push(`param_${name}=${quote(value)}`);
    const use = this.#database === context.database ? '' : `USE ${identifier(context.database)}; `;
    this.#settings = new Map(context.settings);
    this.#database = context.database;
    return `${changes.length > 0 ? `SET ${changes.join(', ')}; ` : ''}${use}`;
  }

  async #guarded<T>(context: CallContext, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      await this.#scrub(context);
      throw EngineError.from(error);
    }
  }

  /** Empties the connection of a failed query's output and settings; a connection that stays dirty is replaced. */
  async #scrub(context: CallContext): Promise<void> {
    const names = [...new Set([...this.#settings.keys(), ...context.settings.keys()])];
    const reset = names.length > 0 ? `SET ${names.map((name) => `${name}=DEFAULT`).join(', ')}; ` : '';
    this.#settings = new Map();
    this.#database = '';
    try {
      for (let attempt = 0; attempt < 4; attempt += 1) {
        const sentinel = randomUUID();
        const result = await this.#session.queryAsync(`${reset}SELECT '${sentinel}'`, { format: 'TabSeparated' });
        if (result.text() === `${sentinel}\n`) return;
      }
    } catch {
      // An engine that cannot answer a constant: the connection is given up below.
    }
    this.renew();
  }
}

export interface RawInsert {
  table: string;
  columns: string[] | null;
  format: 'JSONEachRow' | 'JSONCompactEachRow' | 'CSV' | 'CSVWithNames' | 'TabSeparated' | 'TabSeparatedWithNames';
}

export interface PoolOptions {
  directory: string;
  memoryMb: number;
  /** Queries that run at the same time; libuv's pool must hold four threads more. */
  size: number;
  /** Requests that may wait for a connection. */
  queue: number;
}

/** The engine of one directory and the connections that requests take turns on. */
export class SessionPool {
  readonly #options: PoolOptions;
  readonly #control: Session;
  readonly #sessions: EngineSession[];
  readonly #free: EngineSession[];
  readonly #waiting: { give(session: EngineSession): void }[] = [];

  constructor(options: PoolOptions) {
    this.#options = options;
    // The limit of the whole engine is taken from its first connection and from nowhere else.
    this.#control = new Session(options.directory, {
      connectionArgs: [`--max_server_memory_usage=${options.memoryMb * 1_000_000}`],
    });
    this.#sessions = Array.from({ length: options.size }, () => new EngineSession(this));
    this.#free = [...this.#sessions];
  }

  openSession(): Session {
    return new Session(this.#options.directory);
  }

  /** The engine's own housekeeping, on a connection no request uses. */
  async control(sql: string): Promise<string> {
    const result = await this.#control.queryAsync(sql, { format: 'TabSeparated' });
    return result.text();
  }

  /** Runs `work` on a connection of its own; waits for a free one, refuses with 202 when too many wait already. */
  async use<T>(signal: AbortSignal, work: (session: EngineSession) => Promise<T>): Promise<T> {
    const session = await this.#take(signal);
    try {
      return await work(session);
    } finally {
      const next = this.#waiting.shift();
      if (next) next.give(session);
      else this.#free.push(session);
    }
  }

  /** Stops what runs and lets the engine go; resolves when it has written everything. */
  async close(): Promise<void> {
    await this.control("KILL QUERY WHERE query_kind = 'Select' ASYNC").catch(() => {});
    for (const session of this.#sessions) session.close();
    this.#control.close();
    await drainPending();
  }

  #take(signal: AbortSignal): Promise<EngineSession> {
    signal.throwIfAborted();
    const session = this.#free.pop();
    if (session) return Promise.resolve(session);
    if (this.#waiting.length >= this.#options.queue)
      throw EngineError.of(
        'TOO_MANY_SIMULTANEOUS_QUERIES',
        `Too many simultaneous queries. Maximum: ${this.#options.size} running and ${this.#options.queue} waiting.`,
      );
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        reject(signal.reason as Error);
      };
      const waiter = {
        give: (freed: EngineSession) => {
          signal.removeEventListener('abort', leave);
          resolve(freed);
        },
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(waiter);
    });
  }
}
