import { z } from 'zod';
import { answerMeta, jsonObject, marketIdField, numberOrNull, platformField, timeField } from './markets.ts';

const Level = z.object({ price: z.number().describe('0..1'), size: z.number().describe('Contracts or shares') });
const BookSideAnswer = z.object({
  bids: z.array(Level).describe('Best first'),
  asks: z.array(Level).describe('Best first'),
  depth: z.number().describe('Σ size of bids and asks, contracts or shares'),
});

export const OrderBookAnswer = z
  .object({
    data: z
      .object({
        market_id: marketIdField,
        platform: platformField,
        timestamp: timeField.describe(
          `The platform's time of the book, else when it was received, ISO-8601 UTC with milliseconds`,
        ),
        yes: BookSideAnswer.describe('First outcome'),
        no: BookSideAnswer.describe('Second outcome'),
        metadata: z
          .object({
            min_order_size: numberOrNull.describe(
              'Smallest order, contracts or shares; null if not published, and with `at`',
            ),
            tick_size: numberOrNull.describe('Step of prices here, 0..1; null if not published, and with `at`'),
            neg_risk: z.boolean().describe("true for Polymarket's negative-risk markets; false elsewhere"),
            levels_left_out: z
              .int()
              .optional()
              .describe(
                'Number of levels that could not be read: the book may have more, and better ones, than these; absent if all were read',
              ),
          })
          .describe('Limits for orders, and whether the book is whole'),
        raw_data: jsonObject.optional().describe("The platform's own object; with include_raw=true"),
      })
      .meta({ id: 'OrderBook', description: 'Both outcomes of a market, each with its bids and asks' }),
    meta: answerMeta({
      recorded: z
        .object({
          from: timeField.describe('Time of the oldest recorded book of the market'),
          to: timeField.describe('When the recorded book was last seen'),
          gap: z
            .object({
              from: timeField.describe('Start of the gap, ISO-8601'),
              to: timeField.describe('End of the gap, ISO-8601'),
              reason: z.string().describe('Cause of the gap'),
            })
            .nullable()
            .describe('Set if `at` lies in a gap of the recording: the answer is the last book before it; else null'),
        })
        .optional()
        .describe('With `at`: what is recorded of the market'),
    }),
  })
  .meta({ id: 'OrderBookAnswer' });
