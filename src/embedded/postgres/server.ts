import { spawn, type ChildProcess } from 'node:child_process';
import type { Writable } from 'node:stream';
import type { Log } from '../../core/log.ts';
import type { Clock } from '../../core/time.ts';
import { ConfigError } from '../../core/config-error.ts';
import { endProcess, startedInTime } from '../keep-running.ts';
import { refusedToRoot, type ServerAccount } from './account.ts';
import { pathFor } from './cluster.ts';
import { LOCKED_FILE } from './lock.ts';

interface ServerOptions {
  postgres: string;
  cluster: string;
  /** Directory of the socket. */
  socket: string;
  account: ServerAccount | null;
  log: Log;
  clock: Clock;
}

/**
 * Few connections need little memory and few processes. Durability is set explicitly. The first sweep of 100,000 markets fills indexes at
 * random: with less memory and log, each of their pages is written many times.
 */
const SETTINGS = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  shared_buffers: '36MB',
  max_connections: '50',
  io_method: 'sync',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_logical_replication_workers: '0',
  min_wal_size: '16MB',
  max_wal_size: '512MB',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
  // Callers log the errors of their statements.
  log_min_messages: 'log',
};

/** Memory that a connection frees goes back to the system; by default glibc keeps blocks of up to 32 MB for later use. */
const ENVIRONMENT = { LC_ALL: 'C', MALLOC_MMAP_THRESHOLD_: '65536', MALLOC_TRIM_THRESHOLD_: '65536' };

/**
 * The guard stops the server when this process exits in any way: then descriptor 3 has no other end. A line on it means that the
 * server has already exited. The guard is not a child of the server, which would log its exit.
 */
const GUARD = '(( read -r ended || kill -INT "$$" ) <&3 >/dev/null 2>&1 3<&- &)';
/** Exit code of the shell when another server holds the cluster. */
const HELD = 75;
/**
 * A lock that lasts as long as any process of the server, and that other containers respect. The server of a killed service has time
 * to end. Status 1 is a lock that is held; others come from a file system without locks.
 */
const LOCK = `if command -v flock >/dev/null; then exec 9<>${LOCKED_FILE}; flock -w 10 9; [ $? -ne 1 ] || exit ${HELD}; fi`;
const START = `${GUARD}; ${LOCK}; exec "$@" 3<&-`;

/** Starts PostgreSQL and resolves once it accepts connections. */
export async function startServer(options: ServerOptions): Promise<ChildProcess> {
  const { postgres, cluster, socket, account, log, clock } = options;
  const settings = { ...SETTINGS, unix_socket_directories: socket === cluster ? '.' : socket };
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = spawn('/bin/sh', ['-c', START, 'sh', postgres, '-D', pathFor(account, cluster), ...args], {
    cwd: cluster,
    env: ENVIRONMENT,
    ...account,
    // Ctrl-C in a terminal is for the service, which stops the server last.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  });
  const guard = child.stdio[3] as Writable;
  guard.on('error', () => {});
  child.once('exit', () => guard.end('ended\n'));
  let lastWords = '';
  const answer = new Promise<void>((ready, failed) => {
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      lastWords = (lastWords + text).slice(-4000);
      log.debug({ text }, 'Embedded PostgreSQL');
      if (lastWords.includes('database system is ready to accept connections')) ready();
    });
    child.once('error', (error) => failed(refusedToRoot(error)));
    child.once('exit', (code, signal) => {
      if (code === HELD)
        return failed(new ConfigError('DATA_DIR: its database is in use by another container; stop it'));
      const fatal = lastWords.split('\n').findLast((line) => line.includes('FATAL:')) ?? lastWords.trim();
      failed(
        new Error(`the embedded PostgreSQL did not start in ${cluster}: ${fatal || `ended with ${signal ?? code}`}`),
      );
    });
  });
  try {
    await startedInTime('the embedded PostgreSQL', answer, clock);
    return child;
  } catch (error) {
    await stopServer(child, clock);
    throw error;
  }
}

/** Ends connections and writes open data; a server that takes too long is killed, which loses nothing committed. */
export const stopServer = (child: ChildProcess, clock: Clock): Promise<void> =>
  endProcess(child, () => child.kill('SIGINT'), 'SIGQUIT', clock);
