import { z } from 'zod';
import {
  Pagination,
  answerMeta,
  completeFromUnknown,
  jsonObject,
  META,
  platformField,
  smallestSizeField,
  timeField,
  tradeIdField,
} from './markets.ts';

const Meta = answerMeta({
  platform: platformField,
  data_freshness: timeField.describe('When the platform was read, ISO-8601 UTC with milliseconds'),
  visibility: z.enum(['public', 'hidden']).describe('hidden: the user hides their activity; so there are no rows'),
  smallest_size: smallestSizeField,
});

export const UserTradeAnswer = z
  .object({
    platform: platformField,
    trade_id: tradeIdField,
    user_id: z.string().describe('Kalshi nickname, wallet in lower case'),
    market_id: z.string().describe('Platform id; on Polymarket the condition id while the market is not stored'),
    ticker: z.string().describe('Kalshi ticker, slug of the other platforms'),
    title: z.string().describe("'' while the market is not stored and the platform does not name it"),
    side: z
      .enum(['buy', 'sell'])
      .describe("The user's side; a Kalshi maker bought the opposite outcome of the taker's"),
    outcome: z.string().describe('Outcome id'),
    label: z.string().describe("Name of the outcome; '' while it is not known"),
    price: z.number().describe('Price of the traded outcome, 0..1'),
    size: z.number().describe('Contracts or shares'),
    timestamp: timeField.describe('When it was executed, ISO-8601 UTC with milliseconds'),
    metadata: jsonObject.describe("maker_nickname and maker_action ('' if there are none), and facts of the platform"),
  })
  .meta({ id: 'UserTrade', description: 'A fill, from one of its two sides' });

export const UserTradesAnswer = z
  .object({
    trades: z.array(UserTradeAnswer).describe('Newest first'),
    pagination: Pagination,
    meta: Meta.extend({
      complete_from: completeFromUnknown,
      total_is_exact: z
        .boolean()
        .describe(
          'true: total counts all that the platform shows. false: there are more, or rows that could not be read',
        ),
    }).describe(META),
  })
  .meta({ id: 'UserTradeList' });

const stated = (text: string) => z.number().nullable().describe(`${text}; null where the platform does not state it`);

export const PositionAnswer = z
  .object({
    platform: platformField,
    token_id: z
      .string()
      .describe('Token; <ticker>:yes or <ticker>:no where there are none (Kalshi, pools of Limitless)'),
    market_id: z.string().describe('Platform id; on Polymarket the condition id while the market is not stored'),
    title: z.string().describe("'' while the market is not stored and the platform does not name it"),
    label: z.string().describe('Name of the outcome held'),
    market_status: z.string().describe("unopened, open, paused, closed or settled; '' when unknown"),
    winning_outcome: z.string().describe("Name of the outcome that pays 1; '' when none does or it is not known"),
    shares: z.int().describe('Base units of 0.000001 shares or contracts'),
    shares_normalized: z.number().describe('Contracts or shares: each pays 1 USD if its outcome wins'),
    redeemable: z
      .boolean()
      .describe(
        'true when the market has paid out and the position can be redeemed, also for nothing: see winning_outcome',
      ),
    average_price: stated('Average price paid, 0..1'),
    current_price: stated(
      'Price of the outcome, 0..1: by the platform, else by the stored market; once settled what it pays',
    ),
    value_usd: stated('Value at that price, USD'),
    pnl_usd: stated('Profit or loss of what is held, not yet realised, USD'),
  })
  .meta({ id: 'Position', description: 'Shares of one outcome that a user holds' });

export const UserPositionsAnswer = z
  .object({
    user: z.string().describe('Kalshi nickname, Polymarket wallet in lower case'),
    positions: z.array(PositionAnswer).describe('By token id'),
    pagination: Pagination,
    meta: Meta.extend({
      total_is_exact: z
        .boolean()
        .describe(
          'true: total counts all that the platform shows. false: there are more than were read, or rows that could not be read',
        ),
    }).describe(META),
  })
  .meta({ id: 'UserPositionList' });
