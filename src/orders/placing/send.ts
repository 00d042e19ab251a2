import { parseSize } from '../../core/decimal.ts';
import { ApiError, PlatformError, toApiError } from '../../core/errors.ts';
import { isOver } from '../../core/order-model.ts';
import type { Placement, PlatformOrder } from '../../platforms/order-contract.ts';
import type { Attempt } from '../attempts.ts';
import type { OrderContext } from '../context.ts';
import { isUnresolved, recheckOfUnknown } from '../recheck.ts';
import type { Change, ChangeOf } from '../store.ts';
import { factsFrom, type OrderRow } from '../order-row.ts';
import { applyReport, notTaken, recheckOrders } from '../sync.ts';
import { FLIGHT_MS, type Draft } from './prepare.ts';

/** Time limit of the recheck of an order that got no answer; then the caller gets 202 with an unknown result. */
const FIRST_RECHECK_MS = 3000;

/** The order was sent: if the store fails now, that is logged, and the next recheck repairs the row. */
async function persistOrLog<T>({ log }: OrderContext, row: OrderRow, write: Promise<T>): Promise<T | null> {
  try {
    return await write;
  } catch (error) {
    log.error({ err: error, order: row.id }, "Failed to save the order's result");
    return null;
  }
}

/** A change that another answer prevents if it has resolved the order first. */
const ifUnresolved =
  (change: Change): ChangeOf =>
  (row) =>
    isUnresolved(row) ? change : null;

/** Writes that the result is unknown, then rechecks the order once before the caller is answered. */
async function recheckAtOnce(
  context: OrderContext,
  { client, row }: Draft,
  askedAt: Date,
  attempt: Attempt,
): Promise<OrderRow> {
  const unknownReason = attempt.detail || 'the platform did not answer';
  const facts = { state: 'unknown', unknownReason, recheckAt: recheckOfUnknown(row, context.now()) } as const;
  const written = await persistOrLog(context, row, context.store.record(row, ifUnresolved(facts), askedAt, attempt));
  const unknown = written ?? { ...row, ...facts };
  const recheck = recheckOrders(context, client, [unknown], context.clock.deadline(FIRST_RECHECK_MS));
  const [found = unknown] = (await recheck.catch(() => [unknown])) satisfies OrderRow[];
  return found;
}

/** Stores the answer to a placement. A listing may have stored the order first, without fills; the fills of the answer are then added. */
async function applyAnswer(
  context: OrderContext,
  row: OrderRow,
  order: PlatformOrder,
  askedAt: Date,
  attempt: Attempt,
): Promise<OrderRow | null> {
  const stored = await applyReport(context, row, order, askedAt, { attempt });
  if (stored === null || stored.askedAt <= askedAt) return stored;
  const isBehind = order.filledSize > parseSize(stored.filledSize ?? '0') || isOver(order.status);
  return isBehind ? applyReport(context, stored, order, stored.askedAt) : stored;
}

/** Too much time has passed since the claim: another process may already have rejected the order as never arrived. */
const tooLate = (): Placement => {
  const detail = `the service did not send it within ${FLIGHT_MS / 1000} s of its claim`;
  const resolution = 'The order was not sent. Retry. The same idempotency key may be used.';
  const refusal = new ApiError(503, 'The order could not be sent in time', {
    resolution,
    errorText: detail,
    retryAfter: 1,
  });
  return { result: 'not_sent', httpStatus: 0, detail, refusal };
};

/**
 * Sends a claimed order: one attempt, and its result is written before it is answered. Throws the refusal of a platform that did not
 * take the order.
 */
export async function sendOrder(context: OrderContext, draft: Draft): Promise<OrderRow> {
  const { client, prepared, row, requestId } = draft;
  const { store, clock, now, log } = context;
  // The clock may have been set back since the claim: a result older than the claim would be ignored as outdated.
  const askedAt = new Date(Math.max(now(), row.askedAt.getTime()));
  const started = clock.elapsed();
  const isLate = now() - row.createdAt.getTime() > FLIGHT_MS;
  const sent = isLate ? Promise.resolve(tooLate()) : prepared.place();
  const placed = await sent.catch((error: unknown): Placement => {
    // A defect of this service: the order may have been sent.
    log.error({ err: error, order: row.id }, 'Failed to place an order');
    return { result: 'unknown', httpStatus: 0, detail: 'an error of this service interrupted the placement' };
  });
  const placement = asOurs(draft, placed);
  const { result, httpStatus, detail } = placement;
  const attempt: Attempt = {
    ...client.account,
    rowId: row.id,
    orderId: result === 'accepted' ? placement.order.orderId : row.orderId,
    action: 'place',
    result,
    httpStatus,
    detail,
    ms: Math.round(clock.elapsed() - started),
    requestId,
  };
  if (result === 'accepted') {
    const written = await persistOrLog(context, row, applyAnswer(context, row, placement.order, askedAt, attempt));
    return written ?? { ...row, ...factsFrom(row, placement.order, askedAt) };
  }
  if (result === 'not_sent') {
    await persistOrLog(context, row, store.withdraw(row, attempt));
    throw placement.refusal;
  }
  if (result === 'rejected') {
    const { status, message, resolution, errorText, retryAfter } = placement.refusal;
    const refusal = { status, message, resolution, errorText, retryAfter };
    await persistOrLog(
      context,
      row,
      store.record(row, ifUnresolved({ ...notTaken(row), updatedAt: askedAt, refusal }), askedAt, attempt),
    );
    throw placement.refusal;
  }
  log.warn({ order: row.id, platform: row.platform, httpStatus, detail }, 'The result of an order is unknown');
  return recheckAtOnce(context, draft, askedAt, attempt);
}

/** The caller cannot renew the operator's credential: 502, unless the order can be placed again later. */
function asOurs({ client: { account }, row }: Draft, placement: Placement): Placement {
  const { httpStatus: status, detail } = placement;
  if (account.credentialId !== null || placement.result !== 'rejected') return placement;
  if (placement.refusal.status === 503 || (status !== 401 && status !== 403)) return placement;
  return { ...placement, refusal: toApiError(new PlatformError(row.platform, 'unauthorized', { status, detail })) };
}
