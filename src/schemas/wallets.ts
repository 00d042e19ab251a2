import { z } from 'zod';
import { ADDRESS } from '../core/text.ts';
import {
  answerMeta,
  completeFromUnknown,
  marketIdField,
  META,
  Pagination,
  PlainMeta,
  platformField,
  platformsField,
  smallestSizeField,
  timeField,
  titleField,
} from './markets.ts';
import { PositionAnswer, UserTradeAnswer } from './portfolio.ts';

/** The address of a wallet, in any case. */
export const walletParam = () =>
  z
    .string()
    .regex(ADDRESS, { error: '0x and 40 hex digits' })
    .transform((address) => address.toLowerCase())
    .describe('The wallet that trades, a proxy wallet where the platform has these');

const timeOrNull = (text: string) => timeField.nullable().describe(text);
const WalletErrorAnswer = z.object({
  platform: platformField,
  status: z.int().describe('HTTP status code that a request for this platform alone would return'),
  message: z.string().describe('What went wrong'),
});
export type WalletError = z.input<typeof WalletErrorAnswer>;

const ReadMeta = answerMeta({
  platforms: platformsField,
  data_freshness: timeOrNull('When the platform was read, the earliest of them; null if none had to be'),
  smallest_size: smallestSizeField,
  total_is_exact: z
    .boolean()
    .describe('true: total counts all that the platforms show. false: there are more, or rows that could not be read'),
  errors: z
    .array(WalletErrorAnswer)
    .describe('Platforms that could not be read: their rows are missing, here and in total; [] if all were read'),
});

export const WalletAnswer = z
  .object({
    wallet: z
      .object({
        address: z.string().describe('In lower case'),
        names: z.array(z.string()).describe('Names that platforms show for it; [] if there are none'),
        trades: z.int().describe('Number of stored trades of which it was the taker'),
        volume_usd: z.number().describe('USD exchanged in these trades'),
        markets: z.int().describe('Number of markets of these trades'),
        first_trade_at: timeOrNull('The first of these trades; null without one'),
        last_trade_at: timeOrNull('The last of these trades; null without one'),
        complete_from: timeOrNull(
          'Since then every trade of the platforms is stored; null where they have no feed of all trades',
        ),
      })
      .describe('Counts over stored trades'),
    top_markets: z
      .array(
        z.object({
          id: z.string().describe('Unified id of the market'),
          platform: platformField,
          market_id: marketIdField,
          title: titleField.describe("Title; '' while the market is not listed"),
          outcome_name: z.string().nullable().describe('Which market of its event it is; null where the title says it'),
          trades: z.int().describe('Number of stored trades of the wallet in it'),
          volume_usd: z.number().describe('USD exchanged in these trades'),
          last_trade_at: timeField.describe('The last of these trades'),
        }),
      )
      .describe('Markets that it traded most in USD, the most first: as many as top_markets asks for'),
    meta: answerMeta({
      platforms: platformsField,
      data_freshness: timeOrNull('Up to when trades are stored, the earliest of the platforms; null if unknown'),
    }),
  })
  .meta({ id: 'Wallet' });

export const WalletTradesAnswer = z
  .object({
    trades: z.array(UserTradeAnswer).describe('Newest first'),
    pagination: Pagination,
    meta: ReadMeta.extend({ complete_from: completeFromUnknown }).describe(META),
  })
  .meta({ id: 'WalletTradeList' });

export const WalletPositionsAnswer = z
  .object({
    user: z.string().describe('Address of the wallet in lower case'),
    positions: z.array(PositionAnswer).describe('By platform and token id'),
    pagination: Pagination,
    meta: ReadMeta,
  })
  .meta({ id: 'WalletPositionList' });

export const WatchedWalletsAnswer = z
  .object({
    wallets: z
      .array(
        z.object({
          address: z.string().describe('In lower case'),
          created_at: timeField.describe('When it was added, ISO-8601 UTC with milliseconds'),
        }),
      )
      .describe('Oldest first, at most 100'),
    meta: PlainMeta,
  })
  .meta({ id: 'WatchedWallets' });
