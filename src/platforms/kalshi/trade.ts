import { z } from 'zod';
import { complement, type Price, type Size } from '../../core/decimal.ts';
import type { TradeRecord } from '../../core/model.ts';
import { microseconds } from '../market-fields.ts';
import { wireFlag, wireLevelSize, wireTradePrice } from '../parse-rows.ts';
import { anyOf, oldPrice, side } from './wire.ts';

const price = wireTradePrice.nullish();
const count = wireLevelSize.nullish();

/** The size of a trade in two forms: the whole count of a part of a contract is 0. */
export const tradeCounts = { count_fp: count, count };
type TradeCounts = { [Form in keyof typeof tradeCounts]?: Size | null | undefined };

/** The form that is above 0; null if there is none. */
export const tradeSize = ({ count_fp: exact, count: whole }: TradeCounts): Size | null => exact || whole || null;

/** Refuses a trade without a size. */
export const hasSize = (trade: TradeCounts, context: z.RefinementCtx): void => {
  if (tradeSize(trade) === null) {
    context.addIssue({ code: 'custom', path: ['count_fp'], message: 'expected a size above 0' });
  }
};

interface TradeTerms {
  yes_price_dollars?: Price | null | undefined;
  no_price_dollars?: Price | null | undefined;
  yes_price?: Price | null | undefined;
  taker_outcome_side?: 'yes' | 'no' | null | undefined;
  taker_book_side?: 'bid' | 'ask' | null | undefined;
  taker_side?: 'yes' | 'no' | null | undefined;
}

/** The price of Yes, or 1 − that of No where the row states only this one; the retired form counts without both. */
function yesPriceOf({ yes_price_dollars: yes, no_price_dollars: no, yes_price: retired }: TradeTerms): Price | null {
  return yes ?? (no === null || no === undefined ? null : complement(no)) ?? retired ?? null;
}

/** The outcome the taker bought; Kalshi's feed has no sells, and `bid` is the Yes side of its one book. */
function takerOutcome({
  taker_outcome_side: outcome,
  taker_book_side: book,
  taker_side: retired,
}: TradeTerms): 'yes' | 'no' {
  if (outcome) return outcome;
  if (book) return book === 'bid' ? 'yes' : 'no';
  return retired ?? 'yes';
}

/** What the taker paid. */
function paidPriceOf(terms: TradeTerms): Price | null {
  const yesPrice = yesPriceOf(terms);
  return yesPrice === null || takerOutcome(terms) === 'yes' ? yesPrice : complement(yesPrice);
}

const isPaid = (row: TradeTerms, context: z.RefinementCtx): void => {
  if (paidPriceOf(row) === 0n) {
    context.addIssue({ code: 'custom', path: ['yes_price_dollars'], message: 'expected a price above 0' });
  }
};

export const KalshiTrade = z
  .object({
    trade_id: z.string().min(1),
    ticker: z.string().min(1),
    ...tradeCounts,
    yes_price_dollars: price,
    yes_price: oldPrice,
    no_price_dollars: price,
    taker_outcome_side: side.nullish(),
    taker_book_side: z.enum(['bid', 'ask']).nullish(),
    taker_side: side.nullish(),
    created_time: z.string(),
    is_block_trade: wireFlag,
  })
  .superRefine(hasSize)
  .superRefine(anyOf('yes_price_dollars', 'yes_price', 'no_price_dollars'))
  .superRefine(isPaid)
  .superRefine(anyOf('taker_outcome_side', 'taker_book_side', 'taker_side'));
export type KalshiTrade = z.output<typeof KalshiTrade>;
/** A trade is not read without its market, size, price and time. The retired form of a size or price counts only without the other. */
export const TRADE_ROW = {
  platform: 'kalshi',
  kind: 'trade',
  idKey: 'trade_id',
  essential: ['trade_id', 'ticker', 'count_fp', 'yes_price_dollars', 'created_time'],
} as const;

/** A trade of Kalshi's public feed in terms of the outcome bought; null if its time is invalid. */
export function mapKalshiTrade(trade: KalshiTrade): TradeRecord | null {
  const executedAtUs = microseconds(trade.created_time);
  const price = paidPriceOf(trade);
  const size = tradeSize(trade);
  if (executedAtUs === null || price === null || size === null) return null;
  const outcome = takerOutcome(trade);
  return {
    platform: 'kalshi',
    ref: trade.ticker,
    tradeId: trade.trade_id,
    executedAtUs,
    side: 'buy',
    outcome,
    outcomeIndex: outcome === 'yes' ? 0 : 1,
    outcomeCount: 2,
    price,
    size,
    transactionHash: '',
    trader: null,
    isBlockTrade: trade.is_block_trade ?? false,
    quoteUsd: null,
  };
}
