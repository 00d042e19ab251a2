import { USD_SCALE, decimalNumber } from '../../../core/decimal.ts';
import { PlatformError } from '../../../core/errors.ts';
import type {
  OrderIntent,
  OrderListing,
  OrderQuery,
  OrderRecord,
  Placement,
  PlatformOrder,
  PlatformOrders,
  PreparedOrder,
} from '../../order-contract.ts';
import { failedPlacement } from '../../failed-placement.ts';
import type { AdapterDeps, StoredMarket } from '../../contract.ts';
import { isoTime } from '../../market-fields.ts';
import { parseBody } from '../../parse-rows.ts';
import { type LimitlessAccess, createAccountClient } from '../signed-client.ts';
import { cancelOrders } from './cancel.ts';
import { PRICE_GRID, checkTradable, orderAmounts } from './amounts.ts';
import { type MarketOrders, type OrderName, OrderReads } from './reads.ts';
import { type Asked, needsPlace, toPlatformOrder } from './state.ts';
import { type LimitlessNewOrder, isThe, toLimitlessOrder } from './request.ts';
import { LimitlessOrderState } from './rows.ts';
import { RECV_WINDOW_MS } from './window.ts';
import { refusalHelp, speaksOfExchange, speaksOfProfile } from './advice.ts';
import { signOrder } from '../sign.ts';
import { SigningFacts } from './signing-context.ts';

/** The last second of the window belongs to the network. */
const LEAVE_WITHIN_MS = RECV_WINDOW_MS - 1000;

/** Limitless's orders: EIP-712 under the exchange contract of each market, sent with an HMAC scoped token. */
export function createLimitlessOrders(deps: AdapterDeps): PlatformOrders<'limitless'> {
  const account = createAccountClient(deps);
  const facts = new SigningFacts(deps, account);
  const reads = new OrderReads(account);

  /** Sends a signed order once. Facts it was signed with that the refusal names as wrong are read again next time. */
  async function place(
    intent: OrderIntent,
    wire: LimitlessNewOrder,
    signature: string,
    access: LimitlessAccess,
  ): Promise<Placement> {
    const body = JSON.stringify({ ...wire, order: { ...wire.order, signature } });
    const call = {
      method: 'POST',
      path: '/orders',
      body,
      retry: false,
      leaveByMs: wire.timestamp + LEAVE_WITHIN_MS,
    } as const;
    try {
      // Without the caller's signal: once it may have left, only its answer shows the result.
      const reply = await account(call, { credential: access.credential, priority: access.priority });
      const state = parseBody('limitless', LimitlessOrderState, reply, 'orders');
      const order = toPlatformOrder(state, null, intent);
      return { result: 'accepted', httpStatus: reply.status, detail: state.execution.settlementStatus, order };
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error;
      // The client order id or the signed order is known already: maybe from this very order.
      if (error.status === 409) return { result: 'unknown', httpStatus: 409, detail: error.detail };
      if (speaksOfExchange(error.detail)) facts.doubtExchange(intent.market);
      if (speaksOfProfile(error.detail)) facts.doubtProfile(access.credential);
      return failedPlacement('limitless', error, () => refusalHelp(error));
    }
  }

  async function prepare(intent: OrderIntent, access: LimitlessAccess): Promise<PreparedOrder> {
    const { market, terms } = intent;
    const amounts = orderAmounts(terms);
    const signatory = await facts.signatory(access);
    const exchange = await facts.exchange(market, access);
    const wire = toLimitlessOrder(intent, amounts, signatory, deps.now());
    const signature = await signOrder(access.credential.private_key, wire.order, exchange);
    return {
      orderId: null,
      wire: { ...wire },
      metadata: {
        ...(terms.side === 'buy' ? { collateral: decimalNumber(amounts.makerAmount, USD_SCALE) } : {}),
        // A fill-or-kill order names what it gives and no price: the walk of the book stands for it.
        ...(amounts.price === null ? { price_enforced: false } : {}),
      },
      place: () => place(intent, wire, signature, access),
    };
  }

  /** States by name. An answer that does not read fails: taken for "no such order" it would cost us the order. */
  async function statesOf(
    names: readonly OrderName[],
    access: LimitlessAccess,
  ): Promise<(LimitlessOrderState | null)[]> {
    const states = await reads.states(names, access);
    return states.map((state, index) => {
      if (state !== undefined) return state;
      throw new PlatformError('limitless', 'bad_answer', {
        detail: `orders/status/batch: nothing about item ${index}`,
      });
    });
  }

  /** Orders in our terms; the list of a market is read once, and only where it is needed. */
  async function resolved(
    states: readonly (LimitlessOrderState | null)[],
    asked: (index: number) => Asked | null,
    access: LimitlessAccess,
  ): Promise<(PlatformOrder | null)[]> {
    const markets = new Map<string, MarketOrders>();
    for (const state of states) {
      const slug = state?.order.market.slug;
      if (!state || slug === undefined || markets.has(slug) || !needsPlace(state)) continue;
      markets.set(slug, await reads.market(slug, access));
    }
    return states.map((state, index) => {
      if (!state) return null;
      const place = needsPlace(state) ? markets.get(state.order.market.slug)?.placeOf(state.order.id) : null;
      return toPlatformOrder(state, place ?? null, asked(index));
    });
  }

  async function find(records: readonly OrderRecord[], access: LimitlessAccess): Promise<(PlatformOrder | null)[]> {
    const names = records.map(({ orderId, clientOrderId }) => (orderId === null ? { clientOrderId } : { orderId }));
    const states = await statesOf(names, access);
    const own = states.map((state, index) => {
      const record = records[index];
      return state && record && isThe(record, state) ? state : null;
    });
    return resolved(own, (index) => records[index] ?? null, access);
  }

  async function list({ market, sinceMs }: OrderQuery, access: LimitlessAccess): Promise<OrderListing> {
    // Limitless lists orders market by market only.
    if (market === null) return { orders: [], complete: false };
    const { rows, liveWhole, placeOf } = await reads.market(market.ref, access);
    const wanted = rows.filter(
      ({ status, createdAt }) => status === 'LIVE' || Date.parse(isoTime(createdAt) ?? '') >= sinceMs,
    );
    const states = await reads.states(
      wanted.map(({ id }) => ({ orderId: id })),
      access,
    );
    const orders = states.flatMap((state) => (state ? toPlatformOrder(state, placeOf(state.order.id), null) : []));
    return { orders, complete: liveWhole && orders.length === wanted.length };
  }

  return {
    platform: 'limitless',
    grid: () => PRICE_GRID,
    check(market: StoredMarket, terms) {
      checkTradable(market, terms.outcomeIndex);
      orderAmounts(terms);
    },
    prepare,
    find,
    async get(orderId, access) {
      const [order = null] = await resolved(await statesOf([{ orderId }], access), () => null, access);
      return order;
    },
    list,
    cancel: (targets, access) => cancelOrders(account, targets, access),
  };
}
