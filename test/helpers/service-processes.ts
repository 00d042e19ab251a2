import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../src/core/config.ts';
import { createLog } from '../../src/core/log.ts';
import { openPostgres } from '../../src/stores/postgres/client.ts';
import { insertKey } from './app.ts';
import { freshDatabase, TEST_SERVER } from './databases.ts';
import { processesOf } from './process-memory.ts';
import { type ServiceProcess, startProcess, startStore, UNMETERED } from './process.ts';

/** A process that is started again after each kill. */
interface Restarted {
  start(): ServiceProcess;
  running: ServiceProcess;
}

const restarted = (start: () => ServiceProcess): Restarted => ({ start, running: start() });

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/**
 * Ingesting and serving processes over one embedded ClickHouse in a process of its own and one PostgreSQL, with kills at any moment.
 * What is killed is started again.
 */
export class ServiceProcesses {
  readonly ingesting: readonly Restarted[];
  readonly serving: readonly Restarted[];
  readonly clickhouseUrl: string;
  /** An API key of a pro user. */
  readonly key: string;
  readonly #engine: Restarted;
  readonly #close: () => Promise<void>;
  #urls: string[] = [];

  private constructor(
    parts: Pick<ServiceProcesses, 'ingesting' | 'serving' | 'clickhouseUrl' | 'key'> & {
      engine: Restarted;
      close: () => Promise<void>;
    },
  ) {
    ({ ingesting: this.ingesting, serving: this.serving, clickhouseUrl: this.clickhouseUrl, key: this.key } = parts);
    this.#engine = parts.engine;
    this.#close = parts.close;
  }

  static async start(env: Record<string, string>, ingesting: number, serving: number): Promise<ServiceProcesses> {
    const directory = mkdtempSync(join(tmpdir(), 'forecastle-processes-'));
    const database = await freshDatabase(TEST_SERVER);
    const dirOf = (name: string): Record<string, string> => ({ DATA_DIR: join(directory, name) });
    const store = { ...dirOf('clickhouse'), CLICKHOUSE_PORT: String(await freePort()), CLICKHOUSE_MEMORY_MB: '1000' };
    const engine = restarted(() => startStore('clickhouse', store));
    const clickhouseUrl = await engine.running.ready;
    const urls = { CLICKHOUSE_URL: clickhouseUrl, DATABASE_URL: database.url, JWT_SECRET: 'x'.repeat(40) };
    const roles = (role: 'api' | 'ingest', count: number): Restarted[] =>
      Array.from({ length: count }, (_, n) =>
        restarted(() => startProcess(role, { ...env, ...urls, ...dirOf(`${role}${n}`) }, { program: UNMETERED })),
      );
    const all = { ingesting: roles('ingest', ingesting), serving: roles('api', serving) };
    const close = async (): Promise<void> => {
      const running = [...all.ingesting, ...all.serving, engine].map((one) => one.running);
      for (const one of running) one.kill('SIGTERM');
      const timer = setTimeout(() => running.forEach((one) => one.kill('SIGKILL')), 20_000);
      await Promise.all(running.map(({ ended }) => ended));
      clearTimeout(timer);
      await database.drop();
      rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 });
    };
    await Promise.all(all.serving.map(({ running }) => running.ready));
    const config = loadConfig({ DATABASE_URL: database.url }, 'stores');
    const postgres = await openPostgres(config, createLog({ LOG_LEVEL: 'silent' }));
    const { key } = await insertKey(postgres, 'pro').finally(() => postgres.close());
    const processes = new ServiceProcesses({ ...all, clickhouseUrl, key, engine, close });
    await processes.#know();
    return processes;
  }

  /** The serving processes' addresses as they are now, in turn. */
  origin(n: number): string {
    return this.#urls[n % this.#urls.length] ?? '';
  }

  /** Ends a process at once and starts it again; resolves when it is there. */
  async kill(one: Restarted): Promise<void> {
    one.running.kill('SIGKILL');
    await one.running.ended;
    one.running = one.start();
    await one.running.ready;
    await this.#know();
  }

  /** Ends the engine at once; the process above it starts it again. */
  killEngine(): void {
    for (const pid of processesOf(this.#engine.running.pid).slice(1)) process.kill(pid, 'SIGKILL');
  }

  /** Ends the engine and the process above it. */
  async killStore(): Promise<void> {
    await this.kill(this.#engine);
  }

  close(): Promise<void> {
    return this.#close();
  }

  async #know(): Promise<void> {
    this.#urls = await Promise.all(this.serving.map(({ running }) => running.ready));
  }
}
