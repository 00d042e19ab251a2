import type { Price } from '../core/decimal.ts';
import type { CandleRecord, Ohlc } from '../core/model.ts';

const NOTHING: Readonly<Ohlc> = { open: null, high: null, low: null, close: null };

/** A bar from the midpoint samples in it, oldest first and at least one: no trades, so no volume and no quotes. */
export function midpointBar(
  bar: Pick<CandleRecord, 'platform' | 'ref' | 'intervalMin' | 'startTs'>,
  samples: readonly Price[],
): CandleRecord {
  return {
    ...bar,
    price: {
      open: samples[0] ?? null,
      high: samples.reduce((a, b) => (a > b ? a : b)),
      low: samples.reduce((a, b) => (a < b ? a : b)),
      close: samples.at(-1) ?? null,
    },
    previousClose: null,
    bid: NOTHING,
    ask: NOTHING,
    volume: null,
    openInterest: null,
    mean: null,
    source: 'midpoint',
  };
}
