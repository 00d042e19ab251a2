import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { newApiKey } from '../../src/accounts/api-key-format.ts';
import { processesOf, pssMb } from '../helpers/process-memory.ts';
import { startProcess, startStore } from '../helpers/process.ts';
import { startKalshi } from '../simulators/kalshi.ts';
import { startLimitless } from '../simulators/limitless.ts';
import { startPolymarket } from '../simulators/polymarket.ts';

/** Proportional set size in MB by part: pages that processes share are divided among them, so that the sum counts each once. */
export type Memory = Record<'node' | 'clickhouse' | 'postgres' | 'total', number>;

export interface MemoryResult {
  /** `npm start` on embedded stores, some seconds after its first start. */
  idle: Memory;
  /** The same process after `loadMinutes` of requests and simulated trading. */
  loaded: Memory;
  loadMinutes: number;
  /** `npm run api` and `npm run ingest` alone, their stores being servers elsewhere. */
  api: Memory;
  ingest: Memory;
}

const SETTLE_MS = 20_000;
const PATHS = [
  'markets?provider=kalshi',
  'markets?provider=polymarket',
  'markets?provider=limitless',
  'trades/whales?min_size=0',
  'analytics/trending',
  'analytics/categories',
];

/** Starts the service as a user would, in processes of its own, over simulated platforms, and reads what the system counts. */
export async function benchMemory(loadMinutes: number): Promise<MemoryResult> {
  const directory = mkdtempSync(join(tmpdir(), 'forecastle-bench-memory-'));
  const simulators = await Promise.all([startKalshi(), startPolymarket(), startLimitless()]);
  for (const simulator of simulators) simulator.startTrading(2);
  const urls: Record<string, string> = Object.assign({}, ...simulators.map(({ env }) => env));
  const key = newApiKey();
  const env = { ...urls, DEMO_API_KEY: key, LOG_LEVEL: 'info' };
  try {
    const whole = startProcess('all', { ...env, DATA_DIR: join(directory, 'whole') });
    const url = await whole.ready;
    await sleep(SETTLE_MS);
    const idle = memoryOf(whole.pid);
    await ask(url, key, loadMinutes * 60_000);
    await sleep(SETTLE_MS);
    const loaded = memoryOf(whole.pid);
    whole.kill('SIGTERM');
    await whole.ended;
    return { idle, loaded, loadMinutes, ...(await onServers(directory, env)) };
  } finally {
    await Promise.all(simulators.map((simulator) => simulator.close()));
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The API and ingestion as processes of their own; what their stores take is counted for neither. */
async function onServers(directory: string, env: Record<string, string>): Promise<{ api: Memory; ingest: Memory }> {
  const DATA_DIR = join(directory, 'servers');
  const clickhouse = startStore('clickhouse', { DATA_DIR, CLICKHOUSE_PORT: '0' });
  const postgres = startStore('postgres', { DATA_DIR });
  const shared = {
    ...env,
    DATA_DIR,
    CLICKHOUSE_URL: await clickhouse.ready,
    DATABASE_URL: await postgres.ready,
  };
  const api = startProcess('api', shared);
  const ingest = startProcess('ingest', shared);
  try {
    await Promise.all([api.ready, ingest.ready]);
    await sleep(SETTLE_MS);
    return { api: memoryOf(api.pid), ingest: memoryOf(ingest.pid) };
  } finally {
    for (const process of [api, ingest]) process.kill('SIGTERM');
    await Promise.all([api.ended, ingest.ended]);
    for (const process of [clickhouse, postgres]) process.kill('SIGTERM');
    await Promise.all([clickhouse.ended, postgres.ended]);
  }
}

/** Some requests at a time, until `ms` have passed. */
async function ask(url: string, key: string, ms: number): Promise<void> {
  const end = performance.now() + ms;
  for (let i = 0; performance.now() < end; i += 1) {
    const path = PATHS[i % PATHS.length] ?? '';
    const reply = await fetch(`${url}/v1/api/${path}`, { headers: { 'x-api-key': key } });
    await reply.arrayBuffer();
    await sleep(50);
  }
}

/** Memory of a process and those below it, without the processes of `others`. */
export function memoryOf(root: number, others: readonly number[] = []): Memory {
  const memory: Memory = { node: 0, clickhouse: 0, postgres: 0, total: 0 };
  const left = new Set(others.flatMap(processesOf));
  for (const pid of processesOf(root)) {
    if (left.has(pid)) continue;
    const mb = pssMb(pid);
    memory[partOf(root, pid)] += mb;
    memory.total += mb;
  }
  return memory;
}

/** What a process at or below a service's belongs to. */
export function partOf(root: number, pid: number): Exclude<keyof Memory, 'total'> {
  if (pid === root) return 'node';
  return /postgres/.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8')) ? 'postgres' : 'clickhouse';
}
