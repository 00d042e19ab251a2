import { mkdirSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createFront, exactly } from './clickhouse-front.ts';
import { StartMessage, type ChildMessage } from './clickhouse-messages.ts';
import { SessionPool } from './clickhouse-sessions.ts';

/** The process that owns the engine. It is told what to do by its parent, and ends with it. */
const POOL_SIZE = 4;

const MEGABYTE = 1_048_576;
const CLOSE_TIMEOUT_MS = 5000;

async function start(message: StartMessage): Promise<void> {
  mkdirSync(message.directory, { recursive: true, mode: 0o700 });
  const pool = new SessionPool({
    directory: message.directory,
    memoryMb: message.memoryMb,
    size: POOL_SIZE,
    queue: 256,
  });
  // chDB's own default database is an overlay that refuses refreshable views.
  await pool.control(`CREATE DATABASE IF NOT EXISTS ${message.database} ENGINE = Atomic`);
  const front = createFront(pool, {
    database: message.database,
    maxBodyBytes: 64 * MEGABYTE,
    maxBodiesBytes: 256 * MEGABYTE,
    admits: exactly(message.user, message.password),
    check: () => {},
  });
  await new Promise<void>((resolve, reject) => {
    front.once('error', reject);
    front.listen(message.port, '127.0.0.1', resolve);
  });
  const stop = () => {
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), CLOSE_TIMEOUT_MS).unref();
    front.close();
    front.closeAllConnections();
    void pool.close().finally(() => process.exit(0));
  };
  process.once('disconnect', stop);
  report({ kind: 'ready', port: (front.address() as AddressInfo).port });
}

function report(message: ChildMessage): void {
  process.send?.(message);
}

// The parent decides when to end, so that requests under way can finish: a Ctrl-C reaches the whole process group.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});
process.once('message', (message) => {
  start(StartMessage.parse(message)).catch((error: unknown) => {
    report({ kind: 'failed', message: error instanceof Error ? error.message : String(error) });
    process.disconnect();
  });
});
