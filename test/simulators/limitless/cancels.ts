import { json, type SimReply } from '../lib/index.ts';
import type { Call } from './auth.ts';
import { findMarket } from './discovery.ts';
import { orderBody } from './order-rows.ts';
import { isWorking, type MemberOrder } from './orders.ts';
import { createOrder } from './placing.ts';
import { isObject, notFound, Refusal, refuse, type JsonBody } from './wire.ts';
import type { LimitlessWorld } from './world.ts';

const MAX_BATCH = 50;

interface Failure {
  orderId?: string;
  clientOrderId?: string;
  reason: 'ORDER_NOT_FOUND' | 'UNKNOWN_ERROR';
  message: string;
}

/** DELETE /orders/{id} and POST /orders/cancel. */
export function cancelOne({ world, profile }: Call, order: MemberOrder | undefined): SimReply {
  if (!order) throw notFound('Order not found');
  if (order.intent.profile !== profile) throw refuse(401, 'You are not the owner of this order');
  if (!world.desk.finds(order) || world.desk.uncancellable.has(order.id))
    throw refuse(400, 'Order not found or already canceled');
  world.desk.cancel(order);
  return json(200, { message: 'Order canceled successfully' });
}

/** DELETE /orders/all/{slug}: both outcomes of one market. */
export function cancelAll({ world, profile }: Call, slug: string): SimReply {
  const market = findMarket(world, slug);
  const working = world.desk.ordersOf(profile).filter((order) => order.intent.market === market && isWorking(order));
  return manyCancelled(
    world,
    working.map((order) => ({ order, names: { orderId: order.id } })),
    207,
  );
}

/** POST /orders/cancel-batch: {orderIds} or {clientOrderIds}. */
export function cancelBatch(call: Call, body: unknown): SimReply {
  const { world, profile } = call;
  const { orderIds, clientOrderIds } = (isObject(body) ? body : {}) as { orderIds?: unknown; clientOrderIds?: unknown };
  const list = orderIds ?? clientOrderIds;
  const isRight =
    Array.isArray(list) && list.length > 0 && list.length <= MAX_BATCH && list.every((id) => typeof id === 'string');
  if (!isRight || (orderIds === undefined) === (clientOrderIds === undefined)) {
    throw refuse(400, `exactly one of orderIds and clientOrderIds must hold 1 to ${MAX_BATCH} ids`);
  }
  const wanted = (list as string[]).map((id) => {
    const names = orderIds === undefined ? { clientOrderId: id } : { orderId: id };
    const order = orderIds === undefined ? world.desk.byClientOrderId(profile, id) : world.desk.orders.get(id);
    return { names, order: order?.intent.profile === profile && world.desk.finds(order) ? order : undefined };
  });
  return manyCancelled(world, wanted, 400);
}

/** 200 when every one was cancelled, 207 when some were; when none was, as `ifNone` says. */
function manyCancelled(
  world: LimitlessWorld,
  wanted: { order: MemberOrder | undefined; names: { orderId?: string; clientOrderId?: string } }[],
  ifNone: 207 | 400,
): SimReply {
  const canceled: string[] = [];
  const failed: Failure[] = [];
  for (const { order, names } of wanted) {
    if (!order) failed.push({ ...names, reason: 'ORDER_NOT_FOUND', message: 'Order not found or already canceled' });
    else if (world.desk.uncancellable.has(order.id))
      failed.push({ ...names, reason: 'UNKNOWN_ERROR', message: 'Failed to cancel order' });
    else {
      world.desk.cancel(order);
      canceled.push(order.id);
    }
  }
  if (failed.length === 0) return json(200, { message: 'Orders canceled successfully', canceled, failed });
  const status = canceled.length > 0 ? 207 : ifNone;
  return json(status, {
    message: status === 207 ? 'Some orders could not be canceled' : 'No orders were canceled',
    canceled,
    failed,
  });
}

/** Not atomic: the cancel stands even when the replacement is refused; 409 carries the same body as 200. */
export async function cancelReplace(call: Call, body: unknown): Promise<SimReply> {
  const result = await replaceOnce(call, body);
  const isWhole = result.cancel.status === 'SUCCESS' && result.replacement.status === 'SUCCESS';
  return json(isWhole ? 200 : 409, result);
}

export async function cancelReplaceBatch(call: Call, body: unknown): Promise<SimReply> {
  const operations = isObject(body) && Array.isArray(body['operations']) ? (body['operations'] as unknown[]) : [];
  if (operations.length === 0 || operations.length > MAX_BATCH)
    throw refuse(400, `operations must hold 1 to ${MAX_BATCH} items`);
  const results = [];
  for (const [index, operation] of operations.entries()) {
    const { cancel, replacement } = await replaceOnce(call, operation);
    results.push({ index, cancel, replacement });
  }
  return json(200, { results });
}

async function replaceOnce(call: Call, body: unknown) {
  const { cancel, replacement, mode } = (isObject(body) ? body : {}) as JsonBody;
  if (mode !== 'STOP_ON_FAILURE' && mode !== 'ALLOW_FAILURE')
    throw refuse(400, 'mode must be STOP_ON_FAILURE or ALLOW_FAILURE');
  const target = named(call, cancel);
  const cancelled = await attempt('CANCEL_FAILED', () => {
    call.world.maintenance.refuseCancel();
    cancelOne(call, target);
    return { orderId: target?.id };
  });
  if (cancelled.status === 'FAILURE' && mode === 'STOP_ON_FAILURE') {
    return { cancel: cancelled, replacement: { status: 'NOT_ATTEMPTED' as const } };
  }
  const placed = await attempt('ORDER_REJECTED', async () => ({
    data: orderBody(call.world, await createOrder(call, replacement), 'created'),
  }));
  return { cancel: cancelled, replacement: placed };
}

/** Turns a refusal into the typed failure of cancel-replace. */
async function attempt<T extends object>(code: string, run: () => T | Promise<T>) {
  try {
    return { status: 'SUCCESS' as const, ...(await run()) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { message } = JSON.parse(error.reply.body) as { message: unknown };
    return {
      status: 'FAILURE' as const,
      error: { code, message: typeof message === 'string' ? message : JSON.stringify(message) },
    };
  }
}

/** {orderId} or {clientOrderId}, exactly one of them. */
export function named({ world, profile }: Call, body: unknown): MemberOrder | undefined {
  const { orderId, clientOrderId } = (isObject(body) ? body : {}) as JsonBody;
  if (typeof orderId === 'string' && clientOrderId === undefined) return world.desk.orders.get(orderId);
  if (typeof clientOrderId === 'string' && orderId === undefined)
    return world.desk.byClientOrderId(profile, clientOrderId);
  throw refuse(400, 'exactly one of orderId and clientOrderId is required');
}
