import { z } from 'zod';
import { answerMeta, freshnessField, marketIdField, numberOrNull, platformField, timeOrNull } from './markets.ts';
import { OrderBookAnswer } from './order-book.ts';

const notFoundField = z.array(z.string()).describe('Ids of the list that name no stored market, as received');

export const OrderBooksAnswer = z
  .object({
    data: z
      .array(OrderBookAnswer.shape.data)
      .describe('In the order of market_ids; without books that could not be read'),
    meta: answerMeta({
      not_found: notFoundField,
      errors: z
        .array(
          z.object({
            market_id: marketIdField,
            status: z.int().describe('HTTP status code that a request for this market alone would return'),
            message: z.string().describe('What went wrong'),
          }),
        )
        .describe('Markets whose book could not be read'),
    }),
  })
  .meta({ id: 'OrderBookList' });

export const MarketPriceAnswer = z
  .object({
    market_id: marketIdField,
    platform: platformField,
    prices: z
      .record(z.string(), numberOrNull.describe('0..1; null if unknown at that instant'))
      .describe('Price per outcome id'),
    at: timeOrNull('When the trade was executed, the quote seen, or the market settled', 'when nothing was known yet'),
    source: z
      .enum(['trade', 'quote', 'payout'])
      .nullable()
      .describe(
        'payout once the market was settled; else its last trade (blocks excepted); else the last price its platform quoted; null when nothing was known yet',
      ),
  })
  .meta({ id: 'MarketPrice', description: 'The last known price of a market at an instant, never a later one' });

export const MarketPricesAnswer = z
  .object({
    data: z.array(MarketPriceAnswer).describe('In the order of market_ids'),
    meta: answerMeta({
      data_freshness: freshnessField,
      not_found: notFoundField,
    }),
  })
  .meta({ id: 'MarketPriceList' });
