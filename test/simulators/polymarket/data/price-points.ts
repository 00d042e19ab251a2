import { midAt } from '../world/stats.ts';
import { DAY, ONE, priceNumber } from '../world/units.ts';
import { V2Error, type Asked } from './v2-query.ts';
import type { PolymarketWorld } from '../world/world.ts';

const DAY_SECONDS = DAY / 1000;
/** Width when none is asked for, and the least that may be asked for. */
const INTERVALS: Record<string, { span: number; width: number; floor: number }> = {
  '1h': { span: 3600, width: 60, floor: 60 },
  '6h': { span: 6 * 3600, width: 60, floor: 60 },
  '1d': { span: DAY_SECONDS, width: 60, floor: 60 },
  '1w': { span: 7 * DAY_SECONDS, width: 300, floor: 300 },
  '1m': { span: 30 * DAY_SECONDS, width: 1800, floor: 600 },
  max: { span: Infinity, width: 43_200, floor: 600 },
  all: { span: Infinity, width: 43_200, floor: 600 },
};
const WIDTHS = [60, 300, 1800, 10_800, 43_200];
/** How many days back a width finer than the given seconds is kept. */
const RETENTION = [
  { finerThan: 300, days: 7 },
  { finerThan: 1800, days: 60 },
  { finerThan: 10_800, days: 90 },
];

interface Point {
  timestamp: number;
  price: number;
  resolution_seconds: number;
}

/** /v2/prices-history: one point per bucket, the last tick of the range, and the payout of a settled market as the final point. */
export function pointsV2(world: PolymarketWorld, asked: Asked): Point[] {
  const token = asked.text('token_id');
  if (token === null || !/^\d{1,78}$/.test(token)) throw new V2Error('token_id must be a token id', 'token_id');
  const now = Math.floor(world.now() / 1000);
  const { from, to, width } = range(asked, now);
  const known = world.catalog.byTokenId(token);
  if (!known) return [];
  const { market, outcome } = known;
  const priceAt = (second: number): number | null => {
    const mid = midAt(market, second * 1000);
    return mid === null ? null : priceNumber(outcome === 0 ? mid : ONE - mid);
  };
  if (asked.text('as_of') !== null) {
    const price = priceAt(from);
    return price === null ? [] : [{ timestamp: from, price, resolution_seconds: 60 }];
  }
  const kept = RETENTION.find(({ finerThan }) => width < finerThan);
  const oldest = kept ? now - kept.days * DAY_SECONDS : 0;
  const start = Math.max(from, oldest, Math.floor((market.acceptingFromMs ?? market.createdMs) / 1000));
  const end = Math.min(to, Math.floor((market.closedMs ?? world.now()) / 1000) + 1);

  const points: Point[] = [];
  for (let second = Math.ceil(start / width) * width; second < end; second += width) {
    const price = priceAt(second);
    if (price !== null) points.push({ timestamp: second, price, resolution_seconds: width });
  }
  const trades = market.trades.countUpTo(end - 1);
  const tick = trades === 0 ? null : market.trades.cell(trades - 1, 0);
  if (tick !== null && tick >= start && tick > (points.at(-1)?.timestamp ?? 0)) {
    points.push({ timestamp: tick, price: priceAt(tick) ?? 0, resolution_seconds: 0 });
  }
  const resolvedAt = market.resolvedMs === null ? null : Math.floor(market.resolvedMs / 1000);
  if (market.payouts && resolvedAt !== null && resolvedAt >= from && resolvedAt < to) {
    points.push({ timestamp: resolvedAt, price: priceNumber(market.payouts[outcome] ?? 0n), resolution_seconds: 0 });
  }
  return points;
}

/** Exactly one of start (15 days at most, end excluded), interval and as_of. */
function range(asked: Asked, now: number): { from: number; to: number; width: number } {
  const given = ['start', 'interval', 'as_of'].filter((name) => asked.text(name) !== null);
  if (given.length !== 1) throw new V2Error('exactly one of start, interval, as_of is required');
  const own = asked.text('bucket_seconds') === null ? null : asked.whole('bucket_seconds', 60);
  if (own !== null && (own < 60 || own > 86_400)) {
    throw new V2Error('bucket_seconds must be 60 to 86400', 'bucket_seconds');
  }
  if (given[0] === 'start') {
    const from = asked.whole('start', 0);
    const to = asked.whole('end', now);
    if (from === 0) throw new V2Error('start must be positive', 'start');
    if (asked.text('end') !== null && to === 0) throw new V2Error('end must be positive', 'end');
    if (to - from > 15 * DAY_SECONDS) throw new V2Error('the range must not exceed 15 days', 'start');
    return { from, to, width: own ?? automatic(to - from) };
  }
  if (given[0] === 'as_of') {
    const at = asked.whole('as_of', 0);
    return { from: at, to: at + 1, width: 60 };
  }
  const preset = INTERVALS[asked.text('interval') ?? ''];
  if (!preset) throw new V2Error('interval must be one of max, all, 1m, 1w, 1d, 6h, 1h', 'interval');
  const width = Math.max(own ?? preset.width, preset.floor);
  // All of a market's life is there at three hours and wider.
  const span = preset.span === Infinity && width < 10_800 ? 30 * DAY_SECONDS : preset.span;
  return { from: Math.max(1, now - Math.min(span, now - 1)), to: now + 1, width };
}

/** The finest width with fewer than 2,500 points; minutes only up to twelve hours. */
const automatic = (span: number): number =>
  WIDTHS.find((width) => span / width < 2500 && (width > 60 || span <= 43_200)) ?? 86_400;
