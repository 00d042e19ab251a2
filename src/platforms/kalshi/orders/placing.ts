import { z } from 'zod';
import { ONE_PRICE, type Price } from '../../../core/decimal.ts';
import { systemClock } from '../../../core/time.ts';
import { PlatformError } from '../../../core/errors.ts';
import { failedPlacement } from '../../failed-placement.ts';
import { answerError, codeOf } from '../../http/errors.ts';
import type { PlatformReply } from '../../http/request.ts';
import type { OrderAccess, OrderIntent, Placement, PlatformOrder } from '../../order-contract.ts';
import { parseBody, parseRow } from '../../parse-rows.ts';
import { inOrder, placeInParts } from '../../place-in-parts.ts';
import { adviceOf } from '../../refusal-rules.ts';
import { ORDERS_AT_ONCE, ORDER_COST } from '../limits.ts';
import { isPause } from '../manifest.ts';
import { kalshiAccountName, type KalshiAccount } from '../signed-client.ts';
import { KALSHI_REJECTIONS, ONE_ORDER_CODES, REFUSING_CODES } from './advice.ts';
import type { KalshiFinder } from './finder.ts';
import type { KalshiNewOrder } from './request.ts';
import { KalshiPlaced, mapPlaced, PLACED_ROW } from './rows.ts';
import type { Shards } from './shards.ts';

export const WRITES = '/portfolio/events/orders';
const BATCH = `${WRITES}/batched`;
/** The reply rounds the mean of several prices to four decimals. */
const MEAN_DIGIT = ONE_PRICE / 10_000n;
/** How long the answer to a placement waits for the fees of its fills. */
const FEES_MS = 2000;

/** An order ready to be sent. */
interface Signed {
  intent: OrderIntent;
  wire: KalshiNewOrder;
}

/** Results of a batch, in the order of its orders; each has its own. */
const Batch = z.object({ orders: z.array(z.unknown()) });
const Named = z.object({ client_order_id: z.string().min(1) });
const Failed = z.object({ error: z.object({ code: z.string().min(1) }).loose() });

type Access = OrderAccess<'kalshi'>;

/** Sends an order once: with the others of its group in one call, or alone. */
export function placeOrder(
  signed: Signed,
  member: KalshiAccount,
  access: Access,
  { finder, shards }: { finder: KalshiFinder; shards: Shards },
): Promise<Placement> {
  const single = (order: Signed): Promise<Placement> => sendOne(order, member, access, shards);
  const batch = (orders: readonly Signed[]): Promise<Placement[]> => sendBatch(orders, member, access, shards);
  // Only as many at a time as the budget can pay for at once.
  const send = (orders: readonly Signed[]): Promise<Placement[]> =>
    placeInParts('kalshi', orders, { size: ORDERS_AT_ONCE, single, batch });
  const { credential, group } = access;
  const placed = group ? group.place(kalshiAccountName(credential), signed, send) : single(signed);
  return placed.then((placement) => withFees(placement, signed, access, finder));
}

async function sendOne(
  { intent, wire }: Signed,
  member: KalshiAccount,
  access: Access,
  shards: Shards,
): Promise<Placement> {
  try {
    const reply = await member.send('POST', WRITES, JSON.stringify(wire));
    const placed = parseRow(KalshiPlaced, reply.json, PLACED_ROW, access);
    // The error names what is odd.
    return accepted(intent, placed?.row ?? parseBody('kalshi', KalshiPlaced, reply, WRITES), reply);
  } catch (error) {
    await shards.learn(error, intent.market, wire, member);
    return failed(error);
  }
}

async function sendBatch(
  orders: readonly Signed[],
  member: KalshiAccount,
  access: Access,
  shards: Shards,
): Promise<Placement[]> {
  // Not waited for: the orders of the next call would become old.
  const learn = (refusalOf: (at: number) => unknown): void => {
    for (const [at, { intent, wire }] of orders.entries())
      void shards.learn(refusalOf(at), intent.market, wire, member);
  };
  try {
    const body = JSON.stringify({ orders: orders.map(({ wire }) => wire) });
    const reply = await member.send('POST', BATCH, body, ORDER_COST * orders.length);
    const ids = orders.map(({ intent }) => intent.clientOrderId);
    const results = inOrder(ids, parseBody('kalshi', Batch, reply, BATCH).orders, nameOf);
    learn((at) => refusalIn(results[at], reply)?.error);
    return orders.map(({ intent }, at) => resultOf(intent, results[at], reply, access));
  } catch (error) {
    learn(() => error);
    const isOfOne = error instanceof PlatformError && ONE_ORDER_CODES.has(codeOf(error.body));
    const placement = isOfOne ? unknown(error.status, error.detail) : failed(error);
    return orders.map(() => placement);
  }
}

/** A refusal does not name its order. */
const nameOf = (result: unknown): string | undefined => Named.safeParse(result).data?.client_order_id;

/** The result of one order of a batch: a known refusal, or the order by its client order id. Anything else proves nothing. */
function resultOf(intent: OrderIntent, result: unknown, reply: PlatformReply, access: Access): Placement {
  const refusal = refusalIn(result, reply);
  if (refusal) {
    const { code, error } = refusal;
    return REFUSING_CODES.has(code) || isPause(code)
      ? failed(error)
      : unknown(reply.status, `${code}: ${error.detail}`);
  }
  const placed = nameOf(result) === intent.clientOrderId ? parseRow(KalshiPlaced, result, PLACED_ROW, access) : null;
  if (placed) return accepted(intent, placed.row, reply);
  return unknown(reply.status, `${BATCH}: nothing about this order`);
}

/** A result of a batch as a refusal; null if it is none. */
function refusalIn(result: unknown, reply: PlatformReply): { code: string; error: PlatformError } | null {
  const refused = Failed.safeParse(result).data;
  return refused
    ? {
        code: refused.error.code,
        error: answerError('kalshi', { ...reply, status: 400 }, refused, { nowMs: Date.parse(reply.receivedAt) }),
      }
    : null;
}

const accepted = (intent: OrderIntent, placed: KalshiPlaced, reply: PlatformReply): Placement => ({
  result: 'accepted',
  httpStatus: reply.status,
  detail: '',
  order: mapPlaced(intent, placed, reply.receivedAt),
});

const unknown = (httpStatus: number, detail: string): Placement => ({ result: 'unknown', httpStatus, detail });

function failed(error: unknown): Placement {
  if (!(error instanceof PlatformError)) throw error;
  // An order with this client order id exists: maybe this one, if a gateway sent it twice.
  const says = `${codeOf(error.body)} ${error.detail}`;
  if (error.status === 409 && /already.exists/.test(says)) return unknown(409, error.detail);
  return failedPlacement('kalshi', error, () => adviceOf(KALSHI_REJECTIONS, error));
}

/** Whether a read has another mean price than the reply: it took prices of one outcome for those of the other. */
const isOtherMean = (replied: Price | null, read: Price | null): boolean =>
  replied !== null && read !== null && (read > replied + MEAN_DIGIT || read < replied - MEAN_DIGIT);

/** The reply contains no fees, so a filled order is read once. A read that lags behind the reply is ignored. */
async function withFees(
  placement: Placement,
  { intent }: Signed,
  access: Access,
  finder: KalshiFinder,
): Promise<Placement> {
  if (placement.result !== 'accepted' || placement.order.filledSize === 0n) return placement;
  const { order } = placement;
  const hurried = { ...access, signal: systemClock.deadline(FEES_MS) };
  const seen = await finder.read(order.orderId, intent.terms, hurried).catch(() => null);
  if (seen?.filledSize !== order.filledSize) return placement;
  const { makerFee, takerFee, updatedAt, receivedSize, receivedUsd } = seen;
  const read: Partial<PlatformOrder> = { makerFee, takerFee, updatedAt, receivedSize };
  if (isOtherMean(order.averageFillPrice, seen.averageFillPrice)) return { ...placement, order: { ...order, ...read } };
  const averageFillPrice = seen.averageFillPrice ?? order.averageFillPrice;
  return { ...placement, order: { ...order, ...read, averageFillPrice, receivedUsd } };
}
