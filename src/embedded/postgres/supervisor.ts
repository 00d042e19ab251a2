import { rmdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeDataDir } from '../../core/data-dir.ts';
import { postgresAccount } from './account.ts';
import { postgresBinaries } from './binaries.ts';
import { prepareCluster } from './cluster.ts';
import { lock } from './lock.ts';
import { startServer, stopServer, type Log, type ServerOptions } from './server.ts';
import { socketDirectory, SOCKET_PORT } from './socket.ts';

/** A running PostgreSQL that only its owner, and root, can connect to. */
export interface EmbeddedPostgres {
  /** Connection of the `pg` package to its socket. */
  readonly connection: { host: string; port: number; user: string; database: string };
  /** The same as DATABASE_URL. */
  readonly url: string;
  /** Process id of the server now; it changes when one that ended is replaced. */
  pid(): number | undefined;
  close(): Promise<void>;
}

/** The cluster's directory in DATA_DIR; releases with PGlite had `postgres`. */
export const CLUSTER = 'postgresql';
const USER = 'postgres';
const RESTART_FIRST_MS = 100;
const RESTART_MAX_MS = 5000;

/** Starts PostgreSQL on `<dataDir>/postgresql` and keeps it running. A second process is refused. */
export async function startEmbeddedPostgres({
  dataDir,
  log,
}: {
  dataDir: string;
  log: Log;
}): Promise<EmbeddedPostgres> {
  const cluster = resolve(dataDir, CLUSTER);
  makeDataDir(resolve(dataDir));
  const unlock = lock(`${cluster}.lock`);
  let socket = cluster;
  const release = (): void => {
    if (socket !== cluster) removeEmpty(socket);
    unlock();
  };
  try {
    const account = postgresAccount(cluster);
    const binaries = postgresBinaries(account);
    await prepareCluster(cluster, binaries, account);
    socket = socketDirectory(cluster, account);
    const server = await keepRunning({ postgres: binaries.postgres, cluster, socket, account, log });
    const search = new URLSearchParams({ host: socket, port: String(SOCKET_PORT), user: USER });
    return {
      connection: { host: socket, port: SOCKET_PORT, user: USER, database: USER },
      url: `postgresql:///${USER}?${search}`,
      pid: server.pid,
      close: () => server.close().finally(release),
    };
  } catch (error) {
    release();
    throw error;
  }
}

/** Starts the server, and again whenever it ends. */
async function keepRunning(options: ServerOptions): Promise<Pick<EmbeddedPostgres, 'pid' | 'close'>> {
  const { log } = options;
  const closing = new AbortController();
  let restarting = Promise.resolve();
  let child = await startServer(options);
  const watch = (): void => {
    child.once('exit', (code, signal) => {
      if (closing.signal.aborted) return;
      log.error({ code, signal }, 'the embedded PostgreSQL exited unexpectedly; restarting it');
      restarting = restart();
    });
  };
  const restart = async (): Promise<void> => {
    for (let waitMs = RESTART_FIRST_MS; !closing.signal.aborted; waitMs = Math.min(waitMs * 2, RESTART_MAX_MS)) {
      await sleep(waitMs);
      try {
        child = await startServer(options);
        watch();
        log.info({ pid: child.pid }, 'the embedded PostgreSQL is running again');
        return;
      } catch (error) {
        // The connections of a killed server may take a moment to notice.
        log.error({ err: error }, 'the embedded PostgreSQL failed to start');
      }
    }
  };
  watch();
  return {
    pid: () => child.pid,
    async close() {
      closing.abort();
      await restarting;
      await stopServer(child);
    },
  };
}

function removeEmpty(directory: string): void {
  try {
    rmdirSync(directory);
  } catch {
    // What is in it is not ours.
  }
}
