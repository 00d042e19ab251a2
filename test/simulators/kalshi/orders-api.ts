import { json, type SimReply } from '../lib/index.ts';
import type { AccountOrder } from './account.ts';
import { badRequest, ok, WireError, type Call, type PrivateCall, type PrivateRoute, type PublicRoute } from './call.ts';
import { orderNotFound } from './desk.ts';
import {
  namedSubaccount,
  count,
  number,
  orderReply,
  parseBody,
  parseNewOrder,
  price,
  required,
  side,
  text,
  type Body,
} from './order-wire.ts';
import { countText } from './units.ts';

function create(call: PrivateCall, body: Body): Body {
  const order = call.desk.place(call.account, parseNewOrder(call, body));
  return orderReply(call.exchange, order);
}

/** Where an order is sought; `subaccount` null: in the main account. */
interface Where {
  ticker: string | null;
  shard: number | null;
  subaccount: number | null;
}

/** The order of a path. Its id does not name the shard: without market_ticker or exchange_index it is sought on shard 0. */
function orderOf(call: PrivateCall, orderId: string, where: Where): AccountOrder {
  const order = call.desk.find(call.account, orderId);
  if (order.subaccount !== (where.subaccount ?? 0)) throw orderNotFound();
  const shard = where.ticker === null ? (where.shard ?? 0) : order.market.spec.exchangeIndex;
  const isThere = where.ticker === null || where.ticker === order.market.ticker;
  if (!isThere || order.market.spec.exchangeIndex !== shard) throw orderNotFound();
  return order;
}

const where = (call: PrivateCall, body: Body): Where => ({
  ticker: text(body, 'market_ticker'),
  shard: number(body, 'exchange_index'),
  subaccount: namedSubaccount(call, body.subaccount),
});

function whereInQuery(call: PrivateCall): Where {
  const { query } = call;
  const shard = query.get('exchange_index');
  return {
    ticker: query.get('market_ticker'),
    shard: shard === null ? null : Number(shard),
    subaccount: namedSubaccount(call, query.get('subaccount')),
  };
}

function cancel(call: PrivateCall, order: AccountOrder): Body {
  const reducedBy = call.desk.cancel(order);
  return {
    order_id: order.orderId,
    client_order_id: order.clientOrderId,
    reduced_by: countText(reducedBy),
    ts_ms: call.exchange.nowMs,
  };
}

function amend(call: PrivateCall): SimReply {
  const body = parseBody(call.request.body);
  required(body, ['ticker', 'side', 'price', 'count']);
  const order = call.desk.find(call.account, call.params[0] ?? '');
  if (body.ticker !== order.market.ticker) throw mismatch('order_ticker_mismatch');
  if (side(body) !== order.side) throw mismatch('order_side_mismatch');
  const clientOrderId = text(body, 'client_order_id');
  if (clientOrderId !== null && clientOrderId !== order.clientOrderId) {
    throw mismatch('order_id_and_client_order_id_mismatch');
  }
  const updated = text(body, 'updated_client_order_id');
  if (updated !== null && call.account.clientOrderIds.has(updated)) {
    throw new WireError(409, 'order_already_exists', 'order already exists');
  }
  const expiration = number(body, 'expiration_time');
  call.desk.amend(order, {
    price: price(body),
    count: count(body, 'count'),
    // Left out keeps it, 0 clears it.
    ...(expiration === null ? {} : { expirationMs: expiration === 0 ? null : expiration * 1000 }),
  });
  if (updated !== null) {
    order.clientOrderId = updated;
    call.account.clientOrderIds.add(updated);
  }
  return ok(orderReply(call.exchange, order));
}

const mismatch = (code: string): WireError => new WireError(400, code, code.replaceAll('_', ' '));

function decrease(call: PrivateCall): SimReply {
  const body = parseBody(call.request.body);
  const by = body.reduce_by !== undefined;
  if (by === (body.reduce_to !== undefined)) throw badRequest('exactly one of reduce_by and reduce_to');
  const order = orderOf(call, call.params[0] ?? '', where(call, body));
  const to = body.reduce_to === '0' || body.reduce_to === '0.00' ? 0 : count(body, by ? 'reduce_by' : 'reduce_to');
  const left = call.desk.decrease(order, (waiting) => (by ? waiting - to : to));
  return ok({
    order_id: order.orderId,
    client_order_id: order.clientOrderId,
    remaining_count: countText(left),
    ts_ms: call.exchange.nowMs,
  });
}

function items(call: Call): Body[] {
  const { orders } = parseBody(call.request.body);
  if (!Array.isArray(orders) || orders.length === 0 || orders.length > 100) throw badRequest('1 to 100 orders');
  return orders.map((one) => parseBody(JSON.stringify(one)));
}

/** The HTTP status says nothing about the items: each has its own error. */
function each(call: PrivateCall, handle: (body: Body) => Body, failed: (body: Body) => Body): Body[] {
  return items(call).map((body) => {
    try {
      return handle(body);
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      const { error: reported } = JSON.parse(error.body) as { error: unknown };
      return Object.assign(failed(body), { error: reported });
    }
  });
}

const NOTHING = { order_id: null, fill_count: null, remaining_count: null, ts_ms: null };

function createBatch(call: PrivateCall): SimReply {
  const orders = each(
    call,
    (body) => create(call, body),
    (body) => ({ ...NOTHING, client_order_id: body.client_order_id ?? null }),
  );
  return json(201, { orders });
}

function cancelBatch(call: PrivateCall): SimReply {
  const orders = each(
    call,
    (body) => {
      required(body, ['order_id']);
      return cancel(call, orderOf(call, text(body, 'order_id') ?? '', where(call, body)));
    },
    (body) => ({ order_id: body.order_id ?? null, reduced_by: '0.00' }),
  );
  return ok({ orders });
}

/** Not recorded: the reply is that of a batch. */
function cancelAll(call: PrivateCall): SimReply {
  const subaccount = namedSubaccount(call, call.query.get('subaccount')) ?? 0;
  const waiting = [...call.account.working].filter((order) => order.resting && order.subaccount === subaccount);
  return ok({ orders: waiting.map((order) => cancel(call, order)) });
}

function gone(): SimReply {
  throw new WireError(410, 'deprecated_v1_order_endpoint', 'Please switch to the V2 endpoints');
}

/** Writes of the first version; reads stayed at those paths. */
const DEAD: readonly PublicRoute[] = [
  { method: 'POST', path: '/portfolio/orders', handle: gone },
  { method: 'DELETE', path: '/portfolio/orders/{}', handle: gone },
  { method: 'POST', path: '/portfolio/orders/batched', handle: gone },
  { method: 'POST', path: '/portfolio/orders/{}/amend', handle: gone },
  { method: 'POST', path: '/portfolio/orders/{}/decrease', handle: gone },
];

const V2 = '/portfolio/events/orders';

export const orderRoutes: readonly (PrivateRoute | PublicRoute)[] = [
  ...DEAD,
  { method: 'POST', path: V2, scope: 'write', handle: (call) => json(201, create(call, parseBody(call.request.body))) },
  { method: 'DELETE', path: V2, scope: 'write', handle: cancelAll },
  {
    method: 'DELETE',
    path: `${V2}/{}`,
    scope: 'write',
    cost: 2,
    handle: (call) => ok(cancel(call, orderOf(call, call.params[0] ?? '', whereInQuery(call)))),
  },
  { method: 'POST', path: `${V2}/{}/amend`, scope: 'write', handle: amend },
  { method: 'POST', path: `${V2}/{}/decrease`, scope: 'write', handle: decrease },
  {
    method: 'POST',
    path: `${V2}/batched`,
    scope: 'write',
    cost: (call) => 10 * items(call).length,
    handle: createBatch,
  },
  {
    method: 'DELETE',
    path: `${V2}/batched`,
    scope: 'write',
    cost: (call) => 2 * items(call).length,
    handle: cancelBatch,
  },
];
