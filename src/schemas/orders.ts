import { z } from 'zod';
import { ErrorAnswer } from './error.ts';
import { ORDER_CAUSES, ORDER_STATUSES, ORDER_TYPES, TIMES_IN_FORCE } from '../core/order-model.ts';
import {
  jsonObject,
  marketIdField,
  META,
  numberOrNull,
  Pagination,
  platformField,
  requestTimeField,
  timeField,
  timeOrNull,
} from './markets.ts';

const fee = (what: string) => numberOrNull.describe(`${what}, USD charged so far; null until the platform reports it`);

export const OrderAnswer = z
  .object({
    order_id: z.string().describe("The platform's; client:<client_order_id> until the platform reports one"),
    platform: platformField,
    market_id: marketIdField,
    side: z.enum(['buy', 'sell']).describe('For the named outcome'),
    outcome: z.string().describe('Outcome id'),
    type: z.enum(ORDER_TYPES).describe('limit; or market, with a worst price'),
    price: numberOrNull.describe(
      'Limit, or worst price of a market order, 0..1 of the outcome; null if the platform does not report it',
    ),
    size: z.number().describe('Contracts or shares'),
    filled_size: numberOrNull.describe('Contracts or shares; null while the result of the order is unknown'),
    remaining_size: numberOrNull.describe(
      'Contracts or shares still working; 0 once the order has ended, null while its result is unknown',
    ),
    average_fill_price: numberOrNull.describe(
      '0..1 of the outcome; null when nothing was filled or it is not known yet',
    ),
    received_size: numberOrNull.describe(
      'Contracts or shares that a purchase brought, after fees taken in them; null for a sale, and while not known',
    ),
    received_usd: numberOrNull.describe(
      'USD that a sale brought, after fees; null for a purchase, and while not known',
    ),
    status: z
      .enum(ORDER_STATUSES)
      .describe(
        'pending: accepted, not yet working. open, partially_filled: working. cancelled: ended, possibly after fills. rejected: never worked. unknown: sent, result not known yet',
      ),
    time_in_force: z
      .enum(TIMES_IN_FORCE)
      .describe(
        'gtc: until cancelled; gtd: until its expiration; ioc: fill at once what is possible, cancel the rest; fok: fill all at once or nothing; a purchase that goes out as an amount fills at least metadata.least_shares or nothing',
      ),
    client_order_id: z.string().describe("The caller's id, or a generated one"),
    fees: z
      .object({
        maker_fee: fee('On fills as maker'),
        taker_fee: fee('On fills as taker'),
        total_fee: fee('Both together'),
      })
      .describe('USD charged so far; null until the platform reports them'),
    created_at: timeField.describe('When it was placed, ISO-8601 UTC with milliseconds'),
    updated_at: timeField.describe('When its state last changed here, ISO-8601 UTC with milliseconds'),
    expiration: timeOrNull('When it expires', 'unless time_in_force is gtd'),
    resolves_at: timeOrNull(
      'While its status is unknown: latest time at which the order can still arrive; later reads decide',
      'otherwise',
    ),
    unknown_reason: z
      .string()
      .nullable()
      .describe('While its status is unknown: why the result is not known, in words; null otherwise'),
    metadata: jsonObject.optional().describe('Data from the platform; a dry run shows here what would be sent'),
  })
  .meta({ id: 'Order', description: 'An order and its state' });
export type OrderAnswer = z.output<typeof OrderAnswer>;

export const OrderEvent = OrderAnswer.extend({
  previous_status: z.enum(ORDER_STATUSES).nullable().describe('null if the order is new'),
  cause: z
    .enum(ORDER_CAUSES)
    .describe('placement, fill, cancel, expiry or rejection; update: anything else, as a fee that became known'),
}).meta({ id: 'OrderEvent', description: "A stored change of one of the caller's orders" });
export type OrderEvent = z.output<typeof OrderEvent>;

const Meta = z.object({
  platform: platformField,
  request_time_ms: requestTimeField,
  idempotent_replay: z.boolean().describe('true if the answer is a stored order and nothing was sent'),
});

export const OneOrderAnswer = z
  .object({
    order: OrderAnswer,
    meta: Meta.extend({
      dry_run: z.literal(true).optional().describe('Present if nothing was sent or stored'),
      worst_case: z
        .object({
          usd: z
            .number()
            .describe(
              'Worst price × size, or the amount that the platform itself spends, USD: spent by a purchase, received by a sale, before fees',
            ),
          fee_usd: numberOrNull.describe(
            'Taker fee of one fill of all at that price, USD, rounded up; contracts that the platform keeps count at the price. A purchase of an amount buys more at a better price, with a fee that can be higher. null if unknown',
          ),
        })
        .optional()
        .describe('A dry run only: what the order costs or brings if it fills at its worst price'),
    }).describe(META),
  })
  .meta({ id: 'OneOrder' });
export const OrdersAnswer = z
  .object({
    orders: z.array(OrderAnswer).describe('Newest first'),
    pagination: Pagination,
    meta: Meta.describe(META),
  })
  .meta({ id: 'OrderList' });
export const CancelAnswer = z
  .object({
    order: OrderAnswer,
    cancelled: z.boolean().describe('true: the platform confirmed it'),
    meta: Meta.describe(META),
  })
  .meta({ id: 'CancelledOrder' });
export const CancelAllAnswer = z
  .object({
    cancelled: z.array(z.string()).describe('Ids of the orders whose cancellation the platform confirmed'),
    not_cancelled: z
      .array(
        z.object({
          order_id: z.string().describe('As in the list of orders'),
          reason: z.string().describe('Why the cancellation is not confirmed'),
        }),
      )
      .describe('Orders that may still be open: retry'),
    unlisted: z
      .array(
        z.object({
          credential_id: z.int().describe('Number of the credential'),
          reason: z.string().describe('Why its open orders could not be listed'),
        }),
      )
      .describe('Credentials whose orders placed elsewhere may still be open, as their list could not be read: retry'),
    meta: Meta.describe(META),
  })
  .meta({ id: 'CancelledOrders' });

const part = (what: string) =>
  numberOrNull.describe(`${what}; USD or contracts, null if the platform does not report it`);

export const BalancesAnswer = z
  .object({
    balances: z
      .array(
        z.object({
          asset: z.string().describe('Collateral (USD, pUSD, USDC), or the id of an outcome'),
          total: part('Available and reserved together'),
          available: part('What new orders can use'),
          reserved: part('What open orders need'),
        }),
      )
      .describe('Collateral, and with outcome_of the holdings of the outcomes'),
    allowances: z
      .array(
        z.object({
          asset: z.string().describe('What may be moved'),
          spender: z.string().describe('Address of the contract'),
          name: z.string().nullable().describe("Name of the contract, if it is one of the platform's; null otherwise"),
          amount: numberOrNull.describe('How much it may move, USD or contracts; null = without a limit'),
        }),
      )
      .describe('What contracts may move; empty on platforms without allowances'),
    as_of: timeField.describe('When the platform was asked, at most 5 s ago; ISO-8601 UTC with milliseconds'),
    meta: z.object({ platform: platformField, request_time_ms: requestTimeField }).describe(META),
  })
  .meta({ id: 'Balances' });
export type BalancesAnswer = z.output<typeof BalancesAnswer>;

export const OrderBatchAnswer = z
  .object({
    results: z
      .array(
        z.object({
          status: z.int().describe('HTTP status code that POST /v1/api/orders would answer for this order'),
          order: OrderAnswer.optional().describe('The order; absent if there is an error'),
          idempotent_replay: z.boolean().optional().describe('As in meta of POST /v1/api/orders; absent with an error'),
          error: ErrorAnswer.shape.error
            .optional()
            .describe('Why the order was not placed; absent if there is an order'),
          retry_after: z.int().optional().describe('Seconds to wait; absent unless the error says so'),
        }),
      )
      .describe('One for each order, in their order'),
    meta: z.object({ request_time_ms: requestTimeField }).describe(META),
  })
  .meta({ id: 'OrderBatch' });
