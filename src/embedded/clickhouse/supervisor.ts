import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Log } from '../../core/log.ts';
import type { Clock } from '../../core/time.ts';
import { ConfigError, StoreInUse } from '../../core/config-error.ts';
import { ApiError } from '../../core/errors.ts';
import { makeDataDir, refuseUnfinishedRestore } from '../../core/data-dir.ts';
import { doubling, retry } from '../../core/retry.ts';
import { endProcess, hasEnded, keepRunning, startedInTime } from '../keep-running.ts';
import { childCode } from './child-code.ts';
import { ChildMessage, type ParentMessage, type SqlPortOptions, type StartMessage } from './messages.ts';

interface EmbeddedOptions {
  /** The engine keeps its files in <dataDir>/clickhouse. */
  dataDir: string;
  memoryMb: number;
  /** Default 0: a free one, which stays the same over restarts. */
  port?: number;
  /** Default: random, known to this process only. */
  password?: string;
  /** Folder that BACKUP may write to and RESTORE read from; default none. */
  backups?: string;
  /** For the restore itself; others are refused a store that is not restored completely. */
  restoring?: boolean;
  log: Log;
  clock: Clock;
}

/** The user who owns an API key, null for an unknown key; `address` is the caller's. Rejects if the key cannot be looked up. */
export type KeyOwner = (key: string, address: string) => Promise<string | null>;

/** A running ClickHouse on this machine's loopback. */
export interface EmbeddedClickHouse {
  /** http://user:password@127.0.0.1:port/database */
  readonly url: string;
  /** Process id of the engine now; it changes when a crashed engine is replaced. */
  pid(): number | undefined;
  /** Opens the read-only SQL port, once; a replaced engine opens it again. Resolves with its port; rejects if it is taken. */
  openSql(sqlPort: SqlPortOptions, ownerOfKey: KeyOwner): Promise<number>;
  close(): Promise<void>;
}

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const USER = 'default';
const DATABASE = 'forecastle';
const RESTART_FIRST_MS = 200;
const RESTART_MAX_MS = 10_000;
/** An engine that misses this many pings in a row, twenty seconds or more, hangs. After a suspend of the machine it misses one. */
const PING_EVERY_MS = 2000;
const PING_TIMEOUT_MS = 5000;
const MISSED_PINGS = 4;
/** Threads of libuv, which engine calls share with file and zlib work. */
const THREADS = 16;

/** Starts the engine in its own process and keeps it running. Rejects with a one-line reason if it cannot start. */
export async function startEmbeddedClickHouse(options: EmbeddedOptions): Promise<EmbeddedClickHouse> {
  const { log, clock } = options;
  if (!options.restoring) refuseUnfinishedRestore(options.dataDir);
  const start: StartMessage = {
    directory: resolve(options.dataDir, 'clickhouse'),
    memoryMb: options.memoryMb,
    port: options.port ?? 0,
    user: USER,
    password: options.password ?? randomBytes(24).toString('base64url'),
    database: DATABASE,
    backups: options.backups ?? null,
  };
  let sql: { sqlPort: SqlPortOptions; ownerOfKey: KeyOwner } | null = null;
  /** Another process may hold the port by now: the store runs without it, and the port opens once it is free. */
  const reopenSql = async (child: ChildProcess, { sqlPort, ownerOfKey }: NonNullable<typeof sql>): Promise<void> => {
    const again = doubling(RESTART_FIRST_MS, RESTART_MAX_MS);
    const waitMs = (error: unknown, n: number): number | null => {
      log.error({ err: error }, 'Failed to reopen SQL_PORT');
      return again(error, n);
    };
    const open = async (): Promise<void> => {
      if (child.connected) await openSqlPort(child, sqlPort, ownerOfKey, log);
    };
    await retry(open, { waitMs, sleep: clock.late });
  };
  makeDataDir(start.directory);
  const engine = await keepRunning({
    name: 'the embedded ClickHouse',
    async start() {
      const { child, port } = await startChild(start, log, clock);
      start.port = port;
      void endWhenHung(child, port, log, clock);
      return child;
    },
    stop: (child) => stopChild(child, clock),
    onRestart(child) {
      if (sql) void reopenSql(child, sql);
    },
    firstWaitMs: RESTART_FIRST_MS,
    maxWaitMs: RESTART_MAX_MS,
    log,
    clock,
  });
  return {
    url: `http://${USER}:${start.password}@127.0.0.1:${start.port}/${DATABASE}`,
    pid: () => engine.child().pid,
    async openSql(sqlPort, ownerOfKey) {
      const opened = await openSqlPort(engine.child(), sqlPort, ownerOfKey, log);
      sql = { sqlPort: { ...sqlPort, port: opened }, ownerOfKey };
      return opened;
    },
    close: engine.close,
  };
}

/** A stopped or hanging process keeps its port and never exits: it is killed, and replaced like any that exits. */
async function endWhenHung(child: ChildProcess, port: number, log: Log, clock: Clock): Promise<void> {
  for (let missed = 0; ; await clock.late(PING_EVERY_MS)) {
    if (hasEnded(child)) return;
    missed = (await answersPing(port, clock)) ? 0 : missed + 1;
    if (missed < MISSED_PINGS || hasEnded(child)) continue;
    log.error({ pid: child.pid }, 'The embedded ClickHouse does not respond; restarting it');
    child.kill('SIGKILL');
    return;
  }
}

const answersPing = (port: number, clock: Clock): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/ping`, { signal: clock.deadline(PING_TIMEOUT_MS) })
    .then((reply) => reply.text())
    .then(
      () => true,
      () => false,
    );

async function startChild(start: StartMessage, log: Log, clock: Clock): Promise<{ child: ChildProcess; port: number }> {
  // The module is read from stdin, and resolves its packages from the working directory.
  const child = spawn(process.execPath, ['--input-type=module', '-'], {
    cwd: ROOT,
    env: { ...process.env, UV_THREADPOOL_SIZE: String(THREADS) },
    stdio: ['pipe', 'ignore', 'pipe', 'ipc'],
  });
  // A child that could not be started, or died at once, is noticed by its exit.
  child.stdin?.on('error', () => {}).end(childCode());
  let lastWords = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    lastWords = (lastWords + text).slice(-4000);
    log.debug({ text }, 'Embedded ClickHouse');
  });
  const answer = new Promise<number>((ready, failed) => {
    child.once('message', (message) => {
      const parsed = ChildMessage.parse(message);
      if (parsed.kind === 'ready') ready(parsed.port);
      else if (parsed.kind === 'failed') failed(startFailure(start, `${lastWords}\n${parsed.message}`));
    });
    child.once('error', failed);
    child.once('exit', (code, signal) => failed(startFailure(start, `${lastWords}\nended with ${signal ?? code}`)));
  });
  try {
    child.send(start);
    return { child, port: await startedInTime('the embedded ClickHouse', answer, clock) };
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
}

/** Opens the SQL port of a running engine and answers the engine's questions while it runs. */
function openSqlPort(child: ChildProcess, sqlPort: SqlPortOptions, ownerOfKey: KeyOwner, log: Log): Promise<number> {
  const send = (message: ParentMessage) => {
    // The child may just have exited: without a callback, the EPIPE of send() would end this process.
    if (child.connected) child.send(message, () => {});
  };
  return new Promise((opened, failed) => {
    const ended = (): void => failed(new Error('the embedded ClickHouse ended'));
    const hear = (message: unknown) => {
      const heard = ChildMessage.parse(message);
      if (heard.kind === 'sql open') opened(heard.port);
      else if (heard.kind === 'sql failed') {
        child.off('message', hear).off('exit', ended);
        failed(new Error(heard.message));
      } else if (heard.kind === 'whose key')
        void ownerOfKey(heard.key, heard.address)
          .catch((error: unknown) => {
            // An expired key, for example, is refused; it is no failure of the look-up.
            if (error instanceof ApiError && error.status < 500) return null;
            log.warn({ err: error }, 'Failed to look up the API key of an SQL client');
            return undefined;
          })
          .then((owner) => send({ kind: 'key owner', id: heard.id, owner }));
    };
    child.on('message', hear);
    child.once('exit', ended);
    send({ kind: 'open sql', sqlPort });
  });
}

/** A one-line error with advice, instead of the engine's. */
function startFailure(start: StartMessage, words: string): Error {
  if (/Cannot lock file|Code: 76\b/.test(words))
    return new StoreInUse(
      `DATA_DIR: ${start.directory} is in use by another process; stop it, or share the store: npm run clickhouse, then CLICKHOUSE_URL`,
    );
  if (/EADDRINUSE/.test(words))
    return new ConfigError(`CLICKHOUSE_PORT: must be free, received ${start.port}, which another process listens on`);
  const lines = words.trim().split('\n');
  return new Error(`the embedded ClickHouse did not start in ${start.directory}: ${lines.at(-1) ?? ''}`);
}

/** Closing the channel is the signal to stop; the engine finishes its writes. */
const stopChild = (child: ChildProcess, clock: Clock): Promise<void> =>
  endProcess(child, () => void (child.connected && child.disconnect()), 'SIGKILL', clock);
