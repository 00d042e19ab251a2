import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { systemClock } from '../../../src/core/time.ts';
import { BookRecorder } from '../../../src/books/recorder.ts';
import { CHANGE_COLUMNS, changeRow } from '../../../src/books/rows.ts';
import { parsePrice, parseSize } from '../../../src/core/decimal.ts';
import type { BookChange, BookSide } from '../../../src/core/model.ts';
import type { StoredMarket } from '../../../src/platforms/contract.ts';
import { type ClickHouse, connect } from '../../../src/stores/clickhouse/client.ts';
import { startEmbeddedClickHouse } from '../../../src/embedded/clickhouse/supervisor.ts';
import { migrateClickHouse } from '../../../src/stores/clickhouse/migrations.ts';
import { LEASE } from '../../helpers/market-store.ts';
import { createRng } from '../../simulators/lib/index.ts';
import { storedMarket, yesNo } from '../../fixtures/stored-market.ts';

const log = pino({ level: 'silent' });
const MARKETS = 200;
const LEVELS = 20;
/** As many as arrive between two turns of a busy socket. */
const TURN = 500;
/** Changes are a market's own business: one a second in each, on average. */
const STEP_MS = 1000 / MARKETS;

export interface RecordingResult {
  changes: number;
  /** Changes a second until the last one is stored, by the recorder in one process. */
  recordedPerSecond: number;
  /** Changes a second of processor time of that process: what a core of its own would take. */
  perCoreSecond: number;
  /** The same rows, serialised before, inserted in batches of a second's worth by the same client. */
  insertedPerSecond: number;
  /** After merges. */
  bytesPerChange: number;
}

interface Change {
  ref: string;
  change: BookChange;
  at: string;
}

/** How fast books of sockets are recorded, and what a change takes on disk. */
export async function benchRecording(changes: number): Promise<RecordingResult> {
  const tape = madeChanges(changes);
  const bare = await withStore(async (clickhouse) => {
    const batches: Buffer[] = [];
    for (let from = 0; from < tape.length; from += 20_000) {
      const lines = tape.slice(from, from + 20_000).map(({ ref, change, at }, n) => {
        const facts = { platform: 'kalshi' as const, ref, outcome: 'yes', sequence: from + n, exchangeAt: at };
        return JSON.stringify(changeRow({ ...facts, receivedAt: at, polled: false }, change));
      });
      batches.push(Buffer.from(`${lines.join('\n')}\n`));
    }
    const began = performance.now();
    for (const batch of batches) await clickhouse.insert(CHANGE_COLUMNS, batch);
    return changes / ((performance.now() - began) / 1000);
  });
  const recorded = await withStore(async (clickhouse) => {
    const recorder = new BookRecorder({ clock: systemClock, clickhouse, log, platform: 'kalshi', announce: () => {} });
    await recorder.open(LEASE);
    recorder.want(refs.map(marketOf));
    const start = tape[0]?.at ?? '';
    for (const ref of refs) recorder.snapshot(ref, firstBook(), start, start);
    const [began, cpu] = [performance.now(), process.cpuUsage()];
    for (const [n, { ref, change, at }] of tape.entries()) {
      recorder.change(ref, [change], at, at);
      if (n % TURN === 0) await sleep(0);
      // What waits is bounded: a feed that is faster than the store is not what is measured.
      if (n % 50_000 === 49_999) await recorder.flush();
    }
    await recorder.flush();
    await recorder.flush();
    const seconds = (performance.now() - began) / 1000;
    const { user, system } = process.cpuUsage(cpu);
    await recorder.close();
    await clickhouse.command('OPTIMIZE TABLE book_changes FINAL');
    const [row] = await clickhouse.sql<{ rows: string; bytes: string }>(
      `SELECT sum(rows) AS rows, sum(bytes_on_disk) AS bytes FROM system.parts WHERE active AND table = 'book_changes' AND database = currentDatabase()`,
    );
    if (Number(row?.rows) !== changes) throw new Error(`${row?.rows} of ${changes} changes were recorded`);
    const bytesPerChange = Number(row?.bytes) / changes;
    return { recordedPerSecond: changes / seconds, perCoreSecond: changes / ((user + system) / 1e6), bytesPerChange };
  });
  return { changes, insertedPerSecond: bare, ...recorded };
}

const refs = Array.from({ length: MARKETS }, (_, n) => `KXBENCH-${n}`);
const marketOf = (ref: string): StoredMarket => storedMarket({ platform: 'kalshi', ref, outcomes: yesNo() });

const priceOf = (side: BookChange['side'], level: number) =>
  parsePrice(((side === 'bid' ? 49 - level : 51 + level) / 100).toFixed(2));
const firstBook = (): BookSide => ({
  bids: Array.from({ length: LEVELS }, (_, level) => ({ price: priceOf('bid', level), size: parseSize('0.5') })),
  asks: Array.from({ length: LEVELS }, (_, level) => ({ price: priceOf('ask', level), size: parseSize('0.5') })),
});

/** Most changes are near the middle, of whole and often round sizes; a tenth empties a level. */
function madeChanges(count: number): Change[] {
  const rng = createRng(count);
  const startMs = Date.now() - Math.ceil(count * STEP_MS) - 1000;
  const last = new Map<string, string>();
  return Array.from({ length: count }, (_, n) => {
    const ref = refs[Math.floor(rng.next() ** 2 * MARKETS)] ?? '';
    const side = rng.next() < 0.5 ? 'bid' : 'ask';
    const level = Math.floor(rng.next() ** 2 * LEVELS);
    const name = `${ref} ${side} ${level}`;
    const drawn = Math.floor(rng.next() ** 3 * 2000);
    let size = rng.next() < 0.1 ? 0 : 1 + (rng.next() < 0.5 ? drawn - (drawn % 50) : drawn);
    // A change that changes nothing is none.
    if (last.get(name) === String(size)) size += 1;
    last.set(name, String(size));
    const at = new Date(startMs + Math.floor(n * STEP_MS)).toISOString();
    return { ref, at, change: { side, price: priceOf(side, level), size: parseSize(String(size)) } };
  });
}

async function withStore<T>(run: (store: ClickHouse) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'forecastle-bench-books-'));
  const engine = await startEmbeddedClickHouse({ dataDir: directory, memoryMb: 2000, log, clock: systemClock });
  const store = connect(engine.url, () => engine.close());
  try {
    await migrateClickHouse(store, log);
    return await run(store);
  } finally {
    await store.close();
    await rm(directory, { recursive: true, force: true });
  }
}
