import type { Clock } from '../src/core/time.ts';
import type { ClickHouse } from '../src/stores/clickhouse/client.ts';
import { PlatformError } from '../src/core/errors.ts';
import type { MarketDirectory, PlatformData } from '../src/platforms/contract.ts';
import type { CandleRecord } from '../src/core/model.ts';
import { CANDLE_COLUMNS, candleRow } from '../src/stores/clickhouse/insert-rows.ts';
import { refsOf } from '../src/stores/clickhouse/refs.ts';
import type { JobResult, JobRun } from './job-runner.ts';
import { askedAgain, type FailureBackoff, ItemReads } from './failure-backoff.ts';

/** Markets whose bars are refreshed in one run. */
const MARKETS_PER_RUN = 40;
const REFRESH_SECONDS = 3 * 3600;

export interface CandlesDeps {
  clickhouse: ClickHouse;
  directory: MarketDirectory;
  clock: Pick<Clock, 'now'>;
  /** Markets whose bars could not be read. */
  backoff: FailureBackoff<PlatformError>;
}

/** Refreshes the hourly and minute bars of recently traded markets; they include bid, ask and open interest. */
export async function refreshCandles(deps: CandlesDeps, data: PlatformData, run: JobRun): Promise<JobResult> {
  const { backoff } = deps;
  const nowTs = Math.floor(deps.clock.now() / 1000);
  const limit = MARKETS_PER_RUN + backoff.size;
  const traded = await refsOf(deps.clickhouse, 'traded_lately', { platform: data.platform, limit });
  backoff.keepOnly(new Set(traded));
  const reads = new ItemReads(run.signal);
  const bars: CandleRecord[] = [];
  for (const ref of traded.filter((one) => backoff.isDue(one)).slice(0, MARKETS_PER_RUN)) {
    if (run.signal.aborted) break;
    const own = backoff.hasFailed(ref) ? askedAgain(run) : run;
    const read = await reads.attempt(() => refreshMarket(deps, data, ref, nowTs, own));
    if (read instanceof PlatformError) backoff.failed(ref, read);
    else {
      backoff.forget(ref);
      bars.push(...read);
    }
  }
  // A bar has its own key: read again after a failure, it replaces itself.
  await deps.clickhouse.insert(CANDLE_COLUMNS, bars.map(candleRow));
  const [unread] = backoff.errors();
  if (unread) throw unread;
  return { freshTo: new Date(nowTs * 1000), rows: bars.length };
}

async function refreshMarket(deps: CandlesDeps, data: PlatformData, ref: string, nowTs: number, run: JobRun) {
  const market = (await deps.directory.byRef(data.platform, [ref])).get(ref);
  if (!market) return [];
  const bars: CandleRecord[] = [];
  for (const intervalMin of data.candleIntervalsMin) {
    const step = intervalMin * 60;
    const startTs = Math.floor((nowTs - REFRESH_SECONDS) / step) * step;
    bars.push(...(await data.candles(market, intervalMin, startTs, nowTs + step, run.context('backfill'))));
  }
  return bars;
}
