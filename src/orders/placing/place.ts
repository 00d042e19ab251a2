import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../core/errors.ts';
import type { OrderContext } from '../context.ts';
import type { OrderRow } from '../order-row.ts';
import { openRequest } from './check.ts';
import { claimOrder, requireWithinLimits } from './claim.ts';
import { FLIGHT_MS, prepareOrder } from './prepare.ts';
import { orderRequest, type OrderBody, type OrderRequest } from './request.ts';
import { sendOrder, type Placed } from './send.ts';

/** A repeat waits this long for the first request of its key. */
const WAIT_MS = 25_000;
const POLL_MS = 100;
/** A key may be found used, found to be over, and be taken by another process before it is taken here. */
const MAX_CLAIMS = 3;

/** Places an order; `previous`: the order that held its key more than a day ago, and gives it up now. null: the key is used. */
async function attemptOrder(
  context: OrderContext,
  request: OrderRequest,
  previous: string | null,
): Promise<Placed | null> {
  const draft = await prepareOrder(context, await openRequest(context, request), previous);
  const claim = await claimOrder(context, draft);
  if (claim === 'claimed') return sendOrder(context, draft);
  if (claim === 'client_id_used') throw clientIdUsed(draft.row.clientOrderId);
  return null;
}

async function dryRun(context: OrderContext, request: OrderRequest): Promise<Placed> {
  const draft = await prepareOrder(context, await openRequest(context, request), null);
  await requireWithinLimits(context, draft);
  const { row, client, requestId } = draft;
  const attempt = { ...client.account, orderId: null, rowId: null, action: 'dry_run', result: 'signed' } as const;
  await context.store.attempted({ ...attempt, httpStatus: 0, detail: '', ms: 0, requestId });
  const shown = { orderId: `dry_run:${row.clientOrderId}`, status: 'pending', filledSize: '0' } as const;
  const metadata = { ...row.metadata, wire: row.wire };
  return { row: { ...row, ...shown, remainingSize: row.size, metadata }, outcome: 'dry_run' };
}

/** A request that names an idempotency key. */
type KeyedRequest = OrderRequest & { key: string };

/** The result of an earlier request of the key, once it is known; `previous` names the order of a key whose day is over. */
async function earlier(
  { store, now }: OrderContext,
  { userId, key, hash }: KeyedRequest,
): Promise<{ placed: Placed | null; previous: string | null }> {
  for (const end = performance.now() + WAIT_MS; ; await sleep(POLL_MS)) {
    const known = await store.byKey(userId, key, now());
    if (!known?.kept) return { placed: null, previous: known?.row.id ?? null };
    const { row } = known;
    if (row.bodyHash !== hash) throw otherBody();
    const running = row.state === 'sending' && now() - row.createdAt.getTime() < FLIGHT_MS;
    if (!running) return { placed: answerOf(row), previous: null };
    if (performance.now() > end) throw stillRunning();
  }
}

/**
 * Most keys are new, which the claim shows: a key is looked up only where it is used, or where a request fails, as that may be the
 * repeat of one that did not. Nothing was sent where the key was used, so another attempt is the first.
 */
async function placeOnce(context: OrderContext, request: KeyedRequest): Promise<Placed> {
  let previous: string | null = null;
  for (let attempts = 0; attempts < MAX_CLAIMS; attempts += 1) {
    try {
      const made = await attemptOrder(context, request, previous);
      if (made) return made;
    } catch (error) {
      const { placed } = await earlier(context, request);
      if (placed) return placed;
      throw error;
    }
    const known = await earlier(context, request);
    if (known.placed) return known.placed;
    ({ previous } = known);
  }
  throw stillRunning();
}

export type PlaceOrder = (userId: string, body: OrderBody, requestId: string) => Promise<Placed>;

/**
 * Places orders, each idempotency key at most once. A request is checked and signed, claims the key with one INSERT that also
 * records that it is about to be sent, is sent once, and its result is written. Repeats wait for the first and get the same answer.
 */
export function createPlacer(context: OrderContext): PlaceOrder {
  /** Requests with a key that run in this process: repeats wait for them without asking the store. */
  const flights = new Map<string, { hash: string; placed: Promise<Placed> }>();

  return async (userId, body, requestId) => {
    const request = orderRequest(userId, body, requestId);
    const { key, hash } = request;
    if (body.dry_run) return dryRun(context, request);
    if (key === null) {
      const made = await attemptOrder(context, request, null);
      if (made) return made;
      throw stillRunning();
    }
    const name = JSON.stringify([userId, key]);
    const flight = flights.get(name);
    if (flight) {
      if (flight.hash !== hash) throw otherBody();
      return { row: (await flight.placed).row, outcome: 'replay' };
    }
    const placed = placeOnce(context, { ...request, key }).finally(() => flights.delete(name));
    flights.set(name, { hash, placed });
    return placed;
  };
}

/** A repeat is answered by the order as it is now; by the same error when the platform had refused it. */
function answerOf(row: OrderRow): Placed {
  if (row.refusal) {
    const { status, message, ...rest } = row.refusal;
    throw new ApiError(status, message, rest);
  }
  return { row, outcome: 'replay' };
}

const otherBody = (): ApiError =>
  new ApiError(409, 'Idempotency key used for another order', {
    resolution: 'Repeat the first body exactly, or use a new key.',
    errorText: 'idempotency_key: kept for 24 hours, with another body',
  });

const stillRunning = (): ApiError =>
  new ApiError(409, 'The first request with this idempotency key is still running', {
    resolution: 'Retry in a few seconds.',
    errorText: 'idempotency_key: claimed, not answered yet',
  });

const clientIdUsed = (id: string): ApiError =>
  new ApiError(409, 'Client order id already used', {
    resolution: 'Use another client_order_id; a platform accepts each one once.',
    errorText: `client_order_id: ${JSON.stringify(id)} names another order of this account`,
  });
