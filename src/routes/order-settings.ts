import type { FastifyInstance, FastifyReply } from 'fastify';
import { z } from 'zod';
import { recordEvent } from '../accounts.ts';
import { numberOrNull, PlainMeta } from '../answers.ts';
import type { Services } from '../app.ts';
import { decimalNumber, USD_SCALE } from '../decimal.ts';
import { endpoint } from '../endpoint.ts';
import { changeLimits, limitsReader, type OrderLimits } from '../orders/limits.ts';
import { requestTimeMs } from '../pages.ts';
import { decimalParam } from '../parameters.ts';

const Answer = z
  .object({
    trading_enabled: z.boolean().describe('false: orders of this account are refused'),
    max_order_notional: numberOrNull.describe('USD of one order, price × size; null = no limit'),
    max_day_notional: numberOrNull.describe("USD of a UTC day's orders, refused ones left out; null = no limit"),
    meta: PlainMeta,
  })
  .meta({ id: 'OrderLimits' });

const usd = decimalParam(USD_SCALE).nullable().optional();
const number = (value: bigint | null): number | null => (value === null ? null : decimalNumber(value, USD_SCALE));

const shown = (limits: OrderLimits, reply: FastifyReply): z.output<typeof Answer> => ({
  trading_enabled: limits.tradingEnabled,
  max_order_notional: number(limits.maxOrder),
  max_day_notional: number(limits.maxDay),
  meta: { request_time: requestTimeMs(reply) },
});

/** What a user allows the keys of their account to trade. */
export function orderSettingsRoutes(app: FastifyInstance, { postgres: { db } }: Services): void {
  const url = '/v1/api/auth/order-settings';
  endpoint(
    app,
    {
      method: 'GET',
      url,
      auth: 'session',
      tag: 'Account',
      operation: 'getOrderLimits',
      summary: 'Own limits on orders',
      answer: Answer,
    },
    async ({ caller, reply }) => shown(await limitsReader(db)(caller.userId), reply),
  );

  endpoint(
    app,
    {
      method: 'PATCH',
      url,
      auth: 'session',
      tag: 'Account',
      operation: 'changeOrderLimits',
      summary: 'Change own limits on orders',
      description: 'A field that is left out stays as it is; null takes a limit away. In force for the next order.',
      body: {
        trading_enabled: z.boolean({ error: 'true or false' }).optional().describe('false refuses every order'),
        max_order_notional: usd.describe('USD of one order, price × size; null takes the limit away'),
        max_day_notional: usd.describe("USD of a UTC day's orders; null takes the limit away"),
      },
      answer: Answer,
    },
    async ({ body, caller, request, reply }) => {
      const { trading_enabled: tradingEnabled, max_order_notional: maxOrder, max_day_notional: maxDay } = body;
      const limits = await changeLimits(db, caller.userId, {
        ...(tradingEnabled === undefined ? {} : { tradingEnabled }),
        ...(maxOrder === undefined ? {} : { maxOrder }),
        ...(maxDay === undefined ? {} : { maxDay }),
      });
      await recordEvent(db, 'order_limits_changed', caller.userId, request.ip);
      return shown(limits, reply);
    },
  );
}
