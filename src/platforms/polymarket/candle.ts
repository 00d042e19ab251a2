import type { Price } from '../../core/decimal.ts';
import type { CandleRecord, Ohlc } from '../../core/model.ts';
import type { HistoryPoint } from './wire.ts';

const NO_PRICES: Readonly<Ohlc> = { open: null, high: null, low: null, close: null };

/**
 * Bars of `intervalMin` out of price samples: open is the bucket's first sample, close its last. The samples are
 * midpoints, not trades, so there is no volume. Buckets without a sample are left out, as are samples outside
 * [startTs, endTs), Unix seconds.
 */
export function mapPolymarketCandles(
  points: readonly HistoryPoint[],
  ref: string,
  intervalMin: 1 | 60,
  startTs: number,
  endTs: number,
): CandleRecord[] {
  const buckets = new Map<number, Price[]>();
  const ordered = points
    .filter(({ timestamp }) => timestamp >= startTs && timestamp < endTs)
    .toSorted((a, b) => a.timestamp - b.timestamp);
  for (const { timestamp, price } of ordered) {
    const bucket = timestamp - (timestamp % (intervalMin * 60));
    const samples = buckets.get(bucket) ?? [];
    samples.push(price);
    buckets.set(bucket, samples);
  }
  return [...buckets].map(([startTs, samples]) => ({
    platform: 'polymarket',
    ref,
    intervalMin,
    startTs,
    price: {
      open: samples[0] ?? null,
      high: samples.reduce((a, b) => (a > b ? a : b)),
      low: samples.reduce((a, b) => (a < b ? a : b)),
      close: samples.at(-1) ?? null,
    },
    previousClose: null,
    bid: NO_PRICES,
    ask: NO_PRICES,
    volume: null,
    openInterest: null,
    mean: null,
    source: 'midpoint',
  }));
}
