import { z } from 'zod';
import { decimalNumber, numberOfText, ONE_PRICE, parsePrice, parseUsd, PRICE_SCALE } from '../core/decimal.ts';
import { InfoColumns } from '../present/rows.ts';
import { liquidityScore, outcomeName } from '../platforms/market-fields.ts';
import type { MarketAnswer, Match } from '../schemas/markets.ts';
import { hasEnded, unifiedId, type JsonObject, type Platform } from '../core/model.ts';
import { DAY_MS } from '../core/time.ts';

/** A decimal as a number; null if unknown. */
export const optional = z.string().nullable().transform(numberOfText);
const time = z.string().nullable();
/** An object as JSON text, {} for ''. Parsed per row, so that it overlaps with other statements. */
export const jsonText = z.string().transform((text) => (text === '' ? {} : (JSON.parse(text) as JsonObject)));
const priceTexts = z.array(z.string().nullable());

/** Slowly changing facts of a market. */
export const InfoText = InfoColumns.extend({ info_metadata: jsonText });

/** Facts that change with trading. */
const StateText = z.object({
  status: z.string(),
  prices: priceTexts,
  bids: priceTexts,
  asks: priceTexts,
  last_synced_at: z.string(),
  volume_24h: optional,
  volume_7d: optional,
  volume_total: optional,
  liquidity: z.string(),
  open_interest: optional,
  resolved_at: time,
  price_change_24h: z.string().nullable(),
  price_change_7d: z.string().nullable(),
  state_metadata: jsonText,
});

type UsdBasis = 'traded' | 'reported' | null;
const usdBasis = z.string().transform((text): UsdBasis => (text === 'traded' || text === 'reported' ? text : null));

/** Null in a copy that a process of an earlier version made. */
const later = optional.nullish().transform((amount) => amount ?? null);
/** StateText with the volumes of a month and a year, which only the snapshot of a market shows. */
export const LongStateText = StateText.extend({ volume_30d: later, volume_1y: later });

/** StateText with volumes in USD and the basis of each. */
export const PricedStateText = StateText.extend({
  volume_24h_usd: optional,
  volume_7d_usd: optional,
  volume_total_usd: optional,
  volume_24h_usd_basis: usdBasis,
  volume_7d_usd_basis: usdBasis,
  volume_total_usd_basis: usdBasis,
  liquidity_usd: later,
});

/** Takers among the stored trades of a market. */
const TradersText = z.object({
  unique_traders: z.number(),
  unique_traders_since: z.string(),
});

/** What the store has of one market; `traders` is undefined if its trades name none, `raw` is the platform's JSON text. */
interface MarketParts {
  platform: Platform;
  info: z.infer<typeof InfoText>;
  state: z.infer<typeof PricedStateText>;
  traders: z.infer<typeof TradersText> | undefined;
  raw: string | undefined;
  /** How a search found it. */
  match: Match | undefined;
  nowMs: number;
}

/** Whether a market is closed or settled and was last read before the last `days` at `nowMs`. */
const endedBefore = (
  market: Pick<z.infer<typeof StateText>, 'status' | 'last_synced_at'>,
  days: number,
  nowMs: number,
): boolean => hasEnded(market) && Date.parse(market.last_synced_at) <= nowMs - days * DAY_MS;

/**
 * The volume of the last `days` at `nowMs`. A closed or settled market has none if it was last read before them; the stored figure stays.
 */
export function rollingVolume(
  reported: number | null,
  days: number,
  market: Pick<z.infer<typeof StateText>, 'status' | 'last_synced_at'>,
  nowMs: number,
): number | null {
  return endedBefore(market, days, nowMs) ? 0 : reported;
}

/** An unread book is unknown, not empty. */
export function liquidityOf({
  status,
  liquidity,
  state_metadata: metadata,
}: Pick<z.infer<typeof StateText>, 'status' | 'liquidity' | 'state_metadata'>): {
  liquidity: number | null;
  liquidity_score: number | null;
} {
  const isUnread = metadata['liquidity_basis'] === 'none' && (status === 'open' || status === 'paused');
  if (isUnread) return { liquidity: null, liquidity_score: null };
  return { liquidity: Number(liquidity), liquidity_score: liquidityScore(parseUsd(liquidity)) };
}

/** The basis of an amount. Without a stored basis, a known amount is the 0 of an ended market, which its last reading reported. */
const ofWindow = (amount: number | null, from: UsdBasis): UsdBasis => (amount === null ? null : (from ?? 'reported'));

/** The basis of liquidity_usd, by that of the platform's own figure. */
const COMPARED: Partial<Record<string, 'best_level' | 'amm'>> = {
  best_level: 'best_level',
  full_book: 'best_level',
  amm: 'amm',
};

/** Volumes and liquidity in USD, with where each is from. */
function usdOf(state: z.infer<typeof PricedStateText>, nowMs: number) {
  const day = rollingVolume(state.volume_24h_usd, 1, state, nowMs);
  const week = rollingVolume(state.volume_7d_usd, 7, state, nowMs);
  const { liquidity_usd: liquidity } = state;
  const { liquidity_basis: basis } = state.state_metadata;
  return {
    volume_24h_usd: day,
    volume_7d_usd: week,
    volume_total_usd: state.volume_total_usd,
    liquidity_usd: liquidity,
    usd_basis: {
      volume_24h: ofWindow(day, state.volume_24h_usd_basis),
      volume_7d: ofWindow(week, state.volume_7d_usd_basis),
      volume_total: state.volume_total_usd_basis,
      liquidity: liquidity === null ? null : (COMPARED[String(basis)] ?? null),
    },
  };
}

/** The name of the outcome that paid 1; null until the market is settled, and where none did. */
export function winningOutcome({
  status,
  prices,
  outcome_names: names,
}: Pick<z.infer<typeof InfoText>, 'outcome_names'> & Pick<z.infer<typeof StateText>, 'status' | 'prices'>):
  string | null {
  if (status !== 'settled') return null;
  return names[prices.findIndex((price) => price !== null && Number(price) === 1)] || null;
}

const quote = (texts: (string | null)[], i: number): number | null => (texts[i] == null ? null : Number(texts[i]));

/** The unified market as returned by endpoints; with the platform's own objects if `raw` is given. */
export function toMarket({
  platform,
  info,
  state,
  traders,
  raw,
  match,
  nowMs,
}: MarketParts): z.infer<typeof MarketAnswer> {
  return {
    id: unifiedId(platform, info.platform_id),
    platform,
    platform_id: info.platform_id,
    title: info.title,
    outcome_name: outcomeName(info.info_metadata),
    status: state.status,
    market_type: info.market_type,
    outcomes: info.outcome_ids.map((id, i) => ({ id, name: info.outcome_names[i] ?? '' })),
    current_prices: Object.fromEntries(
      info.outcome_ids.map((id, i) => [
        id,
        { price: quote(state.prices, i), bid: quote(state.bids, i), ask: quote(state.asks, i) },
      ]),
    ),
    winning_outcome: winningOutcome({ ...state, outcome_names: info.outcome_names }),
    last_synced_at: state.last_synced_at,
    event_id: info.event_id,
    event_name: info.event_name,
    series_id: info.series_id,
    slug: info.slug,
    description: info.description,
    category: info.category,
    subcategory: info.subcategory,
    tags: info.tags,
    volume_24h: rollingVolume(state.volume_24h, 1, state, nowMs),
    volume_7d: rollingVolume(state.volume_7d, 7, state, nowMs),
    volume_total: state.volume_total,
    ...usdOf(state, nowMs),
    ...liquidityOf(state),
    open_interest: state.open_interest,
    unique_traders: traders?.unique_traders ?? null,
    source_url: info.source_url,
    image_url: info.image_url,
    created_at: info.created_at,
    trading_start_at: info.trading_start_at,
    trading_end_at: info.trading_end_at,
    resolution_date: info.resolution_date,
    resolved_at: state.resolved_at,
    resolution_criteria: info.resolution_criteria,
    resolution_source: info.resolution_source,
    price_24h_changes: endedBefore(state, 1, nowMs) ? {} : changes(info.outcome_ids, state.price_change_24h),
    price_7d_changes: endedBefore(state, 7, nowMs) ? {} : changes(info.outcome_ids, state.price_change_7d),
    metadata: {
      ...info.info_metadata,
      ...state.state_metadata,
      ...(traders && { unique_traders_since: traders.unique_traders_since }),
    },
    ...(match ? { match } : {}),
    ...(raw ? { raw_data: JSON.parse(raw) as Record<string, unknown> } : {}),
  };
}

/** The first outcome's change; in a binary market the other outcome changes by the opposite. */
function changes(outcomeIds: string[], change: string | null): Record<string, number> {
  const [first, second] = outcomeIds;
  if (change === null || first === undefined) return {};
  const value = Number(change);
  // Negation is exact; 0 - value avoids -0.
  return second === undefined || outcomeIds.length > 2 ? { [first]: value } : { [first]: value, [second]: 0 - value };
}

/** 1 − price as a number, exactly. */
export const complementNumber = (text: string): number => decimalNumber(ONE_PRICE - parsePrice(text), PRICE_SCALE);
