import { HOUR_MS } from '../core/time.ts';
import type { z } from 'zod';
import type { MarketAnswer } from '../schemas/markets.ts';
import type { MarketTexts } from './facts.ts';
import { above, below, type Range } from './range.ts';

/** The part of a market that says what it asks. */
type Asking = Pick<
  z.infer<typeof MarketAnswer>,
  | 'platform'
  | 'platform_id'
  | 'title'
  | 'outcome_name'
  | 'outcomes'
  | 'event_id'
  | 'event_name'
  | 'series_id'
  | 'slug'
  | 'description'
  | 'category'
  | 'subcategory'
  | 'tags'
  | 'trading_start_at'
  | 'trading_end_at'
  | 'resolution_date'
  | 'resolution_criteria'
  | 'resolution_source'
  | 'metadata'
>;

/** Trading of a longer time does not begin with what the market is about. */
const LONGEST_WINDOW_MS = 25 * HOUR_MS;

const msOf = (time: unknown): number | null => {
  const ms = typeof time === 'string' ? Date.parse(time) : Number.NaN;
  return Number.isNaN(ms) ? null : ms;
};

/** The start of the game or window that the platform states; the start of short trading where it states none. */
function startOf(market: Asking): number | null {
  const { game_start_time: game, event_start_time: event, occurrence_datetime: occurrence } = market.metadata;
  const stated = msOf(game) ?? msOf(event) ?? msOf(occurrence);
  if (stated !== null) return stated;
  const [start, end] = [msOf(market.trading_start_at), msOf(market.trading_end_at)];
  return start !== null && end !== null && end - start <= LONGEST_WINDOW_MS ? start : null;
}

/** The range of a strike whose type says which ends belong to it. */
function strikeOf(strike: unknown): Range | null {
  if (typeof strike !== 'object' || strike === null) return null;
  const { type, floor, cap } = strike as Record<string, unknown>;
  const [low, high] = [numberOf(floor), numberOf(cap)];
  if ((type === 'greater' || type === 'greater_or_equal') && low !== null)
    return above(low, type === 'greater_or_equal');
  if ((type === 'less' || type === 'less_or_equal') && high !== null) return below(high, type === 'less_or_equal');
  if (type !== 'between' || low === null || high === null) return null;
  return { low, high, step: 0, hasLow: true, hasHigh: true };
}

function numberOf(value: unknown): number | null {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}

/** What a market of the project asks, in the terms of the judge. */
export const textsOf = (market: Asking): MarketTexts => ({
  platform: market.platform,
  id: market.platform_id,
  title: market.title,
  outcomeName: market.outcome_name,
  outcomes: market.outcomes.map(({ name }) => name),
  rules: market.resolution_criteria || market.description,
  resolutionSource: market.resolution_source,
  eventId: market.event_id,
  eventTitle: market.event_name,
  seriesId: market.series_id,
  slug: market.slug,
  category: [market.category, market.subcategory ?? '', ...market.tags].join(' '),
  strike: strikeOf(market.metadata.strike),
  copyOf: typeof market.metadata.external_slug === 'string' ? market.metadata.external_slug : '',
  startsAtMs: startOf(market),
  endsAtMs: msOf(market.resolution_date) ?? msOf(market.trading_end_at),
});
