import { ONE_PRICE, type Price, type Size, type Usd } from '../../../core/decimal.ts';
import { isoFromEpoch } from '../../market-fields.ts';
import { isOver, type OrderStatus } from '../../../core/order-model.ts';
import { isFilled } from '../../filled.ts';
import type { OrderRecord, PlatformOrder } from '../../order-contract.ts';
import type { StoredMarket } from '../../contract.ts';
import { feeOf, meanPrice, type OrderFills } from './fills.ts';
import { HUNDREDTH, budgetSent, spends } from './amounts.ts';
import { EXPIRATION_MARGIN_S } from './request.ts';
import { unitOf, unitOfOwn, type ClobOrder, type ClobPlaced } from './rows.ts';

/** The order's terms, from our record or from the platform's row. */
type AskedOrder = Pick<
  PlatformOrder,
  | 'orderId'
  | 'clientOrderId'
  | 'marketRef'
  | 'marketId'
  | 'outcome'
  | 'outcomeIndex'
  | 'side'
  | 'type'
  | 'timeInForce'
  | 'price'
  | 'size'
  | 'createdAt'
  | 'expiration'
>;

export interface Asked {
  order: AskedOrder;
  /** The budget of an ioc or fok purchase; null for other orders. */
  budget: Usd | null;
  /** The budget is what was asked for, and the size follows from it. */
  asksBudget: boolean;
}

/** Shares have two decimals. */
const SMALLEST_SIZE: Size = HUNDREDTH;
/** What rounding of fills may leave of a budget. */
const DUST: Usd = 1000n;
const TIME_IN_FORCE = { GTC: 'gtc', GTD: 'gtd', FOK: 'fok', FAK: 'ioc' } as const;

/** An order sent by the service. */
export function askedOf(sent: Omit<OrderRecord, 'orderId'> & { orderId: string; outcome: string }): Asked {
  const { orderId, clientOrderId, marketRef, marketId, outcome, terms, wire, sentAtMs } = sent;
  const { outcomeIndex, side, type, timeInForce, price, size, expirationMs } = terms;
  const createdAt = new Date(sentAtMs).toISOString();
  const expiration = expirationMs === null ? null : new Date(expirationMs).toISOString();
  return {
    order: {
      orderId,
      clientOrderId,
      marketRef,
      marketId,
      outcome,
      outcomeIndex,
      side,
      type,
      timeInForce,
      price,
      size,
      createdAt,
      expiration,
    },
    budget: budgetSent(terms, wire),
    asksBudget: terms.amount !== null,
  };
}

/** An order without a record in the service; null if its token is not one of the market's. */
export function askedOfRow(row: ClobOrder, market: StoredMarket): Asked | null {
  const outcomeIndex = market.outcomes.findIndex(({ tokenId }) => tokenId === row.asset_id);
  const outcome = market.outcomes[outcomeIndex];
  if (!outcome) return null;
  const timeInForce = TIME_IN_FORCE[row.order_type as keyof typeof TIME_IN_FORCE] ?? 'gtc';
  const side = row.side === 'BUY' ? 'buy' : 'sell';
  const budget = spends({ side, timeInForce }) ? row.original_size : null;
  const order: AskedOrder = {
    orderId: row.id,
    clientOrderId: '',
    marketRef: market.ref,
    marketId: market.platformId,
    outcome: outcome.id,
    outcomeIndex,
    side,
    type: timeInForce === 'ioc' || timeInForce === 'fok' ? 'market' : 'limit',
    timeInForce,
    price: row.price,
    size: budget !== null && row.price > 0n ? (budget * ONE_PRICE) / row.price : row.original_size,
    createdAt: isoFromEpoch(row.created_at),
    expiration: row.expiration === null ? null : isoFromEpoch(row.expiration - EXPIRATION_MARGIN_S),
  };
  return { order, budget, asksBudget: budget !== null };
}

interface Reported {
  filled: Size;
  /** What matches took from the book, also those that failed or may fail: at least `filled`. */
  taken: Size;
  /** pUSD of what was filled, before fees; null if unknown. */
  cost: Usd | null;
  /** null if unknown. */
  average: Price | null;
  takerFee: Usd | null;
  status: OrderStatus;
  updatedAt: string | null;
  tradeIds: string[];
  undoneTrades?: string[];
  settlement: PlatformOrder['settlement'];
}

function orderOf({ order }: Asked, found: Reported): PlatformOrder {
  const { filled, cost, takerFee, status, undoneTrades = [] } = found;
  const left = order.size - found.taken;
  // Trades without amounts were matched all the same.
  const known = filled > 0n || found.tradeIds.length === 0;
  const isKnownSale = order.side === 'sell' && known;
  return {
    ...order,
    status,
    filledSize: filled,
    remainingSize: isOver(status) || left < 0n ? 0n : left,
    averageFillPrice: filled === 0n ? null : found.average,
    receivedSize: order.side === 'buy' && known ? filled : null,
    receivedUsd: isKnownSale && cost !== null && takerFee !== null ? cost - takerFee : null,
    makerFee: 0n,
    takerFee,
    updatedAt: found.updatedAt,
    ...(found.settlement ? { settlement: found.settlement } : {}),
    ...(undoneTrades.length > 0 ? { undoneTrades } : {}),
    metadata: found.tradeIds.length + undoneTrades.length === 0 ? {} : { trade_ids: found.tradeIds },
  };
}

/** Whether what was asked for is filled: the size, or the amount that was to be spent. */
const isFull = ({ order: { size }, budget, asksBudget }: Asked, filled: Size, spent: Usd | null): boolean =>
  isFilled({ size, filled, smallestSize: SMALLEST_SIZE }) ||
  (asksBudget && budget !== null && spent !== null && spent > 0n && budget - spent <= DUST);

const fillsAtOnce = ({ order }: Asked): boolean => order.timeInForce === 'ioc' || order.timeInForce === 'fok';

/** How an order ended that is not filled: a good-till-date order by its date, once that has passed. */
const ended = ({ order }: Asked, nowMs: number): OrderStatus =>
  order.expiration !== null && Date.parse(order.expiration) <= nowMs ? 'expired' : 'cancelled';

/** The reply to a placement. Amounts are null if nothing was matched, or if not reported yet. */
export function mapPlaced(asked: Asked, placed: ClobPlaced, market: StoredMarket, receivedAt: string): PlatformOrder {
  const { makingAmount: making, takingAmount: taking, tradeIDs: tradeIds } = placed;
  const { side, price, size } = asked.order;
  const gives = side === 'sell' ? size : (asked.budget ?? ((price ?? ONE_PRICE) * size) / ONE_PRICE);
  // No order gives more than it states, and no fee is as large.
  const unit = unitOf(making ?? 0n, 2n * gives);
  const inUnits = (amount: Size | Usd | null) => (amount === null ? null : amount / unit);
  const [usd, shares] = side === 'buy' ? [inUnits(making), inUnits(taking)] : [inUnits(taking), inUnits(making)];
  const filled = shares ?? 0n;
  const average = usd === null ? null : meanPrice(usd * ONE_PRICE, filled);
  const status = placedStatus(asked, placed.status, filled, usd);
  const order = { ...asked.order, orderId: placed.orderID };
  return orderOf(
    { ...asked, order },
    {
      filled,
      taken: filled,
      cost: filled === 0n ? 0n : usd,
      average,
      takerFee: placedFee(market, { filled, average, trades: tradeIds.length }),
      status,
      updatedAt: receivedAt,
      tradeIds,
      settlement: filled > 0n ? 'open' : undefined,
    },
  );
}

/** The fee of a placement's matches. It is rounded per trade, so the total of several trades is unknown, as that of trades without amounts. */
function placedFee(
  market: StoredMarket,
  { filled, average, trades }: { filled: Size; average: Price | null; trades: number },
): Usd | null {
  if (filled === 0n && trades === 0) return 0n;
  return average === null || trades > 1 ? null : feeOf(market, average, filled);
}

function placedStatus(asked: Asked, status: string, filled: Size, spent: Usd | null): OrderStatus {
  switch (status) {
    case 'live':
    case 'unmatched':
      if (filled === 0n) return fillsAtOnce(asked) ? 'pending' : 'open';
      return isFull(asked, filled, spent) ? 'filled' : 'partially_filled';
    case 'matched':
      if (filled === 0n) return 'pending';
      if (isFull(asked, filled, spent)) return 'filled';
      return fillsAtOnce(asked) ? 'cancelled' : 'partially_filled';
    default:
      return 'pending';
  }
}

/** An ioc or fok order without a match: rejected with 400, and ended. */
export const killedOrder = (asked: Asked, receivedAt: string): PlatformOrder =>
  orderOf(asked, {
    filled: 0n,
    taken: 0n,
    cost: 0n,
    average: null,
    takerFee: 0n,
    status: 'cancelled',
    updatedAt: receivedAt,
    tradeIds: [],
    settlement: undefined,
  });

/** The current state, from the order's row (null: no longer listed) and its fills. `settled`: the ledger had time to show them all. */
export function mapState(
  asked: Asked,
  { row, fills, settled }: { row: ClobOrder | null; fills: OrderFills; settled: boolean },
  nowMs: number,
): PlatformOrder {
  const matched = row === null ? 0n : row.size_matched / unitOfOwn(row, asked.budget ?? asked.order.size);
  // The matched amount of a budget may be in pUSD, and a failed trade stays matched: then only the fills count.
  const reported = asked.budget === null && !fills.failed && !fills.retrying ? matched : 0n;
  const filled = fills.size > reported ? fills.size : reported;
  const exact = fills.size === filled;
  // Its row has a match, whose trade is listed later: how much it filled is not known yet.
  const isUnlisted = asked.budget !== null && matched > 0n && fills.size === 0n && !fills.failed;
  const status = isUnlisted
    ? 'pending'
    : stateOf(asked, row?.status ?? null, { ...fills, size: filled }, settled, nowMs);
  const settlement = settlementOf(fills);
  const isUnlistedEnd = row === null && status === 'cancelled' && filled === 0n && fills.undoneIds.length === 0;
  // The platform does not state when an order left the book without a fill.
  const left = settlement === undefined && (status === 'pending' || status === 'cancelled' || status === 'expired');
  const order = orderOf(asked, {
    filled,
    taken: asked.budget === null && matched > filled ? matched : filled,
    cost: exact ? fills.cost / ONE_PRICE : null,
    average: exact ? meanPrice(fills.cost, fills.size) : null,
    takerFee: exact ? fills.takerFee : null,
    status,
    updatedAt: left ? null : (isoFromEpoch(fills.lastAt) ?? asked.order.createdAt),
    tradeIds: fills.tradeIds,
    undoneTrades: fills.undoneIds,
    settlement,
  });
  return isUnlistedEnd ? { ...order, endedUnlisted: true } : order;
}

function settlementOf({ retrying, unconfirmed, failed }: OrderFills): PlatformOrder['settlement'] {
  if (retrying || (failed && unconfirmed)) return 'retrying';
  return failed ? 'failed' : unconfirmed ? 'open' : undefined;
}

function stateOf(
  asked: Asked,
  status: string | null,
  { size: filled, cost, retrying, failed }: OrderFills,
  settled: boolean,
  nowMs: number,
): OrderStatus {
  const full = isFull(asked, filled, cost / ONE_PRICE);
  if (!fillsAtOnce(asked) && (status === 'LIVE' || status === 'UNMATCHED')) {
    if (full && !retrying) return 'filled';
    return filled > 0n ? 'partially_filled' : 'open';
  }
  // In some games an ioc or fok order waits some seconds first, and is listed like a resting one.
  if (status === 'LIVE' || status === 'DELAYED' || retrying) return 'pending';
  if (full) return 'filled';
  // Also said of an order that the platform took off its book: with fills it has worked.
  if (status === 'INVALID' && filled === 0n) return 'rejected';
  if (status === 'INVALID' || status === 'CANCELED') return ended(asked, nowMs);
  if (status !== null && status !== 'MATCHED' && status !== 'UNMATCHED') return 'unknown';
  // The row states all that an order of this kind has matched: it has ended with a part left.
  if (status === 'MATCHED' && !fillsAtOnce(asked) && filled > 0n) return ended(asked, nowMs);
  return settled || failed ? ended(asked, nowMs) : 'pending';
}
