import { z } from 'zod';
import { PLATFORMS } from './schemas.ts';

/** Schemas of what endpoints answer, shared by routes and OpenAPI. Each field says its unit and when it is null. */
export const platformField = z.enum(PLATFORMS).describe('kalshi, polymarket or limitless');
export const timeField = z.string().describe('ISO-8601 UTC with milliseconds');
export const timeOrNull = timeField.nullable();
export const numberOrNull = z.number().nullable();
export const jsonObject = z.record(z.string(), z.unknown());

export const Pagination = z
  .object({
    total: z.int().describe('Results of the filter as of the first page'),
    limit: z.int().describe('Results per page'),
    has_more: z.boolean(),
    next_cursor: z.string().nullable().describe('Cursor of the next page; null on the last'),
  })
  .meta({ id: 'Pagination' });

export const requestTimeField = z.int().describe('Milliseconds from receipt to answer');
export const freshnessField = timeField
  .nullable()
  .describe('Newest time at which the data is known to be complete; null before the first ingestion');
export const cacheHitField = z.boolean().describe('true when the body came from a cache');

export const OutcomeAnswer = z.object({ id: z.string(), name: z.string() }).meta({ id: 'Outcome' });

export const MarketAnswer = z
  .object({
    id: z.string().describe('Unified id: <platform>:<platform_id>'),
    platform: platformField,
    platform_id: z.string().describe('Kalshi ticker, Polymarket Gamma id, Limitless slug'),
    title: z.string(),
    status: z.string().describe('unopened, open, paused, closed or settled'),
    market_type: z.string().describe('binary, multiple_choice or scalar'),
    outcomes: z.array(OutcomeAnswer).describe("In the platform's order; the first is the one bars are quoted in"),
    current_prices: z
      .record(z.string(), z.object({ price: numberOrNull, bid: numberOrNull, ask: numberOrNull }))
      .describe('Per outcome id, 0..1. A settled market shows its payout; bid and ask are null unless open'),
    last_synced_at: timeField.describe('When the platform body behind this record was received'),
    event_id: z.string(),
    event_name: z.string(),
    series_id: z.string(),
    slug: z.string(),
    description: z.string(),
    category: z.string().describe("One vocabulary over the platforms; '' when the platform names none"),
    subcategory: z.string().nullable(),
    tags: z.array(z.string()),
    volume_24h: numberOrNull.describe('USD; contracts on Kalshi (metadata.volume_basis)'),
    volume_7d: numberOrNull.describe('As volume_24h'),
    volume_total: numberOrNull.describe('As volume_24h'),
    liquidity: z.number().describe('USD of collateral at rest; metadata.liquidity_basis says how deep it looks'),
    liquidity_score: z.number().describe('min(1, log10(1 + liquidity) / 6), 4 decimals'),
    open_interest: numberOrNull.describe('Contracts on Kalshi, USD on Polymarket and Limitless; null when unknown'),
    unique_traders: z.int().nullable().describe('Distinct takers since metadata.unique_traders_since; null on Kalshi'),
    source_url: z.string(),
    image_url: z.string(),
    created_at: timeOrNull,
    trading_start_at: timeOrNull,
    trading_end_at: timeOrNull,
    resolution_date: timeOrNull.describe('Expected resolution; may lie before trading_end_at'),
    resolved_at: timeOrNull,
    resolution_criteria: z.string(),
    resolution_source: z.string(),
    price_24h_changes: z.record(z.string(), z.number()).describe('Per outcome id; {} when unknown'),
    price_7d_changes: z.record(z.string(), z.number()).describe('Per outcome id; {} when unknown'),
    metadata: jsonObject.describe('Facts of the platform: tick sizes, token ids, fees, payouts, bases of the figures'),
    raw_data: jsonObject.optional().describe("The platform's own objects; with include_raw=true"),
  })
  .meta({ id: 'Market' });

export const MarketsAnswer = z.object({
  pagination: Pagination,
  markets: z.array(MarketAnswer),
  meta: z.object({
    platforms_queried: z.array(platformField),
    request_time: requestTimeField,
    cache_hit: cacheHitField,
    data_freshness: freshnessField,
  }),
});

const Level = z.object({ price: z.number().describe('0..1'), size: z.number().describe('Contracts or shares') });
const BookSideAnswer = z.object({
  bids: z.array(Level).describe('Best first'),
  asks: z.array(Level).describe('Best first'),
  depth: z.number().describe('Sum of all sizes of this side'),
});

export const OrderBookAnswer = z.object({
  data: z
    .object({
      market_id: z.string(),
      platform: platformField,
      timestamp: timeField.describe("The platform's time of the book, else when it was received"),
      yes: BookSideAnswer.describe('First outcome'),
      no: BookSideAnswer.describe('Second outcome'),
      metadata: z.object({ min_order_size: numberOrNull, tick_size: numberOrNull, neg_risk: z.boolean() }),
      raw_data: jsonObject.optional(),
    })
    .meta({ id: 'OrderBook' }),
  meta: z.object({ request_time: requestTimeField, cache_hit: cacheHitField }),
});

export const MarketTradeAnswer = z
  .object({
    trade_id: z.string(),
    market_id: z.string(),
    platform: platformField,
    side: z.enum(['buy', 'sell']).describe("The taker's side"),
    outcome: z.string().describe('Outcome id'),
    transaction_hash: z.string().describe("'' where there is none"),
    price: z.number().describe('Of the outcome traded, 0..1'),
    size: z.number().describe('Contracts or shares'),
    timestamp: z.int().describe('Unix seconds; metadata.executed_at is exact'),
    taker: z.boolean(),
    user: z.object({ name: z.string(), pseudonym: z.string(), profile_image: z.string() }),
    metadata: jsonObject,
  })
  .meta({ id: 'MarketTrade' });

export const MarketTradesAnswer = z.object({
  trades: z.array(MarketTradeAnswer),
  pagination: Pagination,
  meta: z.object({
    request_time: requestTimeField,
    market_id: z.string(),
    platform: platformField,
    data_freshness: freshnessField,
    cache_hit: cacheHitField,
  }),
});

export const OhlcAnswer = z.object({ open: numberOrNull, high: numberOrNull, low: numberOrNull, close: numberOrNull });

export const PricePointAnswer = z
  .object({
    timestamp: z.int().describe('Start of the bucket, Unix seconds, UTC-aligned'),
    platform: platformField,
    marketId: z.string(),
    outcomeId: z.string(),
    volume: numberOrNull.describe('Contracts traded in the bucket; null when its trades are not all stored'),
    openInterest: numberOrNull,
    price: OhlcAnswer.describe('Of executed trades, 0..1'),
    bidAsk: z.object({ bid: OhlcAnswer, ask: OhlcAnswer }).describe('Best bid and ask, null where not known'),
  })
  .meta({ id: 'PricePoint' });

export const PriceHistoryAnswer = z.object({
  data: z.array(PricePointAnswer),
  meta: z.object({
    total_points: z.int(),
    platforms: z.array(platformField),
    time_range: z.object({ start: z.int(), end: z.int() }),
    interval: z.string(),
    request_time: requestTimeField,
    cache_hit: cacheHitField,
    data_freshness: freshnessField,
    source: z
      .enum(['trades', 'midpoint', 'mixed'])
      .describe('What the prices are: executed trades, or samples of the midpoint'),
    complete: z.boolean().describe('false when older trades are still being fetched: ask again'),
  }),
});
