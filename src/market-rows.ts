import { z } from 'zod';
import { decimalNumber, ONE_PRICE, parsePrice, parseUsd, PRICE_SCALE } from './decimal.ts';
import { liquidityScore } from './platforms/market-fields.ts';
import type { MarketAnswer } from './answers.ts';
import { PLATFORMS, unifiedId } from './schemas.ts';

const optional = z
  .string()
  .nullable()
  .transform((text) => (text === null ? null : Number(text)));
const time = z.string().nullable();
const priceTexts = z.array(z.string().nullable());

/** A row of sql/queries/markets_by_key.sql. */
export const MarketRow = z.object({
  market_key: z.string(),
  platform: z.enum(PLATFORMS),
  ref: z.string(),
  platform_id: z.string(),
  title: z.string(),
  status: z.string(),
  market_type: z.string(),
  outcome_ids: z.array(z.string()),
  outcome_names: z.array(z.string()),
  prices: priceTexts,
  bids: priceTexts,
  asks: priceTexts,
  last_synced_at: z.string(),
  event_id: z.string(),
  event_name: z.string(),
  series_id: z.string(),
  slug: z.string(),
  description: z.string(),
  category: z.string(),
  subcategory: z.string().nullable(),
  tags: z.array(z.string()),
  volume_24h: optional,
  volume_7d: optional,
  volume_total: optional,
  volume_30d: optional,
  volume_1y: optional,
  liquidity: z.string(),
  open_interest: optional,
  unique_traders: z.coerce.number().nullable(),
  unique_traders_since: time,
  source_url: z.string(),
  image_url: z.string(),
  created_at: z.string(),
  trading_start_at: time,
  trading_end_at: time,
  resolution_date: time,
  resolved_at: time,
  resolution_criteria: z.string(),
  resolution_source: z.string(),
  price_change_24h: z.string().nullable(),
  price_change_7d: z.string().nullable(),
  info_metadata: z.string(),
  state_metadata: z.string(),
});
export type MarketRow = z.infer<typeof MarketRow>;

const quote = (texts: (string | null)[], i: number): number | null => (texts[i] == null ? null : Number(texts[i]));

/** The unified market as endpoints answer it; `raw` is the JSON text that its platform sent, where that is asked for. */
export function toMarket(row: MarketRow, raw?: string): z.infer<typeof MarketAnswer> {
  const since = row.unique_traders_since;
  return {
    id: unifiedId(row.platform, row.platform_id),
    platform: row.platform,
    platform_id: row.platform_id,
    title: row.title,
    status: row.status,
    market_type: row.market_type,
    outcomes: row.outcome_ids.map((id, i) => ({ id, name: row.outcome_names[i] ?? '' })),
    current_prices: Object.fromEntries(
      row.outcome_ids.map((id, i) => [
        id,
        { price: quote(row.prices, i), bid: quote(row.bids, i), ask: quote(row.asks, i) },
      ]),
    ),
    last_synced_at: row.last_synced_at,
    event_id: row.event_id,
    event_name: row.event_name,
    series_id: row.series_id,
    slug: row.slug,
    description: row.description,
    category: row.category,
    subcategory: row.subcategory,
    tags: row.tags,
    volume_24h: row.volume_24h,
    volume_7d: row.volume_7d,
    volume_total: row.volume_total,
    liquidity: Number(row.liquidity),
    liquidity_score: liquidityScore(parseUsd(row.liquidity)),
    open_interest: row.open_interest,
    unique_traders: row.unique_traders,
    source_url: row.source_url,
    image_url: row.image_url,
    created_at: row.created_at,
    trading_start_at: row.trading_start_at,
    trading_end_at: row.trading_end_at,
    resolution_date: row.resolution_date,
    resolved_at: row.resolved_at,
    resolution_criteria: row.resolution_criteria,
    resolution_source: row.resolution_source,
    price_24h_changes: changes(row.outcome_ids, row.price_change_24h),
    price_7d_changes: changes(row.outcome_ids, row.price_change_7d),
    metadata: {
      ...(JSON.parse(row.info_metadata) as object),
      ...(JSON.parse(row.state_metadata) as object),
      ...(since === null ? {} : { unique_traders_since: since.slice(0, 23).replace(/Z?$/, 'Z') }),
    },
    ...(raw ? { raw_data: JSON.parse(raw) as Record<string, unknown> } : {}),
  };
}

/** The first outcome's change; the other side of a binary market moves by the opposite. */
function changes(outcomeIds: string[], change: string | null): Record<string, number> {
  const [first, second] = outcomeIds;
  if (change === null || first === undefined) return {};
  const value = parsePrice(change);
  const own = { [first]: decimalNumber(value, PRICE_SCALE) };
  return second === undefined || outcomeIds.length > 2 ? own : { ...own, [second]: decimalNumber(-value, PRICE_SCALE) };
}

/** 1 − price as a number, exactly. */
export const complementNumber = (text: string): number => decimalNumber(ONE_PRICE - parsePrice(text), PRICE_SCALE);
