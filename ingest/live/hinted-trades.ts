import type { PlatformData } from '../../src/platforms/contract.ts';
import { ItemFailures } from '../failure-backoff.ts';
import type { JobResult, JobRun } from '../job-runner.ts';
import { readMarketTrades, type TradesDeps } from '../trades.ts';
import type { Found } from './live-trades.ts';

/**
 * Polls the trades of markets for which a socket reported a trade. Their stored volume markers are kept: a listing with a higher volume
 * causes another poll, which also covers a market that cannot be read now.
 */
export async function pollHintedTrades(
  deps: TradesDeps,
  data: PlatformData,
  run: JobRun,
  refs: readonly string[],
  found: Found,
): Promise<JobResult> {
  const floorUs = deps.now() * 1000 - Math.round(deps.backfillDays * 86_400_000_000);
  const failures = new ItemFailures();
  let rows = 0;
  for (const ref of refs) {
    run.signal.throwIfAborted();
    try {
      const read = await readMarketTrades(deps, data, { ref, marker: null }, floorUs, run);
      failures.answered();
      found(ref, read);
      rows += read;
    } catch (error) {
      failures.ofItem(error, run.signal);
      found(ref, 0);
    }
  }
  const whole = await deps.watermarks.read('', run.lease);
  return { freshTo: new Date((whole?.toUs ?? 0) / 1000), rows };
}
