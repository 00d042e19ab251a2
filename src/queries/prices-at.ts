import { z } from 'zod';
import type { StoredMarket } from '../platforms/contract.ts';
import type { MarketPriceAnswer } from '../schemas/batches.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import type { CurrentPrices } from '../markets/present-markets.ts';
import type { HistoryStores } from '../markets/trade-history.ts';
import { complementNumber } from './market-rows.ts';
import { storeTime } from '../core/time.ts';
import { marketKey } from '../core/market-key.ts';
import { numberOfText } from '../core/decimal.ts';

/** A row of sql/queries/prices_at.sql. */
const Row = z.object({
  market_key: z.string(),
  is_settled: z.coerce.boolean(),
  payouts: z.array(z.string().nullable()),
  settled_at: z.string().nullable(),
  traded_series: z.array(z.number()),
  traded: z.array(z.string()),
  traded_at: z.string(),
  quoted: z.string().nullable(),
  quoted_at: z.string(),
});
type Row = z.infer<typeof Row>;
type MarketPrice = z.infer<typeof MarketPriceAnswer>;

/**
 * Prices of these markets as known at an instant, in the given order: the payout of a settled market, else its last trade, else the last
 * price quoted by its platform. Block trades do not count. Markets dropped by their platform are left out.
 */
export async function pricesAt(
  clickhouse: Pick<ClickHouse, 'query'>,
  markets: readonly StoredMarket[],
  atMs: number,
): Promise<MarketPrice[]> {
  const [first] = markets;
  if (!first) return [];
  const keys = markets.map(marketKey);
  const at = storeTime(atMs);
  const rows = await clickhouse.query('prices_at', Row, { platform: first.platform, keys: keys.map(BigInt), at });
  const found = new Map(rows.map((row) => [row.market_key, row]));
  return markets.flatMap((market, i) => {
    const row = found.get(keys[i] ?? '');
    return row ? [toPrice(market, row)] : [];
  });
}

/**
 * Current prices of these markets: payouts and last trades from PostgreSQL. ClickHouse is read for markets that never traded, and for
 * those whose last trade PostgreSQL lacks.
 */
export async function pricesNow(
  { clickhouse, freshness }: Pick<HistoryStores, 'clickhouse' | 'freshness'>,
  markets: readonly CurrentPrices[],
  nowMs: number,
): Promise<MarketPrice[]> {
  const [first] = markets;
  if (!first) return [];
  const freshTo = await freshness.trades([first.platform]);
  const isCopied = freshTo === null || (first.copiedToUs ?? 0) >= Date.parse(freshTo) * 1000;
  const known = new Map(markets.map((market) => [market, isCopied ? priceNow(market, nowMs) : null]));
  const others = await pricesAt(
    clickhouse,
    markets.filter((market) => known.get(market) === null),
    nowMs,
  );
  const found = new Map(others.map((price) => [price.market_id, price]));
  return markets.flatMap((market) => known.get(market) ?? found.get(market.platformId) ?? []);
}

/** null if ClickHouse has to be asked. */
function priceNow(market: CurrentPrices, nowMs: number): MarketPrice | null {
  const { status, prices, resolvedAt, last } = market;
  const isPaid = status === 'settled' && prices.some((price) => price !== null);
  // Where the platform does not say when it was settled, the first time at which it was seen settled counts.
  if (isPaid && (resolvedAt === null || Date.parse(resolvedAt) > nowMs)) return null;
  if (!isPaid && (last === null || last.length === 0)) return null;
  const trades = last ?? [];
  const newestUs = Math.max(0, ...trades.map(({ executedUs }) => executedUs));
  return toPrice(market, {
    market_key: '',
    is_settled: isPaid,
    payouts: prices,
    settled_at: resolvedAt,
    traded_series: trades.map(({ series }) => series),
    traded: trades.map(({ price }) => price),
    traded_at: new Date(Math.floor(newestUs / 1000)).toISOString(),
    quoted: null,
    quoted_at: '',
  });
}

function toPrice(market: StoredMarket, row: Row): MarketPrice {
  const { platform, platformId } = market;
  const answer = (prices: (number | null)[], at: string | null, source: MarketPrice['source']): MarketPrice => ({
    market_id: platformId,
    platform,
    prices: Object.fromEntries(market.outcomes.map(({ id }, i) => [id, prices[i] ?? null])),
    at: at === null ? null : `${at.replace(' ', 'T').slice(0, 23)}Z`,
    source,
  });
  if (row.is_settled && row.payouts.some((payout) => payout !== null)) {
    return answer(row.payouts.map(numberOfText), row.settled_at, 'payout');
  }
  if (row.traded.length > 0) return answer(ofOutcomes(market, row), row.traded_at, 'trade');
  if (row.quoted != null) return answer(bothSides(market, row.quoted), row.quoted_at, 'quote');
  return answer([], null, null);
}

/** Both outcomes of a binary market share one series; with more outcomes each has its own. */
function ofOutcomes(market: StoredMarket, row: Row): (number | null)[] {
  const priceOf = (series: number): string | undefined => row.traded[row.traded_series.indexOf(series)];
  if (market.outcomes.length <= 2) return bothSides(market, priceOf(0) ?? null);
  return market.outcomes.map((_, index) => numberOfText(priceOf(index) ?? null));
}

const bothSides = (market: StoredMarket, first: string | null): (number | null)[] =>
  market.outcomes.length > 2 || first === null ? [numberOfText(first)] : [Number(first), complementNumber(first)];
