import { z } from 'zod';
import type { ClickHouse } from '../src/clickhouse.ts';
import type { MarketDirectory, PlatformData, ReadContext } from '../src/platforms/platform.ts';
import type { Platform } from '../src/schemas.ts';
import { CANDLE_COLUMNS, candleRow } from '../src/storage-rows.ts';
import type { JobResult, JobRun } from './jobs.ts';

/** Markets whose bars are refreshed in one run. */
const MARKETS_PER_RUN = 40;
const REFRESH_SECONDS = 3 * 3600;

export interface CandlesDeps {
  clickhouse: ClickHouse;
  directory: MarketDirectory;
  now: () => number;
}

/** Reads and stores a market's own bars of the platform with startTs in [startTs, endTs), Unix seconds. Returns how many came. */
export async function storeCandles(
  deps: CandlesDeps,
  data: PlatformData,
  request: { ref: string; intervalMin: 1 | 60; startTs: number; endTs: number },
  context: ReadContext,
): Promise<number> {
  if (!data.candleIntervalsMin.includes(request.intervalMin)) return 0;
  const market = (await deps.directory.byRef(data.platform, [request.ref])).get(request.ref);
  if (!market) return 0;
  const candles = await data.candles(market, request.intervalMin, request.startTs, request.endTs, context);
  await deps.clickhouse.insert(CANDLE_COLUMNS, candles.map(candleRow));
  return candles.length;
}

/** Refreshes the hourly and minute bars of the markets that traded lately: they bring bid, ask and open interest. */
export async function refreshCandles(deps: CandlesDeps, data: PlatformData, run: JobRun): Promise<JobResult> {
  const nowTs = Math.floor(deps.now() / 1000);
  const markets = await tradedLately(deps.clickhouse, data.platform);
  let rows = 0;
  for (const ref of markets) {
    if (run.signal.aborted) break;
    for (const intervalMin of data.candleIntervalsMin) {
      const step = intervalMin * 60;
      const startTs = Math.floor((nowTs - REFRESH_SECONDS) / step) * step;
      rows += await storeCandles(
        deps,
        data,
        { ref, intervalMin, startTs, endTs: nowTs + step },
        run.context('backfill'),
      );
    }
  }
  return { freshTo: new Date(nowTs * 1000), rows };
}

async function tradedLately(clickhouse: ClickHouse, platform: Platform): Promise<string[]> {
  const rows = await clickhouse.query('traded_lately', z.object({ ref: z.string() }), {
    platform,
    limit: MARKETS_PER_RUN,
  });
  return rows.map((row) => row.ref);
}
