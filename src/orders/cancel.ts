import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError, PlatformError, platformName, reasonOf } from '../core/errors.ts';
import { isOver } from '../core/order-model.ts';
import type { Cancellation } from '../platforms/order-contract.ts';
import { orderRefused } from '../platforms/failed-placement.ts';
import type { OrderClient } from './clients.ts';
import type { OrderContext } from './context.ts';
import type { FoundOrder } from './find-order.ts';
import type { OrderRow } from './order-row.ts';
import { isUnresolved } from './unresolved.ts';
import { isReadFailure, refreshOrder, refreshOrders } from './sync.ts';

/** Waits before an unconfirmed cancel is repeated; unlike a placement, that is safe. */
const RETRY_MS = [250, 1000];
/** By this time the platform reports fills from before a cancel, even if the first read after it lagged. */
const LATE_FILLS_MS = 5000;

/** The result of a cancel; `asked` is the number of cancel requests for this order. */
interface Outcome extends Cancellation {
  asked: number;
}

/** Requests the cancels once, and records an attempt per order. */
async function askOnce(
  { store }: OrderContext,
  client: OrderClient,
  rows: readonly OrderRow[],
  requestId: string,
): Promise<Cancellation[]> {
  const started = performance.now();
  const audit = async (outcomes: readonly Cancellation[]): Promise<void> => {
    const ms = Math.round(performance.now() - started);
    for (const [i, { result, httpStatus, detail }] of outcomes.entries()) {
      const { id: rowId = null, orderId = null } = rows[i] ?? {};
      const about = { ...client.account, rowId, orderId, action: 'cancel', requestId } as const;
      await store.attempted({ ...about, result, httpStatus, detail, ms });
    }
  };
  const targets = rows.map(({ orderId, marketRef }) => ({ orderId: orderId ?? '', marketRef }));
  const outcomes = await client.cancel(targets).catch(async (error: unknown) => {
    const httpStatus = error instanceof PlatformError ? error.status : 0;
    const detail = reasonOf(error);
    await audit(rows.map(() => ({ result: 'unconfirmed', httpStatus, detail })));
    throw error;
  });
  await audit(outcomes);
  return outcomes;
}

/** Repeats unconfirmed cancels, at most twice. */
async function ask(
  context: OrderContext,
  client: OrderClient,
  rows: readonly OrderRow[],
  requestId: string,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const outcome of await askOnce(context, client, rows, requestId)) outcomes.push({ ...outcome, asked: 1 });
  for (const [retry, waitMs] of RETRY_MS.entries()) {
    const open = outcomes.flatMap(({ result }, i) => (result === 'unconfirmed' ? [i] : []));
    if (open.length === 0) break;
    await sleep(waitMs);
    const again = await askOnce(
      context,
      client,
      open.flatMap((i) => rows[i] ?? []),
      requestId,
    );
    for (const [at, i] of open.entries()) {
      const outcome = again[at];
      if (outcome) outcomes[i] = { ...outcome, asked: retry + 2 };
    }
  }
  return outcomes;
}

/** The row after its cancel: as the platform reports it, but always ended if the platform confirmed the cancel. */
async function settle(
  { store, now }: OrderContext,
  row: OrderRow,
  outcome: Outcome,
  read: OrderRow,
): Promise<{ row: OrderRow; cancelled: boolean }> {
  if (outcome.result === 'cancelled') {
    if (isOver(read.status)) return { row: read, cancelled: true };
    // The read lags behind the confirmation.
    const at = new Date(now());
    const nextCheckAt = new Date(at.getTime() + LATE_FILLS_MS);
    const facts = { status: 'cancelled', remainingSize: '0', updatedAt: at, nextCheckAt } as const;
    return { row: (await store.record(row.id, facts, at)) ?? { ...read, ...facts }, cancelled: true };
  }
  // The response to an earlier request was lost, but the platform reports the order as cancelled.
  return { row: read, cancelled: outcome.asked > 1 && read.status === 'cancelled' };
}

/** Cancels orders of one client. Returns each current row, whether the platform confirmed, and whether the row could be read. */
export async function cancelOrders(
  context: OrderContext,
  client: OrderClient,
  rows: readonly OrderRow[],
  requestId: string,
) {
  const outcomes = await ask(context, client, rows, requestId);
  const reads = await refreshOrders(context, client, rows).catch((error: unknown) => {
    if (isReadFailure(error)) return null;
    throw error;
  });
  return Promise.all(
    rows.map(async (row, i) => {
      const outcome = outcomes[i] ?? { result: 'unconfirmed', httpStatus: 0, detail: '', asked: 0 };
      return { ...(await settle(context, row, outcome, reads?.[i] ?? row)), outcome, read: reads !== null };
    }),
  );
}

/** 409 if the order has already ended, 503 if the platform does not confirm the cancel. */
export async function cancelOrder(
  context: OrderContext,
  { row: stored, client }: FoundOrder,
  requestId: string,
): Promise<OrderRow> {
  const row = isUnresolved(stored) ? await refreshOrder(context, client, stored) : stored;
  if (isUnresolved(row)) {
    throw new ApiError(503, 'The result of the order is not known yet', {
      resolution: 'Retry in a few seconds; the service is looking it up.',
      errorText: `order client:${row.clientOrderId}: sent, not found at ${platformName(row.platform)} yet`,
    });
  }
  if (isOver(row.status)) throw notOpen(row);
  const [done] = await cancelOrders(context, client, [row], requestId);
  if (!done) throw new Error('a cancel without an outcome');
  if (done.cancelled) return done.row;
  const own = client.account.credentialId === row.credentialId;
  const notThere = done.read && done.outcome.result === 'not_open';
  if (isOver(done.row.status) || (own && notThere)) throw notOpen(done.row);
  if (notThere) {
    throw orderRefused(
      `${platformName(row.platform)} does not know the order under this credential`,
      "The order's credential was deleted. Store one of the same account.",
      stateText(done.row),
    );
  }
  throw new ApiError(503, `${platformName(row.platform)} did not confirm the cancellation`, {
    resolution: 'Retry; cancelling twice is safe.',
    errorText: `${stateText(done.row)}${done.outcome.detail && `; ${done.outcome.detail}`}`,
  });
}

const stateText = ({ orderId, status, filledSize, size, averageFillPrice }: OrderRow): string =>
  `order ${orderId} is ${status}: ${filledSize ?? 'an unknown part'} of ${size} filled${averageFillPrice === null ? '' : ` at ${averageFillPrice}`}`;

const notOpen = (row: OrderRow): ApiError =>
  new ApiError(409, 'The order is no longer open', {
    resolution: 'Nothing is left to cancel; GET the order for its final state.',
    errorText: stateText(row),
  });
