import { mkdirSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { Engine } from './clickhouse-engine.ts';
import { createFront, exactly } from './clickhouse-front.ts';
import { StartMessage, type ChildMessage } from './clickhouse-messages.ts';
import { SessionPool } from './clickhouse-pool.ts';

/** The process that owns the engine: its parent tells it what to serve, and it ends with its parent. */
const POOL_SIZE = 4;
const QUEUE = 256;
const MEGABYTE = 1_048_576;
const CLOSE_TIMEOUT_MS = 3000;

const report = (message: ChildMessage) => process.send?.(message);

async function start(message: StartMessage): Promise<void> {
  mkdirSync(message.directory, { recursive: true, mode: 0o700 });
  const engine = await Engine.open(message.directory, message.memoryMb, message.database);
  const pool = new SessionPool(engine, { size: POOL_SIZE, queue: QUEUE });
  const front = createFront(pool, {
    database: message.database,
    maxBodyBytes: 64 * MEGABYTE,
    maxHeldBytes: 256 * MEGABYTE,
    admits: exactly(message.user, message.password),
    check: () => {},
  });
  await new Promise<void>((resolve, reject) => {
    front.once('error', reject);
    front.listen(message.port, '127.0.0.1', resolve);
  });
  close = async () => {
    front.close();
    front.closeAllConnections();
    pool.close();
    await engine.close();
  };
  report({ kind: 'ready', port: (front.address() as AddressInfo).port });
}

let close = async () => {};

// A terminal's Ctrl-C reaches the whole process group; the parent decides when to end, so that it can finish its work.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});
// The channel also closes when the parent is killed.
process.once('disconnect', () => {
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), CLOSE_TIMEOUT_MS).unref();
  void close().finally(() => process.exit(0));
});
process.once('message', (message) => {
  start(StartMessage.parse(message)).catch((error: unknown) => {
    report({ kind: 'failed', message: error instanceof Error ? error.message : String(error) });
    process.disconnect();
  });
});
