import { midAt } from '../world/stats.ts';
import { DAY, ONE, priceNumber } from '../world/units.ts';
import { V2Error, type Asked } from './v2-query.ts';
import type { PolymarketWorld } from '../world/world.ts';

const DAY_SECONDS = DAY / 1000;
const INTERVALS: Record<string, { span: number; floor: number }> = {
  '1h': { span: 3600, floor: 60 },
  '6h': { span: 6 * 3600, floor: 60 },
  '1d': { span: DAY_SECONDS, floor: 60 },
  '1w': { span: 7 * DAY_SECONDS, floor: 300 },
  '1m': { span: 30 * DAY_SECONDS, floor: 600 },
  max: { span: Number.MAX_SAFE_INTEGER, floor: 600 },
  all: { span: Number.MAX_SAFE_INTEGER, floor: 600 },
};
const GRAINS = [60, 300, 600, 1800, 3600, 10_800, 43_200, 86_400];
/** How many days back a grain finer than the given seconds is kept. */
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

/** /v2/prices-history: one point per bucket, the last tick, and the payout of a settled market as the final point. */
export function pointsV2(world: PolymarketWorld, asked: Asked): Point[] {
  const token = asked.text('token_id');
  if (token === null || !/^\d{1,78}$/.test(token)) throw new V2Error('token_id must be a token id', 'token_id');
  const known = world.catalog.byTokenId(token);
  const now = Math.floor(world.now() / 1000);
  const { from, to, floor } = range(asked, now);
  if (!known) return [];
  const { market, outcome } = known;
  const priceAt = (second: number): number | null => {
    const mid = midAt(world, market, second * 1000);
    return mid === null ? null : priceNumber(outcome === 0 ? mid : ONE - mid);
  };
  if (asked.text('as_of') !== null) {
    const price = priceAt(from);
    return price === null ? [] : [{ timestamp: from, price, resolution_seconds: 60 }];
  }
  const start = Math.max(from, Math.floor((market.acceptingFromMs ?? market.createdMs) / 1000));
  const end = Math.min(to, Math.floor((market.closedMs ?? world.now()) / 1000) + 1);
  const bucket =
    asked.text('bucket_seconds') === null ? automatic(end - start, floor) : asked.whole('bucket_seconds', 60);
  if (bucket < 60 || bucket > 86_400) throw new V2Error('bucket_seconds must be 60 to 86400', 'bucket_seconds');
  const kept = RETENTION.find(({ finerThan }) => bucket < finerThan);
  if (kept && from < now - kept.days * DAY_SECONDS && asked.text('start') !== null) return [];

  const points: Point[] = [];
  for (let second = Math.ceil(start / bucket) * bucket; second < end; second += bucket) {
    const price = priceAt(second);
    if (price !== null) points.push({ timestamp: second, price, resolution_seconds: bucket });
  }
  const lastTrade = market.trades.at(-1);
  const tick = lastTrade === undefined ? null : world.ledger.tape.timestamp(lastTrade);
  if (tick !== null && tick >= start && tick < to && tick > (points.at(-1)?.timestamp ?? 0)) {
    points.push({ timestamp: tick, price: priceAt(tick) ?? 0, resolution_seconds: bucket });
  }
  if (market.payouts && market.resolvedMs !== null && market.resolvedMs / 1000 < to) {
    const price = priceNumber(market.payouts[outcome] ?? 0n);
    points.push({ timestamp: Math.floor(market.resolvedMs / 1000), price, resolution_seconds: 0 });
  }
  return points;
}

/** Exactly one of start (15 days at most, end excluded), interval and as_of. */
function range(asked: Asked, now: number): { from: number; to: number; floor: number } {
  const given = ['start', 'interval', 'as_of'].filter((name) => asked.text(name) !== null);
  if (given.length !== 1) throw new V2Error('exactly one of start, interval, as_of is required');
  if (given[0] === 'start') {
    const from = asked.whole('start', 0);
    const to = asked.whole('end', now);
    if (from === 0) throw new V2Error('start must be positive', 'start');
    if (to - from > 15 * DAY_SECONDS) throw new V2Error('the range must not exceed 15 days', 'start');
    return { from, to, floor: 60 };
  }
  if (given[0] === 'as_of') {
    const at = asked.whole('as_of', 0);
    return { from: at, to: at + 1, floor: 60 };
  }
  const preset = INTERVALS[asked.text('interval') ?? ''];
  if (!preset) throw new V2Error('unknown interval', 'interval');
  return { from: Math.max(1, now - preset.span), to: now + 1, floor: preset.floor };
}

/** The finest grain with at most 2,500 points; minutes only up to twelve hours. */
const automatic = (span: number, floor: number): number =>
  GRAINS.find((grain) => grain >= floor && span / grain <= 2500 && (grain > 60 || span <= 43_200)) ?? 86_400;
