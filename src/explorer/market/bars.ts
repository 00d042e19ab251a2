import { useEffect, useRef, useState } from 'preact/hooks';
import type { Answers, Bar, Market } from '../parts/answers.ts';
import { get, useRepeated, type Loaded } from '../parts/api.ts';
import { SECONDS, shownBars } from './ranges.ts';

export const HISTORY = '/v1/api/metrics/historical';
type History = Answers[typeof HISTORY];

/** Polling interval of the whole range, and the shortest interval at which trades reload its last bars. */
const EVERY_MS = 10_000;
const AFTER_TRADE_MS = 2000;
/** Limit of buckets that trades may have begun since the whole range was requested. */
const TAIL = 100;

/** The bars selected by the address; `newest` is the id of the market's last trade, which updates the last candle. */
export function useBars(market: Market, query: URLSearchParams, newest: string | undefined): Loaded<History> {
  const { platform, platform_id: id } = market;
  const { range, interval } = shownBars(query, market);
  const key = `${market.id} ${range} ${interval}`;
  const place = { platform, market_id: id, interval };
  const whole = useRepeated(
    key,
    (signal) => {
      const { startTs, limit } = shownBars(query, market);
      return get(HISTORY, { ...place, start_ts: startTs, limit }, signal);
    },
    EVERY_MS,
  );
  const after = usePaced(newest, AFTER_TRADE_MS);
  const first = useRef(after);
  const last = whole.data?.data.at(-1)?.timestamp;
  const tail = useRepeated(
    last === undefined || after === undefined || after === first.current ? null : `${key} ${after}`,
    (signal) => {
      const from = last ?? Math.floor(Date.now() / 1000 / SECONDS[interval]) * SECONDS[interval];
      return get(HISTORY, { ...place, start_ts: from, limit: TAIL }, signal);
    },
    0,
  );
  // Kept while the next tail is loading, and until a whole range is loaded that was requested later.
  const kept = useRef<{ key: string; askedAt: number; bars: readonly Bar[] } | null>(null);
  if (tail.data) kept.current = { key, askedAt: tail.askedAt ?? 0, bars: tail.data.data };
  const own = kept.current?.key === key && kept.current.askedAt > (whole.askedAt ?? 0) ? kept.current.bars : [];
  const joined = useRef<{ of: History; own: readonly Bar[]; all: History } | null>(null);
  if (!whole.data || own.length === 0) return whole;
  // One array per answer, because a new array is drawn again.
  if (joined.current?.of !== whole.data || joined.current.own !== own)
    joined.current = { of: whole.data, own, all: { ...whole.data, data: withTail(whole.data.data, own) } };
  return { ...whole, data: joined.current.all };
}

function withTail(bars: Bar[], tail: readonly Bar[]): Bar[] {
  const from = tail[0]?.timestamp ?? Infinity;
  return [...bars.filter(({ timestamp }) => timestamp < from), ...tail];
}

/** A value that changes at most once per `everyMs`; the first change applies at once. */
function usePaced<T>(value: T, everyMs: number): T {
  const [paced, setPaced] = useState(value);
  const nextAt = useRef(0);
  useEffect(() => {
    if (paced === value) return;
    const timer = setTimeout(
      () => {
        nextAt.current = Date.now() + everyMs;
        setPaced(value);
      },
      Math.max(0, nextAt.current - Date.now()),
    );
    return () => clearTimeout(timer);
  }, [value, paced]);
  return paced;
}
