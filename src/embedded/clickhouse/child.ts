import type { AddressInfo } from 'node:net';
import { getPriority } from 'node:os';
import { Worker } from 'node:worker_threads';
import { systemClock } from '../../core/time.ts';
import { Engine } from './engine.ts';
import { EngineError } from './errors.ts';
import { createFront, exactly } from './http-server.ts';
import { ParentMessage, StartMessage, type ChildMessage, type SqlPortOptions } from './messages.ts';
import { SessionPool } from './session-pool.ts';
import { giveThreads, LOW } from '../sql-port/low-threads.ts';
import { openSqlPort } from '../sql-port/server.ts';

/** The process that owns the engine. It receives its configuration from the parent, and exits with it. */
const POOL_SIZE = 6;
const QUEUE = 256;
const MEGABYTE = 1_048_576;
const CLOSE_TIMEOUT_MS = 3000;
const ANSWER_TIMEOUT_MS = 5000;
const WATCH_MS = 500;
/**
 * By how much the engine's nice value is above that of the service: where all want the processors, reads of the present in PostgreSQL come
 * before statements over history. Queries of analysts come last.
 */
const NICE = 5;

const report = (message: ChildMessage) => process.send?.(message);
const words = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** Called at the end, in reverse order. */
const closers: (() => void | Promise<void>)[] = [];
async function close(): Promise<void> {
  for (const end of closers.toReversed()) await end();
}

async function start(message: StartMessage): Promise<void> {
  // Of all threads: those that run statements were started with this one.
  const own = getPriority();
  giveThreads(Math.min(own + NICE, LOW), [own]);
  const engine = await Engine.open(message);
  closers.push(() => engine.close());
  const pool = new SessionPool(engine, { size: POOL_SIZE, queue: QUEUE });
  const front = createFront(pool, {
    database: message.database,
    maxBodyBytes: 64 * MEGABYTE,
    maxHeldBytes: 256 * MEGABYTE,
    // A URL may carry a megabyte of parameters, as on a ClickHouse server.
    maxHeaderBytes: MEGABYTE,
    admits: exactly(message.user, message.password),
  });
  await new Promise<void>((resolve, reject) => {
    front.once('error', reject);
    front.listen(message.port, '127.0.0.1', resolve);
  });
  closers.push(() => {
    front.close();
    front.closeAllConnections();
    pool.close();
  });
  process.on('message', (later) => handleParentMessage(ParentMessage.parse(later), engine, message));
  report({ kind: 'ready', port: (front.address() as AddressInfo).port });
}

function handleParentMessage(message: ParentMessage, engine: Engine, { database, memoryMb }: StartMessage): void {
  if (message.kind === 'key owner') answers.get(message.id)?.(message.owner);
  else
    serveSql(engine, message.sqlPort, database, memoryMb).catch((error: unknown) =>
      report({ kind: 'sql failed', message: words(error) }),
    );
}

async function serveSql(engine: Engine, sqlPort: SqlPortOptions, database: string, memoryMb: number): Promise<void> {
  const opened = await openSqlPort(engine, { ...sqlPort, database, memoryMb, ownerOfKey });
  closers.push(() => opened.close());
  report({ kind: 'sql open', port: opened.port });
}

/** Pending questions to the parent, at most one per connection. */
const answers = new Map<number, (owner?: string | null) => void>();
let questions = 0;

function ownerOfKey(key: string, address: string): Promise<string | null> {
  const id = (questions += 1);
  return new Promise((resolve, reject) => {
    const answer = (owner?: string | null) => {
      stop();
      answers.delete(id);
      if (owner === undefined)
        reject(EngineError.of('ALL_CONNECTION_TRIES_FAILED', 'API keys cannot be looked up now.'));
      else resolve(owner);
    };
    const stop = systemClock.timeout(ANSWER_TIMEOUT_MS, answer);
    answers.set(id, answer);
    report({ kind: 'whose key', id, key, address });
  });
}

// Ctrl-C in a terminal reaches the whole process group; the parent decides when to stop, so that it can finish its work.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});
const kill = (): void => void process.kill(process.pid, 'SIGKILL');
// The channel also closes when the parent is killed.
process.once('disconnect', () => {
  systemClock.timeout(CLOSE_TIMEOUT_MS, kill);
  // Not exit(): exit handlers of the engine could wait for its threads.
  void close().finally(kill);
});
// A call into the engine may block this thread while the parent exits, so another thread watches the parent.
const watch = `const { ppid } = process;
setInterval(() => {
  if (process.ppid !== ppid) setTimeout(() => process.kill(process.pid, 'SIGKILL'), ${CLOSE_TIMEOUT_MS});
}, ${WATCH_MS});`;
new Worker(watch, { eval: true, execArgv: [] }).unref();
process.once('message', (message) => {
  start(StartMessage.parse(message)).catch((error: unknown) => {
    report({ kind: 'failed', message: words(error) });
    process.disconnect();
  });
});
