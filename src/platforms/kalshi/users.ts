import { z } from 'zod';
import { complement } from '../../core/decimal.ts';
import { PlatformError } from '../../core/errors.ts';
import type { PlatformReply } from '../http/request.ts';
import { microseconds } from '../market-fields.ts';
import { type AdapterDeps, type ReadContext, type PlatformUsers } from '../contract.ts';
import { parseBody, parseRows, wireSize, wireText, wireTradePrice } from '../parse-rows.ts';
import type { UserPosition, UserTrade, Visibility } from '../user-contract.ts';
import type { KalshiUrl } from './manifest.ts';
import { type PositionPage, readPositions, toPosition } from './own-account.ts';
import { requireUsable, tradesAfter } from '../users/trade-pages.ts';
import { hasSize, tradeCounts, tradeSize } from './trade.ts';
import { anyOf } from './wire.ts';

/** Kalshi's social endpoints are public and undocumented: they may change or disappear at any time. */
const TRADES = '/social/trades';
const HOLDINGS = '/social/profile/holdings';
const PAGE_ROWS = 100;
const MAX_PAGES = 50;

/** A fill is not read without these. A nickname that cannot be read is a private party. */
const TRADE_ROW = {
  platform: 'kalshi',
  kind: 'trade',
  idKey: 'trade_id',
  essential: ['trade_id', 'ticker', 'price_dollars', 'count_fp', 'taker_side', 'create_date'],
} as const;
const NOT_THEIRS = { platform: 'kalshi', kind: 'trade', reason: 'not a fill of the requested user' } as const;
const EVENT_ROW = { platform: 'kalshi', kind: 'event', idKey: 'event_ticker' } as const;
const HOLDING_ROW = { platform: 'kalshi', kind: 'market', idKey: 'market_ticker' } as const;

/** A fill between two users; '' is a private party. Prices are the Yes side's, whatever each side traded. */
export const SocialTrade = z
  .object({
    trade_id: z.string().min(1),
    ticker: z.string().min(1),
    price_dollars: wireTradePrice,
    ...tradeCounts,
    taker_side: z.enum(['yes', 'no']),
    maker_nickname: wireText,
    taker_nickname: wireText,
    maker_action: wireText,
    maker_social_id: wireText,
    taker_social_id: wireText,
    create_date: z.string(),
  })
  .superRefine(hasSize);
export type SocialTrade = z.output<typeof SocialTrade>;

const rows = z.array(z.unknown());
/** A list without rows may be null. */
const SocialEvent = z.object({ market_holdings: rows.nullable().transform((listed) => listed ?? []) });
/** A position in one market; a negative one is in No. */
export const SocialHolding = z
  .object({
    market_ticker: z.string().min(1),
    signed_open_position_fp: wireSize.nullish(),
    signed_open_position: wireSize.nullish(),
  })
  .superRefine(anyOf('signed_open_position_fp', 'signed_open_position'));
export type SocialHolding = z.output<typeof SocialHolding>;

/** A body with the list in field `key`, which the body of a hidden profile may lack. */
const listBody = (key: 'trades' | 'holdings') =>
  z
    .object({ [key]: rows.nullish(), cursor: wireText, visibility_state: wireText })
    .transform(({ cursor, visibility_state: state, [key]: listed }, context) => {
      const visibility: Visibility = state === 'hidden' ? 'hidden' : 'public';
      if (listed === undefined && visibility === 'public') {
        context.addIssue({ code: 'custom', path: [key], message: 'missing' });
      }
      return { rows: (listed ?? []) as unknown[], next: cursor as string, visibility };
    });
const TradesBody = listBody('trades');
const HoldingsBody = listBody('holdings');

/** Kalshi's users by nickname. */
export function createKalshiUsers({
  http,
  settings,
}: Pick<AdapterDeps<KalshiUrl>, 'http' | 'settings'>): PlatformUsers {
  const get = (path: string, query: Record<string, string>, context: ReadContext): Promise<PlatformReply> =>
    http
      .send({
        platform: 'kalshi',
        group: 'kalshi:social',
        method: 'GET',
        url: `${settings.KALSHI_SOCIAL_URL}${path}?${new URLSearchParams(query)}`,
        priority: context.priority,
        user: context.user,
        signal: context.signal,
        retry: true,
      })
      .catch((error: unknown) => {
        throw outOfReach(path, error);
      });

  const tradePage = async (nickname: string, cursor: string, context: ReadContext) => {
    const reply = await get(TRADES, { nickname, page_size: String(PAGE_ROWS), ...(cursor && { cursor }) }, context);
    const { rows: listed, ...page } = parseBody('kalshi', TradesBody, reply, TRADES);
    const trades = parseRows(SocialTrade, listed, TRADE_ROW, context).flatMap(({ row }) => {
      const trade = mapKalshiUserTrade(row, nickname);
      if (!trade) context.onBadRow({ ...NOT_THEIRS, id: row.trade_id });
      return trade ?? [];
    });
    return {
      ...page,
      trades: requireUsable('kalshi', TRADES, listed.length, trades),
      readAt: reply.receivedAt,
      isWhole: trades.length === listed.length,
    };
  };

  const positionPage = async (nickname: string, cursor: string, context: ReadContext): Promise<PositionPage> => {
    const query = { nickname, limit: String(PAGE_ROWS), closed_positions: 'false', ...(cursor && { cursor }) };
    const reply = await get(HOLDINGS, query, context);
    const { rows: groups, ...page } = parseBody('kalshi', HoldingsBody, reply, HOLDINGS);
    const events = parseRows(SocialEvent, groups, EVENT_ROW, context);
    requireUsable('kalshi', HOLDINGS, groups.length, events);
    const listed = events.flatMap(({ row }) => row.market_holdings);
    const held = parseRows(SocialHolding, listed, HOLDING_ROW, context);
    requireUsable('kalshi', HOLDINGS, listed.length, held);
    return {
      ...page,
      positions: held.flatMap(({ row }) => mapKalshiHolding(row) ?? []),
      readAt: reply.receivedAt,
      isWhole: events.length === groups.length && held.length === listed.length,
    };
  };

  return {
    platform: 'kalshi',
    smallestTrade: null,
    userTrades: (user, page, context) => tradesAfter(user, (cursor) => tradePage(user, cursor, context), page),
    positions: (user, context) => readPositions(user, (cursor) => positionPage(user, cursor, context), MAX_PAGES),
  };
}

/** A rejection, or a 404 without Kalshi's JSON, is not the fault of a credential or a nickname; the error names the endpoint. */
function outOfReach(path: string, error: unknown): unknown {
  if (!(error instanceof PlatformError)) return error;
  const { kind, status, detail, body } = error;
  const blocked = kind === 'unauthorized' || kind === 'geo_blocked';
  if (!blocked && !(kind === 'not_found' && body === undefined)) return error;
  const options = { status, detail: `${path}: ${detail}`, cause: error };
  return new PlatformError('kalshi', blocked ? 'geo_blocked' : 'unavailable', options);
}

/**
 * A fill seen from `nickname`: the taker bought `taker_side`, the maker the other outcome at 1 − p. `maker_action` is often empty or
 * wrong. In a trade with oneself the user counts as the taker. Null if the fill is not the user's, or lacks time or size.
 */
export function mapKalshiUserTrade(row: SocialTrade, nickname: string): UserTrade | null {
  const same = (name: string): boolean => name.toLowerCase() === nickname.toLowerCase();
  const executedAtUs = microseconds(row.create_date);
  const size = tradeSize(row);
  const taker = same(row.taker_nickname);
  if (executedAtUs === null || size === null || !(taker || same(row.maker_nickname))) return null;
  const outcome = taker === (row.taker_side === 'yes') ? 'yes' : 'no';
  return {
    tradeId: row.trade_id,
    ref: row.ticker,
    ticker: row.ticker,
    title: '',
    side: 'buy',
    outcome: { id: outcome },
    price: outcome === 'yes' ? row.price_dollars : complement(row.price_dollars),
    size,
    executedAtUs,
    metadata: {
      maker_nickname: row.maker_nickname,
      maker_action: row.maker_action,
      maker_social_id: row.maker_social_id,
      taker_nickname: row.taker_nickname,
      taker_social_id: row.taker_social_id,
    },
  };
}

/** The position in one market; null if it is flat, as markets that stay listed are. */
export const mapKalshiHolding = (row: SocialHolding): UserPosition | null =>
  toPosition(row.market_ticker, row.signed_open_position_fp ?? row.signed_open_position ?? 0n);
