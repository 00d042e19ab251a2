import { createHash } from 'node:crypto';
import { getAddress, isAddress } from 'viem/utils';
import { complement, notionalUsd, ONE_PRICE, type Size } from '../../core/decimal.ts';
import { PlatformError } from '../../core/errors.ts';
import { madeAt, statedAgeMs } from '../http/made-at.ts';
import type { PlatformReply } from '../http/request.ts';
import type { PlatformUsers, ReadContext } from '../contract.ts';
import { isoFromEpoch } from '../market-fields.ts';
import { isNotFound, isStatedNotFound, notReached, parseBody, parseRow, parseRows } from '../parse-rows.ts';
import type { StatedValue, UserPosition, UserPositions, UserTrade } from '../user-contract.ts';
import { nextPlace, placeOf } from '../users/places.ts';
import { requireUsable, type SourcePage, tradesAfter } from '../users/trade-pages.ts';
import type { LimitlessClient } from './client.ts';
import { textOf } from './event.ts';
import { filledTitle, yesPayout } from './market.ts';
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
  const get: LimitlessClient['get'] = (...request) => client.get(...request).catch(unlessStated);
  return {
    platform: 'limitless',
    smallestTrade: null,
    async userTrades(user, page, context) {
      const account = accountOf(user);
      const pageAt = async (place: string): Promise<SourcePage> => {
        const { cursor, seen } = placeOf(place);
        const reply = await get(`/portfolio/${account}/history`, { cursor, limit: HISTORY_PAGE }, context);
        return toPage(reply, { cursor, seen: new Map(seen) }, context);
      };
      return tradesAfter(account.toLowerCase(), pageAt, page);
    },
    async positions(user, context) {
      const account = accountOf(user);
      return toPositions(account.toLowerCase(), await get(`/portfolio/${account}/positions`, {}, context), context);
    },
  };
}

/** A 404 without JSON is a gateway's: it does not say that there is no such account. */
function unlessStated(error: unknown): never {
  throw isNotFound(error) && !isStatedNotFound(error) ? notReached(error) : error;
}

const madeAtOf = (reply: PlatformReply): string => madeAt({ receivedAt: reply.receivedAt, ageMs: statedAgeMs(reply) });

/** The path of an account is its checksummed address. */
function accountOf(user: string): string {
  if (isAddress(user, { strict: false })) return getAddress(user);
  throw new PlatformError('limitless', 'not_found', { detail: 'not a wallet' });
}

/** A page after `seen`, how often each name at the end of the page before has occurred. */
function toPage(
  reply: PlatformReply,
  { cursor, seen }: { cursor: string; seen: Map<string, number> },
  context: ReadContext,
): SourcePage {
  const { data, nextCursor } = parseBody('limitless', AccountHistory, reply, 'portfolio/history');
  const fills = data.filter((row) => FILL.test(textOf(row, 'strategy') ?? ''));
  const parsed = requireUsable(
    'limitless',
    'portfolio/history',
    fills.length,
    parseRows(HistoryRow, fills, HISTORY_ROW, context),
  );
  const rows = parsed.map(({ row }) => row);
  const trades = rows.map((row) => toTrade(row, tradeId(nameOf(row), seen)));
  // The next page may go on with rows of the same second.
  const last = rows.at(-1)?.blockTimestamp;
  const names = new Set(rows.filter((row) => row.blockTimestamp === last).map(nameOf));
  const carried = [...seen].filter(([name]) => rows.length === 0 || names.has(name));
  return {
    trades,
    next: nextPlace(nextCursor === cursor ? '' : (nextCursor ?? ''), carried),
    visibility: 'public',
    readAt: madeAtOf(reply),
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

/** The id of a row; the second row with the same name gets `.2`. Ids are unique, because a page is continued after an id. */
function tradeId(name: string, seen: Map<string, number>): string {
  const count = (seen.get(name) ?? 0) + 1;
  seen.set(name, count);
  return count === 1 ? name : `${name}.${count}`;
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
  executedAtUs: Date.parse(isoFromEpoch(row.blockTimestamp) ?? '') * 1000,
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
  return { user, visibility: 'public', readAt: madeAtOf(reply), positions, isAll, smallest: null };
}

const labelOf = (index: number): string => (index === 0 ? 'Yes' : 'No');

type Result = Pick<BookPosition['market'], 'status' | 'winningOutcomeIndex' | 'payoutNumerators'>;

/** What a market's status and payout say of any position in it; a split has no winner. Rows of pools may have no status. */
function resultOf(market: Result): Pick<UserPosition, 'redeemable' | 'winner'> {
  if (market.status !== 'RESOLVED') return { redeemable: market.status === '' ? null : false, winner: '' };
  const yes = yesPayout(market);
  return { redeemable: true, winner: yes === ONE_PRICE ? labelOf(0) : yes === 0n ? labelOf(1) : '' };
}

/**
 * The value of a position in a resolved market is its payout: Limitless goes on stating the last trade. `stated` is returned while the
 * market is not resolved; without a price it states a value of 0, which is unknown.
 */
function valueOf(stated: StatedValue, market: Result, { index, size }: { index: number; size: Size }): StatedValue {
  const { averagePrice, cost, currentPrice, value: statedValue } = stated;
  if (market.status !== 'RESOLVED') {
    return currentPrice === null && statedValue === 0n ? { ...stated, value: null, pnl: null } : stated;
  }
  const yes = yesPayout(market);
  if (yes === null) return { averagePrice, cost, currentPrice: null, value: null, pnl: null };
  const paid = index === 0 ? yes : complement(yes);
  const value = notionalUsd(paid, size);
  return { averagePrice, cost, currentPrice: paid, value, pnl: cost === null ? null : value - cost };
}

function bookPosition(
  { market, positions, tokensBalance, latestTrade }: BookPosition,
  side: 'yes' | 'no',
): UserPosition {
  const stated = positions?.[side];
  const index = side === 'yes' ? 0 : 1;
  const size = tokensBalance[side];
  return {
    ref: market.slug,
    tokenId: side === 'yes' ? market.yesPositionId : market.noPositionId,
    title: filledTitle(market.group?.title ?? '', market.title),
    label: labelOf(index),
    size,
    ...resultOf(market),
    isUsd: true,
    stated: valueOf(
      {
        averagePrice: stated?.fillPrice ?? null,
        cost: stated?.cost ?? null,
        currentPrice: (side === 'yes' ? latestTrade?.latestYesPrice : latestTrade?.latestNoPrice) ?? null,
        value: stated?.marketValue ?? null,
        pnl: stated?.unrealizedPnl ?? null,
      },
      market,
      { index, size },
    ),
  };
}

/** A pool names no tokens. Its amounts are in its collateral, which may not be USDC. */
function poolPosition({ market, outcomeIndex: index, outcomeTokenAmount: size, ...row }: PoolPosition): UserPosition {
  const isUsdc = (market.collateralToken ?? market.collateral)?.symbol === 'USDC';
  const averagePrice = isUsdc ? row.averageFillPrice : null;
  const cost = averagePrice === null ? null : notionalUsd(averagePrice, size);
  const currentPrice = row.latestTrade?.outcomeTokenPrice ?? null;
  const stated = { averagePrice, cost, currentPrice, value: null, pnl: isUsdc ? row.unrealizedPnl : null };
  const valued = valueOf(stated, market, { index, size });
  return {
    ref: market.slug,
    tokenId: `${market.slug}:${index === 0 ? 'yes' : 'no'}`,
    title: filledTitle(market.group?.title ?? '', market.title),
    label: labelOf(index),
    size,
    ...resultOf(market),
    isUsd: isUsdc,
    stated: isUsdc ? valued : { ...valued, value: null, pnl: null },
  };
}
