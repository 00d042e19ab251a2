import type { Market } from '../parts/answers.ts';

/** How far back the chart goes, and the width of its buckets. */
export const RANGES = [
  ['6h', '6H'],
  ['1d', '1D'],
  ['1w', '1W'],
  ['1mo', '1M'],
  ['all', 'All'],
] as const;
type Range = (typeof RANGES)[number][0];
export const INTERVALS = [
  ['1m', '1m'],
  ['5m', '5m'],
  ['15m', '15m'],
  ['1h', '1h'],
  ['4h', '4h'],
  ['1d', '1d'],
] as const;
type Interval = (typeof INTERVALS)[number][0];

/** Bucket width in seconds. */
export const SECONDS: Record<Interval, number> = {
  '1m': 60,
  '5m': 300,
  '15m': 900,
  '1h': 3600,
  '4h': 14_400,
  '1d': 86_400,
};
const SPAN: Record<Range, number> = { '6h': 21_600, '1d': 86_400, '1w': 604_800, '1mo': 2_592_000, all: Infinity };
const USUAL: Record<Exclude<Range, 'all'>, Interval> = { '6h': '1m', '1d': '5m', '1w': '1h', '1mo': '4h' };
/** All of a market's life is shown in at least this many buckets, so that it fills the chart. */
const FEWEST = 60;
/** Limit of buckets per API answer. */
export const MAX_BARS = 5000;

export interface Shown {
  range: Range;
  interval: Interval;
  startTs: number;
  limit: number;
}

const seconds = (at: string): number => Math.floor(Date.parse(at) / 1000);

export type Dated = Pick<Market, 'status' | 'created_at' | 'trading_start_at' | 'trading_end_at' | 'resolved_at'>;

export const isOver = ({ status }: Pick<Market, 'status'>): boolean => status === 'closed' || status === 'settled';

/** Unix seconds between which a market trades: up to now, or to its end if it has ended. */
function lifeOf(market: Dated): { from: number; until: number } {
  const now = Math.floor(Date.now() / 1000);
  const ends = isOver(market)
    ? [market.trading_end_at, market.resolved_at].flatMap((at) => (at === null ? [] : seconds(at)))
    : [];
  const until = Math.min(now, ...ends);
  return { from: Math.min(until, seconds(market.trading_start_at ?? market.created_at)), until };
}

/** Tolerance, because a one-day market may trade a few minutes longer. */
const ROUGHLY = 1.05;
const SHORT = ['6h', '1d'] as const;

/** Reads the address. An interval that would give too many buckets is replaced by the narrowest that fits. */
export function shownBars(query: URLSearchParams, market: Dated): Shown {
  const { from, until } = lifeOf(market);
  // The default is a week, which would show a single candle for a market that traded for minutes.
  const usual = SHORT.find((name) => until - from <= SPAN[name] * ROUGHLY) ?? '1w';
  const range = RANGES.find(([name]) => name === query.get('range'))?.[0] ?? usual;
  const life = until - from;
  const fine = INTERVALS.findLast(([name]) => life / SECONDS[name] >= FEWEST)?.[0] ?? '1m';
  const usualWidth = range === 'all' ? fine : USUAL[range];
  const wanted = INTERVALS.find(([name]) => name === query.get('interval'))?.[0] ?? usualWidth;
  const span = Math.max(3600, Math.min(SPAN[range], life + 86_400));
  const fitting = INTERVALS.map(([name]) => name).filter((name) => span / SECONDS[name] < MAX_BARS);
  const interval = fitting.includes(wanted) ? wanted : (fitting[0] ?? '1d');
  const width = SECONDS[interval];
  return { range, interval, startTs: Math.floor((until - span) / width) * width, limit: MAX_BARS };
}
