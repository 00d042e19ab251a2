import { ApiError, PlatformError, platformName, reasonOf } from '../core/errors.ts';
import { isOver } from '../core/order-model.ts';
import type { Cancellation } from '../platforms/order-contract.ts';
import type { OrderClient } from './clients.ts';
import type { OrderContext } from './context.ts';
import type { FoundOrder } from './find-order.ts';
import type { OrderRow } from './order-row.ts';
import { isUnresolved, mayRest } from './recheck.ts';
import { refusedOn } from './refusals.ts';
import { isReadFailure, recheckOrder, recheckOrders } from './sync.ts';
import type { ChangeOf } from './store.ts';
import { partsOf } from '../core/parts.ts';

/** Waits before a cancel is repeated; unlike a placement, that is safe. */
const RETRY_MS = [250, 1000];
/** A match delay ends by the platform's clock; its result is visible a moment later. */
const AFTER_DELAY_MS = [250, 1000];
/** The service waits at most this long for a match delay. */
const MAX_DELAY_MS = 10_000;
/** By this time the platform reports fills from before a cancel, even if the first read after it lagged. */
const LATE_FILLS_MS = 5000;
const RETRY_AFTER_S = 3;
/** Orders per cancel call of an adapter, and per read. */
const AT_ONCE = 50;

/** An order that is being cancelled. */
interface Cancelling {
  /** As last read from the platform. */
  row: OrderRow;
  /** The platform's answer to the last request. */
  outcome: Cancellation;
  /** Whether the platform confirmed that it removed the order. */
  cancelled: boolean;
  /** Whether the order could be read after the last request. */
  read: boolean;
  /** The answer to a request was lost: that request may have removed the order. */
  lost: boolean;
}

/** A server may have acted before it answered one of these. */
const UNSURE: ReadonlySet<number> = new Set([408, 425]);

const NOT_ASKED: Cancellation = { result: 'unconfirmed', httpStatus: 0, detail: '' };

/** Requests the cancels once, and records an attempt per order. */
async function ask(
  { store, clock }: OrderContext,
  client: OrderClient,
  orders: readonly Cancelling[],
  requestId: string,
): Promise<void> {
  const started = clock.elapsed();
  const audit = async (outcomes: readonly Cancellation[]): Promise<void> => {
    const ms = Math.round(clock.elapsed() - started);
    for (const [i, { result, httpStatus, detail }] of outcomes.entries()) {
      const { id: rowId = null, orderId = null } = orders[i]?.row ?? {};
      const about = { ...client.account, rowId, orderId, action: 'cancel', requestId } as const;
      await store.attempted({ ...about, result, httpStatus, detail, ms });
    }
  };
  const targets = orders.map(({ row: { orderId, marketRef, metadata } }) => ({
    orderId: orderId ?? '',
    marketRef,
    metadata,
  }));
  const outcomes = await client.cancel(targets).catch(async (error: unknown) => {
    const httpStatus = error instanceof PlatformError ? error.status : 0;
    const detail = reasonOf(error);
    await audit(orders.map(() => ({ result: 'unconfirmed', httpStatus, detail })));
    throw error;
  });
  await audit(outcomes);
  for (const [i, order] of orders.entries()) order.outcome = outcomes[i] ?? NOT_ASKED;
}

/** Whether an unconfirmed request may have removed the order; a refused request has not. */
const mayHaveRemoved = ({ result, httpStatus }: Cancellation): boolean =>
  result === 'unconfirmed' && (httpStatus < 400 || httpStatus >= 500 || UNSURE.has(httpStatus));

/** Reads the orders after a request, and decides which of them the platform has cancelled. */
async function readAfter(context: OrderContext, client: OrderClient, orders: readonly Cancelling[]): Promise<void> {
  const rows = orders.map(({ row }) => row);
  const reads = await recheckOrders(context, client, rows).catch((error: unknown) => {
    if (isReadFailure(error)) return null;
    throw error;
  });
  for (const [i, order] of orders.entries()) {
    order.lost ||= mayHaveRemoved(order.outcome);
    order.read = reads !== null;
    order.row = reads?.[i] ?? order.row;
    order.cancelled ||= order.outcome.result === 'cancelled' || (order.lost && order.row.status === 'cancelled');
    if (order.cancelled) order.row = await endedRow(context, order.row);
  }
}

/**
 * The row after the platform confirmed the cancel: it has ended, even if a read still shows it as working. It is read once more, also if
 * that read showed its end: fills from before the cancel may be listed later.
 */
async function endedRow({ store, now }: OrderContext, row: OrderRow): Promise<OrderRow> {
  // A process whose clock is ahead may have read the order: an earlier time would be ignored as outdated.
  const at = new Date(Math.max(now(), row.askedAt.getTime()));
  const recheckAt = new Date(at.getTime() + LATE_FILLS_MS);
  // The platform had the order, also if the answer to its placement was lost.
  const ended = { state: 'placed', status: 'cancelled', remainingSize: '0', updatedAt: at, recheckAt } as const;
  const change: ChangeOf = (known) => {
    if (mayRest(known)) return ended;
    // An expired order with a recheck would count as one that may work.
    return known.status === 'expired' ? null : { recheckAt };
  };
  return (await store.record(row, change, at)) ?? { ...row, ...change(row) };
}

/** Whether an order that was not cancelled may work. One that has expired by our clock may work until an answer says that it is gone. */
export const goesOn = ({ row, outcome }: Pick<Cancelling, 'row' | 'outcome'>): boolean =>
  !isOver(row.status) || (mayRest(row) && outcome.result !== 'not_open');

/**
 * Whether the order may still be working. While our read shows it as working, "not found" is ignored. Under another credential than the
 * order's own, "not found" means that this credential cannot cancel it.
 */
const mayWork = ({ account }: OrderClient, order: Cancelling): boolean =>
  !order.cancelled &&
  goesOn(order) &&
  (account.credentialId === order.row.credentialId || order.outcome.result !== 'not_open');

/** Waits between the requests: the usual ones, then until the match delays of these orders are over. */
async function* waits(context: OrderContext, orders: () => readonly Cancelling[]): AsyncGenerator<number> {
  yield* RETRY_MS;
  const leftMs = await Promise.all(
    orders().map(async ({ row }) => {
      const delayMs = await context.matchDelayMs(row);
      return delayMs > MAX_DELAY_MS ? 0 : row.createdAt.getTime() + delayMs - context.now();
    }),
  );
  const [first = 0, ...rest] = AFTER_DELAY_MS;
  const most = Math.min(Math.max(...leftMs), MAX_DELAY_MS);
  if (most > 0) yield* [most + first, ...rest];
}

/** Runs `run` for AT_ONCE of these orders at a time. */
async function inParts(orders: readonly Cancelling[], run: (part: readonly Cancelling[]) => Promise<void>) {
  for (const part of partsOf(orders, AT_ONCE)) await run(part);
}

/**
 * Cancels orders of one client. All cancels are sent before the first order is read. A cancel is repeated a few times if it was not
 * confirmed, or if the platform says "not found" while a read shows the order at work. Some platforms say so until the match delay is
 * over. Throws if the first call is rejected because of the credential.
 */
export async function cancelOrders(
  context: OrderContext,
  client: OrderClient,
  rows: readonly OrderRow[],
  requestId: string,
): Promise<Cancelling[]> {
  const all = rows.map((row): Cancelling => ({ row, outcome: NOT_ASKED, cancelled: false, read: false, lost: false }));
  let open = all;
  let isAsked = false;
  const askFor = async (part: readonly Cancelling[]): Promise<void> => {
    try {
      await ask(context, client, part, requestId);
      isAsked = true;
    } catch (error) {
      if (!isAsked || !(error instanceof ApiError || error instanceof PlatformError)) throw error;
      // The other orders still get their results.
      for (const order of part) order.outcome = { ...NOT_ASKED, detail: reasonOf(error) };
    }
  };
  const attempt = async (): Promise<void> => {
    await inParts(open, askFor);
    await inParts(open, (part) => readAfter(context, client, part));
    open = open.filter((order) => mayWork(client, order));
  };
  await attempt();
  for await (const waitMs of waits(context, () => open)) {
    if (open.length === 0) break;
    await context.clock.sleep(waitMs);
    await attempt();
  }
  return all;
}

/**
 * 409 if the order has already ended, 503 if the platform has not cancelled it. An order whose result is unknown is cancelled too, if its id
 * is known.
 */
export async function cancelOrder(
  context: OrderContext,
  { row: stored, client }: FoundOrder,
  requestId: string,
): Promise<OrderRow> {
  const row = isUnresolved(stored) ? await recheckOrder(context, client.forCancel(), stored) : stored;
  if (!mayRest(row)) throw notOpen(row);
  if (row.orderId === null) throw notKnown(row);
  const [done] = await cancelOrders(context, client, [row], requestId);
  if (!done) throw new Error('a cancel without an outcome');
  if (done.cancelled) return done.row;
  if (!goesOn(done)) throw notOpen(done.row);
  if (isUnresolved(done.row) && done.outcome.result === 'not_open') throw notKnown(done.row);
  if (done.read && !mayWork(client, done)) {
    throw refusedOn(row.platform, 'otherAccount', stateText(done.row));
  }
  throw new ApiError(503, `${platformName(row.platform)} did not cancel the order; it is ${stillText(done)}`, {
    resolution: 'Retry; cancelling twice is safe.',
    errorText: `${stateText(done.row)}${done.outcome.detail && `; ${done.outcome.detail}`}`,
    retryAfter: Math.ceil((await context.matchDelayMs(done.row)) / 1000) || RETRY_AFTER_S,
  });
}

/** The state of an order that was not cancelled, as far as it could be read. */
const stillText = ({ row, read }: Cancelling): string => (read ? `still ${row.status}` : `${row.status} as last read`);

/** Why an order is not cancelled: its state, and the platform's words. */
export const notCancelledText = (order: Cancelling): string =>
  `${stillText(order)}: ${order.outcome.detail || 'not confirmed'}`;

const stateText = ({ orderId, status, filledSize, size, averageFillPrice }: OrderRow): string =>
  `order ${orderId} is ${status}: ${filledSize ?? 'an unknown part'} of ${size} filled${averageFillPrice === null ? '' : ` at ${averageFillPrice}`}`;

const notKnown = ({ clientOrderId, platform }: OrderRow): ApiError =>
  new ApiError(503, 'The result of the order is not known yet', {
    resolution: 'Retry in a few seconds: the service looks the order up.',
    errorText: `order client:${clientOrderId}: sent, and ${platformName(platform)} does not show it yet`,
    retryAfter: RETRY_AFTER_S,
  });

const notOpen = (row: OrderRow): ApiError =>
  new ApiError(409, 'The order is no longer open', {
    resolution: 'Nothing is left to cancel; GET the order for its final state.',
    errorText: stateText(row),
  });
