import { INTERVAL_SECONDS } from '../../src/core/model.ts';
import { toNumber } from './exact.ts';
import { eventually, largePage, type Pipeline, type ServedItem, type ServedPoint } from './pipeline.ts';

/** A trade as bars count it: its price in terms of the first outcome. */
export interface BarTrade {
  atMs: number;
  id: string;
  price: bigint;
  size: bigint;
}

const UNKNOWN = { open: null, high: null, low: null, close: null };

/**
 * Price history made of trades alone, oldest first; a bucket without trades is left out. Bid, ask and open interest are of
 * snapshots, which there are none of for times before the service ran.
 */
export function barsOf(
  trades: readonly BarTrade[],
  about: Pick<ServedPoint, 'platform' | 'marketId' | 'outcomeId'>,
  span: { fromTs: number; toTs: number; stepMin: number },
  places: { price: number; size: number },
): ServedPoint[] {
  const step = span.stepMin * 60;
  const buckets = new Map<number, BarTrade[]>();
  for (const trade of trades.toSorted((a, b) => a.atMs - b.atMs || (a.id < b.id ? -1 : 1))) {
    const at = Math.floor(trade.atMs / 1000 / step) * step;
    if (at < span.fromTs || at >= span.toTs) continue;
    buckets.set(at, [...(buckets.get(at) ?? []), trade]);
  }
  const number = (price: bigint | undefined): number | null =>
    price === undefined ? null : toNumber(price, places.price);
  return [...buckets]
    .toSorted(([a], [b]) => a - b)
    .map(([timestamp, inside]) => {
      const prices = inside.map(({ price }) => price);
      const ranked = prices.toSorted((a, b) => (a < b ? -1 : 1));
      return {
        timestamp,
        platform: about.platform,
        marketId: about.marketId,
        outcomeId: about.outcomeId,
        volume: toNumber(
          inside.reduce((total, { size }) => total + size, 0n),
          places.size,
        ),
        openInterest: null,
        price: {
          open: number(prices[0]),
          high: number(ranked.at(-1)),
          low: number(ranked[0]),
          close: number(prices.at(-1)),
        },
        bidAsk: { bid: UNKNOWN, ask: UNKNOWN },
      };
    });
}

/** Intervals of metrics/historical that price-history does not have. */
export const MERGED_INTERVALS = ['5m', '15m', '4h'] as const;

/** What metrics/historical says of prices, volumes and open interest where bars are merged. */
export async function mergedBars(
  service: Pipeline,
  { platform, id }: { platform: string; id: string },
  interval: (typeof MERGED_INTERVALS)[number],
  span: { fromTs: number; toTs: number },
): Promise<Pick<ServedPoint, 'timestamp' | 'price' | 'volume' | 'openInterest'>[]> {
  const path = `metrics/historical?platform=${platform}&market_id=${id}&start_ts=${span.fromTs}&end_ts=${span.toTs}&interval=${interval}`;
  let data: ServedItem[] = [];
  const incomplete = async () => {
    const answer = await service.get<{ data: ServedItem[]; meta: { complete: boolean } }>(
      `${path}&limit=${4500 + largePage()}`,
    );
    ({ data } = answer);
    return answer.meta.complete ? [] : [`${id}: its history is not complete`];
  };
  const [left] = await eventually(incomplete);
  if (left !== undefined) throw new Error(left);
  return data.map(({ timestamp, price, volume, open_interest }) => ({
    timestamp,
    price,
    volume,
    openInterest: open_interest,
  }));
}

export const minutesOf = (interval: (typeof MERGED_INTERVALS)[number]): number => INTERVAL_SECONDS[interval] / 60;

/** The same of bars as price history has them. */
export const withoutQuotes = (
  points: ServedPoint[],
): Pick<ServedPoint, 'timestamp' | 'price' | 'volume' | 'openInterest'>[] =>
  points.map(({ timestamp, price, volume, openInterest }) => ({ timestamp, price, volume, openInterest }));
