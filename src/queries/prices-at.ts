import { z } from 'zod';
import type { StoredMarket } from '../platforms/contract.ts';
import type { MarketPriceAnswer } from '../schemas/batches.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
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
