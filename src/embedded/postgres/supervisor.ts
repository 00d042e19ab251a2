import { rmdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { makeDataDir, refuseUnfinishedRestore } from '../../core/data-dir.ts';
import { keepRunning } from '../keep-running.ts';
import { postgresAccount } from './account.ts';
import { postgresBinaries } from './binaries.ts';
import { prepareCluster } from './cluster.ts';
import { holderOf, lock } from './lock.ts';
import type { Log } from '../../core/log.ts';
import type { Clock } from '../../core/time.ts';
import { startServer, stopServer } from './server.ts';
import { socketDirectory, SOCKET_PORT } from './socket.ts';

/** A running PostgreSQL that only its owner, and root, can connect to. */
export interface EmbeddedPostgres {
  /** Connection of the `pg` package to its socket. */
  readonly connection: { host: string; port: number; user: string; database: string };
  /** The same as DATABASE_URL. */
  readonly url: string;
  /** Current process id of the server; it changes when an exited server is replaced. */
  pid(): number | undefined;
  close(): Promise<void>;
}

/** The cluster's directory in DATA_DIR. */
export const CLUSTER = 'postgresql';
const USER = 'postgres';
const RESTART_FIRST_MS = 100;
const RESTART_MAX_MS = 5000;

const connectionOf = (socket: string): EmbeddedPostgres['connection'] => ({
  host: socket,
  port: SOCKET_PORT,
  user: USER,
  database: USER,
});

/** Where the PostgreSQL of `dataDir` listens while another process serves it, and that process; null if none does. */
export function servedElsewhere(dataDir: string): (Pick<EmbeddedPostgres, 'connection'> & { by: number }) | null {
  const cluster = resolve(dataDir, CLUSTER);
  const by = holderOf(`${cluster}.lock`);
  return by === null ? null : { by, connection: connectionOf(socketDirectory(cluster, postgresAccount(cluster))) };
}

/** Starts PostgreSQL on `<dataDir>/postgresql` and keeps it running. A second process is refused. */
export async function startEmbeddedPostgres({
  dataDir,
  log,
  clock,
}: {
  dataDir: string;
  log: Log;
  clock: Clock;
}): Promise<EmbeddedPostgres> {
  const cluster = resolve(dataDir, CLUSTER);
  refuseUnfinishedRestore(dataDir);
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
    await prepareCluster(cluster, binaries, account, clock);
    socket = socketDirectory(cluster, account);
    const options = { postgres: binaries.postgres, cluster, socket, account, log, clock };
    const server = await keepRunning({
      name: 'the embedded PostgreSQL',
      start: () => startServer(options),
      stop: (child) => stopServer(child, clock),
      firstWaitMs: RESTART_FIRST_MS,
      maxWaitMs: RESTART_MAX_MS,
      log,
      clock,
    });
    const search = new URLSearchParams({ host: socket, port: String(SOCKET_PORT), user: USER });
    return {
      connection: connectionOf(socket),
      url: `postgresql:///${USER}?${search}`,
      pid: () => server.child().pid,
      close: () => server.close().finally(release),
    };
  } catch (error) {
    release();
    throw error;
  }
}

function removeEmpty(directory: string): void {
  try {
    rmdirSync(directory);
  } catch {
    // Not empty: its files are not ours.
  }
}
