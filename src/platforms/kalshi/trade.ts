import { complement, type Price } from '../../core/decimal.ts';
import type { TradeRecord } from '../../core/model.ts';
import { microseconds } from '../market-fields.ts';
import { tradeSize, type KalshiTrade } from './wire.ts';

/** The outcome the taker bought; Kalshi's feed has no sells, and `bid` is the Yes side of its one book. */
function takerOutcome(trade: KalshiTrade): 'yes' | 'no' {
  if (trade.taker_outcome_side) return trade.taker_outcome_side;
  if (trade.taker_book_side) return trade.taker_book_side === 'bid' ? 'yes' : 'no';
  return trade.taker_side ?? 'yes';
}

/** The price of Yes, or 1 − that of No where the row states only this one; the retired form counts without both. */
function yesPriceOf({ yes_price_dollars: yes, no_price_dollars: no, yes_price: retired }: KalshiTrade): Price | null {
  return yes ?? (no === null || no === undefined ? null : complement(no)) ?? retired ?? null;
}

/** A trade of Kalshi's public feed in terms of the outcome bought; null if its time is invalid. */
export function mapKalshiTrade(trade: KalshiTrade): TradeRecord | null {
  const executedAtUs = microseconds(trade.created_time);
  const yesPrice = yesPriceOf(trade);
  const size = tradeSize(trade);
  if (executedAtUs === null || yesPrice === null || size === null) return null;
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
    price: outcome === 'yes' ? yesPrice : complement(yesPrice),
    size,
    transactionHash: '',
    trader: null,
    isBlockTrade: trade.is_block_trade ?? false,
    quoteUsd: null,
  };
}
