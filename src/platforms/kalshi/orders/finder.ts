import { z } from 'zod';
import type { Usd } from '../../../core/decimal.ts';
import { PlatformError } from '../../../core/errors.ts';
import type { PlatformReply } from '../../http/request.ts';
import {
  ARRIVED_MS,
  CLOCK_MS,
  type OrderAccess,
  type OrderListing,
  type OrderQuery,
  type OrderRecord,
  type OrderTerms,
  type PlatformOrder,
  type PlatformOrders,
} from '../../order-contract.ts';
import { firstPages } from '../../list-pages.ts';
import { nullIfStatedAbsent, parseBody, parseRow, parseRows } from '../../parse-rows.ts';
import type { KalshiQuery } from '../client.ts';
import type { KalshiAccount } from '../signed-client.ts';
import { isBid } from './request.ts';
import { costOfFills, KalshiFill, KalshiOrder, mapOrder, ORDER_ROW, statedCost } from './rows.ts';
import { DAY_MS } from '../../../core/time.ts';

const READS = '/portfolio/orders';
const FILLS = '/portfolio/fills';
const FILL_ROW = { platform: 'kalshi', kind: 'trade', idKey: 'fill_id' } as const;
const PAGE_ROWS = 1000;
/** Pages of finished orders, or of one order's fills; older orders are found by id. */
const MAX_PAGES = 5;
/** Orders of a list whose fills are read too: each costs a request. */
const MAX_LISTED_FILLS = 5;
const MAX_RESTING_PAGES = 20;
/** Tokens of a cancel and of one order's read. */
export const SMALL_COST = 2;
/** Orders that ended longer ago than this may have moved to the archive. */
const ARCHIVE_MS = 7 * DAY_MS;

const OneOrder = z.object({ order: z.unknown() });

type Access = OrderAccess<'kalshi'>;

/** The terms an order is shown in; null: as Kalshi expresses it. */
type Terms = OrderTerms | null;

export interface KalshiFinder extends Pick<PlatformOrders<'kalshi'>, 'find' | 'get' | 'list'> {
  /** An order by its id, shown in these terms; null if Kalshi has none. */
  read(orderId: string, terms: Terms, access: Access): Promise<PlatformOrder | null>;
  /** Rows of the open orders in a market, those of subaccounts too; null if not all of them could be read. */
  resting(ticker: string, access: Access): Promise<KalshiOrder[] | null>;
}

/** Reads orders of an account: by id, by their terms, and as lists; finished ones from the archive too. */
export function createFinder(account: (access: Access) => KalshiAccount, now: () => number): KalshiFinder {
  const read: KalshiFinder['read'] = async (orderId, terms, access) => {
    const path = `${READS}/${encodeURIComponent(orderId)}`;
    const reply = await account(access).get(path, {}, SMALL_COST).catch(nullIfStatedAbsent);
    return reply ? orderIn(reply, terms, access) : null;
  };

  async function orderIn(reply: PlatformReply, terms: Terms, access: Access): Promise<PlatformOrder> {
    const { order } = parseBody('kalshi', OneOrder, reply, READS);
    const parsed = parseRow(KalshiOrder, order, ORDER_ROW, access);
    if (!parsed) throw new PlatformError('kalshi', 'bad_answer', { detail: `${READS}: not an order` });
    return withFills(parsed.row, terms, access);
  }

  /** The row with what it cost, computed from its fills unless the row surely states it. Fills are listed later than orders. */
  async function withFills(row: KalshiOrder, terms: Terms, access: Access): Promise<PlatformOrder> {
    const stated = statedCost(row);
    const cost = stated?.isSure ? stated.cost : ((await filledCost(row, access)) ?? stated?.cost ?? null);
    return mapOrder(row, cost, now(), terms);
  }

  function asStated(row: KalshiOrder): PlatformOrder {
    const stated = statedCost(row);
    const order = mapOrder(row, stated?.cost ?? null, now(), null);
    return stated?.isSure === false ? { ...order, isAverageUnsure: true } : order;
  }

  async function filledCost(row: KalshiOrder, access: Access): Promise<Usd | null> {
    const { raw } = await rawRows(FILLS, 'fills', { order_id: row.order_id }, MAX_PAGES, access);
    const fills = parseRows(KalshiFill, raw, FILL_ROW, access).map((fill) => fill.row);
    return costOfFills(row, fills);
  }

  /** Rows of a list as received, until it ends or `maxPages` are read. */
  async function rawRows(path: string, key: string, query: KalshiQuery, maxPages: number, access: Access) {
    const signed = account(access);
    const { pages, end } = await firstPages(maxPages, (cursor) =>
      signed.page(path, key, { ...query, limit: PAGE_ROWS, cursor }),
    );
    return { raw: pages.flatMap((page) => page.rows), ended: end === 'last' };
  }

  async function rows(path: string, query: KalshiQuery, maxPages: number, access: Access) {
    const { raw, ended } = await rawRows(path, 'orders', query, maxPages, access);
    return { raw, found: parseRows(KalshiOrder, raw, ORDER_ROW, access).map(({ row }) => row), ended };
  }

  /**
   * Finds the order among those of its market sent at about the same time; in the archive too, if it may be there. Returns null only if
   * all rows that may be the order were read. An order without an id is then rejected.
   */
  async function search(record: OrderRecord, access: Access): Promise<PlatformOrder | null> {
    const since = { ticker: record.marketRef, min_ts: Math.floor((record.sentAtMs - CLOCK_MS) / 1000) };
    const untilMs = record.sentAtMs + ARRIVED_MS + CLOCK_MS;
    // Later orders may fill the pages. Kalshi does not document whether max_ts is the time of creation or of change. So the query without
    // max_ts is read too.
    const sentThen = now() > untilMs ? [{ ...since, max_ts: Math.ceil(untilMs / 1000) }] : [];
    const archive = now() - record.sentAtMs > ARCHIVE_MS ? ['/historical/orders'] : [];
    let doubt: string | null = null;
    for (const path of [READS, ...archive]) {
      for (const query of [...sentThen, since]) {
        const { raw, found, ended } = await rows(path, query, MAX_PAGES, access);
        const row = found.find((one) => isThe(record, one));
        if (row) return withFills(row, record.terms, access);
        if (found.length < raw.length && raw.some((one) => mayBe(record, one))) doubt = `${path}: not an order`;
        else if (!ended && query === since) doubt = `${path}: more than ${MAX_PAGES} pages`;
      }
    }
    if (doubt !== null && record.orderId === null) throw new PlatformError('kalshi', 'bad_answer', { detail: doubt });
    return null;
  }

  const findOne = async (record: OrderRecord, access: Access): Promise<PlatformOrder | null> =>
    (record.orderId === null ? null : await read(record.orderId, record.terms, access)) ?? search(record, access);

  async function resting(ticker: string, access: Access): Promise<KalshiOrder[] | null> {
    const { raw, found, ended } = await rows(READS, { ticker, status: 'resting' }, MAX_RESTING_PAGES, access);
    return ended && found.length === raw.length ? found : null;
  }

  async function list({ market, sinceMs }: OrderQuery, access: Access): Promise<OrderListing> {
    const ticker = market?.ref;
    const resting = await rows(READS, { ticker, status: 'resting' }, MAX_RESTING_PAGES, access);
    const since = sinceMs > 0 ? Math.floor((sinceMs - CLOCK_MS) / 1000) : undefined;
    const recent = await rows(READS, { ticker, min_ts: since }, MAX_PAGES, access);
    // A row in both lists was read later in the second. A cost that is not sure is marked: a read of one order asks its fills.
    const byId = new Map([...resting.found, ...recent.found].map((row) => [row.order_id, row]));
    const listed = [...byId.values()];
    const unstated = new Set(listed.filter((row) => statedCost(row) === null).slice(0, MAX_LISTED_FILLS));
    const orders = await Promise.all(
      listed.map((row) => (unstated.has(row) ? withFills(row, null, access) : asStated(row))),
    );
    return {
      orders: orders.map(ofUnknownSide),
      complete: resting.ended && resting.found.length === resting.raw.length,
    };
  }

  return {
    read,
    resting,
    find: (records, access) => Promise.all(records.map((record) => findOne(record, access))),
    get: (orderId, access) => read(orderId, null, access),
    list,
  };
}

/** A listed order may be a sale of this service, which Kalshi lists as the purchase of the other outcome: what it brought is not known. */
const ofUnknownSide = (order: PlatformOrder): PlatformOrder => ({ ...order, receivedSize: null });

/** Whether an unreadable row may be the order of a record. */
const mayBe = ({ clientOrderId }: OrderRecord, raw: unknown): boolean =>
  !KalshiOrder.safeParse(raw).success && JSON.stringify(raw).includes(clientOrderId);

/** Whether a row is the order of a record: same id, or same client id with the same terms. */
function isThe(record: OrderRecord, row: KalshiOrder): boolean {
  if (record.orderId !== null) return row.order_id === record.orderId;
  const { terms } = record;
  const price = terms.outcomeIndex === 0 ? row.yes_price_dollars : row.no_price_dollars;
  return (
    row.client_order_id === record.clientOrderId &&
    (row.outcome_side === 'yes') === isBid(terms) &&
    price === terms.price &&
    row.initial_count_fp === terms.size
  );
}
