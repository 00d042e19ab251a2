import { ONE_PRICE, type Size, type Usd, divideHalfEven } from '../../../core/decimal.ts';
import type { JsonObject } from '../../../core/model.ts';
import { isoTime } from '../../market-fields.ts';
import { isOver, type OrderStatus, type TimeInForce } from '../../../core/order-model.ts';
import type { OrderTerms, PlatformOrder } from '../../order-contract.ts';
import { isFilled } from '../../filled.ts';
import { SMALLEST_SIZE } from './amounts.ts';
import type { LimitlessOrderState, LimitlessUserOrder } from './rows.ts';

/** An order's place in its market's list: its row, `gone` if the list proves that it is not working, null if not read. */
export type BookPlace = Pick<LimitlessUserOrder, 'status' | 'originalSize' | 'remainingSize'> | 'gone' | null;

const TIME_IN_FORCE: Readonly<Record<LimitlessOrderState['order']['orderType'], TimeInForce>> = {
  GTC: 'gtc',
  FAK: 'ioc',
  FOK: 'fok',
};
/** Delayed by the market's taker delay, or matched and being settled again. */
const IN_SUSPENSE: ReadonlySet<string> = new Set(['DELAYED', 'RETRYING']);
/** States with a match; the totals may lag. */
const MATCHED: ReadonlySet<string> = new Set(['MATCHED', 'MINED', 'CONFIRMED']);
const SETTLEMENT_FAILED = 'FAILED';

/** Whether the settlement of a match of the order failed. */
export const hasFailed = ({ execution }: LimitlessOrderState): boolean =>
  execution.settlementStatus === SETTLEMENT_FAILED;

/** Whether only the market's list shows if the order still rests. */
export function needsPlace({ order, execution }: LimitlessOrderState): boolean {
  const { settlementStatus: settled, totalsRaw } = execution;
  if (order.orderType !== 'GTC' || IN_SUSPENSE.has(settled)) return false;
  return (totalsRaw?.contractsGross ?? 0n) < signedSize(order, 0n);
}

/** The terms of the order, if it is ours. */
export interface Asked {
  clientOrderId: string;
  terms: OrderTerms;
}

/** The order in our terms. A fill-or-kill purchase that is not ours has no size: its filled size is used. */
export function toPlatformOrder(state: LimitlessOrderState, place: BookPlace, asked: Asked | null): PlatformOrder {
  const { order, execution, makerMatches } = state;
  const fills = fillsOf(state, place);
  const { type, price, size } = asked?.terms ?? {
    type: order.orderType === 'FOK' ? 'market' : 'limit',
    price: order.price ?? null,
    size: signedSize(order, fills.contracts),
  };
  const status = statusOf(state, place, fills.contracts, size);
  const remaining = size - fills.matched;
  const outcomeIndex = order.tokenId === order.market.noPositionId ? 1 : 0;
  return {
    orderId: order.id,
    clientOrderId: asked?.clientOrderId ?? execution.clientOrderId ?? '',
    marketRef: order.market.slug,
    marketId: order.market.slug,
    outcome: outcomeIndex === 0 ? 'yes' : 'no',
    outcomeIndex,
    side: order.side === 0 ? 'buy' : 'sell',
    type,
    timeInForce: TIME_IN_FORCE[order.orderType],
    price,
    size,
    status,
    filledSize: fills.contracts,
    remainingSize: isOver(status) || remaining < 0n ? 0n : remaining,
    averageFillPrice: fills.contracts === 0n ? null : divideHalfEven(fills.value, fills.contracts),
    ...receivedBy(state, fills),
    makerFee: 0n,
    takerFee: takerFee(state, fills),
    ...settlementOf(state, fills.contracts),
    createdAt: isoTime(order.createdAt),
    updatedAt:
      makerMatches
        ?.flatMap((match) => isoTime(match.createdAt) ?? [])
        .toSorted()
        .at(-1) ?? null,
    expiration: null,
    metadata: factsOf(state, fills.contracts),
  };
}

/** Contracts of a signed order; for a fill-or-kill buy, which states USDC, the contracts it got. */
function signedSize({ orderType, side, makerAmount, takerAmount }: LimitlessOrderState['order'], got: Size): Size {
  if (side === 1) return makerAmount;
  return orderType === 'FOK' ? got : takerAmount;
}

interface Fills {
  /** Gross: before the fee that a buyer pays in contracts. */
  contracts: Size;
  /** Σ price × contracts, with the scales of both: exact. */
  value: bigint;
  /** Contracts that no longer rest: also those whose settlement failed. */
  matched: Size;
}

/**
 * The totals, plus fills of the resting part that only the list shows, at the order's own price. A cancelled row with nothing
 * remaining was emptied by the cancel, not by fills.
 */
function fillsOf({ order, execution }: LimitlessOrderState, place: BookPlace): Fills {
  const { contractsGross = 0n, usdGross = 0n } = execution.totalsRaw ?? {};
  const row = place === 'gone' ? null : place;
  const emptied = row?.status === 'CANCELED' && row.remainingSize === 0n;
  const listed = row === null || emptied ? 0n : row.originalSize - row.remainingSize;
  const later = listed > contractsGross && order.price ? listed - contractsGross : 0n;
  const laterValue = later * (order.price ?? 0n);
  const matched = contractsGross + later;
  // The totals are of the part that took. The rest of the order may have been filled by itself.
  if (execution.settlementStatus === SETTLEMENT_FAILED) return { contracts: later, value: laterValue, matched };
  return { contracts: matched, value: usdGross * ONE_PRICE + laterValue, matched };
}

function statusOf({ order, execution }: LimitlessOrderState, place: BookPlace, filled: Size, size: Size): OrderStatus {
  const { settlementStatus: settled, reason } = execution;
  if (settled === SETTLEMENT_FAILED && filled === 0n)
    return failedStatus(needsPlace({ order, execution }) ? place : 'gone');
  if (IN_SUSPENSE.has(settled) || (MATCHED.has(settled) && filled === 0n)) return 'pending';
  if (isFilled({ size, filled, smallestSize: SMALLEST_SIZE })) return 'filled';
  if (order.orderType !== 'GTC' || settled === 'CANCELED' || place === 'gone') return 'cancelled';
  if (place === null) return reason ? 'cancelled' : working(filled);
  return place.status === 'LIVE' ? working(filled) : 'cancelled';
}

/** An order whose settlement failed and that has no settled fill. Its unmatched part may still be open. */
function failedStatus(place: BookPlace): OrderStatus {
  if (place === null) return 'pending';
  return place !== 'gone' && place.status === 'LIVE' ? 'open' : 'rejected';
}

/** Mined counts as confirmed. */
function settlementOf({ execution }: LimitlessOrderState, filled: Size): Pick<PlatformOrder, 'settlement'> {
  switch (execution.settlementStatus) {
    case 'MATCHED':
      return filled > 0n ? { settlement: 'open' } : {};
    case 'RETRYING':
      return { settlement: 'retrying' };
    case SETTLEMENT_FAILED:
      return { settlement: 'failed' };
    default:
      return {};
  }
}

const working = (filled: Size): OrderStatus => (filled > 0n ? 'partially_filled' : 'open');

/** A buyer's fee is deducted in contracts, valued at the price of what the order took; a seller's is in USDC. */
function takerFee(state: LimitlessOrderState, { contracts }: Fills): Usd | null {
  const { order, execution } = state;
  const { settlementStatus: settled, totalsRaw } = execution;
  if (contracts === 0n || settled === SETTLEMENT_FAILED) return 0n;
  if (!totalsRaw) return null;
  if (order.side === 1) return totalsRaw.usdFee;
  const { size, cost } = takenBy(state) ?? { size: totalsRaw.contractsGross, cost: totalsRaw.usdGross };
  return size === 0n ? 0n : divideHalfEven(totalsRaw.contractsFee * cost, size);
}

/** What the order took by its matches: the totals may have later fills of its resting part. null if a match does not state it. */
function takenBy({ makerMatches }: LimitlessOrderState): { size: Size; cost: Usd } | null {
  const taken = { size: 0n, cost: 0n };
  for (const { matchedSize, fillCost } of makerMatches ?? []) {
    if (matchedSize == null || fillCost == null) return null;
    taken.size += matchedSize;
    taken.cost += fillCost;
  }
  return taken.size > 0n ? taken : null;
}

/** What fills left after the fee: contracts of a purchase, USDC of a sale. A maker pays none, so that the totals have all of it. */
function receivedBy(
  { order, execution }: LimitlessOrderState,
  { contracts, value }: Fills,
): Pick<PlatformOrder, 'receivedSize' | 'receivedUsd'> {
  const { settlementStatus: settled, totalsRaw } = execution;
  const isUnknown = !totalsRaw && (contracts > 0n || MATCHED.has(settled));
  const isCharged = contracts > 0n && settled !== SETTLEMENT_FAILED;
  const { contractsFee = 0n, usdFee = 0n } = isCharged ? (totalsRaw ?? {}) : {};
  return order.side === 0
    ? { receivedSize: isUnknown ? null : contracts - contractsFee, receivedUsd: null }
    : { receivedSize: null, receivedUsd: isUnknown ? null : divideHalfEven(value, ONE_PRICE) - usdFee };
}

function factsOf({ execution }: LimitlessOrderState, contracts: Size): JsonObject {
  const { settlementStatus, effectiveFeeBps, txHash, reason } = execution;
  return {
    settlement_status: settlementStatus,
    ...(contracts > 0n && typeof effectiveFeeBps === 'number' ? { effective_fee_bps: effectiveFeeBps } : {}),
    ...(txHash ? { transaction_hash: txHash } : {}),
    ...(reason ? { reason } : {}),
  };
}
