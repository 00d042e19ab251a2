import { z } from 'zod';
import { PRICE_SCALE } from '../../core/decimal.ts';
import { isoFromEpoch } from '../market-fields.ts';
import {
  wireBaseUnits,
  wireInteger,
  wirePrice,
  wireSize,
  wireText,
  wireTradePrice,
  wireTradeSize,
  wireUsd,
  wireWeight,
} from '../parse-rows.ts';

/** Rows of /portfolio/{account}: books state base units as texts, pools and the history decimals. */

const group = z.object({ title: wireText }).nullish();
const market = z.object({ slug: z.string().min(1), title: wireText, group });
/** A price of 1e-6, as a price. */
const basePrice = wireBaseUnits.transform((units) => units * 10n ** BigInt(PRICE_SCALE - 6));

const outcomeIndex = wireInteger.pipe(z.union([z.literal(0), z.literal(1)]));

export const AccountHistory = z.object({ data: z.array(z.unknown()), nextCursor: z.string().nullish() });

/** A trade of the account, in either role; settlements have no strategy. */
export const HistoryRow = z.object({
  /** Unix seconds; milliseconds are taken too. */
  blockTimestamp: wireInteger.refine((value) => isoFromEpoch(value) !== null, 'not a time'),
  market: market.extend({ conditionId: wireText }),
  outcomeIndex,
  outcomeTokenAmount: wireTradeSize,
  outcomeTokenPrice: wireTradePrice,
  strategy: z.string(),
  transactionHash: wireText,
  /** Names the execution of a taker's order; each order that it fills has a row. */
  tradeEventId: z.string().nullish(),
  orderId: wireText,
  makerMatchId: wireText,
});
export type HistoryRow = z.output<typeof HistoryRow>;
export const HISTORY_ROW = {
  platform: 'limitless',
  kind: 'trade',
  idKey: 'transactionHash',
  essential: ['blockTimestamp', 'outcomeIndex', 'outcomeTokenAmount', 'outcomeTokenPrice', 'strategy'],
} as const;

const optionalRows = z
  .array(z.unknown())
  .nullish()
  .transform((rows) => rows ?? []);
/** Every market in which the account holds outcomes, or has working orders. */
export const AccountPortfolio = z.object({ clob: z.array(z.unknown()), group: optionalRows, amm: optionalRows });

const state = {
  status: wireText,
  winningOutcomeIndex: wireInteger.nullish(),
  payoutNumerators: z.array(wireWeight).nullish(),
};
/** What the platform states of a side; a position is known without it. */
const side = z
  .object({
    cost: wireBaseUnits.nullish(),
    fillPrice: basePrice.nullish(),
    marketValue: wireBaseUnits.nullish(),
    unrealizedPnl: wireBaseUnits.nullish(),
  })
  .nullish();

/** Both outcomes of one market with a book. */
export const BookPosition = z.object({
  market: market.extend({ ...state, yesPositionId: z.string(), noPositionId: z.string() }),
  positions: z.object({ yes: side, no: side }).nullish(),
  tokensBalance: z.object({ yes: wireBaseUnits, no: wireBaseUnits }),
  latestTrade: z.object({ latestYesPrice: wirePrice.nullish(), latestNoPrice: wirePrice.nullish() }).nullish(),
});
export type BookPosition = z.output<typeof BookPosition>;
export const BOOK_ROW = { platform: 'limitless', kind: 'market', idKey: 'slug', essential: ['tokensBalance'] } as const;

const collateral = z.object({ symbol: wireText }).nullish();
/** One outcome of a pool. Rows of the history name the collateral by the second key. */
export const PoolPosition = z.object({
  market: market.extend({ ...state, collateralToken: collateral, collateral }),
  outcomeIndex,
  outcomeTokenAmount: wireSize,
  averageFillPrice: wirePrice.nullish().transform((price) => price ?? null),
  unrealizedPnl: wireUsd.nullish().transform((usd) => usd ?? null),
  latestTrade: z.object({ outcomeTokenPrice: wirePrice.nullish() }).nullish(),
});
export type PoolPosition = z.output<typeof PoolPosition>;
export const POOL_ROW = {
  platform: 'limitless',
  kind: 'market',
  idKey: 'slug',
  essential: ['outcomeIndex', 'outcomeTokenAmount'],
} as const;
