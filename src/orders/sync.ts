import { randomUUID } from 'node:crypto';
import { sizeText } from '../core/decimal.ts';
import { StoreError } from '../stores/clickhouse/errors.ts';
import { ApiError, PlatformError, reasonOf } from '../core/errors.ts';
import type { PlatformOrder } from '../platforms/order-contract.ts';
import type { StoredMarket } from '../platforms/contract.ts';
import type { Account } from './account.ts';
import type { OrderClient } from './clients.ts';
import {
  isUnresolved,
  recheckByAge,
  recheckOfExpired,
  recheckOfFills,
  recheckOfNeverArrived,
  recheckOfPending,
  recheckOfSettlement,
  recheckOfUnlisted,
  resolvesAt,
  SETTLING_MS,
} from './recheck.ts';
import { factsFrom, foreignRow, nothingReceived, recordOf, type OrderFacts, type OrderRow } from './order-row.ts';
import type { Attempt } from './attempts.ts';
import { type ChangeOf, CONFIRMED } from './store.ts';
import type { OrderContext } from './context.ts';

/** Maximum working orders looked up individually per listing, because the platform's list lacks them. */
const MAX_LOOKUPS = 100;
/** The same for orders of other credentials, which are read one by one. */
const MAX_OTHERS = 20;

/** Matched but not settled, or filled without known fees: rechecked soon. */
const isUnsettled = ({ status, filledSize, makerFee, takerFee }: OrderFacts): boolean =>
  status === 'pending' || (Number(filledSize ?? 0) > 0 && (makerFee === null || takerFee === null));

/** Whether an order of this service has filled and what it brought is unknown: some lists do not state it. */
const bringsUnknown = ({ origin, filledSize, side, receivedSize, receivedUsd }: OrderRow): boolean =>
  origin === 'service' && Number(filledSize ?? 0) > 0 && (side === 'buy' ? receivedSize : receivedUsd) === null;

/** A cancel sets a read for late fills. It stays due if an earlier read found only some of them. */
const recheckAfterCancel = ({ status, recheckAt }: OrderRow, nowMs: number): Date | null =>
  status === 'cancelled' && recheckAt !== null && recheckAt.getTime() > nowMs ? recheckAt : null;

/** Failures that do not prevent a cancel: of the platform's reads, or of the analytical store, which holds the order's market. */
export const isReadFailure = (error: unknown): boolean => error instanceof PlatformError || error instanceof StoreError;

/** The facts of an order that the platform did not take: nothing was filled. */
export const notTaken = (row: Pick<OrderRow, 'side'>) =>
  ({
    status: 'rejected',
    state: 'rejected',
    filledSize: '0',
    remainingSize: '0',
    makerFee: '0',
    takerFee: '0',
    ...nothingReceived(row),
    recheckAt: null,
  }) as const;

/**
 * Whether a report repeats fills whose matches the platform may still undo. Such a report is recorded, so that an older one that arrives
 * later does not remove the fills. Fills whose cost is unknown do not count.
 */
const confirmsFills = (row: OrderRow, { status, filledSize }: PlatformOrder, nowMs: number): boolean =>
  row.state === 'placed' &&
  row.status === status &&
  filledSize > 0n &&
  row.filledSize === sizeText(filledSize) &&
  recheckOfFills(row, new Date(nowMs), nowMs) === null &&
  nowMs - row.updatedAt.getTime() < SETTLING_MS;

/** Stores the platform's report about an order. Returns the current row; null if that order belongs to another row of ours. */
export async function applyReport(
  context: OrderContext,
  row: OrderRow,
  order: PlatformOrder,
  askedAt: Date,
  { attempt, isListed }: { attempt?: Attempt; isListed?: boolean } = {},
): Promise<OrderRow | null> {
  const { store, now } = context;
  const undecided =
    recheckOfSettlement(order, now()) ?? recheckOfExpired(order, now()) ?? recheckOfUnlisted(order, row, now());
  const changeOf: ChangeOf = (known) => {
    const facts = factsFrom(known, order, askedAt, isListed);
    if (!facts) return confirmsFills(known, order, now()) ? CONFIRMED : null;
    const recheckAt =
      (isUnsettled(facts) ? recheckByAge(row, now()) : null) ??
      recheckOfFills(facts, askedAt, now()) ??
      undecided ??
      recheckOfPending(facts, now()) ??
      recheckAfterCancel(known, now());
    return { ...facts, refusal: null, recheckAt };
  };
  const stored = await store.record(row, changeOf, askedAt, attempt);
  if (stored === null || undecided === null) return stored;
  const isAsBefore = stored.recheckAt?.getTime() === row.recheckAt?.getTime();
  if (!isAsBefore || (row.recheckAt !== null && row.recheckAt.getTime() > now())) return stored;
  await store.recheckLater(row, undecided);
  return { ...stored, recheckAt: undecided };
}

/**
 * The row of an order that the platform does not know. A placed order stays as it is; from `resolvesAt` on, any other order is rejected,
 * because it never arrived. Only a read with the order's own credential counts: another one may belong to another account.
 */
async function absent(context: OrderContext, client: OrderClient, row: OrderRow, askedAt: Date): Promise<OrderRow> {
  const own = client.account.credentialId === row.credentialId;
  const due = own && isUnresolved(row) && askedAt >= resolvesAt(row);
  if (!due) return row;
  context.log.warn({ order: row.id, platform: row.platform }, 'An order did not reach its platform');
  const change: ChangeOf = (known) => {
    if (!isUnresolved(known)) return null;
    const rejected = { ...notTaken(known), updatedAt: askedAt };
    return { ...rejected, recheckAt: recheckOfNeverArrived({ ...known, ...rejected }, context.now()) };
  };
  return (await context.store.record(row, change, askedAt)) ?? row;
}

/** Reads these orders from the platform and stores its reports. Returns the current rows, in the given order. */
export async function recheckOrders(
  context: OrderContext,
  client: OrderClient,
  rows: readonly OrderRow[],
  signal?: AbortSignal,
): Promise<OrderRow[]> {
  if (rows.length === 0) return [];
  const askedAt = new Date(context.now());
  const found = await client.find(
    rows.map((row) => recordOf(row, client.account.credentialId === row.credentialId)),
    signal,
  );
  const settle = async (row: OrderRow, order: PlatformOrder | null): Promise<OrderRow> =>
    (order && (await applyReport(context, row, order, askedAt))) ?? absent(context, client, row, askedAt);
  return Promise.all(rows.map((row, i) => settle(row, found[i] ?? null)));
}

/** Refreshes one order. If its result is unknown and the platform does not answer, it stays unchanged: unknown is still correct. */
export async function recheckOrder(context: OrderContext, client: OrderClient, row: OrderRow): Promise<OrderRow> {
  try {
    const [fresh = row] = await recheckOrders(context, client, [row]);
    // Another read may have changed the order during this one.
    return fresh === row ? ((await context.store.byId(row.id)) ?? row) : fresh;
  } catch (error) {
    if (error instanceof PlatformError && isUnresolved(row)) return row;
    throw error;
  }
}

/**
 * Stores what the platform lists. Returns the ids of the listed rows, and whether the list has every working order. Orders placed elsewhere
 * are stored only if the account is the user's own: the operator's client serves several users, who see only their own orders.
 */
export async function importListing(
  context: OrderContext,
  client: OrderClient,
  market: StoredMarket | null,
): Promise<{ seen: Set<string>; complete: boolean }> {
  const { store, now } = context;
  const { account } = client;
  const askedAt = new Date(now());
  const listing = await client.list({ market, sinceMs: await store.syncedAt(account) });
  const ids = listing.orders.map(({ orderId }) => orderId);
  const clientIds = listing.orders.flatMap(({ clientOrderId }) => clientOrderId || []);
  const known = await store.matching(account, ids, clientIds);
  // A client order id may belong to another order: the look-up compares the terms too.
  const claimed = await recheckOrders(
    context,
    client,
    known.filter(({ orderId }) => orderId === null),
  );
  const byId = new Map([...known, ...claimed].flatMap((row) => (row.orderId === null ? [] : [[row.orderId, row]])));
  const seen = new Set<string>();
  const foreign: OrderRow[] = [];
  const unclear: OrderRow[] = [];
  for (const order of listing.orders) {
    const row = byId.get(order.orderId);
    if (row) {
      seen.add(row.id);
      const after = await applyReport(context, row, order, askedAt, { isListed: true });
      if (after && bringsUnknown(after)) unclear.push(after);
    } else if (account.credentialId !== null) {
      foreign.push(foreignRow({ id: randomUUID(), ...account }, order, askedAt));
    }
  }
  await store.insertForeign(foreign);
  // A failure costs these facts only: the next listing asks again.
  await recheckOrders(context, client, unclear.slice(0, MAX_LOOKUPS)).catch((error: unknown) => {
    if (!isReadFailure(error)) throw error;
  });
  const { complete, lacksFinished } = listing;
  if (market === null && complete && !lacksFinished) await store.synced(account, askedAt);
  return { seen, complete };
}

/** Updates the store from the platform: from its listing, and from look-ups of working orders that it does not list. */
export async function syncOrders(
  context: OrderContext,
  client: OrderClient,
  market: StoredMarket | null,
): Promise<void> {
  const { store, now } = context;
  const { seen } = await importListing(context, client, market);
  const working = await store.working(client.account, market?.ref ?? null, MAX_LOOKUPS + seen.size);
  const unlisted = working.filter(({ id }) => !seen.has(id)).slice(0, MAX_LOOKUPS);
  const askedAt = new Date(now());
  await recheckOrders(context, client, unlisted);
  // So that the next listing begins with the orders left out of this one.
  await store.rechecked(
    unlisted.map(({ id }) => id),
    askedAt,
  );
}

/**
 * Updates the user's working orders that were placed here with other credentials than the account's. An order that cannot be read stays as
 * stored.
 */
export async function recheckOthers(
  context: OrderContext,
  { userId, platform, credentialId }: Account,
  market: StoredMarket | null,
): Promise<void> {
  const { store, clients, now, log } = context;
  const placedHere = { marketRef: market?.ref ?? null };
  const rows = await store.stray(userId, platform, [credentialId ?? 0], MAX_OTHERS, placedHere);
  const askedAt = new Date(now());
  const recheck = async (credential: number | null): Promise<void> => {
    const some = rows.filter((row) => row.credentialId === credential);
    const [first] = some;
    try {
      const client = first && (await clients.reopen(first, 'live'));
      if (client) await recheckOrders(context, client, some);
    } catch (error) {
      if (!(error instanceof ApiError) && !isReadFailure(error)) throw error;
      log.warn({ platform, credential, reason: reasonOf(error) }, 'Listing orders of a credential as stored');
    }
    // So that the next listing begins with the orders left out of this one.
    await store.rechecked(
      some.map(({ id }) => id),
      askedAt,
    );
  };
  await Promise.all(Array.from(new Set(rows.map((row) => row.credentialId)), recheck));
}
