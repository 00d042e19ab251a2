import type { Log } from '../src/core/log.ts';
import { z } from 'zod';
import type { ClickHouse } from '../src/stores/clickhouse/client.ts';
import type { PlatformError } from '../src/core/errors.ts';
import { type PlatformData, TradeFeedGap } from '../src/platforms/contract.ts';
import { isNotFound } from '../src/platforms/parse-rows.ts';
import { microsecondText } from '../src/stores/clickhouse/insert-rows.ts';
import { refsOf } from '../src/stores/clickhouse/refs.ts';
import type { TradeGap } from '../src/stores/clickhouse/trade-gaps.ts';
import { EACH_MARKET, FEED_START, type HistoryRequest } from '../src/markets/trade-history.ts';
import { type Coverage, startOf, type Watermarks } from './watermarks.ts';
import type { JobResult, JobRun } from './job-runner.ts';
import { lastRun } from './last-run.ts';
import { readSpan, type SpanDeps } from './read-span.ts';
import { storeEach } from './store-behind.ts';
import { askedAgain, type FailureBackoff } from './failure-backoff.ts';
import { DAY_US } from '../src/core/time.ts';

/** A client waits for what it asked for. */
const ASKED = { isUrgent: true };
/** Markets of a per-market feed read per run; the rest wait for the next run, longest waiting first. */
const MARKETS_PER_RUN = 60;
/** A per-market feed lists a trade at most this long after the market's volume counts it: caches repeat a page for 60 s. */
const LAG_SECONDS = 65;

export interface TradesDeps extends SpanDeps {
  clickhouse: ClickHouse;
  log: Log;
  watermarks: Watermarks;
  /** Called with markets whose stored trades grew. */
  onTradesStored: (refs: Iterable<string>) => Promise<void>;
  /** Called when trades of any market, executed since then (Unix µs), may have been stored, or be known to be complete now. */
  onAllStored: (sinceUs: number) => Promise<void>;
  backfillDays: number;
  /** Markets and feed gaps that could not be read completely. */
  backoff: FailureBackoff<PlatformError>;
}

const isGap = (error: unknown): boolean => error instanceof TradeFeedGap;

/**
 * Reads a global feed from its high-water mark (less the overlap) to now. The mark moves once all pages are stored. `movedMs`: by how much
 * polls of a shorter overlap may have moved the mark since the last read with the whole overlap.
 */
export async function pollGlobalTrades(
  deps: TradesDeps,
  data: PlatformData,
  run: JobRun,
  movedMs = 0,
): Promise<JobResult> {
  const startedUs = deps.clock.now() * 1000;
  const span = await deps.watermarks.read('', run.lease);
  // A backfill passes over trades that wait, so the first poll reads those.
  const reachMs = movedMs + Math.max(data.tradeOverlapMs, span ? 0 : (data.tradeWaitMs ?? 0));
  const sinceUs = Math.min(span?.toUs ?? startedUs, startedUs) - reachMs * 1000;
  const query = { sinceUs, untilUs: null, market: null, context: run.context('poll') };
  const read = await readSpan(deps, data, run, { ...query, knownToUs: span?.toUs ?? 0, isEnd: isGap });
  if (read.endedBy instanceof TradeFeedGap) await recordGap(deps, data, read.endedBy, run);
  await read.store();
  if (read.rows > 0) await deps.onTradesStored(read.refs);
  const toUs = read.endIfIdleUs;
  await deps.watermarks.move('', run.lease, (now) => ({
    fromUs: now?.fromUs ?? Math.min(sinceUs, toUs),
    toUs,
    marker: '',
  }));
  return { freshTo: new Date(toUs / 1000), rows: read.rows, isHeld: read.isWaiting };
}

/**
 * Reads the trades of markets whose own volume moved since the last read, and of those not yet read back to the backfill's
 * floor. An unreadable market does not hold up the others and stays reported.
 */
export async function pollMarketTrades(deps: TradesDeps, data: PlatformData, run: JobRun): Promise<JobResult> {
  const { backoff } = deps;
  const startedUs = deps.clock.now() * 1000;
  const floorUs = startedUs - Math.round(deps.backfillDays * DAY_US);
  // Volumes do not include trades executed after the listing was read.
  const listedTo = await lastRun(deps.clickhouse, data.platform, 'markets');
  const listed = await deps.clickhouse.query('trade_candidates', Candidate, {
    platform: data.platform,
    floor: microsecondText(floorUs),
    lag_seconds: LAG_SECONDS,
    limit: MARKETS_PER_RUN + backoff.size,
  });
  backoff.keepOnly(new Set(listed.map(({ ref }) => ref)));
  const candidates = listed.filter(({ ref }) => backoff.isDue(ref)).slice(0, MARKETS_PER_RUN);
  const refs = candidates.map(({ ref }) => ref);
  // Each read looks its market and its span up: here, all of them take two statements.
  await Promise.all([deps.directory.byRef(data.platform, refs), deps.watermarks.readAll(refs, run.lease)]);
  const rows = await readCandidates(deps, data, { candidates, floorUs }, run);
  const [unread] = backoff.errors();
  if (unread) throw unread;
  if (listedTo && candidates.length < MARKETS_PER_RUN) {
    const toUs = Math.min(startedUs, listedTo.getTime() * 1000);
    await deps.watermarks.move('', run.lease, (now) => ({
      fromUs: startOf(now, floorUs),
      toUs,
      marker: EACH_MARKET,
    }));
    return { freshTo: new Date(toUs / 1000), rows };
  }
  const behind = await deps.watermarks.read('', run.lease);
  return { freshTo: new Date((behind?.toUs ?? 0) / 1000), rows, note: 'markets are waiting' };
}

const Candidate = z.object({ ref: z.string(), marker: z.string() });

interface Candidates {
  candidates: readonly z.infer<typeof Candidate>[];
  floorUs: number;
}

/** Reads one market after the other, and stores their trades while others are read. Returns the number of new rows. */
async function readCandidates(
  deps: TradesDeps,
  data: PlatformData,
  { candidates, floorUs }: Candidates,
  run: JobRun,
): Promise<number> {
  const { backoff } = deps;
  let rows = 0;
  await storeEach(candidates, run.signal, {
    async read(candidate) {
      const { ref } = candidate;
      const step = await readMarket(deps, data, candidate, floorUs, backoff.hasFailed(ref) ? askedAgain(run) : run);
      backoff.forget(ref);
      return step;
    },
    store: async (step) => void (rows += await step()),
    onFailure: ({ ref }, error) => backoff.failed(ref, error),
  });
  return rows;
}

/**
 * The marker of a market's span: the volume at which the market was read. The feed may lag the volume. The first read at a volume stores it
 * with '?'. A second read after LAG_SECONDS removes the '?'.
 */
const unconfirmed = (volume: string): string => `${volume}?`;
const volumeOf = (marker: string): string => marker.replace('?', '');

/**
 * Reads one market's trades from the end of its span, or from an earlier floor. Returns the step that stores them, moves the span and
 * gives the number of new rows; marker null keeps the stored one.
 */
export async function readMarket(
  deps: TradesDeps,
  data: PlatformData,
  { ref, marker }: { ref: string; marker: string | null },
  floorUs: number,
  run: JobRun,
): Promise<() => Promise<number>> {
  const startedUs = deps.clock.now() * 1000;
  const market = (await deps.directory.byRef(data.platform, [ref])).get(ref);
  if (!market) return async () => 0;
  const span = await deps.watermarks.read(ref, run.lease);
  const seen = span?.marker ?? '';
  const isDeep = span !== null && span.fromUs <= floorUs;
  const knownToUs = span?.toUs ?? floorUs;
  const sinceUs = isDeep ? Math.min(knownToUs, startedUs) - data.tradeOverlapMs * 1000 : floorUs;
  const context = run.context('poll');
  const read = await readSpan(deps, data, run, {
    sinceUs,
    untilUs: null,
    market,
    context,
    knownToUs: Math.max(knownToUs, sinceUs),
    // The platform no longer knows the market: there is nothing more to read.
    isEnd: async (error) => isNotFound(error) && (await data.market(ref, context)) === null,
  });
  return async () => {
    await read.store();
    const isSure = marker === null || volumeOf(seen) === marker;
    await deps.watermarks.move(ref, run.lease, (now) => ({
      fromUs: startOf(now, sinceUs),
      toUs: read.endByTradesUs,
      marker: isSure ? (marker ?? seen) : unconfirmed(marker),
    }));
    // A longer span counts like a trade: a day that was unknown may turn out to have no trades.
    if (read.rows > 0 || !isDeep || seen === '') await deps.onTradesStored([ref]);
    return read.rows;
  };
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
  const span = await deps.watermarks.read(ref, run.lease);
  if (span && (span.fromUs <= sinceUs || span.marker === FEED_START)) return 0;
  const context = { ...run.context('live'), user };
  // After a gap, what was read stays; the last page says from where on it is complete.
  const query = { sinceUs, untilUs: null, market, context, knownToUs: sinceUs, isEnd: isGap };
  const read = await readSpan(deps, data, run, query);
  await read.store(ASKED);
  const fromUs = read.completeFromUs;
  if (fromUs === null) return read.rows;
  const move = (now: Coverage | null): Coverage => ({
    fromUs: startOf(now, fromUs),
    toUs: Math.max(now?.toUs ?? 0, read.endIfIdleUs),
    marker: fromUs > sinceUs ? FEED_START : (now?.marker ?? ''),
  });
  await deps.watermarks.move(ref, run.lease, move, ASKED);
  // The copy of an ended market was made before its span was complete. It is made again, so that its sums count.
  await deps.onTradesStored([ref]);
  return read.rows;
}

async function recordGap(deps: TradesDeps, data: PlatformData, gap: TradeFeedGap, run: JobRun): Promise<void> {
  deps.log.warn(
    { platform: data.platform, from: gap.fromUs, to: gap.toUs },
    'The feed ended early; the gap is filled market by market',
  );
  await deps.watermarks.recordGap(gap, run.lease);
}

/**
 * Fills recorded gaps from the per-market feeds of markets whose volume changed since, once all volumes were listed after the gap. A gap
 * with an unreadable market stays open.
 */
export async function fillTradeGaps(deps: TradesDeps, data: PlatformData, run: JobRun): Promise<JobResult | null> {
  const gaps = await deps.watermarks.gaps(run.lease);
  const listedTo = gaps.length === 0 ? null : await lastRun(deps.clickhouse, data.platform, 'markets');
  const listedUs = (listedTo?.getTime() ?? 0) * 1000;
  const due = gaps.filter((gap) => gap.toUs <= listedUs && deps.backoff.isDue(nameOf(gap)));
  let rows = 0;
  for (const gap of due) {
    const filled = await fillGap(deps, data, gap, run);
    rows += filled.rows;
    if (filled.unread) {
      deps.backoff.failed(nameOf(gap), filled.unread);
      throw filled.unread;
    }
    deps.backoff.forget(nameOf(gap));
    await deps.watermarks.fillGap(gap, run.lease);
    await deps.onAllStored(gap.fromUs);
  }
  return due.length === 0 ? null : { freshTo: new Date(deps.clock.now()), rows, note: `${due.length} gaps filled` };
}

async function fillGap(deps: TradesDeps, data: PlatformData, gap: TradeGap, run: JobRun) {
  const refs = await refsOf(deps.clickhouse, 'traded_between', {
    platform: data.platform,
    from: microsecondText(gap.fromUs),
    to: microsecondText(gap.toUs),
  });
  let rows = 0;
  let unread: PlatformError | null = null;
  await storeEach(refs, run.signal, {
    async read(ref) {
      const market = (await deps.directory.byRef(data.platform, [ref])).get(ref);
      const query = { sinceUs: gap.fromUs, untilUs: gap.toUs, context: run.context('backfill') };
      return market ? readSpan(deps, data, run, { ...query, market }) : null;
    },
    async store(span) {
      await span?.store();
      rows += span?.rows ?? 0;
    },
    onFailure: (_ref, error) => (unread = error),
  });
  return { rows, unread };
}

const nameOf = (gap: TradeGap): string => `gap ${gap.fromUs}-${gap.toUs}`;
