import { type Clock, HOUR_MS } from '../core/time.ts';
import { type HistoryStores, knownHistory, type StoredHistory, touchesGap, wantHistory } from './trade-history.ts';
import type { Log } from '../core/log.ts';
import type { Platform } from '../core/model.ts';
import { type BadRow, type StoredMarket, type PlatformData, liveRead } from '../platforms/contract.ts';
import type { Shared } from '../stores/shared/shared.ts';
import { hasTradeFeed } from './completeness.ts';
import type { MarketHistory } from './lookup.ts';
import type { HeldBars } from '../present/trades/bars.ts';
import { CANDLE_COLUMNS, candleRow } from '../stores/clickhouse/insert-rows.ts';
import { BUCKET_LAG_MS } from '../stores/clickhouse/windows.ts';

/** How long a caller waits for missing history; what arrives later is there for the next call. */
const WAIT_MS = 2500;
/** Time limit for reading and storing bars after the caller has stopped waiting. */
const READ_MS = 30_000;
/** Bars read and stored at once, at most: a year of minutes never fits into memory. */
const MAX_BARS = { 1: 3 * 1440, 60: 180 * 24 } as const;
const OPEN_BARS_MS = 60_000;
const CLOSED_BARS_MS = HOUR_MS;

interface HistoryDeps extends HistoryStores {
  shared: Shared;
  log: Log;
  platforms: Partial<Record<Platform, PlatformData>>;
  onBadRow: (row: BadRow) => void;
  clock: Clock;
}

/** Its span is null for a market whose trades are in no feed. */
interface ReadyHistory extends StoredHistory {
  /** Bars of the market's first series, read with the history; absent if the history was read again. */
  bars?: HeldBars | null;
  /** false if trades or bars of the range are still being read, or could not be. */
  complete: boolean;
}

/** Buckets of [startTs, endTs), of which the oldest `limit` with data are wanted; Unix seconds. */
interface WantedBars {
  startTs: number;
  endTs: number;
  stepSeconds: number;
  limit: number;
}

/**
 * Makes a market's range as complete as a bounded wait allows: platform bars are read and stored, missing trades are requested from
 * the ingesting process. If the platform fails, the stored data remains.
 */
export async function readyHistory(
  services: HistoryDeps,
  { market, history: stored, bars: held, user }: MarketHistory & { user: string },
  range: WantedBars,
): Promise<ReadyHistory> {
  const { clock } = services;
  const { platform, ref } = market;
  const bornMs = market.tradingStartAt === null ? 0 : Date.parse(market.tradingStartAt);
  const sinceMs = Math.max(range.startTs * 1000, bornMs);
  // A bar of Kalshi includes its end: quotes of the instant at which trading begins are in the bar before.
  const startTs = Math.max(range.startTs, Math.floor((bornMs - 1) / 1000));
  const bars = readBars(services, { market, user }, { ...range, startTs })
    .catch((error: unknown) => {
      services.log.warn({ err: error, platform, ref }, 'Failed to read bars of the platform');
      return null;
    })
    .then((asked) => ({ asked: asked ?? true, done: asked !== null }));
  const isWithoutFeed = !hasTradeFeed(market);
  const [wanted, read] = await Promise.all([
    isWithoutFeed
      ? { span: null, complete: true }
      : wantHistory(services, { platform, ref, sinceUs: sinceMs * 1000, user }, stored.span, WAIT_MS),
    Promise.race([bars, clock.late(WAIT_MS).then(() => ({ asked: true, done: false }))]),
  ]);
  // Trades may have arrived while the platform was asked, or while older ones were awaited.
  const isOld = !isWithoutFeed && (read.asked || wanted.span !== stored.span);
  const now = isOld ? await knownHistory(services, platform, ref) : stored;
  const { span, gaps, ...others } = isWithoutFeed ? { span: null, gaps: [] } : now;
  // A market has no trades before its creation, so a span that begins there is complete.
  const whole = span !== null && span.fromUs <= bornMs * 1000;
  const isHoled = touchesGap(gaps, sinceMs / 1000, range.endTs);
  const isBehind = span !== null && span.toUs < Math.min(range.endTs * 1e6, (clock.now() - BUCKET_LAG_MS) * 1000);
  return {
    ...others,
    ...(now === stored && { bars: held }),
    span: whole ? { ...span, fromUs: 0 } : span,
    gaps,
    complete: wanted.complete && read.done && !isHoled && !isBehind,
  };
}

/**
 * Reads the platform's bars of a range, oldest first, until there are as many as are wanted: a part at most once a minute, for one caller
 * at a time. True if the platform was asked now.
 */
async function readBars(
  services: HistoryDeps,
  { market, user }: { market: StoredMarket; user: string },
  { startTs, endTs, stepSeconds, limit }: WantedBars,
): Promise<boolean> {
  const data = services.platforms[market.platform];
  const intervalMin = stepSeconds < 3600 ? 1 : 60;
  if (!data?.candleIntervalsMin.includes(intervalMin)) return false;
  const barSeconds = intervalMin * 60;
  // Whole blocks, so that neighbouring requests share one read; whole days, because a daily bar needs all of its hours.
  const block = intervalMin === 1 ? 3600 : 3 * 86_400;
  const part = MAX_BARS[intervalMin] * barSeconds;
  const start = Math.floor(startTs / block) * block;
  const end = Math.min(Math.ceil(endTs / block) * block, Math.ceil(services.clock.now() / 1000 / 60) * 60);
  const ttlMs = market.status === 'open' || market.status === 'paused' ? OPEN_BARS_MS : CLOSED_BARS_MS;
  const context = { ...liveRead(services, user), signal: services.clock.deadline(READ_MS) };
  let isAsked = false;
  // Bars of the first block may be older than those wanted.
  let lacking = (limit * stepSeconds + startTs - start) / barSeconds;
  for (let from = start; from < end && lacking > 0; from = Math.floor(from / part + 1) * part) {
    const to = Math.min(end, Math.floor(from / part + 1) * part);
    const key = `bars:${market.platform}:${market.ref}:${intervalMin}:${from}:${Math.ceil(to / block)}`;
    const { value: traded, hit } = await services.shared.cached(key, ttlMs, async () => {
      const candles = await data.candles(market, intervalMin, from, to, context);
      await services.clickhouse.insert(CANDLE_COLUMNS, candles.map(candleRow), { isUrgent: true });
      // Where all trades are stored, samples of the midpoint are no bars.
      return candles.filter(({ source }) => source === 'trades').length;
    });
    isAsked ||= !hit;
    lacking -= traded;
  }
  return isAsked;
}
