import { MANIFESTS } from '../platforms/manifests.ts';
import { z } from 'zod';
import {
  Pagination,
  cacheHitField,
  jsonObject,
  META,
  platformField,
  requestTimeField,
  smallestSizeField,
  timeField,
  tradeIdField,
} from '../schemas/markets.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import { decimalNumber, ONE_PRICE, parsePrice, PRICE_SCALE, SIZE_SCALE } from '../core/decimal.ts';
import { outcomeIds } from '../platforms/market-fields.ts';
import type { UserPosition, UserTrade } from '../platforms/user-contract.ts';
import type { Platform } from '../core/model.ts';

const Meta = z.object({
  request_time: requestTimeField,
  platform: platformField,
  data_freshness: timeField.describe('When the platform was read, ISO-8601 UTC with milliseconds'),
  visibility: z.enum(['public', 'hidden']).describe('hidden: the user hides their activity; so there are no rows'),
  cache_hit: cacheHitField,
  smallest_size: smallestSizeField,
});

export const UserTradeAnswer = z
  .object({
    platform: platformField,
    trade_id: tradeIdField,
    user_id: z.string().describe('Kalshi nickname, Polymarket wallet in lower case'),
    market_id: z.string().describe('Platform id; on Polymarket the condition id while the market is not stored'),
    ticker: z.string().describe('Kalshi ticker, Polymarket slug'),
    title: z.string().describe("'' while the market is not stored and the platform does not name it"),
    side: z
      .enum(['buy', 'sell'])
      .describe("The user's side; a Kalshi maker bought the opposite outcome of the taker's"),
    outcome: z.string().describe('Outcome id'),
    price: z.number().describe('Of the outcome traded, 0..1'),
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
      total_is_exact: z
        .boolean()
        .describe(
          'true: total counts all that the platform shows. false: there are more, or rows that could not be read',
        ),
    }).describe(META),
  })
  .meta({ id: 'UserTradeList' });

export const PositionAnswer = z
  .object({
    token_id: z.string().describe('Polymarket token; <ticker>:yes or <ticker>:no on Kalshi, which has no tokens'),
    market_id: z.string().describe('Platform id; on Polymarket the condition id while the market is not stored'),
    title: z.string().describe("'' while the market is not stored and the platform does not name it"),
    label: z.string().describe('Name of the outcome held'),
    market_status: z.string().describe("unopened, open, paused, closed or settled; '' when unknown"),
    winning_outcome: z.string().describe("Name of the outcome that pays 1; '' when none does or it is not known"),
    shares: z.int().describe('Base units of 0.000001 shares or contracts'),
    shares_normalized: z.number().describe('Contracts or shares: each pays 1 USD if its outcome wins'),
    redeemable: z.boolean().describe('true when the market has paid out and the position can be redeemed'),
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

/** A row of sql/queries/portfolio_markets.sql. */
const MarketRow = z.object({
  ref: z.string(),
  platform_id: z.string(),
  title: z.string(),
  outcome_ids: z.array(z.string()),
  outcome_names: z.array(z.string()),
  token_ids: z.array(z.string()),
  status: z.string(),
  prices: z.array(z.string().nullable()),
});
type MarketRow = z.output<typeof MarketRow>;

/** The stored markets of some rows, by reference. Nothing is fetched: a user may have traded thousands. */
export async function portfolioMarkets(
  clickhouse: ClickHouse,
  platform: Platform,
  rows: readonly { ref: string }[],
): Promise<Map<string, MarketRow>> {
  const refs = [...new Set(rows.map(({ ref }) => ref))];
  const markets = new Map<string, MarketRow>();
  for (let from = 0; from < refs.length; from += 500) {
    const part = { platform, refs: refs.slice(from, from + 500) };
    for (const row of await clickhouse.query('portfolio_markets', MarketRow, part)) markets.set(row.ref, row);
  }
  return markets;
}

/** One trade as returned by the endpoint. */
export function toUserTrade(
  platform: Platform,
  user: string,
  trade: UserTrade,
  market: MarketRow | undefined,
): z.input<typeof UserTradeAnswer> {
  return {
    platform,
    trade_id: trade.tradeId,
    user_id: user,
    market_id: market?.platform_id ?? trade.ref,
    ticker: trade.ticker,
    title: trade.title || (market?.title ?? ''),
    side: trade.side,
    outcome: outcomeId(trade.outcome, market),
    price: decimalNumber(trade.price, PRICE_SCALE),
    size: decimalNumber(trade.size, SIZE_SCALE),
    timestamp: new Date(Math.floor(trade.executedAtUs / 1000)).toISOString(),
    metadata: trade.metadata,
  };
}

/** The stored outcome of the traded token; for a market that is not stored, the id derived from its name. */
function outcomeId(outcome: UserTrade['outcome'], market: MarketRow | undefined): string {
  if ('id' in outcome) return outcome.id;
  const index = market?.token_ids.indexOf(outcome.tokenId) ?? -1;
  return market?.outcome_ids[index] ?? (outcome.name === '' ? '' : (outcomeIds([outcome.name])[0] ?? ''));
}

/** One position as returned by the endpoint. */
export function toPosition(
  platform: Platform,
  position: UserPosition,
  market: MarketRow | undefined,
): z.input<typeof PositionAnswer> {
  const unstored = MANIFESTS[platform].positionsNameStatus ? (position.redeemable ? 'settled' : 'open') : '';
  return {
    token_id: position.tokenId,
    market_id: market?.platform_id ?? position.ref,
    title: position.title || (market?.title ?? ''),
    label: position.label,
    market_status: market?.status ?? unstored,
    winning_outcome: winner(position, market),
    shares: Number(position.size),
    shares_normalized: decimalNumber(position.size, SIZE_SCALE),
    redeemable: position.redeemable,
  };
}

/** A settled market's prices are its payouts; a split has no winner. */
function winner(position: UserPosition, market: MarketRow | undefined): string {
  if (!market) return position.winner;
  if (market.status !== 'settled') return '';
  const index = market.prices.findIndex((price) => price !== null && parsePrice(price) === ONE_PRICE);
  return market.outcome_names[index] ?? '';
}
