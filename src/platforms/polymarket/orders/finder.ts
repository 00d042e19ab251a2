import { Cache } from '../../../core/cache.ts';
import type { OrderAccess, OrderRecord, PlatformOrder, PlatformOrders } from '../../order-contract.ts';
import type { PolymarketAccount } from '../signed-client.ts';
import { fillsOf } from './fills.ts';
import { inTheirMarkets, readOpenOrders, readOrder, readTrades, type Seen } from './reads.ts';
import { askedOf, mapState } from './state.ts';
import { partsOf } from '../../../core/parts.ts';

const ORDER_ID = /^0x[0-9a-f]{64}$/;
/** The last fill of an order that has left the book may appear moments later. */
const SETTLE_MS = 5000;
const MAX_GONE = 10_000;
/** Orders read concurrently: the ledger's budget allows some 20 calls a second. */
const AT_ONCE = 20;

type Access = OrderAccess<'polymarket'>;

/** Reads orders of an account, each completed from its trades: by id, by their terms, and as the list of open ones. */
export function createFinder(
  account: (access: Access) => PolymarketAccount,
  now: () => number,
): Pick<PlatformOrders<'polymarket'>, 'find' | 'get' | 'list'> {
  /** When an order was first seen to be gone from the book, Unix ms. */
  const gone = new Cache<string, number>({ limit: MAX_GONE });

  /** Whether the listed trades are all that an order will have. */
  function isSettled({ asked: { order }, row, sinceMs }: Seen): boolean {
    const { orderId, timeInForce, expiration } = order;
    if (row?.status === 'LIVE') {
      gone.delete(orderId);
      return false;
    }
    const seenGone = gone.get(orderId) ?? now();
    gone.set(orderId, seenGone);
    // An ioc or fok order left the book when it was sent, a dated one by its date; a new order may be listed late.
    const atOnce = timeInForce === 'ioc' || timeInForce === 'fok';
    const date = expiration === null ? seenGone : Date.parse(expiration);
    const left = Math.max(atOnce ? 0 : Math.min(seenGone, date), sinceMs + SETTLE_MS);
    return now() - left >= SETTLE_MS;
  }

  /** The current state of orders, completed from their trades. Null: not listed, never matched, and never seen before. */
  async function states(member: PolymarketAccount, seen: readonly Seen[], access: Access) {
    const orders: (PlatformOrder | null)[] = [];
    for (const some of partsOf(seen, AT_ONCE)) {
      const trades = await readTrades(member, some, access);
      for (const one of some) {
        const { asked, row, market, placed } = one;
        const fills = fillsOf(asked.order.orderId, trades, market);
        const known = placed || fills.tradeIds.length > 0 || fills.retrying || fills.failed;
        orders.push(known ? mapState(asked, { row, fills, settled: isSettled(one) }, now()) : null);
      }
    }
    return orders;
  }

  async function find(records: readonly OrderRecord[], access: Access): Promise<(PlatformOrder | null)[]> {
    const member = account(access);
    const refs = [...new Set(records.map(({ marketRef }) => marketRef))];
    const markets = await access.markets.byRef('polymarket', refs);
    const look = async (record: OrderRecord): Promise<Seen> => {
      const orderId = record.orderId ?? '';
      const market = markets.get(record.marketRef) ?? null;
      const outcome = market?.outcomes[record.terms.outcomeIndex]?.id ?? '';
      const row = ORDER_ID.test(orderId) ? await readOrder(member, orderId, access) : null;
      const placed = row !== null || (record.placed === true && isOurs(record, member));
      return { asked: askedOf({ ...record, orderId, outcome }), row, market, placed, sinceMs: record.sentAtMs };
    };
    const seen: Seen[] = [];
    for (const part of partsOf(records, AT_ONCE)) {
      seen.push(...(await Promise.all(part.map(look))));
    }
    return states(member, seen, access);
  }

  return {
    find,

    async get(orderId, access) {
      const id = orderId.toLowerCase();
      if (!ORDER_ID.test(id)) return null;
      const member = account(access);
      const row = await readOrder(member, id, access);
      if (row === null) return null;
      const [order = null] = await states(member, await inTheirMarkets([row], access), access);
      return order;
    },

    async list({ market }, access) {
      const member = account(access);
      const { seen, whole } = await readOpenOrders(member, market?.ref ?? null, access);
      const orders = await states(member, seen, access);
      return { orders: orders.filter((order) => order !== null), complete: whole };
    },
  };
}

/** Whether the order is the account's: read with its own credential, or paid by the same wallet. */
function isOurs({ own, wire }: OrderRecord, { wallet }: PolymarketAccount): boolean {
  const { maker } = (wire['order'] ?? {}) as { maker?: string };
  return own !== false || maker?.toLowerCase() === (wallet.funder ?? wallet.owner).toLowerCase();
}
