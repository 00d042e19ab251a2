import { z } from 'zod';
import { decimalNumber, divideHalfEven, ONE_PRICE, type Size, type Usd, USD_SCALE } from '../../core/decimal.ts';
import type { PlatformUsers } from '../contract.ts';
import { microseconds } from '../market-fields.ts';
import type { OrderAccess } from '../order-contract.ts';
import { firstPages } from '../list-pages.ts';
import {
  parseRows,
  wireFlag,
  wireOptional,
  wireSize,
  wireText,
  wireTradePrice,
  wireTradeSize,
  wireUsd,
} from '../parse-rows.ts';
import {
  NOTHING_STATED,
  type UserPosition,
  type UserPositions,
  type UserTrade,
  type Visibility,
} from '../user-contract.ts';
import { requireUsable, type SourcePage, tradesAfter } from '../users/trade-pages.ts';
import { createCutoff } from './archive-cutoff.ts';
import type { KalshiQuery } from './client.ts';
import type { KalshiAccount } from './signed-client.ts';
import { anyOf, ownSides, withOutcome } from './wire.ts';

const FILLS = '/portfolio/fills';
const ARCHIVED_FILLS = '/historical/fills';
/** Cursor of the archive's first page; those of later pages add its end, in Unix s, and Kalshi's cursor. */
const ARCHIVE = 'archive';
const IN_ARCHIVE = /^archive(?::(\d+):(.*))?$/;
const POSITIONS = '/portfolio/positions';
/** A fill is not read without these; its order, its role and its fee may be unknown. */
const FILL_ROW = {
  platform: 'kalshi',
  kind: 'trade',
  idKey: 'trade_id',
  essential: ['trade_id', 'ticker', 'count_fp', 'yes_price_dollars', 'no_price_dollars', 'created_time'],
} as const;
const POSITION_ROW = {
  platform: 'kalshi',
  kind: 'market',
  idKey: 'ticker',
  essential: ['ticker', 'position_fp'],
} as const;
const PAGE_ROWS = 200;
const POSITION_ROWS = 1000;
/** Newest fills in which a subaccount is looked for. */
const SUBACCOUNT_ROWS = 1000;
const MAX_PAGES = 20;

/** A fill of the account, from its own side. */
const OwnFill = z
  .object({
    trade_id: z.string().min(1),
    ticker: z.string().min(1),
    order_id: wireText,
    ...ownSides,
    count_fp: wireTradeSize,
    yes_price_dollars: wireTradePrice,
    no_price_dollars: wireTradePrice,
    is_taker: wireFlag,
    fee_cost: wireOptional(wireUsd),
    created_time: z.string(),
  })
  .superRefine(anyOf('outcome_side', 'book_side'))
  .transform(withOutcome);
type OwnFill = z.output<typeof OwnFill>;

/** The main account is 0. Fills are listed of all subaccounts, positions of one. */
const OfSubaccount = z.object({ subaccount_number: z.number().positive() });

/** One net position per market; a negative one is in No, and a flat one stays listed. */
const OwnPosition = z.object({
  ticker: z.string().min(1),
  position_fp: wireSize,
  /** What the open contracts cost, without fees. */
  market_exposure_dollars: wireUsd.nullish().transform((usd) => usd ?? null),
});

/** Fills and positions of the member whose credential signs; `user` is only repeated in the answer. */
export function createOwnKalshi(
  account: KalshiAccount,
  { onBadRow, priority }: Pick<OrderAccess<'kalshi'>, 'onBadRow' | 'priority'>,
  now: () => number,
): PlatformUsers {
  const context = { onBadRow, priority };
  const readCutoff = createCutoff({ get: (path, query) => account.get(path, query) }, now);
  const isoNow = (): string => new Date(now()).toISOString();

  const fillsOf = async (path: string, query: KalshiQuery): Promise<SourcePage> => {
    const readAt = isoNow();
    const page = await account.page(path, 'fills', { limit: PAGE_ROWS, ...query });
    const trades = parseRows(OwnFill, page.rows, FILL_ROW, context).flatMap(({ row }) => toTrade(row) ?? []);
    return {
      trades: requireUsable('kalshi', path, page.rows.length, trades),
      next: page.next,
      isWhole: trades.length === page.rows.length,
      visibility: 'public',
      readAt,
    };
  };

  /** Reads pages of the live list, which silently ends at the cutoff, and then of the archive. Each fill is returned once. */
  const fillPages = (): ((cursor: string) => Promise<SourcePage>) => {
    const returned = new Set<string>();
    return async (cursor) => {
      const archived = IN_ARCHIVE.exec(cursor);
      const page = archived ? await archivePage(archived) : await fillsOf(FILLS, { cursor });
      const trades = page.trades.filter(({ tradeId }) => !returned.has(tradeId));
      for (const { tradeId } of trades) returned.add(tradeId);
      return { ...page, trades, next: archived ? page.next : page.next || ARCHIVE };
    };
  };

  const archivePage = async ([, end, cursor = '']: RegExpExecArray): Promise<SourcePage> => {
    // Read after the live list: what has left that list is in the archive.
    const max_ts = end === undefined ? await readCutoff('trades_created_ts', 0, context) : Number(end);
    const page = await fillsOf(ARCHIVED_FILLS, { max_ts, cursor });
    return { ...page, next: page.next === '' ? '' : `${ARCHIVE}:${max_ts}:${page.next}` };
  };

  const positionPage = async (cursor: string): Promise<PositionPage> => {
    const readAt = isoNow();
    const query = { limit: POSITION_ROWS, count_filter: 'position', cursor };
    const page = await account.page(POSITIONS, 'market_positions', query);
    const parsed = parseRows(OwnPosition, page.rows, POSITION_ROW, context);
    const rows = requireUsable('kalshi', POSITIONS, page.rows.length, parsed);
    return {
      positions: rows.flatMap(({ row }) => toPosition(row.ticker, row.position_fp, row.market_exposure_dollars) ?? []),
      next: page.next,
      visibility: 'public',
      readAt,
      isWhole: rows.length === page.rows.length,
    };
  };

  return {
    platform: 'kalshi',
    smallestTrade: null,
    userTrades: (user, page) => tradesAfter(user, fillPages(), page),
    async positions(user) {
      const [held, { rows }] = await Promise.all([
        readPositions(user, positionPage, MAX_PAGES),
        account.page(FILLS, 'fills', { limit: SUBACCOUNT_ROWS }),
      ]);
      return rows.some((row) => OfSubaccount.safeParse(row).success) ? { ...held, isAll: false } : held;
    },
  };
}

/** Kalshi expresses every fill as a purchase; null without a time. */
function toTrade(row: OwnFill): UserTrade | null {
  const executedAtUs = microseconds(row.created_time);
  if (executedAtUs === null) return null;
  return {
    tradeId: row.trade_id,
    ref: row.ticker,
    ticker: row.ticker,
    title: '',
    side: 'buy',
    outcome: { id: row.outcome_side },
    price: row.outcome_side === 'yes' ? row.yes_price_dollars : row.no_price_dollars,
    size: row.count_fp,
    executedAtUs,
    metadata: {
      maker_nickname: '',
      maker_action: '',
      ...(row.is_taker === null ? {} : { is_taker: row.is_taker }),
      order_id: row.order_id,
      ...(row.fee_cost === null ? {} : { fee: decimalNumber(row.fee_cost, USD_SCALE) }),
    },
  };
}

/** A page of positions, one per market. */
export interface PositionPage {
  positions: readonly UserPosition[];
  /** Cursor of the next page; '' after the last one. */
  next: string;
  visibility: Visibility;
  /** ISO time. */
  readAt: string;
  /** Whether every row was readable. */
  isWhole: boolean;
}

/** All positions of a user, page by page; `isAll` is false if `maxPages` did not reach the end or a row was unreadable. */
export async function readPositions(
  user: string,
  readPage: (cursor: string) => Promise<PositionPage>,
  maxPages: number,
): Promise<UserPositions> {
  const { pages, end } = await firstPages(maxPages, readPage);
  const held = new Map<string, UserPosition>();
  let visibility: Visibility = 'public';
  let isAll = end !== 'more';
  for (const page of pages) {
    for (const position of page.positions) held.set(position.tokenId, position);
    ({ visibility } = page);
    isAll &&= page.isWhole;
  }
  const readAt = pages[0]?.readAt ?? '';
  return { user, visibility, readAt, positions: [...held.values()], isAll, smallest: null };
}

/** The position in one market, Yes above 0 and No below, and what it cost if that is known; null if flat. */
export function toPosition(ticker: string, signed: Size, cost: Usd | null = null): UserPosition | null {
  if (signed === 0n) return null;
  const size = signed < 0n ? -signed : signed;
  return {
    ref: ticker,
    tokenId: `${ticker}:${signed > 0n ? 'yes' : 'no'}`,
    title: '',
    label: signed > 0n ? 'Yes' : 'No',
    size,
    redeemable: false,
    winner: '',
    isUsd: true,
    stated: { ...NOTHING_STATED, averagePrice: cost === null ? null : divideHalfEven(cost * ONE_PRICE, size), cost },
  };
}
