import { z } from 'zod';
import { answerMeta, numberOrNull, platformsField, tradesFreshness } from './markets.ts';

export const CalibrationBinAnswer = z
  .object({
    price_from: z.number().describe('Lowest price of the bin, 0..1, 10 decimals'),
    price_to: z.number().describe('Upper end of the bin, 0..1, 10 decimals; in the bin only if it is 1'),
    markets: z.int().describe('Number of markets whose first outcome had such a price'),
    came_true: z.int().describe('Number of these whose first outcome paid 1'),
    came_true_share: numberOrNull.describe('came_true / markets, 0..1, 6 decimals; null without markets'),
    mean_price: numberOrNull.describe('Mean of their prices, 0..1, 6 decimals; null without markets'),
    brier_score: numberOrNull.describe('Mean of (price − payout)², 0..1, 6 decimals; null without markets'),
  })
  .meta({ id: 'CalibrationBin', description: 'Settled markets of one range of prices, and what they paid' });

const left = (what: string): z.ZodInt => z.int().describe(`Number of settled markets left out: ${what}`);

export const CalibrationAnswer = z
  .object({
    calibration: z.array(CalibrationBinAnswer).describe('All bins, by price; those without markets too'),
    meta: answerMeta({
      platforms: platformsField,
      category: z.string().describe('As applied; empty for all'),
      horizon: z.enum(['1h', '1d', '7d']).describe('As applied'),
      bins: z.int().describe('Number of bins, as applied'),
      settled_markets: z.int().describe('Number of settled markets that pass the filters'),
      markets: z.int().describe('Number of markets in the bins; only the 20,000 that closed last are read'),
      left_out: z
        .object({
          no_price: left('no trade or quote up to the horizon is stored'),
          fractional_payout: left('the first outcome paid a fraction: a refund, a void or a scalar result'),
          unknown_payout: left('the payout was not reported'),
          unknown_close: left('the time of closing was not reported'),
        })
        .describe('Settled markets without a bin, by reason; if several reasons apply, the last of these counts'),
      brier_score: numberOrNull.describe(
        'Mean of (price − payout)² of all bins, 0..1, 6 decimals; null without markets',
      ),
      data_freshness: tradesFreshness,
    }),
  })
  .meta({ id: 'Calibration' });
