import type { TradeRecord } from '../src/core/model.ts';
import type { PlatformData } from '../src/platforms/contract.ts';
import type { JobResult, JobRun } from './job-runner.ts';
import { BATCH_ROWS, readSpan } from './read-span.ts';
import type { TradesDeps } from './trades.ts';
import { startOf } from './watermarks.ts';
import { DAY_US } from '../src/core/time.ts';

/** What was read of a slow feed is stored at least this often, so that a stop loses little work. */
const BATCH_MS = 2000;

/** Progress of the backfill, for the terminal. */
export interface BackfillProgress {
  platform: string;
  /** 0..1 of the time span. */
  done: number;
  rows: number;
  rowsPerSecond: number;
  secondsLeft: number;
}

/**
 * Extends a global feed's stored span back to BACKFILL_DAYS, newest first. The span's start moves with every acknowledged batch,
 * so a stop anywhere continues from there. The next pages are fetched while a batch is being stored.
 */
export async function backfillTrades(
  deps: TradesDeps,
  data: PlatformData,
  run: JobRun,
  onProgress: (progress: BackfillProgress) => void,
): Promise<JobResult | null> {
  const span = await deps.watermarks.read('', run.lease);
  if (!span) return null;
  // Trades that the feed lacks are read per market, when a client asks for them.
  const targetUs = Math.max(
    deps.clock.now() * 1000 - Math.round(deps.backfillDays * DAY_US),
    data.tradesReachBackUs?.() ?? -Infinity,
  );
  // One hour of tolerance: the target moves with the clock, and must not restart a finished backfill.
  if (span.fromUs <= targetUs + 3600 * 1_000_000) return null;
  const startedMs = deps.clock.now();
  const startUs = span.fromUs;
  let rows = 0;
  let storedMs = startedMs;
  let storing: Promise<void> = Promise.resolve();
  /** Stores a batch, then moves the start of the span; batches keep their order. */
  const store = (trades: TradeRecord[], completeFromUs: number | null): Promise<void> => {
    const written = deps.writer.write(trades, run.lease);
    const before = storing;
    return Promise.all([before, written]).then(async ([, stored]) => {
      rows += stored;
      if (completeFromUs === null) return;
      await deps.watermarks.move('', run.lease, (now) => ({
        // A feed without a stored span gets one that starts at this batch.
        fromUs: startOf(now, completeFromUs),
        toUs: now?.toUs ?? span.toUs,
        marker: '',
      }));
      const done = Math.min(1, (startUs - completeFromUs) / (startUs - targetUs));
      const seconds = Math.max(0.001, (deps.clock.now() - startedMs) / 1000);
      const secondsLeft = done > 0 ? (seconds / done) * (1 - done) : 0;
      onProgress({ platform: data.platform, done, rows, rowsPerSecond: rows / seconds, secondsLeft });
    });
  };
  const query = { sinceUs: targetUs, untilUs: span.fromUs, market: null, context: run.context('backfill') };
  const read = await readSpan(deps, data, run, query, async (read, page) => {
    if (read.size < BATCH_ROWS && deps.clock.now() - storedMs < BATCH_MS) return;
    storedMs = deps.clock.now();
    const next = store(read.take(), page.completeFromUs);
    // Awaited later, or never if the batch before it fails: until then a failure must not count as an unhandled rejection.
    next.catch(() => {});
    // Two batches are under way at most: one being prepared, one being inserted.
    await storing;
    storing = next;
  }).finally(() => storing);
  run.signal.throwIfAborted();
  await store(read.take(), targetUs);
  await deps.onAllStored(targetUs);
  return { freshTo: new Date(startUs / 1000), rows, note: `trades back to ${new Date(targetUs / 1000).toISOString()}` };
}
