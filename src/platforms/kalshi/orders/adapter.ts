import { z } from 'zod';
import { complement } from '../../../core/decimal.ts';
import { PlatformError } from '../../../core/errors.ts';
import type { AdapterDeps } from '../../contract.ts';
import { failedPlacement } from '../../failed-placement.ts';
import type {
  Cancellation,
  OrderAccess,
  OrderIntent,
  Placement,
  PlatformOrder,
  PlatformOrders,
} from '../../order-contract.ts';
import { isStatedNotFound, parseBody } from '../../parse-rows.ts';
import type { KalshiUrl } from '../manifest.ts';
import { createOwnKalshi } from '../own-account.ts';
import { createKalshiAccount, type KalshiAccount } from '../signed-client.ts';
import { createFinder, SMALL_COST } from './finder.ts';
import { checkKalshiOrder, kalshiGrid, toKalshiOrder } from './request.ts';
import { KalshiPlaced, mapPlaced } from './rows.ts';

const WRITES = '/portfolio/events/orders';
/** How long the answer to a placement waits for the fees of its fills. */
const FEES_MS = 2000;

const Cancelled = z.object({ reduced_by: z.string() });

type Access = OrderAccess<'kalshi'>;

/** Kalshi's V2 orders. Writes go to /portfolio/events/orders; reads stayed at /portfolio/orders (finder.ts). */
export function createKalshiOrders(deps: AdapterDeps<KalshiUrl>): PlatformOrders<'kalshi'> {
  const account = (access: Access): KalshiAccount => createKalshiAccount(deps, access);
  const finder = createFinder(account, deps.now);

  async function place(intent: OrderIntent, member: KalshiAccount, body: string, access: Access): Promise<Placement> {
    try {
      const reply = await member.send('POST', WRITES, body);
      const placed = parseBody('kalshi', KalshiPlaced, reply, WRITES);
      const order = mapPlaced(intent, placed, reply.receivedAt);
      return { result: 'accepted', httpStatus: reply.status, detail: '', order: await withFees(order, access) };
    } catch (error) {
      // An order with this client order id exists: maybe this one, if a gateway sent it twice.
      if (error instanceof PlatformError && error.status === 409 && /already.exists/.test(error.detail)) {
        return { result: 'unknown', httpStatus: 409, detail: error.detail };
      }
      return failedPlacement('kalshi', error, advice);
    }
  }

  /** The reply contains no fees, so a filled order is read once. A read that lags behind the reply is ignored. */
  async function withFees(order: PlatformOrder, access: Access): Promise<PlatformOrder> {
    if (order.filledSize === 0n) return order;
    const hurried = { ...access, signal: AbortSignal.timeout(FEES_MS) };
    const seen = await finder.get(order.orderId, hurried).catch(() => null);
    if (!seen || seen.filledSize < order.filledSize) return order;
    if (seen.filledSize !== order.filledSize) return order;
    const { makerFee, takerFee, updatedAt, averageFillPrice: mean } = seen;
    // The reply rounds the mean of several prices to four decimals.
    const own = mean !== null && seen.outcomeIndex !== order.outcomeIndex ? complement(mean) : mean;
    return { ...order, makerFee, takerFee, updatedAt, averageFillPrice: own ?? order.averageFillPrice };
  }

  async function cancelOne(target: { orderId: string; marketRef: string }, access: Access): Promise<Cancellation> {
    const path = `${WRITES}/${encodeURIComponent(target.orderId)}?market_ticker=${encodeURIComponent(target.marketRef)}`;
    try {
      const reply = await account(access).send('DELETE', path, null, SMALL_COST);
      const { reduced_by: reducedBy } = parseBody('kalshi', Cancelled, reply, WRITES);
      const result = Number(reducedBy) > 0 ? 'cancelled' : 'not_open';
      return { result, httpStatus: reply.status, detail: '' };
    } catch (error) {
      if (!(error instanceof PlatformError) || error.kind === 'unauthorized') throw error;
      const result = isStatedNotFound(error) ? 'not_open' : 'unconfirmed';
      return { result, httpStatus: error.status, detail: error.detail };
    }
  }

  return {
    platform: 'kalshi',
    needsBook: ({ type }) => type === 'market',
    balances: () => Promise.reject(new Error('no balances yet')),
    ownAccount: {
      idOf: (credential) => credential.api_key_id,
      open: (access) => createOwnKalshi(account(access), access, deps.now),
    },
    grid: kalshiGrid,
    check: checkKalshiOrder,

    async prepare(intent, access) {
      const wire = toKalshiOrder(intent);
      // Parses the key, so that an unusable one is noticed before anything is stored or sent.
      const member = account(access);
      return {
        orderId: null,
        wire: { ...wire },
        metadata: {},
        place: () => place(intent, member, JSON.stringify(wire), access),
      };
    },

    ...finder,
    cancel: (targets, access) => Promise.all(targets.map((target) => cancelOne(target, access))),
  };
}

/** Advice on a rejection, by Kalshi's text. */
function advice(words: string): string {
  if (/balance/.test(words)) return "Fund the account: cash is held per shard, and only the market's own shard pays.";
  if (/fill or kill/.test(words))
    return 'The book cannot fill all of it now: use ioc, another price or a smaller size.';
  if (/unauthorized|forbidden|scope/.test(words))
    return 'Renew the API key; scope, region or subaccount may forbid this.';
  if (/not active|MARKET_INACTIVE/i.test(words)) return 'The market is not trading.';
  return 'Correct price, size or side according to error_text.';
}
