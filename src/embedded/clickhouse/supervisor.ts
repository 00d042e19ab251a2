import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Log } from '../../core/log.ts';
import type { Clock } from '../../core/time.ts';
import { ConfigError, StoreInUse } from '../../core/config-error.ts';
import { makeDataDir, refuseUnfinishedRestore } from '../../core/data-dir.ts';
import { retry, waits } from '../../core/retry.ts';
import { endProcess, hasExited, keepRunning, startedInTime } from '../keep-running.ts';
import { EngineClient } from './client.ts';
import { ANALYST, engineConfig, type EngineConfig } from './config.ts';
import { renewDictionaries } from './dictionaries.ts';

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

/** A running ClickHouse on this machine's loopback. */
export interface EmbeddedClickHouse {
  /** http://user:password@127.0.0.1:port/database */
  readonly url: string;
  /** The same for a user who may only read the views. */
  readonly analystUrl: string;
  readonly database: string;
  readonly memoryMb: number;
  /** Process id of the engine now; it changes when a crashed engine is replaced. */
  pid(): number | undefined;
  close(): Promise<void>;
}

const PROGRAM = fileURLToPath(new URL('engine.cjs', import.meta.url));
const USER = 'forecastle';
const DATABASE = 'forecastle';
const RESTART_FIRST_MS = 200;
const RESTART_MAX_MS = 10_000;
/** An engine that misses this many pings in a row, twenty seconds or more, hangs. After a suspend of the machine it misses one. */
const PING_EVERY_MS = 2000;
const PING_TIMEOUT_MS = 5000;
const MISSED_PINGS = 4;
const KILL_TIMEOUT_MS = 1000;
/** The engine of a killed parent may hold the port and the directory for some seconds. An attempt takes half a second more. */
const LEFT_WAITS_MS = Array.from({ length: 10 }, () => 300);

/** Another process took a port that was free a moment ago. */
const PORT_TAKEN = /EADDRINUSE|Listen .* failed/;

/** The engine to start, and where it keeps its files. */
interface Start extends EngineConfig {
  directory: string;
}

const newPassword = (): string => randomBytes(24).toString('base64url');

/** Starts the engine in its own process and keeps it running. Rejects with a one-line reason if it cannot start. */
export async function startEmbeddedClickHouse(options: EmbeddedOptions): Promise<EmbeddedClickHouse> {
  const { log, clock, memoryMb } = options;
  if (!options.restoring) refuseUnfinishedRestore(options.dataDir);
  const start: Start = {
    directory: resolve(options.dataDir, 'clickhouse'),
    memoryMb,
    port: await retry(() => freePort(options.port ?? 0), { waitMs: waits(LEFT_WAITS_MS), sleep: clock.sleep }),
    user: USER,
    password: options.password ?? newPassword(),
    analystPassword: newPassword(),
    database: DATABASE,
    backups: options.backups ?? null,
  };
  makeDataDir(start.directory);
  const urlOf = (user: string, password: string): string =>
    `http://${user}:${encodeURIComponent(password)}@127.0.0.1:${start.port}/${DATABASE}`;
  const url = urlOf(USER, start.password);
  const client = new EngineClient(url);
  const mayPass = waits(LEFT_WAITS_MS, (error) => error instanceof StoreInUse || PORT_TAKEN.test(String(error)));
  const stopping = new AbortController();
  const engine = await keepRunning({
    name: 'the embedded ClickHouse',
    async start() {
      const child = await retry(() => startChild(start, log, clock), { waitMs: mayPass, sleep: clock.sleep });
      void endWhenHung(child, client, stopping.signal, log, clock);
      return child;
    },
    stop(child) {
      stopping.abort();
      return stopChild(child, client, clock);
    },
    firstWaitMs: RESTART_FIRST_MS,
    maxWaitMs: RESTART_MAX_MS,
    log,
    clock,
  });
  renewDictionaries(client, stopping.signal, log, clock);
  return {
    url,
    analystUrl: urlOf(ANALYST, start.analystPassword),
    database: DATABASE,
    memoryMb,
    pid: () => engine.child().pid,
    close: engine.close,
  };
}

/** `port`, or any free one for 0. ConfigError if it is taken. */
async function freePort(port: number): Promise<number> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    throw new ConfigError(`CLICKHOUSE_PORT: must be free, received ${port}, which another process listens on`);
  }
  const { port: free } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return free;
}

/** A stopped or hanging process keeps its port and never exits: it is killed, and replaced like any that exits. */
async function endWhenHung(
  child: ChildProcess,
  client: EngineClient,
  stopping: AbortSignal,
  log: Log,
  clock: Clock,
): Promise<void> {
  for (let missed = 0; ; await clock.late(PING_EVERY_MS)) {
    if (hasExited(child) || stopping.aborted) return;
    missed = (await client.ping(AbortSignal.any([stopping, clock.deadline(PING_TIMEOUT_MS)]))) ? 0 : missed + 1;
    if (missed < MISSED_PINGS || hasExited(child) || stopping.aborted) continue;
    log.error({ pid: child.pid }, 'The embedded ClickHouse does not respond; restarting it');
    child.kill('SIGKILL');
    return;
  }
}

async function startChild(start: Start, log: Log, clock: Clock): Promise<ChildProcess> {
  const { directory, port, database } = start;
  // The engine reads it once, and its process removes it. It also reads conf.d/*.xml beside it, for settings that are not ours.
  const file = join(directory, '..', `clickhouse-${process.pid}.xml`);
  const inner = await freePort(0);
  writeFileSync(file, engineConfig(file, { ...start, port: inner }), { mode: 0o600 });
  const args = [PROGRAM, String(port), String(inner), database, file, `--path=${directory}`];
  // Ctrl-C in a terminal reaches a whole process group; this process decides when to stop, so that it can finish its work.
  const child = spawn(process.execPath, args, {
    stdio: ['pipe', 'ignore', 'pipe', 'ipc'],
    detached: true,
    // Values without a zone are read in that of the engine, which is the machine's otherwise.
    env: { ...process.env, TZ: 'UTC' },
  });
  // A child that could not be started, or died at once, is noticed by its exit.
  child.stdin?.on('error', () => {});
  let lastWords = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    lastWords = (lastWords + text).slice(-4000);
    log.debug({ text }, 'Embedded ClickHouse');
  });
  const answer = new Promise<void>((ready, failed) => {
    child.once('message', () => ready());
    child.once('error', failed);
    child.once('close', (code, signal) =>
      failed(startFailure(start, lastWords.trim() || `it ended with ${signal ?? code}`)),
    );
  });
  try {
    await startedInTime('the embedded ClickHouse', answer, clock);
    return child;
  } catch (error) {
    child.kill('SIGKILL');
    rmSync(file, { force: true });
    throw error;
  }
}

/** A one-line error with advice, instead of the engine's. */
function startFailure(start: Start, words: string): Error {
  if (/Cannot lock file|Code: 76\b/.test(words))
    return new StoreInUse(
      `DATA_DIR: ${start.directory} is in use by another process; stop it, or share the store: npm run clickhouse, then CLICKHOUSE_URL`,
    );
  const lines = words.trim().split('\n');
  const said = lines.findLast((line) => /Code: \d+|Error\b/.test(line)) ?? lines.at(-1) ?? '';
  return new Error(`the embedded ClickHouse did not start in ${start.directory}: ${said}`);
}

/** Reads are cancelled. The end of its input is the signal to stop; the engine finishes its writes. */
async function stopChild(child: ChildProcess, client: EngineClient, clock: Clock): Promise<void> {
  const kill = {
    sql: "KILL QUERY WHERE query_kind = 'Select' ASYNC",
    format: 'Null',
    settings: new Map(),
    params: new Map(),
  };
  if (!hasExited(child)) await client.text(kill, clock.deadline(KILL_TIMEOUT_MS)).catch(() => {});
  await client.close();
  const ask = (): void => {
    if (child.connected) child.send('stop', () => {});
    child.stdin?.end();
  };
  await endProcess(child, ask, 'SIGKILL', clock);
}
