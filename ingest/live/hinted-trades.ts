import type { PlatformData } from '../../src/platforms/contract.ts';
import type { JobResult, JobRun } from '../job-runner.ts';
import { storeEach } from '../store-behind.ts';
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
  let rows = 0;
  await storeEach(refs, run.signal, {
    read: (ref) => readMarket(deps, data, { ref, marker: null }, floorUs, run),
    async store(step, ref) {
      const stored = await step();
      found(ref, stored);
      rows += stored;
    },
    onFailure: (ref) => found(ref, 0),
  });
  const whole = await deps.watermarks.read('', run.lease);
  return { freshTo: new Date((whole?.toUs ?? 0) / 1000), rows };
}
