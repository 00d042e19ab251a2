import { createRng } from '../simulators/lib/rng.ts';
import { RawConnection, Unanswered } from './raw-connection.ts';
import { requestMaker } from './requests.ts';
import { type Account, startRig } from './rig.ts';

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
  /** Of the service's heap, from the end of the first fifth to the end. */
  grownBytes: number;
}

const LANES = 8;
/** Then another caller: what is refused for its rate reaches nothing. */
const REQUESTS_PER_ACCOUNT = 240;
const REQUESTS_PER_ADDRESS = 40;
/** Of platforms and stores, with the envelope; 500 never. */
const PROMISED = new Set([502, 503, 504]);
const GROWTH_BYTES = 48 * 1024 * 1024;

/** Sends random requests on raw sockets to a whole service over simulated platforms, and reports each promise they broke. */
export async function fuzz({ requests, seed, hangMs, onProgress }: FuzzOptions): Promise<FuzzReport> {
  const rig = await startRig();
  const rng = createRng(seed);
  const make = requestMaker(rng, rig.description, rig.markets);
  const report: FuzzReport = { faults: [], statuses: {}, slowestMs: 0, grownBytes: 0 };
  let sent = 0;
  let heapBefore: Promise<number> | undefined;
  const address = (): string => `127.${rng.int(1, 250)}.${rng.int(0, 250)}.${rng.int(1, 250)}`;

  const lane = async (): Promise<void> => {
    let connection: RawConnection | null = null;
    let onAddress = 0;
    let sender: Account = { key: '', cookie: '' };
    for (let own = 0; sent < requests; own += 1) {
      if (own % REQUESTS_PER_ACCOUNT === 0) sender = await rig.account(address());
      if (!connection?.open || onAddress >= REQUESTS_PER_ADDRESS) {
        connection?.close();
        connection = new RawConnection(rig.port, address());
        onAddress = 0;
      }
      onAddress += 1;
      sent += 1;
      if (sent % 1000 === 0) onProgress?.(sent);
      if (sent === Math.ceil(requests / 5)) heapBefore = rig.heapBytes();
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

  try {
    await Promise.all(Array.from({ length: LANES }, lane));
    report.grownBytes = (await rig.heapBytes()) - ((await heapBefore) ?? 0);
    if (report.grownBytes > GROWTH_BYTES) report.faults.push(`the heap grew by ${report.grownBytes} bytes`);
  } finally {
    await rig.close();
  }
  return report;
}

function faultOf(status: number, body: string, malformed: boolean): string | null {
  if (status === 0) return malformed ? null : 'closed without an answer';
  if (status < 500) return null;
  if (PROMISED.has(status) && body.startsWith(`{"error":{"status":${status}`)) return null;
  return `${status} ${body.slice(0, 300)}`;
}
