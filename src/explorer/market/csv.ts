import type { Bar } from '../parts/answers.ts';
import { plain } from '../parts/exact.ts';

const COLUMNS: readonly (readonly [name: string, (bar: Bar) => number | null])[] = [
  ['open', ({ price }) => price.open],
  ['high', ({ price }) => price.high],
  ['low', ({ price }) => price.low],
  ['close', ({ price }) => price.close],
  ['bid', ({ liquidity }) => liquidity.best_bid],
  ['ask', ({ liquidity }) => liquidity.best_ask],
  ['volume', ({ volume }) => volume],
  ['trades', ({ trade_count: trades }) => trades],
  ['open_interest', ({ open_interest: held }) => held],
];

/** The buckets of a chart as CSV, times in UTC; unknown values are empty. */
export function csvOf(bars: readonly Bar[]): string {
  const rows = bars.map((bar) => {
    const values = COLUMNS.map(([, valueOf]) => valueOf(bar));
    return [
      new Date(bar.timestamp * 1000).toISOString(),
      ...values.map((value) => (value === null ? '' : plain(value))),
    ].join(',');
  });
  return `${[['time', ...COLUMNS.map(([name]) => name)].join(','), ...rows].join('\n')}\n`;
}
