import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { registered } from '../helpers/browser.ts';
import { startPipeline } from '../oracle/pipeline.ts';
import { startKalshi } from '../simulators/kalshi.ts';
import { createRng } from '../simulators/lib/rng.ts';
import { startLimitless } from '../simulators/limitless.ts';
import { startPolymarket } from '../simulators/polymarket.ts';
import { UNDESCRIBED } from './addresses.ts';
import { RawConnection, Unanswered } from './raw-connection.ts';
import { type KnownMarket, requestMaker, type Sender } from './requests.ts';

export interface FuzzOptions {
  requests: number;
  seed: number;
  /** The longest that any answer may take. */
  hangMs: number;
  onProgress?: (done: number) => void;
}

export interface FuzzReport {
  /** What broke a promise, the first hundred; [] is a pass. */
  faults: string[];
  statuses: Record<string, number>;
  slowestMs: number;
  /** Of the heap, from the end of the first fifth to the end; null where the process cannot collect garbage on demand. */
  grownBytes: number | null;
}

const WORLD = { seed: 20, markets: 20, tradesPerMarket: 20, historyDays: 2 };
const LANES = 8;
/** Then another caller: what is refused for its rate reaches nothing. */
const REQUESTS_PER_KEY = 240;
const REQUESTS_PER_ADDRESS = 40;
const REQUESTS_PER_SESSION = 5000;
/** Of platforms and stores, with the envelope; 500 never. */
const PROMISED = new Set([502, 503, 504]);
const GROWTH_BYTES = 48 * 1024 * 1024;

/** Sends random requests on raw sockets to a whole service over simulated platforms, and reports each promise they broke. */
export async function fuzz({ requests, seed, hangMs, onProgress }: FuzzOptions): Promise<FuzzReport> {
  const simulators = await Promise.all([startKalshi(WORLD), startPolymarket(WORLD), startLimitless(WORLD)]);
  const service = await startPipeline(simulators, ['kalshi', 'polymarket', 'limitless'], 3);
  const { port } = service.app.app.server.address() as AddressInfo;
  const described = await service.get<{ paths: object }>('openapi.json');
  const known: KnownMarket[] = [];
  for (const platform of ['kalshi', 'polymarket', 'limitless']) {
    // The service has begun to list them: without a market nothing of it can be asked.
    for (let listed = 0; listed === 0; await sleep(250)) {
      const { markets } = await service.get<{ markets: { platform_id: string }[] }>(
        `markets?provider=${platform}&limit=5`,
      );
      known.push(...markets.map((market) => ({ platform, id: market.platform_id })));
      listed = markets.length;
    }
  }

  const rng = createRng(seed);
  const make = requestMaker(rng, [...Object.keys(described.paths), ...UNDESCRIBED], known);
  const report: FuzzReport = { faults: [], statuses: {}, slowestMs: 0, grownBytes: null };
  let sent = 0;
  let heapBefore: number | null = null;
  let cookie = '';

  const lane = async (): Promise<void> => {
    let connection: RawConnection | null = null;
    let onAddress = 0;
    let sender: Sender = { key: '', cookie };
    for (let own = 0; sent < requests; own += 1) {
      if (own % REQUESTS_PER_KEY === 0) sender = { key: (await service.app.newKey('pro')).key, cookie };
      if (!connection?.open || onAddress >= REQUESTS_PER_ADDRESS) {
        connection?.close();
        connection = new RawConnection(port, `127.${rng.int(1, 250)}.${rng.int(0, 250)}.${rng.int(1, 250)}`);
        onAddress = 0;
      }
      onAddress += 1;
      sent += 1;
      if (sent % REQUESTS_PER_SESSION === 1) cookie = await session();
      if (sent % 1000 === 0) onProgress?.(sent);
      if (sent === Math.ceil(requests / 5)) heapBefore = heap();
      const { bytes, malformed } = make(sender);
      const startedAt = performance.now();
      const fault = await connection.ask(bytes, hangMs).then(
        ({ status, body }) => {
          report.statuses[status] = (report.statuses[status] ?? 0) + 1;
          return faultOf(status, body, malformed);
        },
        (error: unknown) => {
          if (!(error instanceof Unanswered)) throw error;
          connection?.close();
          // A changed byte can announce a body that never comes: the server may wait for it.
          return malformed ? null : error.message;
        },
      );
      if (!malformed) report.slowestMs = Math.max(report.slowestMs, performance.now() - startedAt);
      if (fault !== null && report.faults.length < 100)
        report.faults.push(`${JSON.stringify(bytes.toString('latin1').slice(0, 600))} → ${fault}`);
    }
    connection?.close();
  };
  const session = async (): Promise<string> =>
    [...(await registered(service.app)).cookies].map((pair) => pair.join('=')).join('; ');

  await Promise.all(Array.from({ length: LANES }, lane));
  const heapAfter = heap();
  if (heapBefore !== null && heapAfter !== null) {
    report.grownBytes = heapAfter - heapBefore;
    if (report.grownBytes > GROWTH_BYTES) report.faults.push(`the heap grew by ${report.grownBytes} bytes`);
  }
  await service.close();
  await Promise.all(simulators.map((simulator) => simulator.close()));
  return report;
}

function faultOf(status: number, body: string, malformed: boolean): string | null {
  if (status === 0) return malformed ? null : 'closed without an answer';
  if (status < 500) return null;
  if (PROMISED.has(status) && body.startsWith(`{"error":{"status":${status}`)) return null;
  return `${status} ${body.slice(0, 300)}`;
}

/** What is in use after collecting garbage. */
function heap(): number | null {
  if (!globalThis.gc) return null;
  globalThis.gc();
  return process.memoryUsage().heapUsed;
}
