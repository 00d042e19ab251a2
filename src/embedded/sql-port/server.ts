import type { AddressInfo, Socket } from 'node:net';
import { clientNetwork } from '../../core/client-address.ts';
import { FixedWindows } from '../../core/fixed-windows.ts';
import { MINUTE_MS, systemClock } from '../../core/time.ts';
import type { Engine } from '../clickhouse/engine.ts';
import { EngineError } from '../clickhouse/errors.ts';
import { createFront, exactly } from '../clickhouse/http-server.ts';
import type { SqlPortOptions } from '../clickhouse/messages.ts';
import { SessionPool } from '../clickhouse/session-pool.ts';
import type { Credentials } from '../clickhouse/request.ts';
import { PureFunctions } from './allowed-functions.ts';
import { SqlCheck } from './statement-check.ts';
import { LowThreads } from './low-threads.ts';
import { answerHello } from './clickhouse-go-hello.ts';
import { MOST } from './allowed-settings.ts';
import { UnauthenticatedSockets } from './unauthenticated.ts';

const QUEUE = 64;
/** Per user, all keys together. */
const OWNER_QUEUE = 32;
/** From this memory on a user's dashboard runs two queries at once: each may take a fifth of the engine's. */
const ROOMY_MB = 1000;
const MAX_CONNECTIONS = 512;
const MAX_HEADER_BYTES = 16_384;
const MAX_STATEMENT_BYTES = 65_536;
const MAX_HELD_BYTES = 16 * 1_048_576;
/** Wrong passwords per account and address; then even the right one waits for the next minute. Keys are too long to guess. */
const WRONG_A_MINUTE = 10;
/** Time in the queue, in addition to the time of the query itself. */
const WAIT_MS = 30_000;

interface SqlServerOptions extends SqlPortOptions {
  database: string;
  memoryMb: number;
  ownerOfKey(key: string, address: string): Promise<string | null>;
}

/** The SQL port for analysts: it reads the documented views. Users are the given accounts, or any name with an API key as password. */
export async function openSqlPort(engine: Engine, options: SqlServerOptions) {
  const { database, memoryMb, ownerOfKey } = options;
  const version = (await engine.control('SELECT version()')).trim();
  const check = new SqlCheck(engine, await PureFunctions.of(engine), database, memoryMb);
  const accounts = new Map(options.accounts.map(({ user, password }) => [user, exactly(user, password)]));
  const wrong = new FixedWindows(MINUTE_MS, systemClock);
  const unauthenticated = new UnauthenticatedSockets();
  const size = running(memoryMb);
  const perOwner = { size: size - 1, queue: OWNER_QUEUE };
  const pool: SessionPool = new SessionPool(engine, { size, queue: QUEUE, perOwner, onIdle: () => low.ended() });
  const low = new LowThreads(systemClock, () => pool.isIdle);
  const front = createFront(pool, {
    database,
    maxBodyBytes: MAX_STATEMENT_BYTES,
    maxHeldBytes: MAX_HELD_BYTES,
    maxHeaderBytes: MAX_HEADER_BYTES,
    deadlineMs: Number(MOST['max_execution_time']) * 1000 + WAIT_MS,
    async admits(credentials: Credentials | null, address) {
      if (credentials === null) return null;
      const { user, password } = credentials;
      const owner = password.startsWith('pk_') ? await ownerOfKey(password, address) : null;
      if (owner !== null) return `user ${owner}`;
      const admit = accounts.get(user);
      if (!admit) return null;
      const guesser = `${user} ${clientNetwork(address)}`;
      if (wrong.counted(guesser).requests >= WRONG_A_MINUTE)
        throw EngineError.of('AUTHENTICATION_FAILED', `${user}: Too many wrong passwords; wait a minute.`);
      const admitted = await admit(credentials, address);
      if (admitted === null) wrong.count(guesser);
      return admitted;
    },
    answers: (request) => answerHello(request, version),
    prepare: (call, session) => check.prepare(call, session),
    reword: (error) => check.reword(error),
    onAdmitted: (socket) => unauthenticated.admit(socket),
  });
  front.maxConnections = MAX_CONNECTIONS;
  front.on('connection', (socket: Socket) => unauthenticated.add(socket));
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
      low.close();
      pool.close();
    },
  };
}

/** Few queries at once, each with one thread: the rest of the machine ingests and serves. One place is left to other users. */
const running = (memoryMb: number): number => (memoryMb >= ROOMY_MB ? 3 : 2);
