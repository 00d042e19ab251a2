import { randomUUID } from 'node:crypto';
import type { Session } from 'chdb';
import type { Engine } from './engine.ts';
import { EngineError } from './errors.ts';

/** The context of one request, which must not affect the next. */
export interface CallContext {
  settings: ReadonlyMap<string, string>;
  /** Values of {name:Type} in ClickHouse's TSV-escaped form, as they came over HTTP. */
  params: ReadonlyMap<string, string>;
  database: string;
}

interface Written {
  rows: number;
  bytes: number;
}

export interface RawInsert {
  table: string;
  columns: string[] | null;
  format: 'JSONEachRow' | 'JSONCompactEachRow' | 'CSV' | 'CSVWithNames' | 'TabSeparated' | 'TabSeparatedWithNames';
}

const quote = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\0', '\\0')}'`;
const identifier = (text: string) => `\`${text.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``;

/**
 * One chDB connection. It keeps settings, parameters and the current database between calls, and the output of a failed query.
 * So each call sets the differences, and a failure is cleaned up.
 */
export class EngineSession {
  readonly #engine: Engine;
  /** In a comment of the running statement, so that it can be found and stopped. */
  #mark = '';
  #session: Session;
  #settings = new Map<string, string>();
  #database = '';

  constructor(engine: Engine) {
    this.#engine = engine;
    this.#session = engine.openSession();
  }

  /** A statement that is no read, its whole output at once. */
  async command(context: CallContext, sql: string, format: string): ReturnType<EngineSession['run']> {
    this.#engine.countCommand();
    try {
      return await this.run(context, sql, format);
    } finally {
      this.#engine.countCommand();
    }
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

  /** Inserts rows serialised in `format`; the engine reads the bytes as they are. Settings apply to this statement only. */
  async insert(context: CallContext, target: RawInsert, data: Buffer): Promise<Written> {
    const preamble = this.#difference({ ...context, settings: new Map(), params: new Map() });
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

  /** Stops the running query. ASYNC, because SYNC waits for this very connection; the running call then fails with 394. */
  async kill(): Promise<void> {
    // The engine concatenates the mark, so that this statement does not find itself.
    const found = `position(query, concat('/*', '${this.#mark}', '*/')) > 0`;
    await this.#engine.control(`KILL QUERY WHERE ${found} ASYNC`).catch(() => {
      // Only a closing engine refuses, and it stops everything.
    });
  }

  /** Replaces the connection after statements whose effects on it cannot be detected (SET, USE, temporary tables). */
  renew(): void {
    this.#session.close();
    this.#session = this.#engine.openSession();
    this.#settings = new Map();
    this.#database = '';
  }

  close(): void {
    this.#session.close();
  }

  /** The SET and USE that adapt the connection to the call; '' if nothing differs. */
  #difference(context: CallContext): string {
    const changes: string[] = [];
    for (const name of context.settings.keys()) this.#engine.requireSetting(name);
    const wanted = new Map([...this.#engine.defaults, ...context.settings]);
    for (const name of this.#settings.keys()) if (!wanted.has(name)) changes.push(`${name}=DEFAULT`);
    for (const [name, value] of wanted) if (this.#settings.get(name) !== value) changes.push(`${name}=${quote(value)}`);
    for (const [name, value] of context.params) changes.push(`param_${name}=${quote(value)}`);
    const use = this.#database === context.database ? '' : `USE ${identifier(context.database)}; `;
    this.#settings = wanted;
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

  /** Clears the output and settings of a failed query; a connection that cannot be cleared is replaced. */
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
      // The engine does not even answer a constant: the connection is replaced below.
    }
    this.renew();
  }
}
