import { z } from 'zod';
import {
  answerMeta,
  completenessFields,
  jsonObject,
  outcomeNameField,
  Pagination,
  platformField,
  tradeIdField,
  traderFields,
  tradesFreshness,
} from './markets.ts';

/** Schemas of trades/whales. Each figure states its formula, unit and source. */
export const WhaleTradeAnswer = z
  .object({
    trade_id: tradeIdField,
    market_id: z.string().describe('Platform id; on Polymarket the condition id while the market is not stored'),
    platform: platformField,
    market_title: z.string().describe("'' while the market is not stored"),
    outcome_name: outcomeNameField,
    side: z.enum(['buy', 'sell']).describe("The taker's side"),
    outcome: z.string().describe('Outcome id'),
    price: z.number().describe('Price of the traded outcome, 0..1'),
    size: z.number().describe('Contracts or shares; each fill counts once, from its taker'),
    notional_value: z.number().describe('price × size in USD, rounded half to even to 6 decimals'),
    timestamp: z.int().describe('Unix seconds; metadata.executed_at is exact'),
    transaction_hash: z.string().describe("'' if there is none (Kalshi)"),
    trader: z
      .object({
        address: z
          .string()
          .describe("Wallet: in lower case on Polymarket, with checksum on Limitless; '' if there is none"),
        ...traderFields,
      })
      .describe("The taker as the platform last named them; '' on Kalshi, where trades are anonymous"),
    metadata: jsonObject.describe('executed_at; is_block_trade on Kalshi'),
  })
  .meta({ id: 'WhaleTrade', description: 'A large fill, counted once' });

export const WhalesAnswer = z
  .object({
    trades: z.array(WhaleTradeAnswer).describe('In the requested order'),
    pagination: Pagination,
    meta: answerMeta({
      platform: z.string().describe('The platform searched, or all'),
      min_size_applied: z.number().describe('The floor of size, contracts'),
      min_notional_applied: z.number().describe('The floor of notional_value, USD'),
      sort: z.enum(['time', 'size']).describe('As applied: newest first, or largest first'),
      data_freshness: tradesFreshness,
      ...completenessFields,
    }),
  })
  .meta({ id: 'WhaleTradeList' });
