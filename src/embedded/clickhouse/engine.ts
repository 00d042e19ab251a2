import { drainPending, Session } from 'chdb';
import { systemClock } from '../../core/time.ts';
import { retry, waits } from '../../core/retry.ts';
import { EngineError } from './errors.ts';

/** Share of the engine's memory for one query, and the share from which it spills to disk. */
const QUERY_SHARE = 0.7;
const SPILL_SHARE = 0.25;

/** The size limit of a request. */
const MAX_TEXT_BYTES = 67_108_864;

/** The engine of a killed parent may still be shutting down, and hold the directory for 8 s. */
const LOCKED_WAITS_MS = Array.from({ length: 40 }, () => 200);

interface EngineOptions {
  directory: string;
  memoryMb: number;
  /** Folder that BACKUP may write to and RESTORE read from. */
  backups: string | null;
}

/** chDB on one directory: a process can open one directory, and a directory can be opened by one process. */
export class Engine {
  /** Settings of every call that does not set them itself. */
  readonly defaults: ReadonlyMap<string, string>;
  readonly #directory: string;
  /** For the engine's own housekeeping; requests do not use it. */
  readonly #control: Session;
  #settingNames: ReadonlySet<string> = new Set();
  #commands = 0;

  private constructor({ directory, memoryMb, backups }: EngineOptions) {
    const memory = memoryMb * 1_000_000;
    const spill = String(Math.round(memory * SPILL_SHARE));
    this.defaults = new Map([
      ['max_memory_usage', String(Math.round(memory * QUERY_SHARE))],
      ['max_bytes_before_external_group_by', spill],
      ['max_bytes_before_external_sort', spill],
    ]);
    this.#directory = directory;
    // chDB takes server-wide limits from its first connection only.
    const connectionArgs = [`--max_server_memory_usage=${memory}`];
    if (backups !== null) connectionArgs.push(`--backups.allowed_path=${backups}`);
    this.#control = new Session(directory, { connectionArgs });
  }

  /** Opens the directory and its database, created at the first start. Throws if another process holds the directory. */
  static async open(options: EngineOptions & { database: string }): Promise<Engine> {
    const { database } = options;
    const engine = await retry(() => new Engine(options), { waitMs: waits(LOCKED_WAITS_MS), sleep: systemClock.sleep });
    // chDB's own default database is an overlay that refuses refreshable views.
    await engine.control(`CREATE DATABASE IF NOT EXISTS ${database} ENGINE = Atomic`);
    engine.#settingNames = new Set((await engine.control('SELECT name FROM system.settings')).trim().split('\n'));
    return engine;
  }

  openSession(): Session {
    const session = new Session(this.#directory);
    // Parameters are part of the text here, unlike on a server, where this limit does not count them.
    session.query(`SET max_query_size = ${MAX_TEXT_BYTES}`);
    return session;
  }

  /** Grows at the start and at the end of every command: tables are the same as long as it is the same. */
  get commands(): number {
    return this.#commands;
  }

  /** Call it before and after a statement that may change tables. */
  countCommand(): void {
    this.#commands += 1;
  }

  async control(sql: string): Promise<string> {
    const result = await this.#control.queryAsync(sql, { format: 'TabSeparated' });
    return result.text();
  }

  /** Throws 115 for an unknown setting, before a connection is used. */
  requireSetting(name: string): void {
    if (!this.#settingNames.has(name)) throw EngineError.of('UNKNOWN_SETTING', `Unknown setting '${name}'`);
  }

  /** Cancels reads, and resolves when all writes are done. */
  async close(): Promise<void> {
    await this.control("KILL QUERY WHERE query_kind = 'Select' ASYNC").catch(() => {});
    this.#control.close();
    await drainPending();
  }
}
