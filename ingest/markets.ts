import type { Logger } from 'pino';
import { z } from 'zod';
import type { ClickHouse } from '../src/clickhouse.ts';
import type { MarketWriter } from '../src/market-writer.ts';
import type { PlatformData, ReadContext, SweepScope } from '../src/platforms/platform.ts';
import type { JobResult, JobRun } from './jobs.ts';

/** Markets that a complete pass no longer lists are asked for singly, this many a pass. */
const MISSING_PER_PASS = 200;

export interface MarketsDeps {
  clickhouse: ClickHouse;
  log: Logger;
  writer: MarketWriter;
}

/** Stores every page of one sweep. `freshTo` is when the sweep began: all listed markets were read after that. */
export async function sweepMarkets(
  deps: MarketsDeps,
  data: PlatformData,
  scope: SweepScope,
  run: JobRun,
): Promise<JobResult> {
  const startedAt = new Date();
  const priority = scope.kind === 'historical' ? 'backfill' : 'poll';
  const context = run.context(priority);
  const seen = new Set<string>();
  let rows = 0;
  for await (const page of data.sweep(scope, context)) {
    for (const market of page.markets) seen.add(market.info.ref);
    rows += await deps.writer.write(data.platform, page.markets);
    if (run.signal.aborted) break;
  }
  const complete = scope.kind === 'full' || scope.kind === 'open';
  if (complete && !run.signal.aborted) rows += await readMissing(deps, data, seen, context);
  return { freshTo: startedAt, rows, note: `${seen.size} markets seen` };
}

/** Disappearing from a list is not deletion: such a market has usually closed or moved to an archive, and says so when asked. */
async function readMissing(
  deps: MarketsDeps,
  data: PlatformData,
  seen: Set<string>,
  context: ReadContext,
): Promise<number> {
  const trading = await deps.clickhouse.query('trading_markets', z.object({ ref: z.string() }), {
    platform: data.platform,
  });
  const missing = trading.filter((row) => !seen.has(row.ref)).slice(0, MISSING_PER_PASS);
  let rows = 0;
  for (const { ref } of missing) {
    if (context.signal?.aborted) break;
    const market = await data.market(ref.replace(/^gamma:/, ''), context);
    if (market) rows += await deps.writer.write(data.platform, [market]);
  }
  return rows;
}
