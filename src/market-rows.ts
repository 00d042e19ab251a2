import { z } from 'zod';
import { decimalNumber, ONE_PRICE, parsePrice, parseUsd, PRICE_SCALE } from './decimal.ts';
import { liquidityScore } from './platforms/market-fields.ts';
import type { MarketAnswer } from './answers.ts';
import { PLATFORMS, unifiedId, type JsonObject } from './schemas.ts';

/** A decimal as a number; null where it is not known. */
export const optional = z
  .string()
  .nullable()
  .transform((text) => (text === null ? null : Number(text)));
const time = z.string().nullable();
/** Read where the row is: the rows of one statement while others are still awaited. */
const jsonText = z.string().transform((text) => JSON.parse(text) as JsonObject);
const priceTexts = z.array(z.string().nullable());

/** A row of sql/queries/markets_info.sql. */
export const InfoRow = z.object({
  market_key: z.string(),
  platform: z.enum(PLATFORMS),
  platform_id: z.string(),
  title: z.string(),
  market_type: z.string(),
  outcome_ids: z.array(z.string()),
  outcome_names: z.array(z.string()),
  event_id: z.string(),
  event_name: z.string(),
  series_id: z.string(),
  slug: z.string(),
  description: z.string(),
  category: z.string(),
  subcategory: z.string().nullable(),
  tags: z.array(z.string()),
  source_url: z.string(),
  image_url: z.string(),
  created_at: z.string(),
  trading_start_at: time,
  trading_end_at: time,
  resolution_date: time,
  resolution_criteria: z.string(),
  resolution_source: z.string(),
  info_metadata: jsonText,
});

/** A row of sql/queries/markets_state.sql. */
export const StateRow = z.object({
  market_key: z.string(),
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

/** A row of sql/queries/markets_traders.sql. */
export const TradersRow = z.object({
  market_key: z.string(),
  unique_traders: z.coerce.number(),
  unique_traders_since: z.string(),
});

/** What the store holds of one market; `traders` undefined where its trades name none, `raw` the JSON text of its platform. */
interface StoredMarket {
  info: z.infer<typeof InfoRow>;
  state: z.infer<typeof StateRow>;
  traders: z.infer<typeof TradersRow> | undefined;
  raw: string | undefined;
}

const quote = (texts: (string | null)[], i: number): number | null => (texts[i] == null ? null : Number(texts[i]));

/** The unified market as endpoints answer it; with the platform's own objects where `raw` is given. */
export function toMarket({ info, state, traders, raw }: StoredMarket): z.infer<typeof MarketAnswer> {
  return {
    id: unifiedId(info.platform, info.platform_id),
    platform: info.platform,
    platform_id: info.platform_id,
    title: info.title,
    status: state.status,
    market_type: info.market_type,
    outcomes: info.outcome_ids.map((id, i) => ({ id, name: info.outcome_names[i] ?? '' })),
    current_prices: Object.fromEntries(
      info.outcome_ids.map((id, i) => [
        id,
        { price: quote(state.prices, i), bid: quote(state.bids, i), ask: quote(state.asks, i) },
      ]),
    ),
    last_synced_at: state.last_synced_at,
    event_id: info.event_id,
    event_name: info.event_name,
    series_id: info.series_id,
    slug: info.slug,
    description: info.description,
    category: info.category,
    subcategory: info.subcategory,
    tags: info.tags,
    volume_24h: state.volume_24h,
    volume_7d: state.volume_7d,
    volume_total: state.volume_total,
    liquidity: Number(state.liquidity),
    liquidity_score: liquidityScore(parseUsd(state.liquidity)),
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
    price_24h_changes: changes(info.outcome_ids, state.price_change_24h),
    price_7d_changes: changes(info.outcome_ids, state.price_change_7d),
    metadata: {
      ...info.info_metadata,
      ...state.state_metadata,
      ...(traders && { unique_traders_since: traders.unique_traders_since.slice(0, 23).replace(/Z?$/, 'Z') }),
    },
    ...(raw ? { raw_data: JSON.parse(raw) as Record<string, unknown> } : {}),
  };
}

/** The first outcome's change; the other side of a binary market moves by the opposite. */
function changes(outcomeIds: string[], change: string | null): Record<string, number> {
  const [first, second] = outcomeIds;
  if (change === null || first === undefined) return {};
  const value = Number(change);
  // A sign is exact; 0 has none.
  return second === undefined || outcomeIds.length > 2 ? { [first]: value } : { [first]: value, [second]: 0 - value };
}

/** 1 − price as a number, exactly. */
export const complementNumber = (text: string): number => decimalNumber(ONE_PRICE - parsePrice(text), PRICE_SCALE);
