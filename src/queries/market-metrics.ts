import { MANIFESTS } from '../platforms/manifests.ts';
import { z } from 'zod';
import { FEED_LAG_MS } from '../stores/clickhouse/windows.ts';
import type { SnapshotAnswer } from '../schemas/metrics.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import {
  decimalNumber,
  divideHalfEven,
  midpoint,
  ONE_PRICE,
  parsePrice,
  parseUsd,
  type Price,
  PRICE_SCALE,
  USD_SCALE,
} from '../core/decimal.ts';
import { currentOpenInterest, type OpenInterestDeps } from '../markets/open-interest.ts';
import { historyFrom, type StoredHistory } from '../markets/trade-history.ts';
import { isUpTo } from '../present/trades/read.ts';
import { HeldVolumes, type SpannedMarket } from '../present/trades/spanned.ts';
import { InfoText, rollingVolume, LongStateText, liquidityOf } from './market-rows.ts';
import { topOfBook } from './historical-metrics.ts';
import { isPool } from '../platforms/market-fields.ts';
import type { JsonObject, Platform } from '../core/model.ts';
import { DAY_MS, DAY_US, HOUR_MS, storeTime } from '../core/time.ts';

const WINDOW_DAYS = { '24h': 1, '7d': 7, '30d': 30, '1y': 365 } as const;
type Window = keyof typeof WINDOW_DAYS;

/** A row of sql/queries/totals_ago.sql. */
const TotalRow = z.object({ span: z.enum(['30d', '1y']), total: z.string() });
/** A total of a month or a year ago is that of a snapshot at most this much older. */
const SNAPSHOT_MS = 6 * HOUR_MS;
/** The totals that the platform reported a month and a year ago; none if unknown or not asked for. */
type TotalsAgo = Partial<Record<'30d' | '1y', string>>;
type Stored = HeldVolumes & { totalsAgo: TotalsAgo };
type Metrics = z.infer<typeof SnapshotAnswer>['metrics'];
type State = z.infer<typeof LongStateText>;

/** The answer for a market copied as of `nowMs`, read for `user`; `freshTo` was read before it. At most three statements to ClickHouse. */
export async function marketSnapshot(
  { clickhouse, ...deps }: OpenInterestDeps & { clickhouse: ClickHouse },
  platform: Platform,
  found: SpannedMarket,
  { freshTo, nowMs, user }: { freshTo: string | null; nowMs: number; user: string },
): Promise<Omit<z.infer<typeof SnapshotAnswer>, 'meta'>> {
  const { ref, info: infoText, state: stateText } = found.market;
  const info = InfoText.parse(JSON.parse(infoText));
  const state = LongStateText.parse(JSON.parse(stateText));
  const asked = { platform, ref, at: storeTime(nowMs) };
  const [[volumes], totalsAgo, history] = await Promise.all([
    isUpTo(freshTo, found) && found.volumes ? [found.volumes] : clickhouse.query('market_volumes', HeldVolumes, asked),
    asksTotal('30d', found, state, nowMs) || asksTotal('1y', found, state, nowMs)
      ? totalsOf(clickhouse, { platform, ref }, nowMs)
      : {},
    historyFrom(clickhouse, { platform, ref }, found, freshTo),
  ]);
  if (!volumes) throw new Error('market_volumes has one row');
  const stored = { ...volumes, totalsAgo };
  const metadata = { ...info.info_metadata, ...state.state_metadata };
  const interest = await currentOpenInterest(deps, { platform, ref, value: state.open_interest, metadata }, user);
  const born = info.trading_start_at === null ? found.createdMs : Date.parse(info.trading_start_at);
  // Where the platform reports volume and no trade is stored, its trades are in no feed, or late.
  const isEmpty = Number(state.volume_total ?? 0) > 0 && Number(volumes.notional_total) === 0;
  const since = isPool(metadata) || isEmpty ? null : completeSince(born, history, nowMs);
  const current = { ...state, open_interest: interest.value };
  return {
    market_id: info.platform_id,
    platform,
    title: info.title,
    status: state.status,
    metrics: metrics(platform, current, metadata, stored, since, nowMs),
  };
}

async function totalsOf(
  clickhouse: Pick<ClickHouse, 'query'>,
  market: { platform: Platform; ref: string },
  nowMs: number,
): Promise<TotalsAgo> {
  // The time is rounded to a second, so that calls of the same second share a statement.
  const secondMs = Math.floor(nowMs / 1000) * 1000;
  const [month, year] = [secondMs - WINDOW_DAYS['30d'] * DAY_MS, secondMs - WINDOW_DAYS['1y'] * DAY_MS];
  const rows = await clickhouse.query('totals_ago', TotalRow, {
    ...market,
    month: storeTime(month),
    month_from: storeTime(month - SNAPSHOT_MS),
    year: storeTime(year),
    year_from: storeTime(year - SNAPSHOT_MS),
  });
  return Object.fromEntries(rows.map(({ span, total }) => [span, total]));
}

/** Whether the volume of a window, if the platform does not report it, may follow from its total at the window's start. */
const asksTotal = (window: '30d' | '1y', { firstSeenMs }: SpannedMarket, state: State, nowMs: number): boolean =>
  state.volume_total !== null &&
  firstSeenMs <= nowMs - WINDOW_DAYS[window] * DAY_MS &&
  rollingVolume(state[`volume_${window}`], WINDOW_DAYS[window], state, nowMs) === null;

/** Unix µs from which every trade of the market is stored (0: since its start); null if its feed is not up to date. */
function completeSince(bornMs: number | null, { span, gaps }: StoredHistory, nowMs: number): number | null {
  if (span === null || span.toUs < (nowMs - FEED_LAG_MS) * 1000) return null;
  const sinceUs = Math.max(span.fromUs, ...gaps.map(({ toUs }) => toUs));
  return bornMs !== null && bornMs * 1000 >= sinceUs ? 0 : sinceUs;
}

function metrics(
  platform: Platform,
  row: State,
  metadata: JsonObject,
  stored: Stored,
  sinceUs: number | null,
  nowMs: number,
): Metrics {
  const [bid, ask, price] = [row.bids, row.asks, row.prices].map(([first]) =>
    first == null ? null : parsePrice(first),
  );
  const { best_bid, best_ask, spread, midpoint: plain } = topOfBook(row.bids[0] ?? null, row.asks[0] ?? null);
  const manifest = MANIFESTS[platform];
  const fees = manifest.takerFees(metadata, { price: price ?? null, buyAt: ask ?? price ?? null, nowMs });
  const total = row.volume_total === null ? null : parseUsd(row.volume_total);
  const { liquidity, liquidity_score } = liquidityOf(row);
  const reported = (window: Window): number | null =>
    rollingVolume(row[`volume_${window}`], WINDOW_DAYS[window], row, nowMs);
  const traded = (window: Window): number | null => {
    if (!isComplete(sinceUs, WINDOW_DAYS[window], nowMs)) return null;
    return Number(manifest.volumeBasis === 'contracts' ? stored[`size_${window}`] : stored[`notional_${window}`]);
  };
  const grown = (then: string | undefined): number | null => {
    const growth = total === null || then === undefined ? -1n : total - parseUsd(then);
    return growth < 0n ? null : decimalNumber(growth, USD_SCALE);
  };
  const figures = {
    total: row.volume_total,
    volume_24h: reported('24h'),
    volume_7d: reported('7d'),
    volume_30d: reported('30d') ?? grown(stored.totalsAgo['30d']),
    volume_1y: reported('1y') ?? grown(stored.totalsAgo['1y']),
  };
  const worth = worthOf(figures, manifest.volumeBasis, stored, (days) => isComplete(sinceUs, days, nowMs));
  return {
    volume: {
      total: figures.total,
      volume_24h: figures.volume_24h ?? traded('24h'),
      volume_7d: figures.volume_7d ?? traded('7d'),
      volume_30d: figures.volume_30d ?? traded('30d'),
      volume_1y: figures.volume_1y ?? traded('1y'),
    },
    volume_usd: worth.amounts,
    volume_usd_basis: worth.basis,
    liquidity: {
      total: liquidity,
      liquidity_score,
      clob_liquidity: clobLiquidity(metadata, liquidity),
    },
    open_interest: row.open_interest,
    notional_value: sinceUs === 0 ? Number(stored.notional_total) : null,
    spread: { best_bid, best_ask, spread, adjusted_midpoint: adjustedMidpoint(metadata, plain) },
    fees: {
      fee_rate: decimalNumber(fees.rate, PRICE_SCALE),
      trading_fee: decimalNumber(fees.perContract, PRICE_SCALE),
      withdrawal_fee: decimalNumber(fees.withdrawal, PRICE_SCALE),
    },
    competitive_score: competitiveScore(metadata, midpoint(bid ?? null, ask ?? null)),
    unique_traders: stored.traders === 0 ? null : stored.traders,
  };
}

/** Whether every trade of the last days is stored; of Infinity days, every trade since the start. */
const isComplete = (sinceUs: number | null, days: number, nowMs: number): boolean =>
  sinceUs !== null && (sinceUs === 0 || sinceUs <= nowMs * 1000 - days * DAY_US);

/** Spans of volumes: days, and the stored notional. */
const SPANS = {
  total: [Infinity, 'notional_total'],
  volume_24h: [1, 'notional_24h'],
  volume_7d: [7, 'notional_7d'],
  volume_30d: [30, 'notional_30d'],
  volume_1y: [365, 'notional_1y'],
} as const;
type Span = keyof typeof SPANS;

/** Volumes in USD: of the stored trades where all are stored, else the platform's own where it reports USD. */
function worthOf(
  figures: Record<Span, number | null>,
  unit: 'contracts' | 'usd',
  stored: Stored,
  isStored: (days: number) => boolean,
): { amounts: Metrics['volume_usd']; basis: Metrics['volume_usd_basis'] } {
  const of = (span: Span): { amount: number | null; basis: 'traded' | 'reported' | null } => {
    const [days, column] = SPANS[span];
    const figure = figures[span];
    const traded = Number(stored[column]);
    // Where the platform reports volume and no trade is stored, its trades are in no feed.
    if (isStored(days) && (traded > 0 || figure === null || figure === 0)) return { amount: traded, basis: 'traded' };
    // No contracts are no USD.
    return (unit === 'usd' && figure !== null) || figure === 0
      ? { amount: figure, basis: 'reported' }
      : { amount: null, basis: null };
  };
  const [total, day, week, month, year] = [
    of('total'),
    of('volume_24h'),
    of('volume_7d'),
    of('volume_30d'),
    of('volume_1y'),
  ];
  const all = <K extends 'amount' | 'basis'>(name: K) => ({
    total: total[name],
    volume_24h: day[name],
    volume_7d: week[name],
    volume_30d: month[name],
    volume_1y: year[name],
  });
  return { amounts: all('amount'), basis: all('basis') };
}

/** A stored book may say that levels are too small to count. */
const adjustedMidpoint = ({ adjusted_midpoint: adjusted }: JsonObject, plain: number | null): number | null =>
  plain !== null && typeof adjusted === 'number' ? adjusted : plain;

/** A pool's liquidity is not in a book, and Limitless does not report books in its listing. */
function clobLiquidity(metadata: JsonObject, liquidity: number | null): number | null {
  const { liquidity_basis: basis, liquidity_clob: clob } = metadata;
  if (typeof clob === 'number') return clob;
  if (isPool(metadata)) return 0;
  return basis === 'none' ? null : liquidity;
}

/** Polymarket sends 0 for closed markets, a value that the formula never yields. */
function competitiveScore({ competitive }: JsonObject, mid: Price | null): number | null {
  if (typeof competitive === 'number') return competitive === 0 ? null : competitive;
  if (mid === null) return null;
  const distance = mid - ONE_PRICE / 2n;
  const square = ONE_PRICE * ONE_PRICE;
  return decimalNumber(divideHalfEven(square * ONE_PRICE, square + distance * distance), PRICE_SCALE);
}
