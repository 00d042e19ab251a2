import { z } from 'zod';
import {
  cacheHitField,
  freshnessField,
  jsonObject,
  marketIdField,
  META,
  numberOrNull,
  OhlcAnswer,
  Pagination,
  platformField,
  platformsField,
  requestTimeField,
  statusField,
  timeOrNull,
  timeRangeField,
  titleField,
  tradeIdField,
  traderFields,
} from './answers.ts';
import { PLATFORMS } from './schemas.ts';

/** Schemas of trades/whales, analytics/* and metrics/*. Each figure says its formula, unit and source. */
const tradesFreshness = timeOrNull(
  'Newest time up to which the stored trades are known to be complete; the older one over several platforms',
  'before the first ingestion',
);

export const WhaleTradeAnswer = z
  .object({
    trade_id: tradeIdField,
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
      .object({
        address: z
          .string()
          .describe("Wallet: in lower case on Polymarket, with its checksum on Limitless; '' where there is none"),
        ...traderFields,
      })
      .describe("The taker as the platform last named them; '' on Kalshi, where trades are anonymous"),
    metadata: jsonObject.describe('executed_at; is_block_trade on Kalshi'),
  })
  .meta({ id: 'WhaleTrade', description: 'A large fill, counted once' });

export const WhalesAnswer = z
  .object({
    trades: z.array(WhaleTradeAnswer).describe('In the order asked for'),
    pagination: Pagination,
    meta: z
      .object({
        platform: z.string().describe('The platform searched, or all'),
        request_time: requestTimeField,
        min_size_applied: z.number().describe('The floor of size, contracts'),
        min_notional_applied: z.number().describe('The floor of notional_value, USD'),
        sort: z.enum(['time', 'size']).describe('As applied: newest first, or largest first'),
        data_freshness: tradesFreshness,
        cache_hit: cacheHitField,
      })
      .describe(META),
  })
  .meta({ id: 'WhaleTradeList' });

const asOf = timeOrNull('The instant the windows end at', 'before the first computation');

export const TrendingItemAnswer = z
  .object({
    market_id: marketIdField,
    platform: platformField,
    title: titleField,
    category: z.string().describe("'' when the platform names none"),
    status: z.string().describe('open: others are not listed'),
    url: z.string().describe('Page of the market on its platform'),
    image_url: z.string().describe("URL; '' where there is none"),
    current_price: z
      .object({
        yes: numberOrNull.describe('Price of the first outcome, 0..1; null when unknown'),
        no: numberOrNull.describe('Price of the second outcome, 0..1; null when unknown or there is none'),
      })
      .describe('Of the first and the second outcome, 0..1'),
    change: z
      .object({
        volume_24h: numberOrNull.describe(
          "Sold in the last 24 hours: contracts on Kalshi, USD elsewhere. From the stored trades, else from the totals of our snapshots, else the platform's figure; null when none of them tells",
        ),
        volume_change_percent: numberOrNull.describe(
          '100 × (V₁ − V₀) / V₀, percent to 6 decimals: V₁ sold in the window, V₀ in the window of equal length before it; null when V₀ is 0 or either is unknown',
        ),
        price_change_24h: numberOrNull.describe(
          "First outcome's price now less that of 24 hours ago, −1..1: as the platform tells it, else from our snapshots; null when neither tells",
        ),
        price_change_percent: numberOrNull.describe(
          '100 × (p₁ − p₀) / p₀ of the first outcome over the window, percent to 6 decimals; null when p₀ is 0 or unknown',
        ),
      })
      .describe('What moved'),
    metrics: z
      .object({
        total_volume: numberOrNull.describe(
          "The platform's total of the market: contracts on Kalshi, USD elsewhere; null when unknown",
        ),
        liquidity: z.number().describe('USD of collateral at rest'),
        open_interest: numberOrNull.describe(
          "The platform's figure: contracts on Kalshi, USD elsewhere; null when unknown",
        ),
      })
      .describe('What it stands at'),
  })
  .meta({ id: 'TrendingMarket', description: 'An open market and how it moved' });

const CompletenessAnswer = z
  .object({
    markets: z.int().describe('Number of open markets analyzed'),
    with_volume_change: z.int().describe('Number of them with a volume_change_percent'),
    with_price_change: z.int().describe('Number of them with a price_change_percent'),
    volumes_from: z
      .object({
        trades: z.int().describe('Number of markets told by stored trades'),
        snapshots: z.int().describe("Number of markets told by snapshots of the platform's totals"),
        unknown: z.int().describe('Number of markets told by neither'),
      })
      .describe('What the volumes of the two windows come from, by number of markets'),
    trades_complete_from: timeOrNull('Every trade since then is stored, of every market', 'when that is not so'),
    trades_complete_to: timeOrNull('Every trade until then is stored, of every market', 'when that is not so'),
    window_covered: z
      .enum(['full', 'partial', 'none'])
      .describe('How much of both windows the stored trades of every market cover'),
    oldest_snapshot: timeOrNull('Since when we keep snapshots', 'without any'),
  })
  .meta({ id: 'DataCompleteness', description: 'What the changes of one platform rest on' });

export const TrendingAnswer = z
  .object({
    trending: z
      .array(TrendingItemAnswer)
      .describe('By the percentage asked for, falling (a price change by its size), unknown last, then by volume'),
    meta: z
      .object({
        platforms: platformsField,
        request_time: requestTimeField,
        window: z.enum(['24h', '7d']).describe('As applied'),
        sort_by: z.enum(['volume_change', 'price_change']).describe('As applied'),
        total_markets_analyzed: z.int().describe('Number of open markets that pass the platform and category filters'),
        data_completeness: z.partialRecord(z.enum(PLATFORMS), CompletenessAnswer).describe('By platform'),
        as_of: asOf,
        data_freshness: tradesFreshness,
        cache_hit: cacheHitField,
      })
      .describe(META),
  })
  .meta({ id: 'TrendingList' });

const summed = (what: string): z.ZodNullable<z.ZodNumber> =>
  numberOrNull.describe(
    `USD: Σ ${what} over all markets of the category, Kalshi's contracts counted at 1 USD; null when no market tells it`,
  );

export const CategoryAnswer = z
  .object({
    name: z.string().describe('As people read it'),
    slug: z.string().describe('One vocabulary over the platforms; other where a platform names none'),
    active_markets: z.int().describe('Number of open markets'),
    total_markets: z.int().describe('Number of markets of any status'),
    volume_24h: summed('of the volume of the last 24 hours'),
    volume_7d: summed('of the volume of the last 7 days'),
    volume_30d: summed('of the volume of the last 30 days'),
    total_volume: summed('of the total volume'),
    total_liquidity: z.number().describe('USD of collateral at rest in open markets'),
    avg_liquidity_per_market: z
      .number()
      .describe('USD: total_liquidity / active_markets, 6 decimals; 0 when none is open'),
    avg_spread: numberOrNull.describe(
      'Mean of ask − bid over the open markets with both sides, 0..1, 6 decimals; null when there is none',
    ),
    platforms: z.array(platformField).describe('Platforms with markets of the category'),
  })
  .meta({ id: 'Category', description: 'The markets of one category in sum' });

export const CategoriesAnswer = z
  .object({
    categories: z.array(CategoryAnswer).describe('By volume_24h, falling'),
    meta: z
      .object({
        platforms: platformsField,
        request_time: requestTimeField,
        total_active_markets: z.int().describe('Number of open markets of all categories'),
        total_volume_24h: numberOrNull.describe('USD: Σ volume_24h of the categories; null when none tells it'),
        as_of: asOf,
        data_freshness: freshnessField,
        cache_hit: cacheHitField,
      })
      .describe(META),
  })
  .meta({ id: 'CategoryList' });

const lastQuote = (side: string) =>
  numberOrNull.describe(
    `Last best ${side} of the bucket, 0..1: the platform's bar, else our newest stored quote; null where neither is`,
  );

export const HistoryItemAnswer = z
  .object({
    timestamp: z.int().describe('Start of the bucket, Unix seconds, aligned to UTC'),
    price: OhlcAnswer.describe(
      "First outcome, 0..1: first, highest, lowest and last executed trade of the bucket (blocks excepted), or the platform's own finished bars, each without trades at its previous close; null where neither is",
    ),
    volume: numberOrNull.describe('Σ size in contracts or shares; null while the bucket is not known whole'),
    open_interest: numberOrNull.describe(
      'Last value of the bucket: contracts on Kalshi, USD on Polymarket and pools of Limitless; null when nobody told',
    ),
    trade_count: z
      .int()
      .nullable()
      .describe('Number of fills, each counted once; null where the trades of the bucket are not all stored'),
    notional_value: numberOrNull.describe(
      'USD, by the method that meta.notional_method names; null where neither trades nor a mean are known',
    ),
    liquidity: z
      .object({
        best_bid: lastQuote('bid'),
        best_ask: lastQuote('ask'),
        spread: numberOrNull.describe('best_ask − best_bid, 0..1; null without both'),
        midpoint: numberOrNull.describe('(best_bid + best_ask) / 2, 0..1; null without both'),
      })
      .describe('Top of the book of the first outcome, 0..1'),
  })
  .meta({ id: 'HistoryItem', description: 'One bucket of one market' });

const interval = z.string().describe('Width of a bucket: 1m, 5m, 15m, 1h, 4h or 1d');
const available = (what: string) => z.boolean().describe(`true when a bucket of this answer has ${what}`);

export const HistoryAnswer = z
  .object({
    market_id: marketIdField,
    platform: platformField,
    interval,
    data: z.array(HistoryItemAnswer).describe('Oldest first; buckets of which nothing is known are left out'),
    data_availability: z
      .object({
        price: available('a price'),
        volume: available('a volume'),
        open_interest: available('an open interest'),
        liquidity: available('a bid or an ask'),
        trade_count: available('a trade count'),
        notional_value: available('a notional value'),
      })
      .describe('Which fields have a value anywhere in data'),
    meta: z
      .object({
        platforms: platformsField,
        time_range: timeRangeField,
        interval,
        total_candles: z.int().describe('Number of buckets in data'),
        notional_method: z
          .enum(['trades', 'platform_mean'])
          .describe(
            "trades: Σ price × size on the outcome traded. platform_mean: Σ mean × volume of the platform's bars, in terms of the first outcome, where the trades are not all stored",
          ),
        complete: z.boolean().describe('false when older trades are still being fetched: ask again'),
        request_time: requestTimeField,
        cache_hit: cacheHitField,
        data_freshness: tradesFreshness,
      })
      .describe(META),
  })
  .meta({ id: 'HistoricalMetrics' });

const volume = (window: string, snapshots = '') =>
  numberOrNull.describe(
    `${window}: contracts on Kalshi, USD elsewhere. The platform's own figure${snapshots}, else Σ of the stored trades where these are complete for the window; null when none of them tells`,
  );
const SNAPSHOTS = ', else the difference of its totals in our snapshots';

export const SnapshotAnswer = z
  .object({
    market_id: marketIdField,
    platform: platformField,
    title: titleField,
    status: statusField,
    metrics: z
      .object({
        volume: z
          .object({
            total: numberOrNull.describe("The platform's total: contracts on Kalshi, USD elsewhere; null when unknown"),
            volume_24h: volume('The last 24 hours'),
            volume_7d: volume('The last 7 days'),
            volume_30d: volume('The last 30 days', SNAPSHOTS),
            volume_1y: volume('The last 365 days', SNAPSHOTS),
          })
          .describe('What was traded'),
        liquidity: z
          .object({
            total: z
              .number()
              .describe(
                'USD of collateral at rest, Σ bid × size + Σ (1 − ask) × size: best level on Kalshi, else full book',
              ),
            liquidity_score: z.number().describe('0..1: min(1, log10(1 + total) / 6), 4 decimals'),
            clob_liquidity: numberOrNull.describe(
              'The part of it in an order book, USD; 0 for a pool, null where the listing does not tell it (Limitless)',
            ),
          })
          .describe('What waits in the book'),
        open_interest: numberOrNull.describe(
          'Contracts on Kalshi, USD on Polymarket and pools of Limitless; null when unknown',
        ),
        notional_value: numberOrNull.describe(
          'USD: Σ price × size of all trades, on the outcome traded; null unless the stored trades reach back to the start of trading',
        ),
        spread: z
          .object({
            best_bid: numberOrNull.describe(
              'Best bid of the first outcome, 0..1, as of the last sweep; null without one, and unless open or paused',
            ),
            best_ask: numberOrNull.describe(
              'Best ask of the first outcome, 0..1, as of the last sweep; null without one, and unless open or paused',
            ),
            spread: numberOrNull.describe('best_ask − best_bid, 0..1; null without both'),
            adjusted_midpoint: numberOrNull.describe('(best_bid + best_ask) / 2, 0..1; null without both'),
          })
          .describe('First outcome, 0..1, as of the last sweep; null unless open or paused'),
        fees: z
          .object({
            fee_rate: numberOrNull.describe(
              'Taker rate as a fraction. Kalshi: 0.07 × multiplier of the event or series. Polymarket: rate of its fee schedule. Limitless: published buy rate at the price. null where none is published',
            ),
            trading_fee: numberOrNull.describe(
              'USD on one contract of the first outcome bought at the ask (else the price) p. Kalshi: rate × p(1 − p), up to 0.0001. Polymarket: rate × (p(1 − p))^exponent, 5 decimals. Limitless: rate × p. null without a rate or a price',
            ),
            withdrawal_fee: numberOrNull.describe('USD: 0 on Polymarket; null where the platform does not publish one'),
          })
          .describe('As the platform publishes them'),
        competitive_score: numberOrNull.describe(
          "0..1: 1 / (1 + (midpoint − 0.5)²), 10 decimals; Polymarket's own figure where it gives one; null without both sides",
        ),
        unique_traders: z
          .int()
          .nullable()
          .describe('Number of distinct takers among the stored trades; null where the platform names none (Kalshi)'),
      })
      .meta({ id: 'SnapshotMetrics', description: 'The figures of one market, now' }),
    meta: z
      .object({
        platforms: platformsField,
        request_time: requestTimeField,
        cache_hit: cacheHitField,
        data_freshness: freshnessField,
      })
      .describe(META),
  })
  .meta({ id: 'MetricsSnapshot' });
