import { z } from 'zod';
import {
  answerMeta,
  completeField,
  completeFromUnknown,
  completenessFields,
  freshnessField,
  marketIdField,
  numberOrNull,
  platformField,
  platformsField,
  timeRangeField,
} from './markets.ts';
import { VOLUME_UNIT } from './volume-unit.ts';

export const hasMoreField = z
  .boolean()
  .describe('true if `limit` cut the answer: continue with start_ts after the last timestamp');

const ohlc = (which: string) => numberOrNull.describe(`${which} of the bucket, 0..1; null if not known`);
export const OhlcAnswer = z.object({
  open: ohlc('First'),
  high: ohlc('Highest'),
  low: ohlc('Lowest'),
  close: ohlc('Last'),
});

export const PricePointAnswer = z
  .object({
    timestamp: z.int().describe('Start of the bucket, Unix seconds, UTC-aligned'),
    platform: platformField,
    marketId: marketIdField,
    outcomeId: z.string().describe('Outcome whose price this is'),
    volume: numberOrNull.describe('Contracts traded in the bucket; null when its trades are not all stored'),
    openInterest: numberOrNull.describe(`Last value of the bucket: ${VOLUME_UNIT}; null if not reported`),
    price: OhlcAnswer.describe('Of executed trades, 0..1'),
    bidAsk: z
      .object({ bid: OhlcAnswer.describe('Best bid, 0..1'), ask: OhlcAnswer.describe('Best ask, 0..1') })
      .describe('Best bid and ask, null if not known: also in a minute in which neither changed'),
  })
  .meta({ id: 'PricePoint', description: 'A bar of one outcome' });

export const PriceHistoryAnswer = z
  .object({
    data: z.array(PricePointAnswer).describe('Oldest first'),
    meta: answerMeta({
      total_points: z.int().describe('Number of points in data'),
      has_more: hasMoreField,
      platforms: platformsField,
      time_range: timeRangeField,
      interval: z.string().describe('Minutes of a bucket: 1, 60 or 1440'),
      data_freshness: freshnessField,
      source: z
        .enum(['trades', 'midpoint', 'mixed'])
        .describe('What the prices are: executed trades, or samples of the midpoint'),
      complete: completeField,
      ...completenessFields,
    }),
  })
  .meta({ id: 'PriceHistory' });

const usd = (which: string) => z.string().describe(`${which} of the bucket, USD: an exact decimal as text`);

const OracleCandleAnswer = z
  .object({
    timestamp: z.int().describe('Start of the bucket, Unix seconds, UTC-aligned'),
    open: usd('First price'),
    high: usd('Highest price'),
    low: usd('Lowest price'),
    close: usd('Last price'),
  })
  .meta({ id: 'OracleCandle', description: 'A bar of the asset on which a price market settles, by its oracle' });

export const OracleCandlesAnswer = z
  .object({
    data: z.array(OracleCandleAnswer).describe('Oldest first; buckets that the platform does not state are omitted'),
    meta: answerMeta({
      market_id: marketIdField,
      platform: platformField,
      interval: z.enum(['1m', '5m', '15m', '1h', '4h', '1d']).describe('Length of a bucket'),
      has_more: hasMoreField,
      complete_from: completeFromUnknown,
      source: z.string().nullable().describe('The oracle; null if the platform does not name it'),
      symbol: z.string().nullable().describe('The asset; null if the platform does not name it'),
    }),
  })
  .meta({ id: 'OracleCandleList' });
