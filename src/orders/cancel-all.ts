import { cancelOrders, goesOn, notCancelledText } from './cancel.ts';
import type { OrderContext } from './context.ts';
import { mayRest } from './recheck.ts';
import { importListing, isReadFailure, recheckOrders } from './sync.ts';
import { PlatformError, ApiError, reasonOf } from '../core/errors.ts';
import type { OrderClient } from './clients.ts';
import type { Platform } from '../core/model.ts';
import type { OrderRow } from './order-row.ts';

/** The result for every working order: cancelled, or still open with the reason. */
export interface CancelledAll {
  cancelled: OrderRow[];
  open: { row: OrderRow; reason: string }[];
  /** Credentials whose open orders could not be listed: orders that were placed elsewhere are missing. */
  unlisted: { credentialId: number; reason: string }[];
}

const nothingYet = (): CancelledAll => ({ cancelled: [], open: [], unlisted: [] });

/** Whose orders to cancel; credentialId undefined = through every credential. */
export interface CancelScope {
  userId: string;
  platform: Platform;
  credentialId: number | undefined;
}

const MAX_CANCELS = 2000;

/** Reports a failure per order, so that a rejected credential does not stop the others. */
async function cancelThrough(context: OrderContext, client: OrderClient, requestId: string): Promise<CancelledAll> {
  const result = nothingYet();
  try {
    await cancelWorking(context, client, requestId, result);
  } catch (error) {
    if (!(error instanceof ApiError) && !(error instanceof PlatformError)) throw error;
    const rows = await context.store.working(client.account, null, MAX_CANCELS);
    result.open = rows.map((row) => ({ row, reason: error.message }));
  }
  return result;
}

/**
 * Cancels the known orders at once, then those that only the platform's listing has. A failed listing does not stop the cancels. Orders
 * without an id, whose result is unknown, are looked up after that.
 */
async function cancelWorking(
  context: OrderContext,
  client: OrderClient,
  requestId: string,
  result: CancelledAll,
): Promise<void> {
  const known = await context.store.working(client.account, null, MAX_CANCELS);
  const { platform, credentialId } = client.account;
  // The operator's client serves several users. Only the orders that are stored here show whose they are.
  const noteUnlisted = (reason: string): void => {
    if (credentialId !== null) result.unlisted.push({ credentialId, reason });
  };
  const listing = importListing(context, client, null).then(
    ({ complete }) => {
      if (!complete) noteUnlisted('the list of its open orders is incomplete');
    },
    (error: unknown) => {
      noteUnlisted(reasonOf(error));
      if (!isReadFailure(error)) throw error;
      context.log.warn({ platform, err: error }, 'Cancelling only known orders');
    },
  );
  // Both end before a failure is answered: the cancels go on writing to the result.
  for (const done of await Promise.allSettled([cancelRows(context, client, known, requestId, result), listing])) {
    if (done.status === 'rejected') throw done.reason;
  }
  const tried = new Set(known.filter(isCancellable).map(({ id }) => id));
  const working = await context.store.working(client.account, null, MAX_CANCELS);
  const listed = working.filter(({ id }) => !tried.has(id));
  await cancelRows(context, client, listed, requestId, result);
  const lost = working.filter(({ orderId }) => orderId === null);
  const found = await recheckOrders(context, client, lost).catch((error: unknown) => {
    if (isReadFailure(error)) return lost;
    throw error;
  });
  await cancelRows(context, client, found, requestId, result);
  for (const row of found) {
    if (row.orderId === null && mayRest(row)) result.open.push({ row, reason: 'its result is not known yet' });
  }
  if (Math.max(known.length, working.length) < MAX_CANCELS) return;
  const asked = new Set([...known, ...working].map(({ id }) => id));
  const rest = (await context.store.working(client.account, null, 2 * MAX_CANCELS)).filter(({ id }) => !asked.has(id));
  for (const row of rest) result.open.push({ row, reason: `one call cancels at most ${MAX_CANCELS} orders; retry` });
}

/**
 * Cancels orders whose credential was deleted or cannot be opened. Every other credential is tried, as it may be of the same account;
 * the remaining orders are reported as open.
 */
async function cancelStray(
  context: OrderContext,
  through: readonly OrderClient[],
  rows: OrderRow[],
  requestId: string,
): Promise<CancelledAll> {
  const result = nothingYet();
  let left = rows;
  for (const client of through) {
    const tried = nothingYet();
    await cancelRows(context, client, left, requestId, tried).catch((error: unknown) => {
      if (!(error instanceof ApiError) && !isReadFailure(error)) throw error;
    });
    result.cancelled.push(...tried.cancelled);
    left = await context.store.byIds(left.map(({ id }) => id));
  }
  for (const row of left) {
    if (mayRest(row)) result.open.push({ row, reason: 'the service cannot use the credential that placed it' });
  }
  return result;
}

/** Whether the platform may work the order, and its id is known: an order whose answer was lost may have one. */
const isCancellable = (row: OrderRow): boolean => mayRest(row) && row.orderId !== null;

/** Cancels the orders that the platform is known to have, and adds their results. */
async function cancelRows(
  context: OrderContext,
  client: OrderClient,
  rows: readonly OrderRow[],
  requestId: string,
  { cancelled, open }: Pick<CancelledAll, 'cancelled' | 'open'>,
): Promise<void> {
  for (const done of await cancelOrders(context, client, rows.filter(isCancellable), requestId)) {
    if (done.cancelled) cancelled.push(done.row);
    else if (goesOn(done)) open.push({ row: done.row, reason: notCancelledText(done) });
  }
}

/**
 * A user's kill switch: cancels all their working orders on a platform, through every credential unless one is given. A failing
 * listing or credential does not stop the others.
 */
export async function cancelAll(
  context: OrderContext,
  { userId, platform, credentialId }: CancelScope,
  requestId: string,
): Promise<CancelledAll> {
  const { store, clients, credentials, log } = context;
  const stored = (await credentials.list(userId)).filter((one) => one.platform === platform).map(({ id }) => id);
  const ids = credentialId === undefined && stored.length > 0 ? stored : [credentialId];
  const opened = await Promise.allSettled(ids.map((id) => clients.open(userId, platform, id, 'manage')));
  const through = opened.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  const operators = credentialId === undefined && stored.length > 0;
  const operatorsClient = operators ? await clients.defaultClient(userId, platform, 'manage') : null;
  if (operatorsClient) through.push(operatorsClient);
  const unopened = nothingYet();
  for (const [at, one] of opened.entries()) {
    if (one.status === 'fulfilled') continue;
    if (through.length === 0) throw one.reason;
    log.warn({ platform, err: one.reason as unknown }, 'Cancelling without a credential that cannot be decrypted');
    unopened.unlisted.push({ credentialId: ids[at] ?? 0, reason: 'the service cannot use this credential' });
  }
  const tried = await Promise.all(through.map((client) => cancelThrough(context, client, requestId)));
  const results = [unopened, ...tried];
  if (credentialId === undefined) {
    const used = through.map(({ account }) => account.credentialId ?? 0);
    const done = new Set(results.flatMap(({ cancelled }) => cancelled.map(({ orderId }) => orderId)));
    const stray = await store.stray(userId, platform, used, MAX_CANCELS);
    const left = stray.filter(({ orderId }) => !done.has(orderId));
    results.push(await cancelStray(context, through, left, requestId));
  }
  return {
    cancelled: results.flatMap((one) => one.cancelled),
    open: results.flatMap((one) => one.open),
    unlisted: results.flatMap((one) => one.unlisted),
  };
}
