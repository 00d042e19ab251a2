import { PlatformError } from '../../../core/errors.ts';
import { isoTime } from '../../market-fields.ts';
import type { OrderListing, OrderQuery, OrderRecord, PlatformOrder, PlatformOrders } from '../../order-contract.ts';
import type { LimitlessAccess } from '../signed-client.ts';
import type { MarketOrders, OrderName, OrderReads } from './reads.ts';
import { isThe } from './request.ts';
import type { LimitlessOrderState } from './rows.ts';
import { type Asked, type BookPlace, hasFailed, needsPlace, toPlatformOrder } from './state.ts';

/** Reads orders of an account in our terms: by id, by their terms, and as lists: of one market, or the working ones of all. */
export function createFinder(reads: OrderReads): Pick<PlatformOrders<'limitless'>, 'find' | 'get' | 'list'> {
  /** States by name. An unreadable answer fails: if it counted as "no such order", the order would be lost. */
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

  /** Orders in our terms; the list of a market is read once, and only if it is needed. */
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
      const place = needsPlace(state) ? placeIn(markets.get(state.order.market.slug), state) : null;
      return toPlatformOrder(state, place, asked(index));
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

  /** Working orders of these markets, and the finished ones since a time; one market after the other, as the platform allows. */
  async function listed(slugs: readonly string[], sinceMs: number, access: LimitlessAccess): Promise<OrderListing> {
    const markets = new Map<string, MarketOrders>();
    for (const slug of slugs) markets.set(slug, await reads.market(slug, access));
    const lists = [...markets.values()];
    const wanted = lists.flatMap(({ rows }) =>
      rows.filter(({ status, createdAt }) => status === 'LIVE' || Date.parse(isoTime(createdAt) ?? '') >= sinceMs),
    );
    const states = await reads.states(
      wanted.map(({ id }) => ({ orderId: id })),
      access,
    );
    const orders = states.flatMap((state) => {
      const place = state && markets.get(state.order.market.slug)?.placeOf(state.order.id);
      return state ? toPlatformOrder(state, place ?? null, null) : [];
    });
    return { orders, complete: lists.every(({ liveWhole }) => liveWhole) && orders.length === wanted.length };
  }

  async function list({ market, sinceMs }: OrderQuery, access: LimitlessAccess): Promise<OrderListing> {
    if (market !== null) return listed([market.ref], sinceMs, access);
    // Users of the operator's credential see their own orders only, which are looked up by id: others' may be in many markets.
    if (access.guest !== undefined) return { orders: [], complete: false };
    const { slugs, whole } = await reads.markets(access);
    const { orders, complete } = await listed(slugs, Infinity, access);
    return { orders, complete: complete && whole, lacksFinished: true };
  }

  return {
    find,
    async get(orderId, access) {
      const [order = null] = await resolved(await statesOf([{ orderId }], access), () => null, access);
      return order;
    },
    list,
  };
}

/** The order's place. A match that failed to settle is no new order: it works only if a whole list of working orders has it. */
function placeIn(market: MarketOrders | undefined, state: LimitlessOrderState): BookPlace {
  const place = market?.placeOf(state.order.id) ?? null;
  return place === null && market?.liveWhole && hasFailed(state) ? 'gone' : place;
}
