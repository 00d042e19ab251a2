import { json, trimmedText, type SimReply } from '../lib/index.ts';
import type { Call } from './auth.ts';
import { findMarket } from './discovery.ts';
import { lockedUsd, orderBody, userOrderRow } from './order-rows.ts';
import { isWorking, type OrderStatus } from './orders.ts';
import { isObject, refuse, UUID_V4, wholeNumber } from './wire.ts';

const MAX_BATCH = 50;

/** POST /orders/status/batch: somebody else's order is not_found too. */
export function statusBatch({ world, profile }: Call, body: unknown): SimReply {
  const items = isObject(body) && Array.isArray(body['items']) ? (body['items'] as unknown[]) : [];
  if (items.length === 0 || items.length > MAX_BATCH) throw refuse(400, `items must hold 1 to ${MAX_BATCH} items`);
  const results = [];
  for (const [index, item] of items.entries()) {
    const { orderId, clientOrderId } = (isObject(item) ? item : {}) as { orderId?: string; clientOrderId?: string };
    const names = { ...(orderId !== undefined && { orderId }), ...(clientOrderId !== undefined && { clientOrderId }) };
    if (
      (orderId === undefined) === (clientOrderId === undefined) ||
      (orderId !== undefined && !UUID_V4.test(orderId))
    ) {
      results.push({
        index,
        status: 'invalid',
        ...names,
        error: 'exactly one of orderId (UUIDv4) and clientOrderId is required',
      });
      continue;
    }
    const order =
      orderId === undefined
        ? world.desk.byClientOrderId(profile, clientOrderId as string)
        : world.desk.orders.get(orderId);
    const isOwn = order?.intent.profile === profile;
    results.push(
      isOwn
        ? { index, status: 'found', ...names, orderId: order.id, data: orderBody(world, order, 'status') }
        : { index, status: 'not_found', ...names },
    );
  }
  return json(200, { results });
}

/** GET /markets/{slug}/user-orders: a bare array, newest first, LIVE ones unless asked otherwise. */
export function userOrders({ world, request, profile }: Call, slug: string): SimReply {
  const market = findMarket(world, slug);
  const limit = wholeNumber(request.query, 'limit', { or: 200, min: 1, max: 200 });
  const asked = request.query.getAll('statuses') as OrderStatus[];
  const known = ['LIVE', 'MATCHED', 'CANCELED', 'UNMATCHED'];
  if (!asked.every((status) => known.includes(status)))
    throw refuse(400, `statuses must be one of the following values: ${known.join(', ')}`);
  const statuses = asked.length === 0 ? ['LIVE'] : asked;
  const found = world.desk
    .ordersOf(profile)
    .filter((order) => order.intent.market === market && statuses.includes(order.status));
  return json(200, found.toReversed().slice(0, limit).map(userOrderRow));
}

/** GET /markets/{slug}/locked-balance. */
export function lockedBalance({ world, profile }: Call, slug: string): SimReply {
  const market = findMarket(world, slug);
  const working = world.desk.ordersOf(profile).filter((order) => order.intent.market === market && isWorking(order));
  const text = trimmedText(lockedUsd(working), 6);
  return json(200, {
    lockedBalance: text,
    lockedBalanceFormatted: `${text} USDC`,
    currency: 'USDC',
    orderCount: working.length,
  });
}
