import { ONE_PRICE, type Price, divideHalfEven } from '../../core/decimal.ts';
import type { CandleRecord } from '../../core/model.ts';
import { isoFromEpoch, isoTime } from '../market-fields.ts';
import { midpointBar } from '../midpoint-bar.ts';
import type { LimitlessPricePoint } from './wire.ts';

const HOUR_S = 3600;

const secondsOf = ({ timestamp }: LimitlessPricePoint): number | null => {
  const iso = isoFromEpoch(timestamp) ?? isoTime(String(timestamp));
  return iso === null ? null : Math.floor(Date.parse(iso) / 1000);
};

/**
 * Hourly bars from midpoint samples, which arrive newest first; [] if the samples are more than an hour apart, because bars would be
 * incomplete. AMM markets sample percentages.
 */
export function barsFromSamples(
  slug: string,
  points: readonly LimitlessPricePoint[],
  percent: boolean,
): CandleRecord[] {
  const samples = points
    .flatMap((point) => {
      const at = secondsOf(point);
      return at === null ? [] : { at, price: percent ? divideHalfEven(point.price, 100n) : point.price };
    })
    // 0 and 1 are payouts, and other units reach beyond.
    .filter(({ price }) => price > 0n && price < ONE_PRICE)
    .toSorted((a, b) => a.at - b.at);
  const gaps = samples.slice(1).map(({ at }, index) => at - (samples[index]?.at ?? at));
  const medianGap = gaps.toSorted((a, b) => a - b)[Math.floor(gaps.length / 2)];
  if (medianGap === undefined || medianGap > HOUR_S) return [];

  const hours = new Map<number, Price[]>();
  for (const { at, price } of samples) {
    const startTs = Math.floor(at / HOUR_S) * HOUR_S;
    const prices = hours.get(startTs);
    if (prices) prices.push(price);
    else hours.set(startTs, [price]);
  }
  return Array.from(hours, ([startTs, prices]) =>
    midpointBar({ platform: 'limitless', ref: slug, intervalMin: 60, startTs }, prices),
  );
}
