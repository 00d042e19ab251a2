import { z } from 'zod';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import { keptFrom } from '../stores/clickhouse/retention.ts';
import { FEED_LAG_MS } from '../stores/clickhouse/windows.ts';
import type { TrendingAnswer, TrendingItemAnswer } from '../schemas/analytics.ts';
import { decimalNumber, divideHalfEven, parsePrice, parseUsd, PRICE_SCALE, numberOfText } from '../core/decimal.ts';
import { type MarketName, marketNames, type NameStores } from './market-names.ts';
import type { OfWindows } from './windows.ts';
import { type Platform, PLATFORMS } from '../core/model.ts';
import { WINDOW_MS } from '../platforms/market-fields.ts';

const PERCENT_SCALE = 6;

interface TrendingFilter {
  platforms: readonly Platform[];
  /** '' for all. */
  category: string;
  window: '24h' | '7d';
  sort: 'volume_change' | 'price_change';
}

const amount = z.string().nullable();
const TrendingRow = z.object({
  platform: z.enum(PLATFORMS),
  market_key: z.string(),
  as_of: z.string(),
  status: z.string(),
  category: z.string(),
  price: amount,
  other_price: amount,
  liquidity: z.string(),
  liquidity_known: z.boolean(),
  open_interest: amount,
  volume_total: amount,
  day_volume: amount,
  traded: amount,
  traded_before: amount,
  price_change_24h: amount,
  price_change: amount,
});
type TrendingRow = z.infer<typeof TrendingRow>;

const ofBoth = z.tuple([z.coerce.number(), z.coerce.number()]);
/** A row of sql/queries/trending_completeness.sql. */
const CompletenessRow = z.object({
  platform: z.enum(PLATFORMS),
  category: z.string(),
  as_of: z.string(),
  markets: z.coerce.number(),
  with_volume_change: ofBoth,
  with_price_change: ofBoth,
  by_trades: ofBoth,
  by_snapshots: ofBoth,
  oldest_snapshot: z.string(),
  trades_from_ms: z.coerce.number(),
  trades_to_ms: z.coerce.number(),
  gap_to_ms: z.coerce.number(),
});
type CompletenessRow = z.infer<typeof CompletenessRow>;
type Meta = z.infer<typeof TrendingAnswer>['meta'];

/** Markets of one answer at most. */
export const MOST_TRENDING = 100;

/** The markets with the largest changes, and how complete their data is: read once for all answers from the same windows. */
export async function trendingMarkets(
  {
    clickhouse,
    postgres,
    ofWindows,
  }: Omit<NameStores, 'clickhouse'> & {
    clickhouse: Pick<ClickHouse, 'query' | 'sql'>;
    ofWindows: OfWindows;
  },
  filter: TrendingFilter,
  limit: number,
): Promise<{
  trending: z.infer<typeof TrendingItemAnswer>[];
  meta: Pick<Meta, 'total_markets_analyzed' | 'data_completeness' | 'as_of'>;
}> {
  const { platforms, category, window, sort } = filter;
  const params = {
    platforms: platforms.length === PLATFORMS.length ? undefined : platforms,
    category: category === '' ? undefined : category,
    window,
  };
  const [all, { rows: counted, keptFrom: keptText }] = await Promise.all([
    ofWindows(`trending:${JSON.stringify([params, sort])}`, () =>
      clickhouse.query('trending', TrendingRow, { ...params, sort, limit: MOST_TRENDING }),
    ),
    ofWindows('kept completeness', () => readCompleteness(clickhouse)),
  ]);
  const rows = all.slice(0, limit);
  const names = await marketNames({ clickhouse, postgres }, rows);
  const counts = counted.filter(
    (row) => platforms.includes(row.platform) && (category === '' || row.category === category),
  );
  const completeness = PLATFORMS.flatMap((platform) => {
    const [first, ...others] = counts.filter((row) => row.platform === platform);
    return first ? [{ platform, ...toCompleteness([first, ...others], window, keptText) }] : [];
  });
  return {
    trending: rows.map((row) => toItem(row, names.get(row.market_key))),
    meta: {
      total_markets_analyzed: sumOf(completeness, ({ markets }) => markets),
      data_completeness: Object.fromEntries(completeness.map(({ platform, ...own }) => [platform, own])),
      as_of: rows[0]?.as_of ?? counted[0]?.as_of ?? null,
    },
  };
}

/** The completeness of each platform and category, and the time before which snapshots were dropped for their age. */
async function readCompleteness(clickhouse: Pick<ClickHouse, 'query' | 'sql'>) {
  const [rows, kept] = await Promise.all([
    clickhouse.query('trending_completeness', CompletenessRow),
    keptFrom(clickhouse, 'market_snapshots'),
  ]);
  return { rows, keptFrom: kept.toISOString() };
}

/** 100 × change / base to 6 decimals; null unless the base is above 0. */
function percent(change: bigint, base: bigint): number | null {
  if (base <= 0n) return null;
  return decimalNumber(divideHalfEven(change * 100n * 10n ** BigInt(PERCENT_SCALE), base), PERCENT_SCALE);
}

function toItem(row: TrendingRow, name: MarketName | undefined): z.infer<typeof TrendingItemAnswer> {
  const [traded, before] = [row.traded, row.traded_before].map((text) => (text === null ? null : parseUsd(text)));
  const [price, moved] = [row.price, row.price_change].map((text) => (text === null ? null : parsePrice(text)));
  return {
    market_id: name?.market_id ?? '',
    platform: row.platform,
    title: name?.title ?? '',
    category: row.category,
    status: row.status,
    url: name?.source_url ?? '',
    image_url: name?.image_url ?? '',
    current_price: { yes: numberOfText(row.price), no: numberOfText(row.other_price) },
    change: {
      volume_24h: numberOfText(row.day_volume),
      volume_change_percent: traded == null || before == null ? null : percent(traded - before, before),
      price_change_24h:
        row.price_change_24h === null ? null : decimalNumber(parsePrice(row.price_change_24h), PRICE_SCALE),
      price_change_percent: price == null || moved == null ? null : percent(moved, price - moved),
    },
    metrics: {
      total_volume: numberOfText(row.volume_total),
      liquidity: row.liquidity_known ? Number(row.liquidity) : null,
      open_interest: numberOfText(row.open_interest),
    },
  };
}

const sumOf = <T>(rows: readonly T[], of: (row: T) => number): number => rows.reduce((sum, row) => sum + of(row), 0);

/** The completeness of a platform, by the rows of its categories. */
function toCompleteness(
  rows: readonly [CompletenessRow, ...CompletenessRow[]],
  window: TrendingFilter['window'],
  keptText: string,
) {
  const [{ as_of: asOf, trades_from_ms, trades_to_ms: toMs, gap_to_ms }] = rows;
  const fromMs = Math.max(trades_from_ms, gap_to_ms);
  const time = (ms: number): string | null => (toMs > 0 ? new Date(ms).toISOString() : null);
  const count = (figure: 'with_volume_change' | 'with_price_change' | 'by_trades' | 'by_snapshots'): number =>
    sumOf(rows, (row) => row[figure][window === '24h' ? 0 : 1]);
  const markets = sumOf(rows, (row) => row.markets);
  const oldest = rows.map((row) => row.oldest_snapshot).toSorted()[0];
  const [trades, snapshots] = [count('by_trades'), count('by_snapshots')];
  return {
    markets,
    with_volume_change: count('with_volume_change'),
    with_price_change: count('with_price_change'),
    volumes_from: { trades, snapshots, unknown: markets - trades - snapshots },
    trades_complete_from: time(fromMs),
    trades_complete_to: time(toMs),
    window_covered: covered({ fromMs, toMs }, Date.parse(asOf), WINDOW_MS[window]),
    oldest_snapshot: oldest === undefined || oldest < keptText ? keptText : oldest,
  };
}

/** How much of the two windows ending at `asOfMs` a stored span covers. */
function covered(span: { fromMs: number; toMs: number }, asOfMs: number, windowMs: number) {
  const startMs = asOfMs - 2 * windowMs;
  if (span.toMs <= startMs || span.fromMs >= asOfMs) return 'none' as const;
  return span.fromMs <= startMs && span.toMs >= asOfMs - FEED_LAG_MS ? ('full' as const) : ('partial' as const);
}
