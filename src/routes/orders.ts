import type { FastifyInstance, FastifyReply } from 'fastify';
import { z } from 'zod';
import type { Services } from './services.ts';
import { endpoint } from '../http/endpoint.ts';
import { countCaller } from '../http/auth.ts';
import { toFailure } from '../http/error-handlers.ts';
import { inputReader } from '../http/read-input.ts';
import {
  BalancesAnswer,
  CancelAllAnswer,
  CancelAnswer,
  OneOrderAnswer,
  OrderBatchAnswer,
  OrdersAnswer,
} from '../schemas/orders.ts';
import { PlacementGroup } from '../orders/placing/placement-group.ts';
import { envelope } from '../core/errors.ts';
import { orderNameOf, toOrderAnswer } from '../orders/to-answer.ts';
import type { AnsweredOrder } from '../orders/placing/place.ts';
import { contradictionsOf, orderFields, type OrderBody } from '../orders/placing/request.ts';
import { isUnresolved } from '../orders/recheck.ts';
import { pagination, requestTimeMs } from '../http/cursors.ts';
import { cursorParam, enumParam, limitParam, marketIdParam, platformParam } from '../schemas/parameters.ts';
import { storedTextParam } from '../core/fields.ts';
import { ORDER_STATUSES } from '../core/order-model.ts';
import { decimalNumber, USD_SCALE } from '../core/decimal.ts';
import type { Platform } from '../core/model.ts';

const Position = z.object({ createdAt: z.string(), id: z.string(), total: z.number() });
const { credential_id: credentialId } = orderFields;
const orderName = storedTextParam(200).describe("The platform's order id, or client:<client_order_id>");
type BatchResult = z.input<typeof OrderBatchAnswer>['results'][number];
const PLATFORM_ERRORS = [422, 502, 504] as const;

/** 200: nothing was sent now. 202: sent, and the result is not known. 201: placed. */
const statusOf = ({ dry_run: isDryRun }: OrderBody, { row, isReplay }: AnsweredOrder): 200 | 201 | 202 =>
  isDryRun || isReplay ? 200 : isUnresolved(row) ? 202 : 201;

/** `meta` of answers about orders. */
const metaOf = (reply: FastifyReply, platform: Platform, replayed = false) => ({
  platform,
  request_time_ms: requestTimeMs(reply),
  idempotent_replay: replayed,
});

/** Placing, reading and cancelling orders with stored credentials or the operator's default client. */
export function orderRoutes(app: FastifyInstance, services: Services): void {
  placeOrderRoute(app, services);
  listOrdersRoute(app, services);
  getOrderRoute(app, services);
  cancelOrderRoute(app, services);
  cancelAllOrdersRoute(app, services);
  placeOrdersRoute(app, services);
  balancesRoute(app, services);
}

function placeOrderRoute(app: FastifyInstance, services: Services): void {
  const { orders, clock } = services;

  endpoint(
    app,
    {
      method: 'POST',
      url: '/v1/api/orders',
      auth: 'key',
      tag: 'Orders',
      operation: 'placeOrder',
      summary: 'Place an order',
      description: `Sent at most once. 201: placed (maybe already filled or cancelled, see status). 202: sent, result not known
yet. 200: the idempotency key belongs to an order already placed. A market order gets a worst price from the
current book. dry_run=true checks and signs, and answers 200 without sending or storing anything. Numbers are read as decimals.`,
      body: orderFields,
      together: (body, failing) => contradictionsOf(body, failing, clock.now()),
      statuses: [201, 202, 200],
      errors: [404, 409, ...PLATFORM_ERRORS],
      answer: OneOrderAnswer,
    },
    async ({ body, caller, request, reply }) => {
      const answered = await orders.place(caller.userId, body, request.id);
      reply.code(statusOf(body, answered));
      const meta = metaOf(reply, body.platform, answered.isReplay);
      const { worst } = answered;
      if (!worst) return { order: toOrderAnswer(answered.row), meta };
      const worst_case = { usd: decimalNumber(worst.usd, USD_SCALE), fee_usd: decimalNumber(worst.fee, USD_SCALE) };
      return { order: toOrderAnswer(answered.row), meta: { ...meta, dry_run: true as const, worst_case } };
    },
  );
}

function listOrdersRoute(app: FastifyInstance, services: Services): void {
  const { orders, cursors } = services;

  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/orders',
      auth: 'key',
      tag: 'Orders',
      operation: 'listOrders',
      summary: 'List orders of the account, newest first',
      description:
        "Combines the platform's list with the orders placed here. Orders placed elsewhere are shown when the credential is the user's own. Without credential_id the orders placed here with other credentials are listed too.",
      query: {
        platform: platformParam(),
        credential_id: credentialId,
        market_id: marketIdParam().optional(),
        status: enumParam(ORDER_STATUSES).optional().describe('Only orders in this state'),
        limit: limitParam(50, 200),
        cursor: cursorParam(),
      },
      errors: [404, ...PLATFORM_ERRORS],
      answer: OrdersAnswer,
    },
    async ({ query, caller, reply }) => {
      const { cursor, limit, ...filters } = query;
      const scope = { ...filters, user: caller.userId };
      const position = cursors.decode('orders', scope, cursor, Position);
      const { platform, credential_id, market_id, status } = query;
      const filter = { userId: caller.userId, platform, credentialId: credential_id, marketId: market_id, status };
      const { rows, total, next } = await orders.list(filter, position, limit);
      const nextCursor = cursors.encode('orders', scope, next && { ...next, total });
      return {
        orders: rows.map(toOrderAnswer),
        pagination: pagination(total, limit, nextCursor),
        meta: metaOf(reply, platform),
      };
    },
  );
}

function getOrderRoute(app: FastifyInstance, services: Services): void {
  const { orders } = services;

  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/orders/:id',
      auth: 'key',
      tag: 'Orders',
      operation: 'getOrder',
      summary: 'One order in its current state at the platform',
      params: { id: orderName },
      query: { platform: platformParam(), credential_id: credentialId },
      errors: PLATFORM_ERRORS,
      answer: OneOrderAnswer,
    },
    async ({ params, query: { platform, credential_id }, caller, reply }) => {
      const name = { userId: caller.userId, platform, name: params.id, credentialId: credential_id };
      return { order: toOrderAnswer(await orders.get(name)), meta: metaOf(reply, platform) };
    },
  );
}

function cancelOrderRoute(app: FastifyInstance, services: Services): void {
  const { orders } = services;

  endpoint(
    app,
    {
      method: 'DELETE',
      url: '/v1/api/orders/:id',
      auth: 'key',
      tag: 'Orders',
      operation: 'cancelOrder',
      summary: 'Cancel an open order',
      description:
        '200 once the platform confirmed it; 409 with the final state if the order is final; 503 while it is neither final nor cancelled.',
      params: { id: orderName },
      query: { platform: platformParam(), credential_id: credentialId },
      errors: [409, ...PLATFORM_ERRORS],
      answer: CancelAnswer,
    },
    async ({ params, query: { platform, credential_id }, caller, request, reply }) => {
      const name = { userId: caller.userId, platform, name: params.id, credentialId: credential_id };
      const row = await orders.cancel(name, request.id);
      return { order: toOrderAnswer(row), cancelled: true, meta: metaOf(reply, platform) };
    },
  );
}

function cancelAllOrdersRoute(app: FastifyInstance, services: Services): void {
  const { orders } = services;

  endpoint(
    app,
    {
      method: 'POST',
      url: '/v1/api/orders/cancel-all',
      auth: 'key',
      tag: 'Orders',
      operation: 'cancelAllOrders',
      summary: 'Cancel every open order on a platform',
      description:
        'Through every stored credential of the platform and the default client, unless credential_id names one.',
      body: { platform: platformParam(), credential_id: credentialId },
      errors: [404, ...PLATFORM_ERRORS],
      answer: CancelAllAnswer,
    },
    async ({ body: { platform, credential_id }, caller, request, reply }) => {
      const scope = { userId: caller.userId, platform, credentialId: credential_id };
      const { cancelled, open, unlisted } = await orders.cancelAll(scope, request.id);
      return {
        cancelled: cancelled.map(orderNameOf),
        not_cancelled: open.map(({ row, reason }) => ({ order_id: orderNameOf(row), reason })),
        unlisted: unlisted.map(({ credentialId, reason }) => ({ credential_id: credentialId, reason })),
        meta: metaOf(reply, platform),
      };
    },
  );
}

const MAX_BATCH = 20;
const batchRule = { error: `a list of 1 to ${MAX_BATCH} orders` };

function placeOrdersRoute(app: FastifyInstance, { orders, limits, clock }: Services): void {
  const readOrder = inputReader({ body: orderFields }, (body, failing) => contradictionsOf(body, failing, clock.now()));

  endpoint(
    app,
    {
      method: 'POST',
      url: '/v1/api/orders/batch',
      auth: 'key',
      tag: 'Orders',
      operation: 'placeOrders',
      summary: 'Place up to 20 orders',
      description: `Each order has its own idempotency key and its own result; a faulty one does not stop the others. Each counts
as a request and against the limits of the account, and is sent at most once. Orders of one account leave in one call of the
platform, where it has one; there is no order among them.`,
      body: {
        orders: z
          .array(z.unknown(), batchRule)
          .min(1, batchRule)
          .max(MAX_BATCH, batchRule)
          .describe('Bodies of POST /v1/api/orders'),
      },
      answer: OrderBatchAnswer,
    },
    async ({ body, caller, request, reply }) => {
      const group = new PlacementGroup(body.orders.length, clock);
      const results = body.orders.map(async (given, at): Promise<BatchResult> => {
        const member = group.member();
        try {
          // The request itself is counted already.
          if (at > 0) await countCaller(reply, caller, limits);
          const order = readOrder({ body: given }).body;
          const answered = await orders.place(caller.userId, order, request.id, member);
          const replayed = { idempotent_replay: answered.isReplay };
          return { status: statusOf(order, answered), order: toOrderAnswer(answered.row), ...replayed };
        } catch (error) {
          const failure = toFailure(error);
          if (failure.status >= 500) request.log.error({ err: error, at }, failure.message);
          const { status, retryAfter } = failure;
          return { status, ...envelope(failure), ...(retryAfter === undefined ? {} : { retry_after: retryAfter }) };
        } finally {
          member.leave();
        }
      });
      return { results: await Promise.all(results), meta: { request_time_ms: requestTimeMs(reply) } };
    },
  );
}

function balancesRoute(app: FastifyInstance, { orders }: Services): void {
  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/balances',
      auth: 'key',
      tag: 'Orders',
      operation: 'getBalances',
      summary: 'Collateral, allowances and holdings of an account',
      description: 'Read from the platform, at most once in 5 s for each outcome_of.',
      query: {
        platform: platformParam(),
        credential_id: credentialId,
        outcome_of: marketIdParam().optional().describe('Also what the account holds of the outcomes of this market'),
      },
      errors: [404, ...PLATFORM_ERRORS],
      answer: BalancesAnswer,
    },
    async ({ query: { platform, credential_id, outcome_of }, caller, reply }) => {
      const whose = { userId: caller.userId, platform, credentialId: credential_id, outcomeOf: outcome_of };
      const meta = { platform, request_time_ms: requestTimeMs(reply) };
      return { ...(await orders.balances(whose)), meta };
    },
  );
}
