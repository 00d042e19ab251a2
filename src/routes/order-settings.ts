import type { FastifyInstance, FastifyReply } from 'fastify';
import { z } from 'zod';
import { noteEvent } from '../accounts/users.ts';
import { ORDER_NOTIONAL, OrderLimitsAnswer } from '../schemas/account.ts';
import type { Services } from './services.ts';
import { decimalNumber, USD_SCALE } from '../core/decimal.ts';
import { ApiError } from '../core/errors.ts';
import { requireScope } from '../http/auth.ts';
import { endpoint } from '../http/endpoint.ts';
import { changeLimits, limitsReader, type OrderLimits } from '../orders/spending-limits.ts';
import { requestTimeMs } from '../http/cursors.ts';
import { decimalParam } from '../schemas/parameters.ts';

const usd = decimalParam(USD_SCALE).nullable().optional();

const shown = (limits: OrderLimits, reply: FastifyReply): z.output<typeof OrderLimitsAnswer> => ({
  trading_enabled: limits.tradingEnabled,
  max_order_notional: decimalNumber(limits.maxOrder, USD_SCALE),
  max_day_notional: decimalNumber(limits.maxDay, USD_SCALE),
  meta: { request_time: requestTimeMs(reply) },
});

const onlyOff = (): ApiError =>
  new ApiError(403, 'An API key can only switch trading off', {
    resolution: 'Send {"trading_enabled": false} alone, or log in at POST /v1/api/auth/login and send the cookie.',
  });

/** Trading limits that a user sets for the keys of the account. */
export function orderSettingsRoutes(app: FastifyInstance, { log, postgres }: Services): void {
  const { db } = postgres.forOrders;
  const url = '/v1/api/auth/order-settings';
  endpoint(
    app,
    {
      method: 'GET',
      url,
      auth: 'session',
      tag: 'Account',
      operation: 'getOrderLimits',
      summary: 'Order limits of the account',
      answer: OrderLimitsAnswer,
    },
    async ({ caller, reply }) => shown(await limitsReader(db)(caller.userId), reply),
  );

  endpoint(
    app,
    {
      method: 'PATCH',
      url,
      auth: 'either',
      tag: 'Account',
      operation: 'changeOrderLimits',
      summary: 'Change the order limits of the account',
      description:
        'Omitted fields keep their value; null removes a limit. Effective from the next order. A key with the scope trade may switch trading off, {"trading_enabled": false} alone; everything else needs a session.',
      body: {
        trading_enabled: z.boolean({ error: 'true or false' }).optional().describe('false rejects every order'),
        max_order_notional: usd.describe(`${ORDER_NOTIONAL}; null removes the limit`),
        max_day_notional: usd.describe("USD of a UTC day's orders; null removes the limit"),
      },
      answer: OrderLimitsAnswer,
    },
    async ({ body, caller, request, reply }) => {
      const { trading_enabled: tradingEnabled, max_order_notional: maxOrder, max_day_notional: maxDay } = body;
      if (caller.kind === 'key') {
        requireScope(caller, 'trade');
        if (tradingEnabled !== false || maxOrder !== undefined || maxDay !== undefined) throw onlyOff();
      }
      const limits = await changeLimits(db, caller.userId, {
        ...(tradingEnabled === undefined ? {} : { tradingEnabled }),
        ...(maxOrder === undefined ? {} : { maxOrder }),
        ...(maxDay === undefined ? {} : { maxDay }),
      });
      await noteEvent({ log, postgres: postgres.forOrders }, 'order_limits_changed', caller.userId, request.ip);
      return shown(limits, reply);
    },
  );
}
