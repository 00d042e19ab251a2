/** What the chart shows: how far back, in buckets of which width. */
export const RANGES = [
  ['6h', '6H'],
  ['1d', '1D'],
  ['1w', '1W'],
  ['1mo', '1M'],
  ['all', 'All'],
] as const;
export type Range = (typeof RANGES)[number][0];
export const INTERVALS = [
  ['1m', '1m'],
  ['5m', '5m'],
  ['15m', '15m'],
  ['1h', '1h'],
  ['4h', '4h'],
  ['1d', '1d'],
] as const;
export type Interval = (typeof INTERVALS)[number][0];

/** Seconds of a bucket. */
export const SECONDS: Record<Interval, number> = {
  '1m': 60,
  '5m': 300,
  '15m': 900,
  '1h': 3600,
  '4h': 14_400,
  '1d': 86_400,
};
const SPAN: Record<Range, number> = { '6h': 21_600, '1d': 86_400, '1w': 604_800, '1mo': 2_592_000, all: Infinity };
const USUAL: Record<Range, Interval> = { '6h': '1m', '1d': '5m', '1w': '1h', '1mo': '4h', all: '1d' };
/** Buckets of one answer of the API. */
export const MAX_BARS = 5000;

export interface Shown {
  range: Range;
  interval: Interval;
  startTs: number;
  limit: number;
}

/** Reads the address; a range that an interval would cut into too many buckets gets the narrowest that fits. */
export function shownBars(query: URLSearchParams, createdAt: string): Shown {
  const range = RANGES.find(([name]) => name === query.get('range'))?.[0] ?? '1w';
  const wanted = INTERVALS.find(([name]) => name === query.get('interval'))?.[0] ?? USUAL[range];
  const now = Math.floor(Date.now() / 1000);
  const created = Math.floor(Date.parse(createdAt) / 1000);
  const span = Math.max(3600, Math.min(SPAN[range], now - created + 86_400));
  const fitting = INTERVALS.map(([name]) => name).filter((name) => span / SECONDS[name] < MAX_BARS);
  const interval = fitting.includes(wanted) ? wanted : (fitting[0] ?? '1d');
  const width = SECONDS[interval];
  return { range, interval, startTs: Math.floor((now - span) / width) * width, limit: MAX_BARS };
}
