import { PlatformError } from '../../src/core/errors.ts';
import type { PlatformData } from '../../src/platforms/contract.ts';
import { ItemReads } from '../failure-backoff.ts';
import type { JobResult, JobRun } from '../job-runner.ts';
import { storeBehind } from '../store-behind.ts';
import { readMarket, type TradesDeps } from '../trades.ts';
import type { Found } from './live-trades.ts';
import { DAY_US } from '../../src/core/time.ts';

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
  const floorUs = deps.clock.now() * 1000 - Math.round(deps.backfillDays * DAY_US);
  const reads = new ItemReads(run.signal);
  let rows = 0;
  await storeBehind(async (storeLater) => {
    for (const ref of refs) {
      run.signal.throwIfAborted();
      const store = await reads.attempt(() => readMarket(deps, data, { ref, marker: null }, floorUs, run));
      if (store instanceof PlatformError) found(ref, 0);
      else {
        await storeLater(async () => {
          const stored = await store();
          found(ref, stored);
          rows += stored;
        });
      }
    }
  });
  const whole = await deps.watermarks.read('', run.lease);
  return { freshTo: new Date((whole?.toUs ?? 0) / 1000), rows };
}
