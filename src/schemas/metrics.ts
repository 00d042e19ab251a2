import { z } from 'zod';
import {
  answerMeta,
  completeField,
  completenessFields,
  freshnessField,
  marketIdField,
  numberOrNull,
  platformField,
  platformsField,
  statusField,
  timeRangeField,
  titleField,
  tradesFreshness,
} from './markets.ts';
import { hasMoreField, OhlcAnswer } from './price-history.ts';
import { VOLUME_UNIT } from './volume-unit.ts';

/** Schemas of metrics/*. Each figure states its formula, unit and source. */
const lastQuote = (side: string) =>
  numberOrNull.describe(
    `Last best ${side} of the bucket, 0..1: the platform's bar, else the newest stored quote; null if neither exists`,
  );

export const HistoryItemAnswer = z
  .object({
    timestamp: z.int().describe('Start of the bucket, Unix seconds, aligned to UTC'),
    price: OhlcAnswer.describe(
      "First outcome, 0..1: first, highest, lowest and last executed trade of the bucket (blocks excepted) where all of them are stored, else the platform's bar. A platform's minute or hour without trades stands at the price before it; buckets of several take their price from those with trades; null if unknown",
    ),
    volume: numberOrNull.describe('Σ size in contracts or shares; null until all data of the bucket is stored'),
    open_interest: numberOrNull.describe(
      'Last value of the bucket: contracts on Kalshi, USD on Polymarket and pools of Limitless; null if not reported',
    ),
    trade_count: z
      .int()
      .nullable()
      .describe('Number of fills, each counted once; null if the trades of the bucket are not all stored'),
    notional_value: numberOrNull.describe(
      'USD, by the method named by meta.notional_method; null without trades and mean',
    ),
    liquidity: z
      .object({
        best_bid: lastQuote('bid'),
        best_ask: lastQuote('ask'),
        spread: numberOrNull.describe('best_ask − best_bid, 0..1; null without both, or if they are crossed'),
        midpoint: numberOrNull.describe('(best_bid + best_ask) / 2, 0..1; null without both, or if they are crossed'),
      })
      .describe('Top of the book of the first outcome, 0..1'),
  })
  .meta({ id: 'HistoryItem', description: 'One bucket of one market' });

const interval = z.string().describe('Candle interval: 1m, 5m, 15m, 1h, 4h or 1d');
const available = (what: string) => z.boolean().describe(`true when a bucket of this answer has ${what}`);

export const HistoryAnswer = z
  .object({
    market_id: marketIdField,
    platform: platformField,
    interval,
    data: z.array(HistoryItemAnswer).describe('Oldest first; buckets without any data are omitted'),
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
    meta: answerMeta({
      platforms: platformsField,
      time_range: timeRangeField,
      interval,
      total_candles: z.int().describe('Number of buckets in data'),
      has_more: hasMoreField,
      notional_method: z
        .enum(['trades', 'platform_mean'])
        .describe(
          "trades: Σ price × size on the outcome traded. platform_mean: Σ mean × volume of the platform's bars, in terms of the first outcome, where the trades are not all stored",
        ),
      complete: completeField,
      ...completenessFields,
      data_freshness: tradesFreshness,
    }),
  })
  .meta({ id: 'HistoricalMetrics' });

const volume = (window: string) =>
  numberOrNull.describe(
    `${window}: ${VOLUME_UNIT}. The platform's own figure, else the difference of its totals in stored snapshots, else Σ of stored trades if they are complete for the window; null if unavailable`,
  );
const TRADED_USD =
  'USD: Σ price × size of the stored trades if these are complete, else the USD that the platform reports';
const worth = (window: string) => numberOrNull.describe(`${window}, ${TRADED_USD}; null if neither is known`);
const worthBasis = (window: string) =>
  z.enum(['traded', 'reported']).nullable().describe(`${window}: traded or reported; null without an amount`);

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
            total: numberOrNull.describe(`The platform's total: ${VOLUME_UNIT}; null when unknown`),
            volume_24h: volume('The last 24 hours'),
            volume_7d: volume('The last 7 days'),
            volume_30d: volume('The last 30 days'),
            volume_1y: volume('The last 365 days'),
          })
          .describe('Traded volume'),
        volume_usd: z
          .object({
            total: worth('Since the start of trading'),
            volume_24h: worth('The last 24 hours'),
            volume_7d: worth('The last 7 days'),
            volume_30d: worth('The last 30 days'),
            volume_1y: worth('The last 365 days'),
          })
          .describe('Traded volume in USD, comparable between platforms'),
        volume_usd_basis: z
          .object({
            total: worthBasis('Since the start of trading'),
            volume_24h: worthBasis('The last 24 hours'),
            volume_7d: worthBasis('The last 7 days'),
            volume_30d: worthBasis('The last 30 days'),
            volume_1y: worthBasis('The last 365 days'),
          })
          .describe('Where each amount of volume_usd is from'),
        liquidity: z
          .object({
            total: numberOrNull.describe(
              'USD of collateral in resting orders, Σ bid × size + Σ (1 − ask) × size: best level on Kalshi and Limitless, full book on Polymarket; null until the book of an open market has been read',
            ),
            liquidity_score: numberOrNull.describe(
              '0..1: min(1, log10(1 + total) / 6), 4 decimals; null without total',
            ),
            clob_liquidity: numberOrNull.describe(
              'USD of collateral on all levels of the order book if these are known, else the total; 0 for a pool, null until the book has been read (Limitless)',
            ),
          })
          .describe('Liquidity in the book'),
        open_interest: numberOrNull.describe(
          'Contracts on Kalshi, USD on Polymarket and pools of Limitless; null when unknown',
        ),
        notional_value: numberOrNull.describe(
          'USD: Σ price × size of all trades, on the outcome traded; null unless the stored trades reach back to the start of trading, and where the platform reports a volume and no trade is stored',
        ),
        spread: z
          .object({
            best_bid: numberOrNull.describe(
              'Best bid of the first outcome, 0..1, as of the last sweep; null if there is none or the market is closed or settled',
            ),
            best_ask: numberOrNull.describe(
              'Best ask of the first outcome, 0..1, as of the last sweep; null if there is none or the market is closed or settled',
            ),
            spread: numberOrNull.describe('best_ask − best_bid, 0..1; null without both, or if they are crossed'),
            adjusted_midpoint: numberOrNull.describe(
              'The middle of the levels that count for rewards if a book with these best prices was read, else (best_bid + best_ask) / 2, 0..1; null without both, or if they are crossed',
            ),
          })
          .describe('First outcome, 0..1, as of the last sweep; null once closed or settled'),
        fees: z
          .object({
            fee_rate: numberOrNull.describe(
              'Taker rate as a fraction. Kalshi: 0.07 × multiplier of the event or series, 0 while it waives fees. Polymarket: rate of its fee schedule. Limitless: published buy rate at the price. null if none is published',
            ),
            trading_fee: numberOrNull.describe(
              'USD on one contract of the first outcome bought at the ask (else the price) p. Kalshi: rate × p(1 − p), up to 0.0001. Polymarket: rate × (p(1 − p))^exponent, 5 decimals. Limitless: rate × p. null without a rate or a price',
            ),
            withdrawal_fee: numberOrNull.describe('USD: 0 on Polymarket; null if the platform does not publish one'),
          })
          .describe('As the platform publishes them'),
        competitive_score: numberOrNull.describe(
          "0..1: 1 / (1 + (midpoint − 0.5)²), 10 decimals; Polymarket's own figure where it gives one; null without both sides, or if they are crossed",
        ),
        unique_traders: z
          .int()
          .nullable()
          .describe('Number of distinct takers among the stored trades; null if the platform shows none (Kalshi)'),
      })
      .meta({ id: 'SnapshotMetrics', description: 'Current figures of one market' }),
    meta: answerMeta({
      platforms: platformsField,
      data_freshness: freshnessField,
    }),
  })
  .meta({ id: 'MetricsSnapshot' });
