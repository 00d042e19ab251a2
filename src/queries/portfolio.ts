import { MANIFESTS } from '../platforms/manifests.ts';
import { z } from 'zod';
import type { PositionAnswer, UserTradeAnswer } from '../schemas/portfolio.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import { decimalNumber, notionalUsd, parsePrice, PRICE_SCALE, SIZE_SCALE, USD_SCALE } from '../core/decimal.ts';
import { winningOutcome } from './market-rows.ts';
import { outcomeIds } from '../platforms/market-fields.ts';
import type { StatedValue, UserPosition, UserTrade } from '../platforms/user-contract.ts';
import { type Platform, PLATFORMS } from '../core/model.ts';
import { partsOf } from '../core/parts.ts';

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
  const markets = new Map<string, MarketRow>();
  for (const refs of partsOf(new Set(rows.map(({ ref }) => ref)), 500)) {
    const found = await clickhouse.query('portfolio_markets', MarketRow, { platform, refs });
    for (const row of found) markets.set(row.ref, row);
  }
  return markets;
}

/** The stored market of each of these rows, which are of several platforms. */
export async function storedMarketOf(
  clickhouse: ClickHouse,
  rows: readonly { platform: Platform; ref: string }[],
): Promise<(platform: Platform, ref: string) => MarketRow | undefined> {
  const read = PLATFORMS.map(async (platform) => {
    const own = rows.filter((row) => row.platform === platform);
    return [platform, await portfolioMarkets(clickhouse, platform, own)] as const;
  });
  const markets = new Map(await Promise.all(read));
  return (platform, ref) => markets.get(platform)?.get(ref);
}

/** The key of the last position sent, and how many positions there are. */
export const HeldPosition = z.object({ after: z.string(), total: z.int() });
type HeldPosition = z.output<typeof HeldPosition>;

/** A page of positions by key, after the position of a cursor. */
export function heldPage<Row>(
  positions: readonly Row[],
  keyOf: (row: Row) => string,
  from: HeldPosition | null,
  limit: number,
): { rows: Row[]; total: number; next: HeldPosition | null } {
  const all = positions.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const rest = from ? all.filter((row) => keyOf(row) > from.after) : all;
  const rows = rest.slice(0, limit);
  const last = rest.length > limit ? rows.at(-1) : undefined;
  const total = from?.total ?? all.length;
  return { rows, total, next: last ? { after: keyOf(last), total } : null };
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
    ...outcomeOf(trade.outcome, market),
    price: decimalNumber(trade.price, PRICE_SCALE),
    size: decimalNumber(trade.size, SIZE_SCALE),
    timestamp: new Date(Math.floor(trade.executedAtUs / 1000)).toISOString(),
    metadata: trade.metadata,
  };
}

/** The stored outcome that was traded; of a market that is not stored, the name in the trade and the id derived from it. */
function outcomeOf(traded: UserTrade['outcome'], market: MarketRow | undefined): { outcome: string; label: string } {
  const index =
    ('id' in traded ? market?.outcome_ids.indexOf(traded.id) : market?.token_ids.indexOf(traded.tokenId)) ?? -1;
  const name = 'id' in traded ? '' : traded.name;
  const id = 'id' in traded ? traded.id : name === '' ? '' : (outcomeIds([name])[0] ?? '');
  return { outcome: market?.outcome_ids[index] ?? id, label: market?.outcome_names[index] ?? name };
}

/** One position as returned by the endpoint. */
export function toPosition(
  platform: Platform,
  position: UserPosition,
  market: MarketRow | undefined,
): z.input<typeof PositionAnswer> {
  const isSettled = market?.status === 'settled';
  // The platform may state its last mark, also of a position that can be redeemed.
  const isAsStored = isSettled || MANIFESTS[platform].pricesPositionsAsStored === true;
  const { averagePrice, currentPrice, value, pnl } = isAsStored ? valuedAsStored(position, market) : position.stated;
  const unstored = MANIFESTS[platform].positionsNameStatus ? (position.redeemable ? 'settled' : 'open') : '';
  return {
    platform,
    token_id: position.tokenId,
    market_id: market?.platform_id ?? position.ref,
    title: position.title || (market?.title ?? ''),
    label: position.label,
    market_status: market?.status ?? unstored,
    winning_outcome: winner(position, market),
    shares: Number(position.size),
    shares_normalized: decimalNumber(position.size, SIZE_SCALE),
    redeemable: position.redeemable ?? isSettled,
    average_price: decimalNumber(averagePrice, PRICE_SCALE),
    current_price: decimalNumber(currentPrice, PRICE_SCALE),
    value_usd: decimalNumber(value, USD_SCALE),
    pnl_usd: decimalNumber(pnl, USD_SCALE),
  };
}

/** The value of a position at the price of its outcome in the stored market, and the profit where the cost is known. */
function valuedAsStored(
  { ref, tokenId, size, isUsd, stated }: UserPosition,
  market: MarketRow | undefined,
): StatedValue {
  const { averagePrice, cost } = stated;
  const isHeld = (id: string, i: number) => market?.token_ids[i] === tokenId || `${ref}:${id}` === tokenId;
  const text = market?.prices[market.outcome_ids.findIndex(isHeld)] ?? null;
  if (text === null) return stated;
  const currentPrice = parsePrice(text);
  if (!isUsd) return { averagePrice, cost, currentPrice, value: null, pnl: null };
  const value = notionalUsd(currentPrice, size);
  return { averagePrice, cost, currentPrice, value, pnl: cost === null ? null : value - cost };
}

/** A settled market's prices are its payouts; a split has no winner. The platform's word counts until the stored market is settled. */
function winner(position: UserPosition, market: MarketRow | undefined): string {
  return market?.status === 'settled' ? (winningOutcome(market) ?? '') : position.winner;
}
