import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Fastify, { type FastifyInstance } from 'fastify';
import pg from 'pg';
import { systemClock } from '../../../src/core/time.ts';
import { postgresAccount } from '../../../src/embedded/postgres/account.ts';
import { postgresBinaries } from '../../../src/embedded/postgres/binaries.ts';
import { pathFor, prepareCluster } from '../../../src/embedded/postgres/cluster.ts';
import { socketDirectory, SOCKET_PORT } from '../../../src/embedded/postgres/socket.ts';
import { fillPeer, storeTrades } from './peer-data.ts';
import { answerReads } from './peer-routes.ts';
import { everySecond } from './every-second.ts';
import type { Refs } from './routes.ts';

/** A plain Fastify over a PostgreSQL of its own with the settings it comes with, in a process of its own. */
export interface Peer {
  pid: number;
  port: number;
  /** Stores this many trades each second from now on; 0 stops. */
  ingest(perSecond: number): Promise<void>;
  close(): Promise<void>;
}

/** Starts it with the markets of the file and `trades` trades; `directory` is an empty one for its files. */
export async function startPeer(directory: string, refsFile: string, trades: number): Promise<Peer> {
  const child = fork(fileURLToPath(import.meta.url), [directory, refsFile, String(trades)], {
    execArgv: ['--import', 'tsx'],
  });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the peer ended with ${code}`);
  });
  ended.catch(() => {});
  const answer = (): Promise<unknown[]> => Promise.race([once(child, 'message'), ended]);
  const [port] = (await answer()) as [number];
  return {
    pid: child.pid ?? 0,
    port,
    async ingest(perSecond) {
      child.send(perSecond);
      await answer();
    },
    async close() {
      const exit = once(child, 'exit');
      child.disconnect();
      await exit;
    },
  };
}

const READY = 'database system is ready to accept connections';

async function startServer(directory: string): Promise<{ pool: pg.Pool; server: ChildProcess }> {
  const cluster = join(directory, 'peer');
  const account = postgresAccount(cluster);
  const binaries = postgresBinaries(account);
  await prepareCluster(cluster, binaries, account, systemClock);
  const host = socketDirectory(cluster, account);
  const settings = ['-c', 'listen_addresses=', '-c', `unix_socket_directories=${host === cluster ? '.' : host}`];
  const server = spawn(binaries.postgres, ['-D', pathFor(account, cluster), ...settings], {
    cwd: cluster,
    env: { LC_ALL: 'C' },
    ...account,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  while (!said.includes(READY)) {
    const [text] = (await Promise.race([once(server.stderr, 'data'), once(server, 'exit')])) as [unknown];
    if (server.exitCode !== null) throw new Error(`the peer's PostgreSQL did not start: ${said}`);
    said += String(text);
  }
  server.stderr.resume();
  const pool = new pg.Pool({ host, port: SOCKET_PORT, user: 'postgres', database: 'postgres', password: '', max: 10 });
  return { pool, server };
}

async function serve(directory: string, refsFile: string, trades: number): Promise<void> {
  const refs = JSON.parse(readFileSync(refsFile, 'utf8')) as Refs;
  const { pool, server } = await startServer(directory);
  const end = async (): Promise<void> => {
    await pool.end().catch(() => {});
    server.kill('SIGINT');
    if (server.exitCode === null) await once(server, 'exit');
    process.exit(0);
  };
  process.once('disconnect', () => void end());
  // The last connections end with the server.
  pool.on('error', () => {});
  await fillPeer(pool, refs, trades);
  const app: FastifyInstance = Fastify();
  answerReads(app, pool);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const markets = Object.values(refs).reduce((sum, { length }) => sum + length, 0);
  let stop: (() => Promise<void>) | null = null;
  process.on('message', async (perSecond: number) => {
    await stop?.();
    stop = null;
    if (perSecond > 0) stop = everySecond(() => storeTrades(pool, perSecond, markets));
    process.send?.('done');
  });
  process.send?.((app.server.address() as AddressInfo).port);
}

if (process.send && process.argv[1] === fileURLToPath(import.meta.url)) {
  const [directory = '', refsFile = '', trades = '0'] = process.argv.slice(2);
  await serve(directory, refsFile, Number(trades));
}
