import { z } from 'zod';
import { ApiError, PlatformError } from '../../../core/errors.ts';
import type { Placement } from '../../order-contract.ts';
import { failedPlacement } from '../../failed-placement.ts';
import { answerError } from '../../http/errors.ts';
import type { StoredMarket } from '../../contract.ts';
import { parseBody } from '../../parse-rows.ts';
import { inOrder, placeInParts } from '../../place-in-parts.ts';
import type { Exchange } from './exchanges.ts';
import { adviceOf } from '../../refusal-rules.ts';
import { POLYMARKET_REJECTIONS } from './advice.ts';
import { fundsAdvice } from './funds.ts';
import type { PolymarketAccount } from '../signed-client.ts';
import { OF_FAILURE } from './reads.ts';
import { ClobPlaced } from './rows.ts';
import type { WireOrder } from './signing.ts';
import { killedOrder, mapPlaced, type Asked } from './state.ts';

const ONE = '/order';
const SEVERAL = '/orders';
/** Orders per call of SEVERAL. */
const AT_ONCE = 15;
/** An ioc or fok order without a match: accepted, and ended. */
const KILLED = /FOK orders are fully filled or killed|no orders found to match with FAK order/i;
/** Not enough money or shares, or not approved for a contract. */
const SHORT = /not enough balance|allowance/i;
/**
 * Failures inside the platform: the order may exist. 404, 401 and 400 replace 500 if the words have "not found", "unauthorized" or
 * "context canceled".
 */
const INSIDE =
  /could not insert order|could not run the execution|error delaying the order|order match delayed|context cancell?ed/i;
const MAYBE_INSIDE = /not found|unauthorized/i;
const isInside = (words: string): boolean => INSIDE.test(words) || (MAYBE_INSIDE.test(words) && OF_FAILURE.test(words));
/** These signed bytes were accepted before. */
const DUPLICATE = /\bduplicated\b/i;
/** Words about one order or its market. If they refuse a whole call, only an order that they name is known to be refused. */
const OF_ONE_ORDER =
  /\border 0x|\border timed out|\bF(?:OK|AK) order|\bduplicated\b|not enough balance|allowance|post-only order|expiration|BUY order|no orderbook|not yet ready|order.version/i;

/** The status of words that are about the platform, not about an order. In a reply to several orders each has its words without a status. */
const STATUS_OF_WORDS: readonly [words: RegExp, status: number][] = [
  [/too many requests/i, 429],
  [/post-only mode|cancel-only|currently disabled|service not ready/i, 503],
  [/order timed out|internal server error/i, 500],
];
const statusOf = (said: string): number => STATUS_OF_WORDS.find(([words]) => words.test(said))?.[1] ?? 400;

/** Refuses a call for its orders that may trade; it says nothing of the others. */
const ONLY_POST_ONLY = /only post-only orders/i;

/** A signed order, with what is needed to parse its reply. */
export interface SignedOrder {
  body: string;
  postOnly: boolean;
  order: WireOrder;
  exchange: Exchange;
  asked: Asked;
  market: StoredMarket;
}

/** Sends a signed order, once. */
export async function placeOrder(
  account: PolymarketAccount,
  signed: SignedOrder,
  now: () => number,
): Promise<Placement> {
  try {
    const reply = await account.send({ method: 'POST', path: ONE, body: signed.body });
    const placed = parseBody('polymarket', ClobPlaced, reply, ONE);
    return await placementOf(placed, account, signed, { receivedAt: reply.receivedAt, httpStatus: reply.status, now });
  } catch (error) {
    return failed(error, account, signed, now);
  }
}

/** Sends signed orders of one account, once, in as few calls as the platform allows. Each has its own result. */
export const placeOrders = (
  account: PolymarketAccount,
  signed: readonly SignedOrder[],
  now: () => number,
): Promise<Placement[]> =>
  placeInParts('polymarket', signed, {
    size: AT_ONCE,
    single: (one) => placeOrder(account, one, now),
    batch: (some) => placeSome(account, some, now),
  });

async function placeSome(account: PolymarketAccount, some: readonly SignedOrder[], now: () => number) {
  try {
    const body = `[${some.map((one) => one.body).join(',')}]`;
    const reply = await account.send({ method: 'POST', path: SEVERAL, body }, some.length);
    // The reply lists its rows in the order of the request: with another number of rows, no row can be matched to its order.
    const all = parseBody('polymarket', z.array(z.unknown()).length(some.length), reply, SEVERAL);
    const ids = some.map(({ asked }) => asked.order.orderId);
    const rows = inOrder(ids, all, (row) => {
      const name = ClobPlaced.safeParse(row).data?.orderID;
      return name !== undefined && ids.includes(name) ? name : undefined;
    });
    const seen = { receivedAt: reply.receivedAt, httpStatus: reply.status, now };
    return await Promise.all(
      some.map((one, at): Promise<Placement> | Placement => {
        const placed = ClobPlaced.safeParse(rows[at]);
        if (placed.success) return placementOf(placed.data, account, one, seen);
        return { result: 'unknown', httpStatus: reply.status, detail: `${SEVERAL}: an answer of another shape` };
      }),
    );
  } catch (error) {
    return Promise.all(some.map((one) => failedTogether(error, account, one, now)));
  }
}

/** The result of one order after a call of several failed: unknown if the words are about others of them. */
async function failedTogether(
  error: unknown,
  account: PolymarketAccount,
  signed: SignedOrder,
  now: () => number,
): Promise<Placement> {
  if (!(error instanceof PlatformError) || !isOfOthers(error, signed)) return failed(error, account, signed, now);
  return { result: 'unknown', httpStatus: error.status, detail: error.detail };
}

/** Whether a failed call's text is about other orders of the same call. */
const isOfOthers = ({ status, detail }: PlatformError, { asked, postOnly }: SignedOrder): boolean =>
  ((status === 400 || status === 404 || status === 500) &&
    OF_ONE_ORDER.test(detail) &&
    !detail.toLowerCase().includes(asked.order.orderId)) ||
  (postOnly && ONLY_POST_ONLY.test(detail));

/** An order's own reply. `success` may be true for a refusal; only its text shows one. */
async function placementOf(
  placed: ClobPlaced,
  account: PolymarketAccount,
  signed: SignedOrder,
  { receivedAt, httpStatus, now }: { receivedAt: string; httpStatus: number; now: () => number },
): Promise<Placement> {
  const { success, errorMsg, orderID, status } = placed;
  if (errorMsg !== '') {
    const answer = { status: statusOf(errorMsg), headers: {}, text: '' };
    const refused = answerError('polymarket', answer, { error: errorMsg }, { nowMs: now() });
    return { ...(await failed(refused, account, signed, now)), httpStatus };
  }
  if (!success || orderID === '') {
    return { result: 'unknown', httpStatus, detail: 'the answer has neither an order id nor a reason' };
  }
  const order = mapPlaced(signed.asked, placed, signed.market, receivedAt);
  return { result: 'accepted', httpStatus, detail: status, order };
}

async function failed(
  error: unknown,
  account: PolymarketAccount,
  { asked, exchange, order }: SignedOrder,
  now: () => number,
): Promise<Placement> {
  if (!(error instanceof PlatformError)) throw error;
  const { status, detail, body } = error;
  const seen = { httpStatus: status, detail };
  if (isInside(detail)) return { result: 'unknown', ...seen };
  if (status === 400) {
    if (KILLED.test(detail)) {
      return { result: 'accepted', ...seen, order: killedOrder(asked, new Date(now()).toISOString()) };
    }
    if (DUPLICATE.test(detail)) return { result: 'unknown', ...seen };
    if (SHORT.test(detail)) {
      const help = await fundsAdvice(account, exchange, order, detail);
      return failedPlacement('polymarket', error, () => help);
    }
  }
  if (status === 401 && body !== undefined && account.derivesKey) {
    return { result: 'rejected', ...seen, refusal: staleKey(error) };
  }
  return failedPlacement('polymarket', error, () => adviceOf(POLYMARKET_REJECTIONS, error));
}

/** 503: the key that was derived from the wallet has ended. The next order derives another one. */
const staleKey = ({ detail }: PlatformError): ApiError =>
  new ApiError(503, 'Polymarket did not accept the API key that was derived from the wallet', {
    resolution:
      'The order was not placed. Place it again, under a new idempotency key: the service derives another API key. If this repeats, tell the operator: the clock of the server that runs this service must be right.',
    errorText: detail,
    retryAfter: 1,
  });
