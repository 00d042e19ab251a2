import { z } from 'zod';
import { cacheHitField, marketIdField, META, platformField, requestTimeField } from './markets.ts';

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
    meta: z
      .object({
        request_time: requestTimeField,
        cache_hit: cacheHitField,
        market_id: marketIdField,
        platform: platformField,
        interval: z.enum(['1m', '5m', '15m', '1h', '4h', '1d']).describe('Length of a bucket'),
        source: z.string().nullable().describe('The oracle; null if the platform does not name it'),
        symbol: z.string().nullable().describe('The asset; null if the platform does not name it'),
      })
      .describe(META),
  })
  .meta({ id: 'OracleCandleList' });
