import { ONE_PRICE, SIZE_SCALE, type Size, type Usd, decimalNumber, divideHalfEven } from '../../../core/decimal.ts';
import type { JsonObject } from '../../../core/model.ts';
import { isoTime } from '../../market-fields.ts';
import { isOver, type OrderStatus, type TimeInForce } from '../../../core/order-model.ts';
import type { OrderTerms, PlatformOrder } from '../../order-contract.ts';
import type { LimitlessOrderType } from './amounts.ts';
import type { LimitlessOrderState, LimitlessUserOrder } from './rows.ts';

/** An order's place in its market's list: its row, `gone` if the list proves that it is not working, null if not read. */
export type BookPlace = Pick<LimitlessUserOrder, 'status' | 'originalSize' | 'remainingSize'> | 'gone' | null;

const TIME_IN_FORCE: Readonly<Record<LimitlessOrderType, TimeInForce>> = { GTC: 'gtc', FAK: 'ioc', FOK: 'fok' };
/** Delayed by the market's taker delay, or matched and being settled again. */
const IN_SUSPENSE: ReadonlySet<string> = new Set(['DELAYED', 'RETRYING']);
/** States with a match; the totals may lag. */
const MATCHED: ReadonlySet<string> = new Set(['MATCHED', 'MINED', 'CONFIRMED']);
const SETTLEMENT_FAILED = 'FAILED';

/** Whether only the market's list shows if the order still rests. */
export function needsPlace({ order, execution }: LimitlessOrderState): boolean {
  const { settlementStatus: settled, totalsRaw } = execution;
  if (order.orderType !== 'GTC' || settled === SETTLEMENT_FAILED || IN_SUSPENSE.has(settled)) return false;
  return (totalsRaw?.contractsGross ?? 0n) < signedSize(order, 0n);
}

/** The terms of the order, if it is ours. */
export interface Asked {
  clientOrderId: string;
  terms: OrderTerms;
}

/** The order in our terms. A fill-or-kill buy that is not ours has no size: its filled size is used. */
export function toPlatformOrder(state: LimitlessOrderState, place: BookPlace, asked: Asked | null): PlatformOrder {
  const { order, execution, makerMatches } = state;
  const fills = fillsOf(state, place);
  const { type, price, size } = asked?.terms ?? {
    type: order.orderType === 'FOK' ? 'market' : 'limit',
    price: order.price ?? null,
    size: signedSize(order, fills.contracts),
  };
  const status = statusOf(state, place, fills.contracts, size);
  const remaining = size - fills.contracts;
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
    averageFillPrice: fills.contracts === 0n ? null : divideHalfEven(fills.usd * ONE_PRICE, fills.contracts),
    receivedSize: null,
    receivedUsd: null,
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
    metadata: factsOf(state, fills),
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
  usd: Usd;
  /** The part filled as a maker after the totals were computed; it has no fee. */
  later: Size;
}

/**
 * The totals, plus fills of the resting part that only the list shows, at the order's own price. A cancelled row with nothing
 * remaining was emptied by the cancel, not by fills.
 */
function fillsOf({ order, execution }: LimitlessOrderState, place: BookPlace): Fills {
  const { settlementStatus: settled, totalsRaw } = execution;
  if (settled === SETTLEMENT_FAILED) return { contracts: 0n, usd: 0n, later: 0n };
  const { contractsGross = 0n, usdGross = 0n } = totalsRaw ?? {};
  const row = place === 'gone' ? null : place;
  const emptied = row?.status === 'CANCELED' && row.remainingSize === 0n;
  const listed = row === null || emptied ? 0n : row.originalSize - row.remainingSize;
  if (listed <= contractsGross || !order.price) return { contracts: contractsGross, usd: usdGross, later: 0n };
  const later = listed - contractsGross;
  return { contracts: listed, usd: usdGross + divideHalfEven(later * order.price, ONE_PRICE), later };
}

function statusOf({ order, execution }: LimitlessOrderState, place: BookPlace, filled: Size, size: Size): OrderStatus {
  const { settlementStatus: settled, reason } = execution;
  if (settled === SETTLEMENT_FAILED) return 'rejected';
  if (IN_SUSPENSE.has(settled) || (MATCHED.has(settled) && filled === 0n)) return 'pending';
  // A fill-or-kill buy is filled once its USDC is spent, whatever number of contracts it bought.
  if (filled > 0n && (order.orderType === 'FOK' || filled >= size)) return 'filled';
  if (order.orderType !== 'GTC' || settled === 'CANCELED' || place === 'gone') return 'cancelled';
  if (place === null) return reason ? 'cancelled' : working(filled);
  if (place.status === 'LIVE') return working(filled);
  return place.status === 'MATCHED' ? 'filled' : 'cancelled';
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

/** A buyer's fee is deducted in contracts, valued at the price paid; a seller's is in USDC. */
function takerFee({ order, execution }: LimitlessOrderState, { contracts }: Fills): Usd | null {
  const { totalsRaw } = execution;
  if (contracts === 0n) return 0n;
  if (!totalsRaw) return null;
  if (order.side === 1) return totalsRaw.usdFee;
  const { contractsFee, contractsGross, usdGross } = totalsRaw;
  return contractsGross === 0n ? 0n : divideHalfEven(contractsFee * usdGross, contractsGross);
}

function factsOf({ order, execution }: LimitlessOrderState, { contracts, later }: Fills): JsonObject {
  const { settlementStatus, effectiveFeeBps, totalsRaw, txHash, reason } = execution;
  const net = (totalsRaw?.contractsNet ?? 0n) + later;
  const bought = order.side === 0 && contracts > 0n;
  return {
    settlement_status: settlementStatus,
    ...(bought ? { net: decimalNumber(net, SIZE_SCALE) } : {}),
    ...(contracts > 0n && typeof effectiveFeeBps === 'number' ? { effective_fee_bps: effectiveFeeBps } : {}),
    ...(txHash ? { transaction_hash: txHash } : {}),
    ...(reason ? { reason } : {}),
  };
}
