import { setTimeout as sleep } from 'node:timers/promises';
import { drainPending, Session } from 'chdb';
import { EngineError } from './errors.ts';

/** What one query may take of the engine's memory, and when it goes to disk instead. */
const QUERY_SHARE = 0.7;
const SPILL_SHARE = 0.25;

/** As much as a request may hold. */
const MAX_TEXT_BYTES = 67_108_864;

/** The engine of a parent that was killed may still be ending, and hold the directory for as long. */
const LOCKED_WAIT_MS = 8000;

interface EngineOptions {
  directory: string;
  memoryMb: number;
  /** Folder that BACKUP may write to and RESTORE read from. */
  backups: string | null;
}

/** chDB on one directory: a process can hold one, and a directory can be held by one process. */
export class Engine {
  /** Settings of every call that does not say otherwise. */
  readonly defaults: ReadonlyMap<string, string>;
  readonly #directory: string;
  /** For the engine's own housekeeping; no request runs here. */
  readonly #control: Session;
  #settingNames: ReadonlySet<string> = new Set();

  private constructor({ directory, memoryMb, backups }: EngineOptions) {
    const memory = memoryMb * 1_000_000;
    const spill = String(Math.round(memory * SPILL_SHARE));
    this.defaults = new Map([
      ['max_memory_usage', String(Math.round(memory * QUERY_SHARE))],
      ['max_bytes_before_external_group_by', spill],
      ['max_bytes_before_external_sort', spill],
    ]);
    this.#directory = directory;
    // Limits of the whole engine are taken from its first connection and from nowhere else.
    const connectionArgs = [`--max_server_memory_usage=${memory}`];
    if (backups !== null) connectionArgs.push(`--backups.allowed_path=${backups}`);
    this.#control = new Session(directory, { connectionArgs });
  }

  /**
   * Opens the directory and the database in it, which is made at the first start. Throws when another process holds the
   * directory.
   */
  static async open(options: EngineOptions & { database: string }): Promise<Engine> {
    const { database } = options;
    const engine = await Engine.#whenFree(options);
    // chDB's own default database is an overlay that refuses refreshable views.
    await engine.control(`CREATE DATABASE IF NOT EXISTS ${database} ENGINE = Atomic`);
    engine.#settingNames = new Set((await engine.control('SELECT name FROM system.settings')).trim().split('\n'));
    return engine;
  }

  static async #whenFree(options: EngineOptions): Promise<Engine> {
    for (const deadline = Date.now() + LOCKED_WAIT_MS; ; await sleep(200)) {
      try {
        return new Engine(options);
      } catch (error) {
        if (Date.now() > deadline) throw error;
      }
    }
  }

  openSession(): Session {
    const session = new Session(this.#directory);
    // Parameters are part of the text here, unlike on a server, where this limit does not count them.
    session.query(`SET max_query_size = ${MAX_TEXT_BYTES}`);
    return session;
  }

  async control(sql: string): Promise<string> {
    const result = await this.#control.queryAsync(sql, { format: 'TabSeparated' });
    return result.text();
  }

  /** Throws 115 for a name that is no setting, before a connection is touched. */
  requireSetting(name: string): void {
    if (!this.#settingNames.has(name)) throw EngineError.of('UNKNOWN_SETTING', `Unknown setting '${name}'`);
  }

  /** Stops what reads, and resolves when everything else is written. */
  async close(): Promise<void> {
    await this.control("KILL QUERY WHERE query_kind = 'Select' ASYNC").catch(() => {});
    this.#control.close();
    await drainPending();
  }
}
