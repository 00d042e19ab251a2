import { z } from 'zod';
import { usdSums } from './events.ts';
import {
  answerMeta,
  freshnessField,
  marketIdField,
  numberOrNull,
  platformField,
  platformsField,
  timeOrNull,
  titleField,
  tradesFreshness,
} from './markets.ts';
import { PLATFORMS } from '../core/model.ts';
import { VOLUME_UNIT } from './volume-unit.ts';

/** Schemas of analytics/*. Each figure states its formula, unit and source. */
const asOf = timeOrNull('The instant the windows end at', 'before the first computation');

export const TrendingItemAnswer = z
  .object({
    market_id: marketIdField,
    platform: platformField,
    title: titleField,
    category: z.string().describe("'' if the platform has none"),
    status: z.string().describe('open: others are not listed'),
    url: z.string().describe('Page of the market on its platform'),
    image_url: z.string().describe("URL; '' if there is none"),
    current_price: z
      .object({
        yes: numberOrNull.describe('Price of the first outcome, 0..1; null when unknown'),
        no: numberOrNull.describe('Price of the second outcome, 0..1; null when unknown or there is none'),
      })
      .describe('Prices of the first and the second outcome, 0..1'),
    change: z
      .object({
        volume_24h: numberOrNull.describe(
          `Volume traded in the last 24 hours: ${VOLUME_UNIT}. From stored trades, else from stored snapshots of totals, else the platform's figure; null if unavailable`,
        ),
        volume_change_percent: numberOrNull.describe(
          '100 × (V₁ − V₀) / V₀, percent to 6 decimals: V₁ traded in the window, V₀ in the window of equal length before it; null when V₀ is 0 or either is unknown',
        ),
        price_change_24h: numberOrNull.describe(
          "Price of the first outcome now minus 24 hours ago, −1..1: the platform's figure, else from stored snapshots, unless its listing states the price of then; null if unavailable",
        ),
        price_change_percent: numberOrNull.describe(
          '100 × (p₁ − p₀) / p₀ of the first outcome over the window, percent to 6 decimals; null when p₀ is 0 or unknown',
        ),
      })
      .describe('Changes over the window'),
    metrics: z
      .object({
        total_volume: numberOrNull.describe(`The platform's total of the market: ${VOLUME_UNIT}; null when unknown`),
        liquidity: numberOrNull.describe(
          'USD of collateral in resting orders; null until the book of an open market has been read',
        ),
        open_interest: numberOrNull.describe(`The platform's figure: ${VOLUME_UNIT}; null when unknown`),
      })
      .describe('Current figures'),
  })
  .meta({ id: 'TrendingMarket', description: 'An open market and its changes' });

const CompletenessAnswer = z
  .object({
    markets: z.int().describe('Number of open markets analyzed'),
    with_volume_change: z.int().describe('Number of them with a volume_change_percent'),
    with_price_change: z.int().describe('Number of them with a price_change_percent'),
    volumes_from: z
      .object({
        trades: z.int().describe('Number of markets whose volume comes from stored trades'),
        snapshots: z.int().describe("Number of markets whose volume comes from snapshots of the platform's totals"),
        unknown: z.int().describe('Number of markets without either'),
      })
      .describe('Sources of the volumes of the two windows, by number of markets'),
    trades_complete_from: timeOrNull('Every trade since then is stored, of every market', 'when that is not so'),
    trades_complete_to: timeOrNull('Every trade until then is stored, of every market', 'when that is not so'),
    window_covered: z
      .enum(['full', 'partial', 'none'])
      .describe('How much of both windows the stored trades of every market cover'),
    oldest_snapshot: timeOrNull('Time of the oldest stored snapshot', 'without any'),
  })
  .meta({ id: 'DataCompleteness', description: 'Data behind the changes of one platform' });

export const TrendingAnswer = z
  .object({
    trending: z
      .array(TrendingItemAnswer)
      .describe(
        'By the requested percentage in descending order (price changes by absolute value), unknown last, then by volume',
      ),
    meta: answerMeta({
      platforms: platformsField,
      window: z.enum(['24h', '7d']).describe('As applied'),
      sort_by: z.enum(['volume_change', 'price_change']).describe('As applied'),
      total_markets_analyzed: z.int().describe('Number of open markets that pass the platform and category filters'),
      data_completeness: z.partialRecord(z.enum(PLATFORMS), CompletenessAnswer).describe('By platform'),
      as_of: asOf,
      data_freshness: tradesFreshness,
    }),
  })
  .meta({ id: 'TrendingList' });

const summed = (what: string): z.ZodNullable<z.ZodNumber> =>
  numberOrNull.describe(
    `USD: Σ ${what} over all markets of the category, Kalshi's contracts counted at 1 USD; null if no market reports it`,
  );

export const CategoryAnswer = z
  .object({
    name: z.string().describe('Display name'),
    slug: z.string().describe('Vocabulary shared by all platforms; other if the platform has none'),
    active_markets: z.int().describe('Number of open markets'),
    total_markets: z.int().describe('Number of markets of any status'),
    volume_24h: summed('of the volume of the last 24 hours (0 of a market whose trading ended before them)'),
    volume_7d: summed('of the volume of the last 7 days (0 of a market whose trading ended before them)'),
    volume_30d: summed('of the volume of the last 30 days (0 of a market whose trading ended before them)'),
    total_volume: summed('of the total volume'),
    ...usdSums('total_markets'),
    total_liquidity: z
      .number()
      .describe('USD of collateral in the books of open markets, of those whose book has been read'),
    avg_liquidity_per_market: z
      .number()
      .describe('USD: total_liquidity / active_markets, 6 decimals; 0 when none is open'),
    avg_spread: numberOrNull.describe(
      'Mean of ask − bid over the open markets with both sides that are not crossed, 0..1, 6 decimals; null when there is none',
    ),
    platforms: z.array(platformField).describe('Platforms with markets of the category'),
  })
  .meta({ id: 'Category', description: 'Totals of the markets of one category' });

export const CategoriesAnswer = z
  .object({
    categories: z.array(CategoryAnswer).describe('By volume_24h, descending'),
    meta: answerMeta({
      platforms: platformsField,
      total_active_markets: z.int().describe('Number of open markets of all categories'),
      total_volume_24h: numberOrNull.describe('USD: Σ volume_24h of the categories; null if none reports it'),
      as_of: asOf,
      data_freshness: freshnessField,
    }),
  })
  .meta({ id: 'CategoryList' });
