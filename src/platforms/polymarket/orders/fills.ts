import { complement, divideHalfEven, type Price, type Size, type Usd } from '../../../core/decimal.ts';
import type { StoredMarket } from '../../contract.ts';
import { takerFee } from '../fees.ts';
import type { ClobTrade } from './rows.ts';

/** The result of one order according to its trades. Failed trades are ignored. */
export interface OrderFills {
  size: Size;
  /** Σ price × size in terms of the order's own token, unrounded: ×10^16. */
  cost: bigint;
  /** null if the market's fee is unknown. */
  takerFee: Usd | null;
  tradeIds: string[];
  /** Trades that do not count: failed, or being settled again. */
  undoneIds: string[];
  /** Unix seconds of the last match; null without one. */
  lastAt: number | null;
  /** A counted trade is not final on the chain yet. */
  unconfirmed: boolean;
  /** A trade is being settled again and may still fail. */
  retrying: boolean;
  /** A trade has failed, so the matched amount in the order's row is not the filled amount. */
  failed: boolean;
}

/** A taker's fee for one trade; null if the market or its fee is unknown. */
export const feeOf = (market: StoredMarket | null, price: Price, size: Size): Usd | null =>
  market === null ? null : takerFee(market.metadata, price, size);

/** The mean price of this number of shares; null for 0. */
export const meanPrice = (cost: bigint, size: Size): Price | null => (size > 0n ? divideHalfEven(cost, size) : null);

/** An order's part in trades, as their taker or as one of their makers. */
export function fillsOf(orderId: string, trades: readonly ClobTrade[], market: StoredMarket | null): OrderFills {
  const fills: OrderFills = {
    size: 0n,
    cost: 0n,
    takerFee: 0n,
    tradeIds: [],
    undoneIds: [],
    lastAt: null,
    unconfirmed: false,
    retrying: false,
    failed: false,
  };
  for (const trade of trades) {
    const takes = trade.taker_order_id === orderId;
    const part = takes ? takerPart(trade) : makerPart(orderId, trade);
    if (part === null) continue;
    fills.retrying ||= trade.status === 'RETRYING';
    fills.failed ||= trade.status === 'FAILED';
    if (trade.status === 'RETRYING' || trade.status === 'FAILED') {
      fills.undoneIds.push(trade.id);
      continue;
    }
    fills.unconfirmed ||= trade.status !== 'CONFIRMED';
    const fee = takes ? feeOf(market, meanPrice(part.cost, part.size) ?? trade.price, part.size) : 0n;
    fills.size += part.size;
    fills.cost += part.cost;
    fills.takerFee = fills.takerFee === null || fee === null ? null : fills.takerFee + fee;
    fills.tradeIds.push(trade.id);
    fills.lastAt = Math.max(fills.lastAt ?? 0, trade.match_time ?? trade.last_update ?? 0) || fills.lastAt;
  }
  return fills;
}

/** Exact sum of the makers' amounts if all makers are listed; else from the trade's own price. */
function takerPart(trade: ClobTrade): { size: Size; cost: bigint } {
  const { size, asset_id: token, maker_orders: makers } = trade;
  const matched = makers.reduce((sum, maker) => sum + maker.matched_amount, 0n);
  if (matched !== size) return { size, cost: size * trade.price };
  const cost = makers.reduce(
    (sum, { asset_id, price, matched_amount }) =>
      sum + matched_amount * (asset_id === token ? price : complement(price)),
    0n,
  );
  return { size, cost };
}

function makerPart(orderId: string, trade: ClobTrade): { size: Size; cost: bigint } | null {
  const own = trade.maker_orders.filter((maker) => maker.order_id === orderId);
  if (own.length === 0) return null;
  return {
    size: own.reduce((sum, maker) => sum + maker.matched_amount, 0n),
    cost: own.reduce((sum, maker) => sum + maker.matched_amount * maker.price, 0n),
  };
}
