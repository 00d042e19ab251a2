const HOUR = 3600;
/** Most points of one answer, which is cut at the newest: in total, not for each market. */
const MOST_POINTS = 5000;

interface Wanted {
  platform: string;
  ids: readonly string[];
  /** Unix seconds: the hours of [from, until). */
  from: number;
  until: number;
}

export type HourlyCall = Record<'provider' | 'market_ids', string> &
  Record<'start_ts' | 'end_ts' | 'interval' | 'limit', number>;

/** The price-history calls for every hour of the markets: consecutive spans, each short enough for one answer. */
export function hourlyCalls({ platform, ids, from, until }: Wanted): HourlyCall[] {
  const span = Math.floor(MOST_POINTS / Math.max(1, ids.length)) * HOUR;
  const starts = Array.from({ length: Math.ceil((until - from) / span) }, (_, n) => from + n * span);
  return starts.map((start) => ({
    provider: platform,
    market_ids: ids.join(','),
    start_ts: start,
    end_ts: Math.min(until, start + span),
    interval: 60,
    limit: MOST_POINTS,
  }));
}
