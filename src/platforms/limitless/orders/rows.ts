import { z } from 'zod';
import { wireBaseUnits, wirePrice } from '../../parse-rows.ts';
import { AccountPortfolio } from '../user-wire.ts';

/** Private bodies as Limitless sends them. The same field may be a JSON number or a text: both are accepted. */
const optionalText = z.string().nullish();
const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/);
const either = z.union([z.string(), z.number()]).transform(String);

/** GET /profiles/me. */
export const LimitlessProfile = z.object({
  /** The ownerId of orders. */
  id: z.number().int(),
  account: address,
  rank: z.object({ feeRateBps: z.number().int().min(0) }).nullish(),
  tradeWalletOption: optionalText,
  smartWallet: address.nullish(),
  embeddedAccount: address.nullish(),
});
export type LimitlessProfile = z.output<typeof LimitlessProfile>;

/** The part of GET /markets/{slug} that signing needs; groups and AMM markets have no venue. */
export const LimitlessVenue = z.object({ venue: z.object({ exchange: address }).nullish() });

const totals = z.object({
  contractsGross: wireBaseUnits,
  contractsFee: wireBaseUnits,
  usdGross: wireBaseUnits,
  usdFee: wireBaseUnits,
});

/** The result of an order; `order` repeats what was signed. Reply of POST /orders and, per order, of POST /orders/status/batch. */
export const LimitlessOrderState = z.object({
  order: z.object({
    id: z.string().min(1),
    createdAt: optionalText,
    salt: either,
    tokenId: z.string(),
    makerAmount: wireBaseUnits,
    takerAmount: wireBaseUnits,
    side: z.union([z.literal(0), z.literal(1)]),
    orderType: z.enum(['GTC', 'FAK', 'FOK']),
    price: wirePrice.nullish(),
    market: z.object({ slug: z.string().min(1), yesPositionId: z.string(), noPositionId: z.string() }),
  }),
  /** What the order took; `fillCost` in its own terms, absent in the reply to a placement. */
  makerMatches: z
    .array(
      z.object({
        createdAt: optionalText,
        matchedSize: wireBaseUnits.nullish(),
        fillCost: wireBaseUnits.nullish(),
      }),
    )
    .nullish(),
  execution: z.object({
    /** UNMATCHED, MATCHED, MINED, CONFIRMED, RETRYING, FAILED, DELAYED, CANCELED; new values may be added. */
    settlementStatus: z.string(),
    effectiveFeeBps: z.number().nullish(),
    totalsRaw: totals.nullish(),
    txHash: optionalText,
    clientOrderId: optionalText,
    reason: optionalText,
  }),
});
export type LimitlessOrderState = z.output<typeof LimitlessOrderState>;

/** One answer per requested item; another account's order is `not_found`. */
export const LimitlessStatusBatch = z.object({ results: z.array(z.unknown()) });
export const LimitlessStatusResult = z.object({
  index: z.number().int().min(0),
  status: z.enum(['found', 'not_found', 'invalid']),
  data: LimitlessOrderState.nullish(),
});

/** A row of GET /markets/{slug}/user-orders: the order's place in the book. */
export const LimitlessUserOrder = z.object({
  id: z.string().min(1),
  createdAt: optionalText,
  status: z.enum(['LIVE', 'MATCHED', 'CANCELED', 'UNMATCHED']),
  originalSize: wireBaseUnits,
  remainingSize: wireBaseUnits,
});
export type LimitlessUserOrder = z.output<typeof LimitlessUserOrder>;

/** A plain array; older replies wrap it. */
export const LimitlessUserOrders = z.union([
  z.array(z.unknown()),
  z.object({ orders: z.array(z.unknown()) }).transform(({ orders }) => orders),
]);

/** Reply of POST /orders/cancel-batch; 207 and 400 have the same shape. */
export const LimitlessCancelBatch = z.object({
  canceled: z.array(z.string()),
  failed: z.array(z.object({ orderId: optionalText, reason: optionalText, message: optionalText })),
});

/** GET /portfolio/positions, without pools. */
export const LimitlessPortfolio = AccountPortfolio.omit({ amm: true });
export const LimitlessHolding = z.object({
  market: z.object({ slug: z.string().min(1) }),
  orders: z.object({ liveOrders: z.array(z.unknown()) }),
});
