import type { FastifyBaseLogger } from 'fastify';
import { z } from 'zod';
import type { ClickHouse } from '../src/clickhouse.ts';
import { PlatformError } from '../src/errors.ts';
import { type MarketDirectory, type PlatformData, TradeFeedGap } from '../src/platforms/platform.ts';
import { microsecondText } from '../src/storage-rows.ts';
import { EACH_MARKET } from '../src/history-requests.ts';
import { moveCoverage, readCoverage } from './coverage.ts';
import type { JobResult, JobRun } from './jobs.ts';
import type { TradeWriter } from './trade-writer.ts';

/** Markets of a per-market feed read in one run; the rest wait for the next, longest waiting first. */
const MARKETS_PER_RUN = 60;
const DAY_US = 86_400 * 1_000_000;

export interface TradesDeps {
  clickhouse: ClickHouse;
  log: FastifyBaseLogger;
  writer: TradeWriter;
  directory: MarketDirectory;
  /** Told of markets whose stored trades became more than they were. */
  tradesCame?: (refs: Iterable<string> | 'every market') => void;
  backfillDays: number;
  now: () => number;
}

/** Reads a global feed from its high-water mark (less the overlap) to now. The mark moves when the whole chain is stored. */
export async function pollGlobalTrades(deps: TradesDeps, data: PlatformData, run: JobRun): Promise<JobResult> {
  const startedUs = deps.now() * 1000;
  const overlapUs = data.tradeOverlapMs * 1000;
  const span = await readCoverage(deps.clickhouse, data.platform, '');
  const sinceUs = (span?.toUs ?? startedUs) - overlapUs;
  let newestUs = span?.toUs ?? sinceUs;
  let rows = 0;
  try {
    const pages = data.trades({ sinceUs, untilUs: null, market: null }, deps.directory, run.context('poll'));
    for await (const page of pages) {
      const fresh = await deps.writer.write(page.trades, run.lease);
      rows += fresh;
      for (const trade of page.trades) newestUs = Math.max(newestUs, trade.executedAtUs);
      if (fresh > 0) deps.tradesCame?.(new Set(page.trades.map((trade) => trade.ref)));
      run.signal.throwIfAborted();
    }
  } catch (error) {
    if (!(error instanceof TradeFeedGap)) throw error;
    await recordGap(deps, data, error);
  }
  // A quiet feed is complete up to its overlap before this poll, though no trade says so.
  const toUs = Math.max(newestUs, startedUs - overlapUs);
  await moveCoverage(deps.clickhouse, data.platform, '', (now) => ({
    fromUs: now?.fromUs ?? sinceUs,
    toUs,
    marker: '',
  }));
  return { freshTo: new Date(toUs / 1000), rows };
}

/** Reads the trades of markets whose own volume moved since they were last read; one that cannot be read does not keep the others waiting. */
export async function pollMarketTrades(deps: TradesDeps, data: PlatformData, run: JobRun): Promise<JobResult> {
  const startedUs = deps.now() * 1000;
  const candidates = await deps.clickhouse.query('trade_candidates', Candidate, {
    platform: data.platform,
    limit: MARKETS_PER_RUN,
  });
  let rows = 0;
  const unreadable: PlatformError[] = [];
  for (const candidate of candidates) {
    run.signal.throwIfAborted();
    const span = candidate.known ? { fromUs: candidate.complete_from_us, toUs: candidate.complete_to_us } : null;
    const sure = candidate.seen.replace('?', '') === candidate.marker;
    const marker = sure ? candidate.marker : `${candidate.marker}?`;
    rows += await readMarketTrades(deps, data, candidate.ref, { span, marker }, run).catch((error: unknown) => {
      if (!isOfOneMarket(error)) throw error;
      unreadable.push(error);
      return 0;
    });
  }
  const [unread] = unreadable;
  if (unread) throw unread;
  if (candidates.length < MARKETS_PER_RUN) {
    const floorUs = startedUs - deps.backfillDays * DAY_US;
    await moveCoverage(deps.clickhouse, data.platform, '', (now) => ({
      fromUs: now?.fromUs ?? floorUs,
      toUs: startedUs,
      marker: EACH_MARKET,
    }));
    return { freshTo: new Date(startedUs / 1000), rows };
  }
  const behind = await readCoverage(deps.clickhouse, data.platform, '');
  return { freshTo: new Date((behind?.toUs ?? 0) / 1000), rows, note: 'markets are waiting' };
}

/** Whether others may be readable though this one is not. */
const isOfOneMarket = (error: unknown): error is PlatformError =>
  error instanceof PlatformError && ['refused', 'not_found', 'bad_answer'].includes(error.kind);

const Candidate = z.object({
  ref: z.string(),
  marker: z.string(),
  seen: z.string(),
  known: z.coerce.boolean(),
  complete_from_us: z.coerce.number(),
  complete_to_us: z.coerce.number(),
});

/** Reads one market's trades since its stored span, or since the backfill's floor, and moves the span. */
async function readMarketTrades(
  deps: TradesDeps,
  data: PlatformData,
  ref: string,
  state: { span: { fromUs: number; toUs: number } | null; marker: string },
  run: JobRun,
): Promise<number> {
  const startedUs = deps.now() * 1000;
  const market = (await deps.directory.byRef(data.platform, [ref])).get(ref);
  if (!market) return 0;
  const floorUs = startedUs - deps.backfillDays * DAY_US;
  const sinceUs = state.span ? state.span.toUs - data.tradeOverlapMs * 1000 : floorUs;
  let rows = 0;
  let newestUs = state.span?.toUs ?? sinceUs;
  for await (const page of data.trades({ sinceUs, untilUs: null, market }, deps.directory, run.context('poll'))) {
    rows += await deps.writer.write(page.trades, run.lease);
    for (const trade of page.trades) newestUs = Math.max(newestUs, trade.executedAtUs);
    run.signal.throwIfAborted();
  }
  await moveCoverage(deps.clickhouse, data.platform, ref, (now) => ({
    fromUs: Math.min(now?.fromUs ?? sinceUs, sinceUs),
    toUs: newestUs,
    marker: state.marker,
  }));
  if (rows > 0 || !state.span) deps.tradesCame?.([ref]);
  return rows;
}

/** Reads one market's whole life, for a history that was asked for and is not stored. Returns the rows that were new. */
export async function readMarketHistory(
  deps: TradesDeps,
  data: PlatformData,
  ref: string,
  sinceUs: number,
  run: JobRun,
): Promise<number> {
  const market = (await deps.directory.byRef(data.platform, [ref])).get(ref);
  if (!market) return 0;
  const startedUs = deps.now() * 1000;
  const span = await readCoverage(deps.clickhouse, data.platform, ref);
  if (span && span.fromUs <= sinceUs) return 0;
  let rows = 0;
  let newestUs = 0;
  for await (const page of data.trades({ sinceUs, untilUs: null, market }, deps.directory, run.context('live'))) {
    rows += await deps.writer.write(page.trades, run.lease);
    for (const trade of page.trades) newestUs = Math.max(newestUs, trade.executedAtUs);
    run.signal.throwIfAborted();
  }
  await moveCoverage(deps.clickhouse, data.platform, ref, (now) => ({
    fromUs: sinceUs,
    toUs: Math.max(now?.toUs ?? 0, newestUs, startedUs - data.tradeOverlapMs * 1000),
    marker: now?.marker ?? '',
  }));
  return rows;
}

async function recordGap(deps: TradesDeps, data: PlatformData, gap: TradeFeedGap): Promise<void> {
  deps.log.warn(
    { platform: data.platform, from: gap.fromUs, to: gap.toUs },
    'the feed ended early; the gap is filled market by market',
  );
  await deps.clickhouse.insert('trade_gaps (platform, gap_from, gap_to, filled)', [
    { platform: data.platform, gap_from: microsecondText(gap.fromUs), gap_to: microsecondText(gap.toUs), filled: 0 },
  ]);
}

/** Fills recorded gaps from the feeds of single markets whose volume moved during the gap. */
export async function fillTradeGaps(deps: TradesDeps, data: PlatformData, run: JobRun): Promise<JobResult | null> {
  const gaps = await deps.clickhouse.query('trade_gaps', Gap, { platform: data.platform });
  let rows = 0;
  for (const gap of gaps) {
    const markets = await deps.clickhouse.query('traded_between', z.object({ ref: z.string() }), {
      platform: data.platform,
      from: microsecondText(gap.from_us),
      to: microsecondText(gap.to_us),
    });
    for (const { ref } of markets) {
      const market = (await deps.directory.byRef(data.platform, [ref])).get(ref);
      if (!market) continue;
      const query = { sinceUs: gap.from_us, untilUs: gap.to_us, market };
      for await (const page of data.trades(query, deps.directory, run.context('backfill'))) {
        rows += await deps.writer.write(page.trades, run.lease);
        run.signal.throwIfAborted();
      }
    }
    await deps.clickhouse.insert('trade_gaps (platform, gap_from, gap_to, filled)', [
      {
        platform: data.platform,
        gap_from: microsecondText(gap.from_us),
        gap_to: microsecondText(gap.to_us),
        filled: 1,
      },
    ]);
  }
  return gaps.length === 0 ? null : { freshTo: new Date(deps.now()), rows, note: `${gaps.length} gaps filled` };
}

const Gap = z.object({ from_us: z.coerce.number(), to_us: z.coerce.number() });
