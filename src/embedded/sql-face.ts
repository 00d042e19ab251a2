import type { AddressInfo } from 'node:net';
import type { Engine } from './clickhouse-engine.ts';
import { createFront, exactly } from './clickhouse-front.ts';
import type { SqlFace } from './clickhouse-messages.ts';
import { SessionPool } from './clickhouse-pool.ts';
import type { Credentials } from './clickhouse-request.ts';
import { PureFunctions } from './sql-functions.ts';
import { SqlCheck } from './sql-check.ts';
import { answerHello } from './sql-hello.ts';
import { MOST } from './sql-settings.ts';

/** Few connections and one thread a query: what is left of the machine ingests and serves. */
const POOL_SIZE = 2;
const QUEUE = 64;
const MAX_CONNECTIONS = 512;
const MAX_STATEMENT_BYTES = 65_536;
const MAX_HELD_BYTES = 16 * 1_048_576;
/** Beyond the time of a query itself: for waiting in the queue. */
const WAIT_MS = 30_000;

export interface SqlFaceOptions extends SqlFace {
  database: string;
  memoryMb: number;
  isKeyKnown(key: string, address: string): Promise<boolean>;
}

/**
 * The engine's second face, for analysts and Grafana: reads of the documented views, nothing else. Users are the accounts
 * given, or any user name with an API key as the password.
 */
export async function openSqlFace(engine: Engine, options: SqlFaceOptions) {
  const { database, memoryMb, accounts, isKeyKnown } = options;
  const version = (await engine.control('SELECT version()')).trim();
  const check = new SqlCheck(await PureFunctions.of(engine), database, memoryMb);
  const matches = accounts.map(({ user, password }) => exactly(user, password));
  const pool = new SessionPool(engine, { size: POOL_SIZE, queue: QUEUE });
  const front = createFront(pool, {
    database,
    maxBodyBytes: MAX_STATEMENT_BYTES,
    maxHeldBytes: MAX_HELD_BYTES,
    deadlineMs: Number(MOST['max_execution_time']) * 1000 + WAIT_MS,
    async admits(credentials: Credentials | null, address) {
      if (credentials === null) return false;
      for (const match of matches) if (await match(credentials, address)) return true;
      return credentials.password.startsWith('pk_') && isKeyKnown(credentials.password, address);
    },
    answers: (request) => answerHello(request, version),
    prepare: (call, session) => check.prepare(call, session),
  });
  front.maxConnections = MAX_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    front.once('error', reject);
    front.listen(options.port, options.host, resolve);
  }).catch((error: unknown) => {
    pool.close();
    throw error;
  });
  return {
    port: (front.address() as AddressInfo).port,
    close(): void {
      front.close();
      front.closeAllConnections();
      pool.close();
    },
  };
}
