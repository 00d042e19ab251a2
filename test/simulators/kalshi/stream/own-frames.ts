import type { AccountFill, AccountOrder } from '../account.ts';
import type { Exchange } from '../exchange.ts';
import { countText, priceText, SECOND_US, timeText, usdText } from '../units.ts';

/** Why an order changed; absent for a placement. */
export type UpdateReason = 'Trade' | 'Decrease' | 'Amend' | 'ExpiryCancel' | 'CloseCancel' | 'SelfTradeCancel';

const msOf = (timeUs: number): number => Math.floor(timeUs / 1000);
const outcomeOf = ({ side }: AccountOrder) => (side === 'bid' ? 'yes' : 'no');

/** A fill of one's own, under the id of the public trade; the position includes it. */
export function fillFrame(exchange: Exchange, fill: AccountFill): Record<string, unknown> {
  const { order, position, price, count, isTaker, timeUs, fee } = fill;
  const outcome = outcomeOf(order);
  return {
    trade_id: exchange.tape.id(position),
    order_id: order.orderId,
    client_order_id: order.clientOrderId,
    market_ticker: order.market.ticker,
    exchange_index: order.market.spec.exchangeIndex,
    is_taker: isTaker,
    side: outcome,
    yes_price_dollars: priceText(price),
    count_fp: countText(count),
    fee_cost: usdText(fee),
    action: 'buy',
    ts: Math.floor(timeUs / SECOND_US),
    ts_ms: msOf(timeUs),
    post_position_fp: countText(order.account.positionIn(order.market).net),
    purchased_side: outcome,
    outcome_side: outcome,
    book_side: order.side,
  };
}

/** The whole order as it is after a change; its market is `ticker` here, `market_ticker` everywhere else. */
export function orderFrame(order: AccountOrder, reason?: UpdateReason): Record<string, unknown> {
  const { account, market, side, expirationMs } = order;
  return {
    order_id: order.orderId,
    user_id: account.userId,
    ticker: market.ticker,
    exchange_index: market.spec.exchangeIndex,
    status: order.status,
    side: outcomeOf(order),
    is_yes: side === 'bid',
    outcome_side: outcomeOf(order),
    book_side: side,
    yes_price_dollars: priceText(order.price),
    fill_count_fp: countText(order.fillCount),
    remaining_count_fp: countText(order.remainingCount),
    initial_count_fp: countText(order.initialCount),
    taker_fill_cost_dollars: usdText(order.takerCost),
    maker_fill_cost_dollars: usdText(order.makerCost),
    taker_fees_dollars: usdText(order.takerFees),
    maker_fees_dollars: usdText(order.makerFees),
    client_order_id: order.clientOrderId,
    ...(order.orderGroupId === null ? {} : { order_group_id: order.orderGroupId }),
    self_trade_prevention_type: order.selfTradePrevention,
    created_time: timeText(order.createdUs),
    created_ts_ms: msOf(order.createdUs),
    ...(reason === undefined ? {} : { last_updated_ts_ms: msOf(order.updatedUs), last_update_reason: reason }),
    ...(expirationMs === null
      ? {}
      : { expiration_time: timeText(expirationMs * 1000), expiration_ts_ms: expirationMs }),
    subaccount_number: order.subaccount,
  };
}
