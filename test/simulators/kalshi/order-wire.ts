import { divideHalfUp, fixedText, scaledInteger } from '../lib/index.ts';
import type { Account, AccountFill, AccountOrder } from './account.ts';
import { type PrivateCall, WireError } from './call.ts';
import { type DeskSettings, type NewOrder, invalidOrder } from './desk.ts';
import type { Exchange } from './exchange.ts';
import { cost, countText, ONE_DOLLAR, priceText, timeText, usdText } from './units.ts';

export type Body = Record<string, unknown>;

const invalid = (name: string): WireError => new WireError(400, 'invalid_parameters', 'invalid parameters', name);

export function parseBody(text: string): Body {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // Falls through to the refusal of everything that is not a JSON object.
  }
  throw new WireError(400, 'bad_request', 'bad request', 'body is not a JSON object');
}

export function required(body: Body, names: readonly string[]): void {
  const missing = names.filter((name) => body[name] === undefined || body[name] === null || body[name] === '');
  if (missing.length > 0) throw new WireError(400, 'missing_parameters', 'missing parameters', missing.join(','));
}

function oneOf<T extends string>(body: Body, name: string, words: readonly T[]): T {
  const word = words.find((one) => one === body[name]);
  if (word === undefined) throw invalid(name);
  return word;
}

export function text(body: Body, name: string): string | null {
  const value = body[name];
  if (value === undefined || value === null || value === '') return null;
  if (typeof value !== 'string' || value.length > 64) throw invalid(name);
  return value;
}

export function number(body: Body, name: string): number | null {
  const value = body[name];
  if (value === undefined || value === null) return null;
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw invalid(name);
  return value;
}

function truth(body: Body, name: string): boolean {
  const value = body[name] ?? false;
  if (typeof value !== 'boolean') throw invalid(name);
  return value;
}

/** A price in dollars with at most four decimals; only strings will do. */
export function price(body: Body): number {
  const value = typeof body.price === 'string' ? scaledInteger(body.price, 4) : null;
  if (value === null || value < 0n || value > BigInt(ONE_DOLLAR)) throw invalid('price');
  return Number(value);
}

/** A number of contracts with at most two decimals. */
export function count(body: Body, name: string): number {
  const value = typeof body[name] === 'string' ? scaledInteger(body[name], 2) : null;
  if (value === null) throw invalid(name);
  if (value <= 0n || value > 10n ** 11n) throw new WireError(400, 'invalid_order_size', 'invalid order size');
  return Number(value);
}

const SIDES = ['bid', 'ask'] as const;
export const side = (body: Body): (typeof SIDES)[number] => oneOf(body, 'side', SIDES);

const LAST_SUBACCOUNT = 63;

/** The subaccount that a request names; null: none. A key that is locked to one may name none, not even its own. */
export function namedSubaccount({ account, request }: PrivateCall, value: unknown): number | null {
  if (value === undefined || value === null) return lockOf(account, request.headers);
  const number = Number(value);
  if (!Number.isInteger(number) || number < 0 || number > LAST_SUBACCOUNT) throw invalid('subaccount');
  if (lockOf(account, request.headers) === null) return number;
  throw new WireError(403, 'forbidden', 'forbidden', 'key is locked to a subaccount');
}

const lockOf = ({ keys }: Account, headers: Record<string, string | undefined>): number | null =>
  keys.find(({ id }) => id === headers['kalshi-access-key'])?.lockedTo ?? null;

/** Checks the form of a create request, in the order the platform names what is wrong: missing, invalid, contradictory. */
export function parseNewOrder(call: PrivateCall, body: Body): NewOrder {
  const { nowMs } = call.exchange;
  required(body, ['ticker', 'side', 'price', 'count', 'time_in_force', 'self_trade_prevention_type']);
  const shard = number(body, 'exchange_index');
  const expiration = number(body, 'expiration_time');
  const order: NewOrder = {
    ticker: text(body, 'ticker') ?? '',
    side: side(body),
    price: price(body),
    count: count(body, 'count'),
    timeInForce: oneOf(body, 'time_in_force', ['good_till_canceled', 'immediate_or_cancel', 'fill_or_kill'] as const),
    selfTradePrevention: oneOf(body, 'self_trade_prevention_type', ['taker_at_cross', 'maker'] as const),
    clientOrderId: text(body, 'client_order_id'),
    expirationMs: expiration === null ? null : expiration * 1000,
    postOnly: truth(body, 'post_only'),
    reduceOnly: truth(body, 'reduce_only'),
    cancelOnPause: truth(body, 'cancel_order_on_pause'),
    orderGroupId: text(body, 'order_group_id'),
    subaccount: namedSubaccount(call, body.subaccount) ?? 0,
    exchangeIndex: shard === null || shard === -1 ? null : shard,
  };
  const waits = order.timeInForce === 'good_till_canceled';
  if (order.expirationMs !== null && (!waits || order.expirationMs <= nowMs)) throw invalid('expiration_time');
  if (order.postOnly && !waits) throw invalidOrder('post_only can only be used with good_till_canceled orders');
  if (order.reduceOnly && order.timeInForce !== 'immediate_or_cancel') {
    throw invalidOrder('reduce_only can only be used with IoC orders');
  }
  return order;
}

/** The flat answer to a create or an amend: averages only when something was filled, the price in YES terms. */
export function orderReply(exchange: Exchange, order: AccountOrder): Body {
  const yesCost = order.fills.reduce((sum, fill) => sum + cost(fill.price, fill.count), 0n);
  const filled = BigInt(order.fillCount);
  const fees = order.takerFees + order.makerFees;
  return {
    order_id: order.orderId,
    client_order_id: order.clientOrderId,
    fill_count: countText(order.fillCount),
    remaining_count: countText(order.remainingCount),
    ...(filled > 0n
      ? {
          average_fill_price: priceText(Number(divideHalfUp(yesCost, filled))),
          // Per contract and cut off, so that it times the count is less than what was paid.
          average_fee_paid: fixedText(fees / filled, 4, 4),
        }
      : {}),
    ts_ms: exchange.nowMs,
  };
}

/** An order as reads show it: fills younger than the delay are not there yet. */
export function orderWire(exchange: Exchange, order: AccountOrder, settings: DeskSettings): Body {
  const hidden = order.fills.filter((fill) => !isVisible(exchange, fill, settings));
  const late = (isTaker: boolean, of: (fill: AccountFill) => bigint): bigint =>
    hidden.filter((fill) => fill.isTaker === isTaker).reduce((sum, fill) => sum + of(fill), 0n);
  const lateCount = hidden.reduce((sum, fill) => sum + fill.count, 0);
  const yes = order.side === 'bid';
  return {
    order_id: order.orderId,
    user_id: order.account.userId,
    client_order_id: order.clientOrderId,
    ticker: order.market.ticker,
    outcome_side: yes ? 'yes' : 'no',
    book_side: order.side,
    side: yes ? 'yes' : 'no',
    action: 'buy',
    type: 'limit',
    status: lateCount > 0 ? 'resting' : order.status,
    yes_price_dollars: priceText(order.price),
    no_price_dollars: priceText(ONE_DOLLAR - order.price),
    initial_count_fp: countText(order.initialCount),
    fill_count_fp: countText(order.fillCount - lateCount),
    remaining_count_fp: countText(order.remainingCount + lateCount),
    taker_fill_cost_dollars: usdText(order.takerCost - late(true, (fill) => fill.cost)),
    maker_fill_cost_dollars: usdText(order.makerCost - late(false, (fill) => fill.cost)),
    taker_fees_dollars: usdText(order.takerFees - late(true, (fill) => fill.fee)),
    maker_fees_dollars: usdText(order.makerFees - late(false, (fill) => fill.fee)),
    created_time: timeText(order.createdUs),
    last_update_time: timeText(order.updatedUs),
    expiration_time: order.expirationMs === null ? null : timeText(order.expirationMs * 1000),
    self_trade_prevention_type: order.selfTradePrevention,
    order_group_id: order.orderGroupId,
    cancel_order_on_pause: order.cancelOnPause,
    subaccount_number: order.subaccount,
    exchange_index: order.market.spec.exchangeIndex,
  };
}

export const isVisible = (exchange: Exchange, fill: AccountFill, settings: DeskSettings): boolean =>
  settings.fillDelayMs === 0 || fill.timeUs / 1000 + settings.fillDelayMs <= exchange.nowMs;

export function fillWire(exchange: Exchange, fill: AccountFill): Body {
  const { order, price: yesPrice, timeUs } = fill;
  const id = exchange.tape.id(fill.position);
  const outcome = order.side === 'bid' ? 'yes' : 'no';
  return {
    fill_id: id,
    trade_id: id,
    order_id: order.orderId,
    ticker: order.market.ticker,
    market_ticker: order.market.ticker,
    outcome_side: outcome,
    book_side: order.side,
    side: outcome,
    action: 'buy',
    count_fp: countText(fill.count),
    yes_price_dollars: priceText(yesPrice),
    no_price_dollars: priceText(ONE_DOLLAR - yesPrice),
    is_taker: fill.isTaker,
    fee_cost: usdText(fill.fee),
    created_time: timeText(timeUs),
    ts: Math.floor(timeUs / 1_000_000),
    subaccount_number: order.subaccount,
    exchange_index: order.market.spec.exchangeIndex,
  };
}
