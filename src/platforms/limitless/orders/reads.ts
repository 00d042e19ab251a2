import { parseBody, parseRows } from '../../parse-rows.ts';
import type { AccountClient, LimitlessAccess } from '../signed-client.ts';
import type { BookPlace } from './state.ts';
import {
  LimitlessHolding,
  LimitlessPortfolio,
  LimitlessStatusBatch,
  LimitlessStatusResult,
  LimitlessUserOrder,
  LimitlessUserOrders,
  type LimitlessOrderState,
} from './rows.ts';
import { partsOf } from '../../../core/parts.ts';

/** Maximum items of a status batch. */
const BATCH = 50;
const READ = { circuit: 'account', retry: true } as const;
/** Maximum rows of a list; there is no next page. */
const ROWS = 200;
const ROW = {
  platform: 'limitless',
  kind: 'order',
  idKey: 'id',
  essential: ['id', 'status', 'originalSize', 'remainingSize'],
} as const;
const HOLDING_ROW = { platform: 'limitless', kind: 'market', idKey: 'slug' } as const;
const STATUSES = ['LIVE', 'MATCHED', 'CANCELED', 'UNMATCHED'] as const;

export type OrderName = { orderId: string } | { clientOrderId: string };

/** The account's orders of one market. */
export interface MarketOrders {
  rows: LimitlessUserOrder[];
  /** Whether every working order is among the rows. */
  liveWhole: boolean;
  /** The order's place in the book; 'gone' if it neither works nor was filled, and is too old for the list. */
  placeOf(orderId: string): BookPlace;
}

/** What Limitless reports about an account's orders: the state of each by name, and their places in the book per market. */
export class OrderReads {
  readonly #account: AccountClient;

  constructor(account: AccountClient) {
    this.#account = account;
  }

  /** In the order of `names`; null if the account has no such order, undefined if the answer is unreadable. */
  async states(
    names: readonly OrderName[],
    access: LimitlessAccess,
  ): Promise<(LimitlessOrderState | null | undefined)[]> {
    const states: (LimitlessOrderState | null | undefined)[] = [];
    for (const part of partsOf(names, BATCH)) {
      states.push(...(await this.#batch(part, access)));
    }
    return states;
  }

  /** Slugs of the markets with working orders of the account; Limitless lists orders by market only. `whole`: the list is complete. */
  async markets(access: LimitlessAccess): Promise<{ slugs: string[]; whole: boolean }> {
    const reply = await this.#account({ ...READ, method: 'GET', path: '/portfolio/positions' }, access);
    const { clob, group } = parseBody('limitless', LimitlessPortfolio, reply, 'portfolio/positions');
    const rows = [...clob, ...group];
    const held = parseRows(LimitlessHolding, rows, HOLDING_ROW, access);
    const slugs = held.flatMap(({ row: { market, orders } }) => (orders.liveOrders.length > 0 ? market.slug : []));
    return { slugs: [...new Set(slugs)], whole: held.length === rows.length };
  }

  async market(slug: string, access: LimitlessAccess): Promise<MarketOrders> {
    const all = await this.#list(slug, STATUSES, access);
    if (!all.full) return marketOrders(all.rows, { liveWhole: all.readable, absent: null });
    // Finished orders may have crowded out working and filled ones, which have lists of their own. An order that fills by now is in both.
    const live = await this.#list(slug, ['LIVE'], access);
    const matched = await this.#list(slug, ['MATCHED'], access);
    const ended = all.rows.filter(({ status }) => status !== 'LIVE');
    const liveWhole = live.readable && !live.full;
    return marketOrders([...live.rows, ...ended, ...matched.rows], {
      liveWhole,
      absent: liveWhole && matched.readable && !matched.full ? 'gone' : null,
    });
  }

  async #batch(names: readonly OrderName[], access: LimitlessAccess) {
    const body = JSON.stringify({ items: names });
    const call = { ...READ, method: 'POST', path: '/orders/status/batch', body } as const;
    const reply = await this.#account(call, access);
    const { results } = parseBody('limitless', LimitlessStatusBatch, reply, 'orders/status/batch');
    // Without its price or its totals an order would have fewer fills than it has.
    const essential = ['index', 'status', 'data.order.price', 'data.execution.totalsRaw'];
    const about = { ...ROW, idKey: 'orderId', essential };
    const byIndex = new Map(
      parseRows(LimitlessStatusResult, results, about, access).map(({ row }) => [row.index, row]),
    );
    return names.map((_, index) => {
      const result = byIndex.get(index);
      if (result && result.status !== 'found') return null;
      return result?.data ?? undefined;
    });
  }

  async #list(slug: string, statuses: readonly string[], access: LimitlessAccess) {
    const query = new URLSearchParams({ limit: String(ROWS) });
    for (const status of statuses) query.append('statuses', status);
    const path = `/markets/${encodeURIComponent(slug)}/user-orders?${query}`;
    const reply = await this.#account({ ...READ, method: 'GET', path }, access);
    const raw = parseBody('limitless', LimitlessUserOrders, reply, 'user-orders');
    const rows = parseRows(LimitlessUserOrder, raw, ROW, access).map(({ row }) => row);
    return { rows, full: raw.length >= ROWS, readable: rows.length === raw.length };
  }
}

/** The rows, of which a later one of the same order counts; `absent`: the place of an order without a row. */
function marketOrders(
  rows: readonly LimitlessUserOrder[],
  { liveWhole, absent }: { liveWhole: boolean; absent: BookPlace },
): MarketOrders {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return { rows: [...byId.values()], liveWhole, placeOf: (orderId) => byId.get(orderId) ?? absent };
}
