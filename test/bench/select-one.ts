import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Session } from 'chdb';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { quantile } from './quantile.ts';

/** Medians of the smallest statement, in milliseconds. */
export interface SelectOne {
  /** Through the store client, and where it is embedded the server in its process. */
  clientMs: number;
  /** In a chDB of a process of its own, with nothing between. */
  engineMs: number;
  ofEngine: number;
}

const ROUNDS = 10;
const TURNS = 100;

/** Both in turns, so that what else the machine does falls on both. */
export async function benchSelectOne(store: ClickHouse): Promise<SelectOne> {
  const directory = await mkdtemp(join(tmpdir(), 'forecastle-bench-engine-'));
  const engine = fork(fileURLToPath(import.meta.url), [directory], { execArgv: ['--import', 'tsx'] });
  const inEngine = async (): Promise<number[]> => {
    engine.send('again');
    const [taken] = (await once(engine, 'message')) as [number[]];
    return taken;
  };
  const throughClient = (): Promise<number[]> => timed(() => store.sql('SELECT 1'));
  await throughClient();
  await inEngine();
  const [client, direct]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    client.push(...(await throughClient()));
    direct.push(...(await inEngine()));
  }
  engine.kill('SIGKILL');
  await rm(directory, { recursive: true, force: true });
  const [clientMs, engineMs] = [quantile(client, 0.5), quantile(direct, 0.5)];
  return { clientMs, engineMs, ofEngine: clientMs / engineMs };
}

async function timed(call: () => Promise<unknown>): Promise<number[]> {
  const taken: number[] = [];
  for (let turn = 0; turn < TURNS; turn += 1) {
    const started = performance.now();
    await call();
    taken.push(performance.now() - started);
  }
  return taken;
}

const [, file, directory] = process.argv;
if (process.send && directory && file === fileURLToPath(import.meta.url)) {
  const session = new Session(directory);
  process.on('message', () => {
    void timed(() => session.queryAsync('SELECT 1', { format: 'JSONEachRow' })).then((taken) => process.send?.(taken));
  });
}
