import { PlatformError, toApiError } from '../../core/errors.ts';
import type { Placement } from '../../platforms/order-contract.ts';
import type { Attempt } from '../attempts.ts';
import type { OrderContext } from '../context.ts';
import { isUnresolved, nextSearch } from '../unresolved.ts';
import { factsFrom, type OrderRow } from '../order-row.ts';
import { applyReport, refreshOrders } from '../sync.ts';
import type { Draft } from './prepare.ts';

/** The look for an order that got no answer, before the caller gets 202 with an unknown result. */
const FIRST_LOOK_MS = 3000;

/** The result of a request: sent, sent with an unknown result, answered with the order of its key, or only signed. */
export interface Placed {
  row: OrderRow;
  outcome: 'placed' | 'unknown' | 'replay' | 'dry_run';
}

/** The order is out: a store that fails now is logged, and the next look at the order repairs the row. */
async function persistOrLog<T>({ log }: OrderContext, row: OrderRow, write: Promise<T>): Promise<T | null> {
  try {
    return await write;
  } catch (error) {
    log.error({ err: error, order: row.id }, "Failed to save the order's result");
    return null;
  }
}

/** The result stays open: it is written, then looked up once before the caller is answered. */
async function lookFor(context: OrderContext, draft: Draft, askedAt: Date, attempt: Attempt): Promise<Placed> {
  const { client, row } = draft;
  const facts = { state: 'unknown', nextCheckAt: nextSearch(row, context.now()) } as const;
  const written = await persistOrLog(context, row, context.store.record(row.id, facts, askedAt, attempt));
  const unknown = written ?? { ...row, ...facts };
  const look = refreshOrders(context, client, [unknown], AbortSignal.timeout(FIRST_LOOK_MS));
  const [found = unknown] = (await look.catch(() => [unknown])) satisfies OrderRow[];
  return { row: found, outcome: isUnresolved(found) ? 'unknown' : 'placed' };
}

/**
 * Sends a claimed order: one attempt, and its result is written before it is answered. Throws the refusal of a platform that did not
 * take the order.
 */
export async function sendOrder(context: OrderContext, draft: Draft): Promise<Placed> {
  const { client, prepared, row, previous, requestId } = draft;
  const { store, now, log } = context;
  // Not before the claim, though the clock may have been set back since: what came of it would be taken for older news.
  const askedAt = new Date(Math.max(now(), row.askedAt.getTime()));
  const started = performance.now();
  const placed = await prepared.place().catch((error: unknown): Placement => {
    // A defect of ours: the order may be out.
    log.error({ err: error, order: row.id }, 'Failed to place an order');
    return { result: 'unknown', httpStatus: 0, detail: 'interrupted' };
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
    ms: Math.round(performance.now() - started),
    requestId,
  };
  if (result === 'accepted') {
    const written = await persistOrLog(context, row, applyReport(context, row, placement.order, askedAt, attempt));
    return { row: written ?? { ...row, ...factsFrom(row, placement.order, askedAt) }, outcome: 'placed' };
  }
  if (result === 'not_sent') {
    await persistOrLog(context, row, store.withdraw(row, previous, attempt));
    throw placement.refusal;
  }
  if (result === 'rejected') {
    const { status, message, resolution, errorText, retryAfter } = placement.refusal;
    const refusal = { status, message, resolution, errorText, retryAfter };
    const nothing = { filledSize: '0', remainingSize: '0', makerFee: '0', takerFee: '0', nextCheckAt: null };
    const facts = { state: 'rejected', status: 'rejected', updatedAt: askedAt, refusal, ...nothing } as const;
    await persistOrLog(context, row, store.record(row.id, facts, askedAt, attempt));
    throw placement.refusal;
  }
  log.warn({ order: row.id, platform: row.platform, httpStatus, detail }, 'The result of an order is unknown');
  return lookFor(context, draft, askedAt, attempt);
}

/** The operator's credential is not the caller's to renew: 502. */
function asOurs({ client: { account }, row }: Draft, placement: Placement): Placement {
  const { result, httpStatus: status, detail } = placement;
  if (account.credentialId !== null || result !== 'rejected' || (status !== 401 && status !== 403)) return placement;
  return { ...placement, refusal: toApiError(new PlatformError(row.platform, 'unauthorized', { status, detail })) };
}
