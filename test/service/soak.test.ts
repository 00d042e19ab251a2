import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EventSource } from 'eventsource';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { newApiKey } from '../../src/accounts/api-key-format.ts';
import { heldAfterCollection, openFiles, processesOf, pssMb } from '../helpers/process-memory.ts';
import { type ServiceProcess, startCommand, startProcess } from '../helpers/process.ts';
import { waitsInRealTime } from '../helpers/real-time.ts';
import { startKalshi } from '../simulators/kalshi.ts';
import { startLimitless } from '../simulators/limitless.ts';
import { startPolymarket } from '../simulators/polymarket.ts';

waitsInRealTime('a service runs for six minutes');
vi.setConfig({ testTimeout: 1_800_000, hookTimeout: 180_000 });

/** One sweep a second in place of one a minute: this many are six hours of them. */
const SWEEPS = 360;
/** Caches and the engines' own buffers fill meanwhile. */
const WARM_SWEEPS = 120;
const READINGS = 5;
const PATHS = [
  'markets?provider=kalshi',
  'markets?provider=polymarket&limit=100',
  'markets?provider=limitless',
  'trades/whales?min_size=0',
  'analytics/trending',
  'events?provider=kalshi',
];

let directory: string;
let service: ServiceProcess;
let simulators: Awaited<ReturnType<typeof startKalshi | typeof startPolymarket | typeof startLimitless>>[];
const key = newApiKey();
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'forecastle-soak-'));
  simulators = await Promise.all([startKalshi(), startPolymarket(), startLimitless()]);
  const env: Record<string, string> = Object.assign({}, ...simulators.map((simulator) => simulator.env));
  const often = { SWEEP_SECONDS: '1', TRADES_SECONDS: '1', LOG_LEVEL: 'info' };
  service = startProcess(
    'all',
    { ...env, ...often, DATA_DIR: directory, DEMO_API_KEY: key },
    {
      preload: ['../simulators/unmetered.ts', 'heap-on-signal.ts'],
    },
  );
  await service.ready;
});
afterAll(async () => {
  service?.kill('SIGKILL');
  await service?.ended;
  await Promise.all((simulators ?? []).map((simulator) => simulator.close()));
  rmSync(directory, { recursive: true, force: true });
});

interface Held {
  /** Of the service's own process after a collection, MB. */
  heapMb: number;
  handles: number;
  files: number;
  /** Of all its processes. */
  memoryMb: number;
}

async function held(): Promise<Held> {
  const { bytes, handles } = await heldAfterCollection(service);
  return {
    heapMb: bytes / 2 ** 20,
    handles,
    files: openFiles(service.pid),
    memoryMb: processesOf(service.pid).reduce((sum, pid) => sum + pssMb(pid), 0),
  };
}

const bytesOf = (path: string): number =>
  readdirSync(path, { withFileTypes: true, recursive: true }).reduce((sum, entry) => {
    // Parts come and go.
    const size = entry.isFile()
      ? (statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0)
      : 0;
    return sum + size;
  }, 0);

/** The least of a few readings: calls and timers that come and go are not what stays. */
async function kept(): Promise<Held> {
  const readings: Held[] = [];
  for (let reading = 0; reading < READINGS; reading += 1) {
    readings.push(await held());
    await sleep(1000);
  }
  const least = (of: keyof Held): number => Math.min(...readings.map((one) => one[of]));
  return { heapMb: least('heapMb'), handles: least('handles'), files: least('files'), memoryMb: least('memoryMb') };
}

/** Asks for something of everything and opens a stream, once a second. */
async function use(url: string, seconds: number): Promise<void> {
  const beganMs = performance.now();
  for (let second = 0; second < seconds; second += 1) {
    const path = PATHS[second % PATHS.length] ?? '';
    const reply = await fetch(`${url}/v1/api/${path}`, { headers: { 'x-api-key': key } });
    await reply.arrayBuffer();
    expect(reply.status).toBe(200);
    const stream = new EventSource(`${url}/v1/api/stream?channels=trades,markets`, {
      fetch: (address, init) => fetch(address, { ...init, headers: { ...init.headers, 'x-api-key': key } }),
    });
    await once(stream, 'open', { signal: AbortSignal.timeout(20_000) });
    await sleep(Math.max(0, beganMs + (second + 1) * 1000 - performance.now()));
    stream.close();
  }
}

test('six hours of sweeps leave memory, handles and files as they were, and every roll-up right', async () => {
  const url = await service.ready;
  for (const simulator of simulators) simulator.startTrading(5);
  await use(url, WARM_SWEEPS);
  const first = await kept();
  await use(url, SWEEPS - WARM_SWEEPS);
  const last = await kept();
  for (const simulator of simulators) simulator.startTrading(0);
  // What is still on its way is stored.
  await use(url, 20);
  const filledBytes = bytesOf(directory);
  await use(url, 30);
  const quietBytes = bytesOf(directory) - filledBytes;
  const figures = JSON.stringify({ first, last, filledBytes, quietBytes });
  expect(last.heapMb, figures).toBeLessThan(first.heapMb * 1.15 + 5);
  expect(last.handles, figures).toBeLessThanOrEqual(first.handles + 10);
  expect(last.files, figures).toBeLessThanOrEqual(first.files + 20);
  expect(last.memoryMb, figures).toBeLessThan(first.memoryMb * 1.2 + 30);
  // Sweeps that find nothing new leave their marks alone.
  expect(quietBytes, figures).toBeLessThan(30 * 2 ** 20);
  service.kill('SIGTERM');
  expect(await service.ended).toBe(0);
  const verify = startCommand('verify', ['--all'], { DATA_DIR: directory });
  expect(await verify.ended, verify.output()).toBe(0);
});
