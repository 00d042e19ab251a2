import { createHash } from 'node:crypto';
import { getAddress, isAddress } from 'viem/utils';
import { PlatformError } from '../../core/errors.ts';
import type { PlatformReply } from '../http/request.ts';
import type { PlatformUsers, ReadContext } from '../contract.ts';
import { parseBody, parseRow, parseRows } from '../parse-rows.ts';
import type { UserPosition, UserPositions, UserTrade } from '../user-contract.ts';
import { requireUsable, type SourcePage, tradesAfter } from '../users/trade-pages.ts';
import type { LimitlessClient } from './client.ts';
import { textOf } from './event.ts';
import { filledTitle } from './market.ts';
import {
  AccountHistory,
  AccountPortfolio,
  BOOK_ROW,
  BookPosition,
  HISTORY_ROW,
  HistoryRow,
  POOL_ROW,
  PoolPosition,
} from './user-wire.ts';

/** The longest page. */
const HISTORY_PAGE = 100;
/** Fills of a book and of a pool; the history lists splits, merges, claims and settlements too. */
const FILL = /^(limit |market )?(buy|sell)$/i;

/** Limitless' accounts by wallet, whose portfolios are public. An account that never traded has an empty one. */
export function createLimitlessUsers(client: LimitlessClient): PlatformUsers {
  return {
    platform: 'limitless',
    smallestTrade: null,
    async userTrades(user, page, context) {
      const account = accountOf(user);
      const pageAt = async (cursor: string): Promise<SourcePage> =>
        toPage(await client.get(`/portfolio/${account}/history`, { cursor, limit: HISTORY_PAGE }, context), context);
      return tradesAfter(account.toLowerCase(), pageAt, page);
    },
    async positions(user, context) {
      const account = accountOf(user);
      return toPositions(
        account.toLowerCase(),
        await client.get(`/portfolio/${account}/positions`, {}, context),
        context,
      );
    },
  };
}

/** The path of an account is its checksummed address. */
function accountOf(user: string): string {
  if (isAddress(user, { strict: false })) return getAddress(user);
  throw new PlatformError('limitless', 'not_found', { detail: 'not a wallet' });
}

function toPage(reply: PlatformReply, context: ReadContext): SourcePage {
  const { data, nextCursor } = parseBody('limitless', AccountHistory, reply, 'portfolio/history');
  const fills = data.filter((row) => FILL.test(textOf(row, 'strategy') ?? ''));
  const parsed = requireUsable(
    'limitless',
    'portfolio/history',
    fills.length,
    parseRows(HistoryRow, fills, HISTORY_ROW, context),
  );
  const rows = parsed.map(({ row }) => row);
  const ids = tradeIds(rows);
  return {
    trades: rows.map((row, index) => toTrade(row, ids[index] ?? '')),
    next: nextCursor ?? '',
    visibility: 'public',
    readAt: reply.receivedAt,
    isWhole: parsed.length === fills.length,
  };
}

/** Rows of a book name their execution and the order that it filled; others are identified by what they contain. */
function nameOf(row: HistoryRow): string {
  const { tradeEventId, orderId, makerMatchId } = row;
  if (tradeEventId) return [tradeEventId, orderId, makerMatchId].filter((id) => id !== '').join(':');
  const { transactionHash, market, outcomeIndex, strategy, outcomeTokenAmount: size, blockTimestamp: at } = row;
  const text = [transactionHash, market.slug, outcomeIndex, strategy, size, at].join('|');
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/** Ids of the rows of a page; a second row with the same name gets `.2`. They are unique, because a page is continued after an id. */
function tradeIds(rows: readonly HistoryRow[]): string[] {
  const seen = new Map<string, number>();
  return rows.map((row) => {
    const name = nameOf(row);
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return count === 1 ? name : `${name}.${count}`;
  });
}

const toTrade = (row: HistoryRow, tradeId: string): UserTrade => ({
  tradeId,
  ref: row.market.slug,
  ticker: row.market.slug,
  title: filledTitle(row.market.group?.title ?? '', row.market.title),
  side: /buy/i.test(row.strategy) ? 'buy' : 'sell',
  outcome: { id: row.outcomeIndex === 0 ? 'yes' : 'no' },
  price: row.outcomeTokenPrice,
  size: row.outcomeTokenAmount,
  executedAtUs: row.blockTimestamp * 1_000_000,
  metadata: {
    maker_nickname: '',
    maker_action: '',
    strategy: row.strategy,
    condition_id: row.market.conditionId,
    transaction_hash: row.transactionHash,
  },
});

function toPositions(user: string, reply: PlatformReply, context: ReadContext): UserPositions {
  const { clob, group, amm } = parseBody('limitless', AccountPortfolio, reply, 'portfolio/positions');
  const books = [...clob, ...group].map((raw) => parseRow(BookPosition, raw, BOOK_ROW, context)?.row ?? null);
  const pools = amm.map((raw) => parseRow(PoolPosition, raw, POOL_ROW, context)?.row ?? null);
  const read = [
    ...books.map((row) => row && [bookPosition(row, 'yes'), bookPosition(row, 'no')]),
    ...pools.map((row) => row && [poolPosition(row)]),
  ];
  requireUsable('limitless', 'portfolio/positions', read.length, read.filter(Boolean));
  const positions = read.flatMap((held) => held ?? []).filter(({ size }) => size > 0n);
  const isAll = !read.includes(null);
  return { user, visibility: 'public', readAt: reply.receivedAt, positions, isAll, smallest: null };
}

const labelOf = (index: number | null): string => (index === null ? '' : index === 0 ? 'Yes' : 'No');

/** What a market's status and winner say of any position in it. */
const resultOf = ({ status, winningOutcomeIndex }: Pick<BookPosition['market'], 'status' | 'winningOutcomeIndex'>) =>
  status === 'RESOLVED'
    ? { redeemable: true, winner: labelOf(winningOutcomeIndex) }
    : { redeemable: false, winner: '' };

function bookPosition(
  { market, positions, tokensBalance, latestTrade }: BookPosition,
  side: 'yes' | 'no',
): UserPosition {
  const stated = positions?.[side];
  return {
    ref: market.slug,
    tokenId: side === 'yes' ? market.yesPositionId : market.noPositionId,
    title: filledTitle(market.group?.title ?? '', market.title),
    label: labelOf(side === 'yes' ? 0 : 1),
    size: tokensBalance[side],
    ...resultOf(market),
    stated: {
      averagePrice: stated?.fillPrice ?? null,
      currentPrice: (side === 'yes' ? latestTrade?.latestYesPrice : latestTrade?.latestNoPrice) ?? null,
      value: stated?.marketValue ?? null,
      pnl: stated?.unrealizedPnl ?? null,
    },
  };
}

/** A pool names no tokens. Its amounts are in its collateral, which may not be USDC. */
function poolPosition({ market, outcomeIndex, ...row }: PoolPosition): UserPosition {
  const isUsdc = (market.collateralToken ?? market.collateral)?.symbol === 'USDC';
  return {
    ref: market.slug,
    tokenId: `${market.slug}:${outcomeIndex === 0 ? 'yes' : 'no'}`,
    title: filledTitle(market.group?.title ?? '', market.title),
    label: labelOf(outcomeIndex),
    size: row.outcomeTokenAmount,
    ...resultOf(market),
    stated: {
      averagePrice: isUsdc ? row.averageFillPrice : null,
      currentPrice: row.latestTrade?.outcomeTokenPrice ?? null,
      value: null,
      pnl: isUsdc ? row.unrealizedPnl : null,
    },
  };
}
