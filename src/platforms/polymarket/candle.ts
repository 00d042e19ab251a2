import type { Price } from '../../core/decimal.ts';
import type { CandleRecord } from '../../core/model.ts';
import { midpointBar } from '../midpoint-bar.ts';
import type { HistoryPoint } from './wire.ts';

/**
 * Bars of `intervalMin` from price samples: open is the bucket's first sample, close its last. Samples are midpoints, not trades, so
 * there is no volume. Buckets without samples, and samples outside [startTs, endTs) (Unix seconds), are left out.
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
  return Array.from(buckets, ([startTs, samples]) =>
    midpointBar({ platform: 'polymarket', ref, intervalMin, startTs }, samples),
  );
}
