import { z } from 'zod';
import {
  cacheHitField,
  freshnessField,
  jsonObject,
  numberOrNull,
  OhlcAnswer,
  Pagination,
  platformField,
  requestTimeField,
  timeField,
} from './answers.ts';
import { PLATFORMS } from './schemas.ts';

/** Schemas of trades/whales, analytics/* and metrics/*. Each figure says its formula, unit and source. */
const tradesFreshness = freshnessField.describe(
  'Newest time up to which the stored trades are known to be complete; the older one over several platforms',
);

export const WhaleTradeAnswer = z
  .object({
    trade_id: z.string(),
    market_id: z.string().describe('Platform id; on Polymarket the condition id while the market is not stored'),
    platform: platformField,
    market_title: z.string().describe("'' while the market is not stored"),
    side: z.enum(['buy', 'sell']).describe("The taker's side"),
    outcome: z.string().describe('Outcome id'),
    price: z.number().describe('Of the outcome traded, 0..1'),
    size: z.number().describe('Contracts or shares; each fill counts once, from its taker'),
    notional_value: z.number().describe('price × size in USD, rounded half to even to 6 decimals'),
    timestamp: z.int().describe('Unix seconds; metadata.executed_at is exact'),
    transaction_hash: z.string().describe("'' where there is none (Kalshi)"),
    trader: z
      .object({ address: z.string(), name: z.string(), pseudonym: z.string(), profile_image: z.string() })
      .describe("The taker as the platform last named them; '' on Kalshi, where trades are anonymous"),
    metadata: jsonObject.describe('executed_at; is_block_trade on Kalshi'),
  })
  .meta({ id: 'WhaleTrade' });

export const WhalesAnswer = z.object({
  trades: z.array(WhaleTradeAnswer),
  pagination: Pagination,
  meta: z.object({
    platform: z.string().describe('The platform searched, or all'),
    request_time: requestTimeField,
    min_size_applied: z.number().describe('The floor of size, contracts'),
    min_notional_applied: z.number().describe('The floor of notional_value, USD'),
    sort: z.enum(['time', 'size']),
    data_freshness: tradesFreshness,
    cache_hit: cacheHitField,
  }),
});

const asOf = timeField.nullable().describe('The instant the windows end at; null before the first computation');

export const TrendingItemAnswer = z
  .object({
    market_id: z.string(),
    platform: platformField,
    title: z.string(),
    category: z.string().describe("'' when the platform names none"),
    status: z.string().describe('open: others are not listed'),
    url: z.string(),
    image_url: z.string(),
    current_price: z
      .object({ yes: numberOrNull, no: numberOrNull })
      .describe('Of the first and the second outcome, 0..1'),
    change: z.object({
      volume_24h: numberOrNull.describe(
        "Sold in the last 24 hours: contracts on Kalshi, USD elsewhere. From the stored trades, else from the totals of our snapshots, else the platform's figure",
      ),
      volume_change_percent: numberOrNull.describe(
        '100 × (V₁ − V₀) / V₀, 6 decimals: V₁ sold in the window, V₀ in the window of equal length before it; null when V₀ is 0 or either is unknown',
      ),
      price_change_24h: numberOrNull.describe(
        "First outcome's price now less that of 24 hours ago: as the platform tells it, else from our snapshots",
      ),
      price_change_percent: numberOrNull.describe(
        '100 × (p₁ − p₀) / p₀ of the first outcome over the window, 6 decimals; null when p₀ is 0 or unknown',
      ),
    }),
    metrics: z.object({
      total_volume: numberOrNull.describe('Contracts on Kalshi, USD elsewhere'),
      liquidity: z.number().describe('USD of collateral at rest'),
      open_interest: numberOrNull.describe('Contracts on Kalshi, USD elsewhere'),
    }),
  })
  .meta({ id: 'TrendingMarket' });

const CompletenessAnswer = z
  .object({
    markets: z.int().describe('Open markets analyzed'),
    with_volume_change: z.int().describe('Those of them with a volume_change_percent'),
    with_price_change: z.int().describe('Those of them with a price_change_percent'),
    volumes_from: z
      .object({ trades: z.int(), snapshots: z.int(), unknown: z.int() })
      .describe('What the volumes of the two windows come from, by number of markets'),
    trades_complete_from: timeField.nullable().describe('Every trade since then is stored, of every market'),
    trades_complete_to: timeField.nullable(),
    window_covered: z
      .enum(['full', 'partial', 'none'])
      .describe('How much of both windows the stored trades of every market cover'),
    oldest_snapshot: timeField.nullable().describe('Since when we keep snapshots'),
  })
  .meta({ id: 'DataCompleteness' });

export const TrendingAnswer = z.object({
  trending: z
    .array(TrendingItemAnswer)
    .describe('By the percentage asked for, falling (a price change by its size), unknown last, then by volume'),
  meta: z.object({
    platforms: z.array(platformField),
    request_time: requestTimeField,
    window: z.enum(['24h', '7d']),
    sort_by: z.enum(['volume_change', 'price_change']),
    total_markets_analyzed: z.int().describe('Open markets that pass the platform and category filters'),
    data_completeness: z.partialRecord(z.enum(PLATFORMS), CompletenessAnswer).describe('By platform'),
    as_of: asOf,
    data_freshness: tradesFreshness,
    cache_hit: cacheHitField,
  }),
});

const summed = (what: string): z.ZodNullable<z.ZodNumber> =>
  numberOrNull.describe(
    `Σ ${what} over all markets of the category, Kalshi's contracts counted at 1 USD; null when no market tells it`,
  );

export const CategoryAnswer = z
  .object({
    name: z.string(),
    slug: z.string().describe('One vocabulary over the platforms; other where a platform names none'),
    active_markets: z.int().describe('Open markets'),
    total_markets: z.int(),
    volume_24h: summed('of the volume of the last 24 hours'),
    volume_7d: summed('of the volume of the last 7 days'),
    volume_30d: summed('of the volume of the last 30 days'),
    total_volume: summed('of the total volume'),
    total_liquidity: z.number().describe('USD of collateral at rest in open markets'),
    avg_liquidity_per_market: z.number().describe('total_liquidity / active_markets, 6 decimals; 0 when none is open'),
    avg_spread: numberOrNull.describe(
      'Mean of ask − bid over the open markets with both sides, 6 decimals; null when there is none',
    ),
    platforms: z.array(platformField),
  })
  .meta({ id: 'Category' });

export const CategoriesAnswer = z.object({
  categories: z.array(CategoryAnswer).describe('By volume_24h, falling'),
  meta: z.object({
    platforms: z.array(platformField),
    request_time: requestTimeField,
    total_active_markets: z.int(),
    total_volume_24h: numberOrNull.describe('Σ volume_24h of the categories'),
    as_of: asOf,
    data_freshness: freshnessField,
    cache_hit: cacheHitField,
  }),
});

export const HistoryItemAnswer = z
  .object({
    timestamp: z.int().describe('Start of the bucket, Unix seconds, aligned to UTC'),
    price: OhlcAnswer.describe(
      "First outcome, 0..1: first, highest, lowest and last executed trade of the bucket (blocks excepted), or the platform's own finished bar, which without trades stands at its previous close; null where neither is",
    ),
    volume: numberOrNull.describe('Σ size in contracts or shares; null while the bucket is not known whole'),
    open_interest: numberOrNull.describe(
      'Last value of the bucket: contracts on Kalshi, USD on Polymarket and pools of Limitless; null when nobody told',
    ),
    trade_count: z
      .int()
      .nullable()
      .describe('Fills, each counted once; null where the trades of the bucket are not all stored'),
    notional_value: numberOrNull.describe('USD, by the method that meta.notional_method names'),
    liquidity: z
      .object({
        best_bid: numberOrNull.describe("Last of the bucket: the platform's bar, else our newest stored quote"),
        best_ask: numberOrNull.describe('Likewise'),
        spread: numberOrNull.describe('best_ask − best_bid'),
        midpoint: numberOrNull.describe('(best_bid + best_ask) / 2'),
      })
      .describe('Top of the book of the first outcome, 0..1'),
  })
  .meta({ id: 'HistoryItem' });

const available = (what: string) => z.boolean().describe(`true when a bucket of this answer has ${what}`);

export const HistoryAnswer = z.object({
  market_id: z.string(),
  platform: platformField,
  interval: z.string(),
  data: z.array(HistoryItemAnswer).describe('Oldest first; buckets of which nothing is known are left out'),
  data_availability: z.object({
    price: available('a price'),
    volume: available('a volume'),
    open_interest: available('an open interest'),
    liquidity: available('a bid or an ask'),
    trade_count: available('a trade count'),
    notional_value: available('a notional value'),
  }),
  meta: z.object({
    platforms: z.array(platformField),
    time_range: z.object({ start: z.int(), end: z.int() }).describe('As applied, Unix seconds; the end is exclusive'),
    interval: z.string(),
    total_candles: z.int(),
    notional_method: z
      .enum(['trades', 'platform_mean'])
      .describe(
        "trades: Σ price × size on the outcome traded. platform_mean: Σ mean × volume of the platform's bars, in terms of the first outcome, where the trades are not all stored",
      ),
    complete: z.boolean().describe('false when older trades are still being fetched: ask again'),
    request_time: requestTimeField,
    cache_hit: cacheHitField,
    data_freshness: tradesFreshness,
  }),
});

const volume = (window: string): z.ZodNullable<z.ZodNumber> =>
  numberOrNull.describe(
    `${window}: contracts on Kalshi, USD elsewhere. The platform's own figure; else the difference of its totals in our snapshots; else Σ of the stored trades when they are complete for the window; else null`,
  );

export const SnapshotAnswer = z.object({
  market_id: z.string(),
  platform: platformField,
  title: z.string(),
  status: z.string().describe('unopened, open, paused, closed or settled'),
  metrics: z
    .object({
      volume: z.object({
        total: numberOrNull.describe("The platform's total: contracts on Kalshi, USD elsewhere"),
        volume_24h: volume('The last 24 hours'),
        volume_7d: volume('The last 7 days'),
        volume_30d: volume('The last 30 days'),
        volume_1y: volume('The last 365 days'),
      }),
      liquidity: z.object({
        total: z
          .number()
          .describe(
            'USD of collateral at rest, Σ bid × size + Σ (1 − ask) × size: best level on Kalshi, else full book',
          ),
        liquidity_score: z.number().describe('min(1, log10(1 + total) / 6), 4 decimals'),
        clob_liquidity: numberOrNull.describe(
          'The part of it in an order book; 0 for a pool, null where the listing does not tell it (Limitless)',
        ),
      }),
      open_interest: numberOrNull.describe('Contracts on Kalshi, USD on Polymarket and pools of Limitless'),
      notional_value: numberOrNull.describe(
        'USD: Σ price × size of all trades, on the outcome traded; null unless the stored trades reach back to the start of trading',
      ),
      spread: z
        .object({
          best_bid: numberOrNull,
          best_ask: numberOrNull,
          spread: numberOrNull.describe('best_ask − best_bid'),
          adjusted_midpoint: numberOrNull.describe('(best_bid + best_ask) / 2'),
        })
        .describe('First outcome, 0..1, as of the last sweep; null unless open or paused'),
      fees: z
        .object({
          fee_rate: numberOrNull.describe(
            'Taker rate as a fraction. Kalshi: 0.07 × multiplier of the event or series. Polymarket: rate of its fee schedule. Limitless: published buy rate at the price',
          ),
          trading_fee: numberOrNull.describe(
            'USD on one contract of the first outcome bought at the ask (else the price) p. Kalshi: rate × p(1 − p), up to 0.0001. Polymarket: rate × (p(1 − p))^exponent, 5 decimals. Limitless: rate × p',
          ),
          withdrawal_fee: numberOrNull.describe('0 on Polymarket; null where the platform does not publish one'),
        })
        .describe('As the platform publishes them'),
      competitive_score: numberOrNull.describe(
        "1 / (1 + (midpoint − 0.5)²), 10 decimals; Polymarket's own figure where it gives one; null without both sides",
      ),
      unique_traders: z
        .int()
        .nullable()
        .describe('Distinct takers among the stored trades; null where the platform names none (Kalshi)'),
    })
    .meta({ id: 'SnapshotMetrics' }),
  meta: z.object({
    platforms: z.array(platformField),
    request_time: requestTimeField,
    cache_hit: cacheHitField,
    data_freshness: freshnessField,
  }),
});
