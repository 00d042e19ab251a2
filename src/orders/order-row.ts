import { isDeepStrictEqual } from 'node:util';
import { complement, parsePrice, parseSize, parseUsd, priceText, sizeText, usdText } from '../core/decimal.ts';
import type { JsonObject } from '../core/model.ts';
import type { orders } from './tables.ts';
import { isOver, type OrderStatus } from '../core/order-model.ts';
import { endedStatus } from '../platforms/filled.ts';
import { MANIFESTS } from '../platforms/manifests.ts';
import type { OrderRecord, OrderTerms, PlatformOrder } from '../platforms/order-contract.ts';
import { orderNotional } from './spending-limits.ts';

export type OrderRow = typeof orders.$inferSelect;
/** Columns with what the platform reports about an order. */
export type OrderFacts = Pick<
  OrderRow,
  | 'state'
  | 'orderId'
  | 'timeInForce'
  | 'price'
  | 'size'
  | 'expiresAt'
  | 'status'
  | 'filledSize'
  | 'remainingSize'
  | 'averageFillPrice'
  | 'receivedSize'
  | 'receivedUsd'
  | 'makerFee'
  | 'takerFee'
  | 'metadata'
  | 'updatedAt'
>;

const textOf = <T extends bigint>(value: T | null, text: (value: T) => string): string | null =>
  value === null ? null : text(value);

/** The order as requested; the book that bounded a market order is not stored. `own`: read with the credential that placed it. */
export function recordOf(row: OrderRow, own: boolean): OrderRecord {
  const terms: OrderTerms = {
    side: row.side,
    outcomeIndex: row.outcomeIndex,
    type: row.type,
    timeInForce: row.timeInForce,
    price: parsePrice(row.price ?? '0'),
    size: parseSize(row.size),
    expirationMs: row.expiresAt?.getTime() ?? null,
    walk: null,
    tickSize: null,
    amount: row.amount === null ? null : parseUsd(row.amount),
    postOnly: row.postOnly ?? false,
    reduceOnly: row.reduceOnly ?? false,
    selfTradePrevention: row.selfTradePrevention,
  };
  return {
    orderId: row.orderId,
    clientOrderId: row.clientOrderId,
    marketRef: row.marketRef,
    marketId: row.marketId,
    terms,
    wire: row.wire,
    sentAtMs: row.createdAt.getTime(),
    placed: row.state === 'placed',
    own,
  };
}

/** A final state stays until a higher filled size is reported; an order that was cancelled cannot expire later. */
function statusAfter(row: OrderRow, order: PlatformOrder, filledBefore: bigint): OrderStatus {
  const isNewer = isOver(order.status) && order.filledSize > filledBefore;
  return isNewer && !(row.status === 'cancelled' && order.status === 'expired') ? order.status : row.status;
}

/** The terms of an order. One that was placed elsewhere has those of the report: they may have been changed there. */
function termsFrom(
  { origin, timeInForce, price, size, expiresAt }: OrderRow,
  order: PlatformOrder,
): Pick<OrderFacts, 'timeInForce' | 'price' | 'size' | 'expiresAt'> {
  if (origin !== 'platform') return { timeInForce, price, size, expiresAt };
  return {
    timeInForce: order.timeInForce,
    // Without a price it has no limit.
    price: price === null ? null : textOf(order.price, priceText),
    size: sizeText(order.size),
    expiresAt: order.expiration === null ? null : new Date(order.expiration),
  };
}

/** What the fills of an order brought and cost is unknown if a report lacks some of them. */
const UNREPORTED = {
  averageFillPrice: null,
  receivedSize: null,
  receivedUsd: null,
  makerFee: null,
  takerFee: null,
} as const;

/** A list of working orders lags less than this. If a later list has the order, the order did not end. */
const LIST_LAG_MS = 60_000;

/** Whether an order ended here by mistake: its platform did not find it, and now lists it as working. */
const worksAgain = (row: OrderRow, { status }: PlatformOrder, receivedAt: Date): boolean =>
  (row.status === 'cancelled' || row.status === 'expired') &&
  (status === 'open' || status === 'partially_filled') &&
  receivedAt.getTime() - row.askedAt.getTime() >= LIST_LAG_MS;

/** Whether a failed match is counted in the row. If the ids of all counted matches are known, only those ids decide. */
function isUndone({ metadata, filledSize, averageFillPrice }: OrderRow, order: PlatformOrder): boolean {
  if (order.settlement !== 'retrying' && order.settlement !== 'failed') return false;
  const { trade_ids: counted } = metadata;
  const areKnown = averageFillPrice !== null || Number(filledSize ?? 0) === 0;
  if (!areKnown || !Array.isArray(counted) || !order.undoneTrades) return true;
  return order.undoneTrades.some((id) => counted.includes(id));
}

/** The ids of all counted matches. If one of them fails later, its id identifies it. */
function countedTrades({ metadata }: OrderRow, order: PlatformOrder): JsonObject {
  const [{ trade_ids: before }, { trade_ids: reported }] = [metadata, order.metadata];
  return Array.isArray(before) && Array.isArray(reported) ? { trade_ids: [...new Set([...before, ...reported])] } : {};
}

/** The report in terms of what was asked for here: if the platform has made the order smaller and filled it, a part is left. */
function asAsked({ origin, platform, size, amount }: OrderRow, order: PlatformOrder): PlatformOrder {
  const isSmaller = origin === 'service' && amount === null && order.size < parseSize(size);
  if (!isSmaller || order.status !== 'filled') return order;
  const { smallestSize } = MANIFESTS[platform];
  return {
    ...order,
    status: endedStatus({ size: parseSize(size), filled: order.filledSize, smallestSize }, 'cancelled'),
  };
}

/**
 * What a report of an order says beside its row. `old`: it is older than the row, and changes nothing. `end`: it is older, but the order is
 * over: its status counts, and the fills of the row stay. `news`: all of it counts.
 */
function noveltyOf(report: PlatformOrder, filledBefore: bigint, isFinal: boolean): 'old' | 'end' | 'news' {
  const ends = isOver(report.status);
  if (report.filledSize < filledBefore) return ends && !isFinal ? 'end' : 'old';
  if (report.filledSize === filledBefore) return isFinal && !ends ? 'old' : 'news';
  return 'news';
}

/**
 * The row's changes by a report, null if none. An older report neither reopens an order nor lowers its filled size, unless settlement
 * failed. `isListed`: the report is of a list of working orders.
 */
export function factsFrom(
  row: OrderRow,
  reported: PlatformOrder,
  receivedAt: Date,
  isListed = false,
): OrderFacts | null {
  const report = asAsked(row, reported);
  const isPlaced = row.state === 'placed';
  const filledBefore = isPlaced && row.filledSize !== null ? parseSize(row.filledSize) : 0n;
  const undone = isUndone(row, report);
  const holds = isPlaced && !undone;
  const isFinal = holds && isOver(row.status) && !(isListed && worksAgain(row, report, receivedAt));
  const novelty = holds ? noveltyOf(report, filledBefore, isFinal) : 'news';
  if (novelty === 'old') return null;
  const order = novelty === 'end' ? { ...report, ...UNREPORTED, filledSize: filledBefore } : report;
  const { averageFillPrice: average } = order;
  const own = average !== null && order.outcomeIndex !== row.outcomeIndex ? complement(average) : average;
  const isSameFill = isPlaced && order.filledSize === filledBefore;
  // If a report lacks an average, a fee or a received amount, the stored one stays, as long as the filled size is the same.
  const reportedOr = (reported: string | null, before: string | null): string | null =>
    reported ?? (isSameFill ? before : null);
  const isSurer = isSameFill && report.isAverageUnsure === true;
  const facts: OrderFacts = {
    state: 'placed',
    orderId: order.orderId,
    ...termsFrom(row, order),
    status: isFinal ? statusAfter(row, order, filledBefore) : order.status,
    filledSize: sizeText(order.filledSize),
    remainingSize: isFinal ? '0' : sizeText(order.remainingSize),
    averageFillPrice:
      (isSurer ? row.averageFillPrice : null) ?? reportedOr(textOf(own, priceText), row.averageFillPrice),
    receivedSize: reportedOr(textOf(order.receivedSize, sizeText), row.receivedSize),
    receivedUsd: reportedOr(textOf(order.receivedUsd, usdText), row.receivedUsd),
    makerFee: reportedOr(textOf(order.makerFee, usdText), row.makerFee),
    takerFee: reportedOr(textOf(order.takerFee, usdText), row.takerFee),
    metadata: { ...row.metadata, ...order.metadata, ...(undone ? {} : countedTrades(row, order)) },
    updatedAt: order.updatedAt === null ? receivedAt : new Date(order.updatedAt),
  };
  const changed = (Object.keys(facts) as (keyof OrderFacts)[]).some(
    (name) => name !== 'updatedAt' && !isDeepStrictEqual(facts[name], row[name]),
  );
  return changed ? facts : null;
}

/** The row of an order in a user's account that was placed outside this service. */
export function foreignRow(
  owner: Pick<OrderRow, 'id' | 'userId' | 'platform' | 'credentialId'>,
  order: PlatformOrder,
  receivedAt: Date,
): OrderRow {
  const createdAt = order.createdAt === null ? receivedAt : new Date(order.createdAt);
  return {
    ...owner,
    origin: 'platform',
    marketRef: order.marketRef,
    marketId: order.marketId,
    outcome: order.outcome,
    outcomeIndex: order.outcomeIndex,
    side: order.side,
    type: order.type,
    timeInForce: order.timeInForce,
    price: textOf(order.price, priceText),
    size: sizeText(order.size),
    expiresAt: order.expiration === null ? null : new Date(order.expiration),
    amount: null,
    postOnly: null,
    reduceOnly: null,
    selfTradePrevention: null,
    clientOrderId: order.clientOrderId,
    notional: usdText(orderNotional({ ...order, price: order.price ?? 0n })),
    idempotencyKey: null,
    bodyHash: null,
    wire: {},
    state: 'placed',
    orderId: order.orderId,
    status: order.status,
    filledSize: sizeText(order.filledSize),
    remainingSize: sizeText(order.remainingSize),
    averageFillPrice: textOf(order.averageFillPrice, priceText),
    receivedSize: textOf(order.receivedSize, sizeText),
    receivedUsd: textOf(order.receivedUsd, usdText),
    makerFee: textOf(order.makerFee, usdText),
    takerFee: textOf(order.takerFee, usdText),
    metadata: order.metadata,
    refusal: null,
    unknownReason: null,
    createdAt,
    updatedAt: order.updatedAt === null ? createdAt : new Date(order.updatedAt),
    askedAt: receivedAt,
    recheckAt: order.endedByClock || order.status === 'pending' ? receivedAt : null,
  };
}

/** What an order without fills brought: 0 contracts for a purchase, 0 USD for a sale. */
export const nothingReceived = ({ side }: Pick<OrderRow, 'side'>): Pick<OrderRow, 'receivedSize' | 'receivedUsd'> =>
  side === 'buy' ? { receivedSize: '0', receivedUsd: null } : { receivedSize: null, receivedUsd: '0' };

/** maker_fee + taker_fee; null while one of them is unknown. */
export function totalFee(row: Pick<OrderRow, 'makerFee' | 'takerFee'>): bigint | null {
  return row.makerFee === null || row.takerFee === null ? null : parseUsd(row.makerFee) + parseUsd(row.takerFee);
}
