import type { FastifyBaseLogger } from 'fastify';
import { z } from 'zod';
import type { ClickHouse } from '../src/stores/clickhouse/client.ts';
import type { PlatformError } from '../src/core/errors.ts';
import { type MarketDirectory, type PlatformData, TradeFeedGap, type TradePage } from '../src/platforms/contract.ts';
import { isNotFound, isItemError } from '../src/platforms/parse-rows.ts';
import { microsecondText } from '../src/stores/clickhouse/insert-rows.ts';
import { EACH_MARKET, FEED_START, type HistoryRequest } from '../src/markets/trade-history.ts';
import type { Watermarks } from './watermarks.ts';
import type { JobResult, JobRun } from './job-runner.ts';
import { lastRun } from './last-run.ts';
import { TradeChain } from './trade-chain.ts';
import type { TradeWriter } from './trade-writer.ts';
import type { FailureBackoff } from './failure-backoff.ts';
import { DAY_US } from '../src/core/time.ts';

/** Markets of a per-market feed read per run; the rest wait for the next run, longest waiting first. */
const MARKETS_PER_RUN = 60;

export interface TradesDeps {
  clickhouse: ClickHouse;
  log: FastifyBaseLogger;
  writer: TradeWriter;
  watermarks: Watermarks;
  directory: MarketDirectory;
  /** Called with markets whose stored trades grew. */
  onTradesStored?: (refs: Iterable<string>) => Promise<void>;
  /** Called when trades of any market may have been stored. */
  onAllStored?: () => void;
  backfillDays: number;
  now: () => number;
  /** Markets and feed gaps that could not be read completely. */
  backoff: FailureBackoff<PlatformError>;
}

/**
 * How far a read is complete: up to the newest trade, but never past now. A quiet feed is complete up to the overlap before the
 * read; by the platform's clock where ours is ahead, or trades until then would never be read.
 */
export class CoverageEnd {
  readonly #startedUs: number;
  #askedUs: number;
  #newestUs: number;
  #waitsFromUs = Infinity;

  constructor(startedUs: number, knownToUs: number) {
    this.#startedUs = startedUs;
    this.#askedUs = startedUs;
    this.#newestUs = Math.min(knownToUs, startedUs);
  }

  add(page: TradePage, nowUs: number): void {
    if (page.platformUs !== undefined) this.#askedUs = Math.min(this.#askedUs, page.platformUs);
    this.#waitsFromUs = Math.min(this.#waitsFromUs, page.waitsFromUs ?? Infinity);
    for (const { executedAtUs } of page.trades) {
      this.#newestUs = Math.max(this.#newestUs, Math.min(executedAtUs, nowUs));
    }
  }

  /** The newest trade, or the previous end; never past a trade that is not readable yet. */
  get newestUs(): number {
    return Math.min(this.#newestUs, this.#waitsFromUs);
  }

  /** The same for a feed that reports when it is idle. */
  whenIdleUs(overlapUs: number): number {
    const whenIdleUs = Math.max(this.#newestUs, Math.min(this.#startedUs, this.#askedUs) - overlapUs);
    return Math.min(whenIdleUs, this.#waitsFromUs);
  }
}

/** Reads a global feed from its high-water mark (less the overlap) to now. The mark moves once all pages are stored. */
export async function pollGlobalTrades(deps: TradesDeps, data: PlatformData, run: JobRun): Promise<JobResult> {
  const startedUs = deps.now() * 1000;
  const overlapUs = data.tradeOverlapMs * 1000;
  const span = await deps.watermarks.read('', run.lease);
  const sinceUs = Math.min(span?.toUs ?? startedUs, startedUs) - overlapUs;
  const end = new CoverageEnd(startedUs, span?.toUs ?? 0);
  const chain = new TradeChain(deps.writer, run.lease);
  const refs = new Set<string>();
  try {
    const pages = data.trades({ sinceUs, untilUs: null, market: null }, deps.directory, run.context('poll'));
    for await (const page of pages) {
      await chain.add(page);
      for (const { ref } of page.trades) refs.add(ref);
      end.add(page, deps.now() * 1000);
      run.signal.throwIfAborted();
    }
  } catch (error) {
    if (!(error instanceof TradeFeedGap)) throw error;
    await recordGap(deps, data, error);
  }
  await chain.end();
  if (chain.rows > 0) await deps.onTradesStored?.(refs);
  const toUs = end.whenIdleUs(overlapUs);
  await deps.watermarks.move('', run.lease, (now) => ({
    fromUs: now?.fromUs ?? Math.min(sinceUs, toUs),
    toUs,
    marker: '',
  }));
  return { freshTo: new Date(toUs / 1000), rows: chain.rows };
}

/**
 * Reads the trades of markets whose own volume moved since the last read, and of those not yet read back to the backfill's
 * floor. An unreadable market does not hold up the others and stays reported.
 */
export async function pollMarketTrades(deps: TradesDeps, data: PlatformData, run: JobRun): Promise<JobResult> {
  const { backoff } = deps;
  const startedUs = deps.now() * 1000;
  const floorUs = startedUs - Math.round(deps.backfillDays * DAY_US);
  // Volumes do not include trades executed after the listing was read.
  const listedTo = await lastRun(deps.clickhouse, data.platform, 'markets');
  const listed = await deps.clickhouse.query('trade_candidates', Candidate, {
    platform: data.platform,
    floor: microsecondText(floorUs),
    limit: MARKETS_PER_RUN + backoff.size,
  });
  backoff.keepOnly(new Set(listed.map(({ ref }) => ref)));
  const candidates = listed.filter(({ ref }) => backoff.isDue(ref, deps.now())).slice(0, MARKETS_PER_RUN);
  let rows = 0;
  for (const candidate of candidates) {
    run.signal.throwIfAborted();
    try {
      rows += await readMarketTrades(deps, data, candidate, floorUs, run);
      backoff.forget(candidate.ref);
    } catch (error) {
      if (!isItemError(error)) throw error;
      backoff.failed(candidate.ref, error, deps.now());
    }
  }
  const [unread] = backoff.errors();
  if (unread) throw unread;
  if (listedTo && candidates.length < MARKETS_PER_RUN) {
    const toUs = Math.min(startedUs, listedTo.getTime() * 1000);
    await deps.watermarks.move('', run.lease, (now) => ({
      fromUs: Math.min(now?.fromUs ?? floorUs, floorUs),
      toUs,
      marker: EACH_MARKET,
    }));
    return { freshTo: new Date(toUs / 1000), rows };
  }
  const behind = await deps.watermarks.read('', run.lease);
  return { freshTo: new Date((behind?.toUs ?? 0) / 1000), rows, note: 'markets are waiting' };
}

const Candidate = z.object({ ref: z.string(), marker: z.string() });

/** Reads one market's trades from the end of its span, or from an earlier floor, and moves the span; marker null keeps the stored one. */
export async function readMarketTrades(
  deps: TradesDeps,
  data: PlatformData,
  { ref, marker }: { ref: string; marker: string | null },
  floorUs: number,
  run: JobRun,
): Promise<number> {
  const startedUs = deps.now() * 1000;
  const market = (await deps.directory.byRef(data.platform, [ref])).get(ref);
  if (!market) return 0;
  const span = await deps.watermarks.read(ref, run.lease);
  const seen = span?.marker ?? '';
  const isDeep = span !== null && span.fromUs <= floorUs;
  const knownToUs = span?.toUs ?? floorUs;
  const sinceUs = isDeep ? Math.min(knownToUs, startedUs) - data.tradeOverlapMs * 1000 : floorUs;
  const end = new CoverageEnd(startedUs, Math.max(knownToUs, sinceUs));
  const chain = new TradeChain(deps.writer, run.lease);
  const context = run.context('poll');
  try {
    for await (const page of data.trades({ sinceUs, untilUs: null, market }, deps.directory, context)) {
      await chain.add(page);
      end.add(page, deps.now() * 1000);
      run.signal.throwIfAborted();
    }
  } catch (error) {
    // The platform no longer knows the market: there is nothing more to read.
    if (!isNotFound(error) || (await data.market(ref, context)) !== null) throw error;
  }
  await chain.end();
  const isSure = marker === null || seen.replace('?', '') === marker;
  await deps.watermarks.move(ref, run.lease, (now) => ({
    fromUs: Math.min(now?.fromUs ?? sinceUs, sinceUs),
    toUs: end.newestUs,
    marker: isSure ? (marker ?? seen) : `${marker}?`,
  }));
  // A longer span counts like a trade: a day that was unknown may turn out to have no trades.
  if (chain.rows > 0 || !isDeep || seen === '') await deps.onTradesStored?.([ref]);
  return chain.rows;
}

/**
 * Reads the whole history of one market that was requested and is not stored, as far as the platform's feed reaches back; a market
 * without a feed gets no span. Returns the number of new rows.
 */
export async function readMarketHistory(
  deps: TradesDeps,
  data: PlatformData,
  { ref, sinceUs, user }: HistoryRequest,
  run: JobRun,
): Promise<number> {
  const market = (await deps.directory.byRef(data.platform, [ref])).get(ref);
  if (!market) return 0;
  const context = { ...run.context('live'), user };
  const startedUs = deps.now() * 1000;
  const span = await deps.watermarks.read(ref, run.lease);
  if (span && (span.fromUs <= sinceUs || span.marker === FEED_START)) return 0;
  const end = new CoverageEnd(startedUs, sinceUs);
  const chain = new TradeChain(deps.writer, run.lease);
  let fromUs: number | null = null;
  try {
    for await (const page of data.trades({ sinceUs, untilUs: null, market }, deps.directory, context)) {
      await chain.add(page);
      end.add(page, deps.now() * 1000);
      fromUs = page.completeFromUs ?? fromUs;
      run.signal.throwIfAborted();
    }
  } catch (error) {
    // What was read stays; the last page says from where on it is complete.
    if (!(error instanceof TradeFeedGap)) throw error;
  }
  await chain.end();
  if (fromUs === null) return chain.rows;
  const startUs = fromUs;
  await deps.watermarks.move(ref, run.lease, (now) => ({
    fromUs: Math.min(now?.fromUs ?? startUs, startUs),
    toUs: Math.max(now?.toUs ?? 0, end.whenIdleUs(data.tradeOverlapMs * 1000)),
    marker: startUs > sinceUs ? FEED_START : (now?.marker ?? ''),
  }));
  return chain.rows;
}

async function recordGap(deps: TradesDeps, data: PlatformData, gap: TradeFeedGap): Promise<void> {
  deps.log.warn(
    { platform: data.platform, from: gap.fromUs, to: gap.toUs },
    'The feed ended early; the gap is filled market by market',
  );
  await deps.clickhouse.insert('trade_gaps (platform, gap_from, gap_to, filled)', [
    { platform: data.platform, gap_from: microsecondText(gap.fromUs), gap_to: microsecondText(gap.toUs), filled: 0 },
  ]);
}

/** Fills recorded gaps from the per-market feeds of markets whose volume moved meanwhile; a gap with unreadable markets stays open. */
export async function fillTradeGaps(deps: TradesDeps, data: PlatformData, run: JobRun): Promise<JobResult | null> {
  const gaps = await deps.clickhouse.query('trade_gaps', Gap, { platform: data.platform });
  const due = gaps.filter((gap) => deps.backoff.isDue(nameOf(gap), deps.now()));
  let rows = 0;
  for (const gap of due) {
    const filled = await fillGap(deps, data, gap, run);
    rows += filled.rows;
    if (filled.unread) {
      deps.backoff.failed(nameOf(gap), filled.unread, deps.now());
      throw filled.unread;
    }
    deps.backoff.forget(nameOf(gap));
    await deps.clickhouse.insert('trade_gaps (platform, gap_from, gap_to, filled)', [
      {
        platform: data.platform,
        gap_from: microsecondText(gap.from_us),
        gap_to: microsecondText(gap.to_us),
        filled: 1,
      },
    ]);
  }
  return due.length === 0 ? null : { freshTo: new Date(deps.now()), rows, note: `${due.length} gaps filled` };
}

async function fillGap(deps: TradesDeps, data: PlatformData, gap: Gap, run: JobRun) {
  const markets = await deps.clickhouse.query('traded_between', z.object({ ref: z.string() }), {
    platform: data.platform,
    from: microsecondText(gap.from_us),
    to: microsecondText(gap.to_us),
  });
  let rows = 0;
  let unread: PlatformError | null = null;
  for (const { ref } of markets) {
    const market = (await deps.directory.byRef(data.platform, [ref])).get(ref);
    if (!market) continue;
    const query = { sinceUs: gap.from_us, untilUs: gap.to_us, market };
    const chain = new TradeChain(deps.writer, run.lease);
    try {
      for await (const page of data.trades(query, deps.directory, run.context('backfill'))) {
        await chain.add(page);
        run.signal.throwIfAborted();
      }
      await chain.end();
      rows += chain.rows;
    } catch (error) {
      if (!isItemError(error)) throw error;
      unread = error;
    }
  }
  return { rows, unread };
}

const nameOf = (gap: Gap): string => `gap ${gap.from_us}-${gap.to_us}`;

const Gap = z.object({ from_us: z.coerce.number(), to_us: z.coerce.number() });
type Gap = z.output<typeof Gap>;
