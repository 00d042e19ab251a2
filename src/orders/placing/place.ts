import { ApiError } from '../../core/errors.ts';
import type { PlacementMember } from '../../platforms/order-contract.ts';
import { waitUntil } from '../../core/retry.ts';
import type { OrderContext } from '../context.ts';
import type { OrderRow } from '../order-row.ts';
import { mayRest } from '../recheck.ts';
import { limitRefusal } from '../refusals.ts';
import { isReadFailure, recheckOrder } from '../sync.ts';
import { dryRunRow, FLIGHT_MS, prepareOrder, type Draft } from './prepare.ts';
import { orderRequest, type OrderBody, type OrderRequest } from './request.ts';
import { sendOrder } from './send.ts';
import type { WorstCase } from './worst-case.ts';

/** A repeat waits this long for the first request of its key. */
const WAIT_MS = 25_000;
const POLL_MS = 100;
/** Attempts to claim a key. One fails if another request has claimed the key and then withdraws its order, which was not sent. */
const MAX_CLAIMS = 3;

/** The order that answers a request; `isReplay`: an earlier request of the key has placed it, and nothing was sent now. */
export interface AnsweredOrder {
  row: OrderRow;
  isReplay: boolean;
  /** What the order of a dry run costs at worst; absent unless it is a dry run. */
  worst?: WorstCase;
}

/** Places an order; `group`: it is sent together with others. */
export type PlaceOrder = (
  userId: string,
  body: OrderBody,
  requestId: string,
  group?: PlacementMember,
) => Promise<AnsweredOrder>;

async function dryRun(context: OrderContext, request: OrderRequest): Promise<AnsweredOrder> {
  const draft = await prepareOrder(context, request);
  const { row, client, worst, requestId } = draft;
  const limited = await context.store.limitOn(row);
  if (limited) throw limitRefusal(limited, row.notional);
  const attempt = { ...client.account, orderId: null, rowId: null, action: 'dry_run', result: 'signed' } as const;
  await context.store.attempted({ ...attempt, httpStatus: 0, detail: '', ms: 0, requestId });
  return { row: dryRunRow(draft), isReplay: false, worst };
}

/**
 * The answer to an earlier request of the key, once its result is known: the order as it is now, or the platform's refusal. null if that
 * order was withdrawn unsent: this request may place it.
 */
async function replay(context: OrderContext, { hash }: OrderRequest, known: OrderRow): Promise<AnsweredOrder | null> {
  const { store, clock, now } = context;
  if (known.bodyHash !== hash) throw otherBody();
  let row: OrderRow | null = known;
  const isRunning = (): boolean => row?.state === 'sending' && now() - row.createdAt.getTime() < FLIGHT_MS;
  const hasEnded = async (): Promise<boolean> => {
    if (isRunning()) row = await store.byId(known.id);
    return !isRunning();
  };
  if (!(await waitUntil(hasEnded, { withinMs: WAIT_MS, everyMs: POLL_MS, clock }))) throw stillRunning();
  if (row === null) return null;
  if (!row.refusal) return { row: await current(context, row), isReplay: true };
  const { status, message, ...rest } = row.refusal;
  throw new ApiError(status, message, rest);
}

/** The order as its platform reports it now if it may work; as stored if it has ended, or if it cannot be read. */
async function current(context: OrderContext, row: OrderRow): Promise<OrderRow> {
  if (!mayRest(row)) return row;
  try {
    const client = await context.clients.reopen(row, 'live');
    return client ? await recheckOrder(context, client, row) : row;
  } catch (error) {
    if (error instanceof ApiError || isReadFailure(error)) return row;
    throw error;
  }
}

/**
 * Claims the order. Returns the draft if it is to be sent now, else the order that claimed the key before; null if that was withdrawn.
 * 422 if a limit forbids it.
 */
async function claimOrder(context: OrderContext, request: OrderRequest): Promise<Draft | OrderRow | null> {
  const { store } = context;
  let draft: Draft;
  try {
    draft = await prepareOrder(context, request);
  } catch (error) {
    // A repeat may fail here although its order was placed, e.g. if the market has closed since.
    const known = request.key === null ? null : await store.byKey(request.userId, request.key);
    if (!known) throw error;
    return known;
  }
  const claim = await store.claim(draft.row);
  switch (claim.kind) {
    case 'claimed':
      return draft;
    case 'replay':
      return claim.row;
    case 'limited':
      throw limitRefusal(claim, draft.row.notional);
    case 'used':
      throw clientIdUsed(draft.row.clientOrderId);
  }
}

/** Checks and signs, claims in one statement, and sends once; or answers with the order that has claimed the key before. */
async function placeOnce(context: OrderContext, request: OrderRequest): Promise<AnsweredOrder> {
  for (let claims = 0; claims < MAX_CLAIMS; claims += 1) {
    const claimed = await claimOrder(context, request);
    if (claimed === null) continue;
    if ('prepared' in claimed) return { row: await sendOrder(context, claimed), isReplay: false };
    request.group?.leave();
    const answered = await replay(context, request, claimed);
    if (answered) return answered;
  }
  throw stillRunning();
}

/** Places orders, each idempotency key at most once. Repeats wait for the first and get the same answer. */
export function createPlacer(context: OrderContext): PlaceOrder {
  /** Requests with a key that run in this process: repeats wait for them without asking the store. */
  const flights = new Map<string, { hash: string; placed: Promise<AnsweredOrder> }>();

  return async (userId, body, requestId, group) => {
    const request = orderRequest(userId, body, requestId, group);
    const { key, hash } = request;
    if (body.dry_run) return dryRun(context, request);
    if (key === null) return placeOnce(context, request);
    const name = JSON.stringify([userId, key]);
    const flight = flights.get(name);
    if (flight) {
      group?.leave();
      if (flight.hash !== hash) throw otherBody();
      return { row: (await flight.placed).row, isReplay: true };
    }
    const placed = placeOnce(context, request).finally(() => flights.delete(name));
    flights.set(name, { hash, placed });
    return placed;
  };
}

const otherBody = (): ApiError =>
  new ApiError(409, 'Idempotency key used for another order', {
    resolution: 'Repeat the first body exactly, or use a new key.',
    errorText: 'idempotency_key: an earlier request used it with another body',
  });

const stillRunning = (): ApiError =>
  new ApiError(409, 'The first request with this idempotency key is still running', {
    resolution: 'Retry in a few seconds.',
    errorText: 'idempotency_key: the first request with it has no answer yet',
  });

const clientIdUsed = (id: string): ApiError =>
  new ApiError(409, 'Client order id already used', {
    resolution: 'Use another client_order_id; a platform accepts each one once.',
    errorText: `client_order_id: ${JSON.stringify(id)} names another order of this account`,
  });
